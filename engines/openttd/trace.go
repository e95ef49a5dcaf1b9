package openttd

import (
	"bytes"
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/tracediff"
)

// LogClaims reads from a commands-out.log which clients left because of a desync. The tick is the one in which the
// server learned of it. A log without such a line gives nil: it is evidence of another kind.
func LogClaims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	log := &tracediff.ClaimLog{Dialect: tracediff.Dialect{
		Engine: "OpenTTD", File: "commands-out.log", TickName: TickName,
		Covers: "both words of the random number generator's state",
	}}
	// The order log reports problems of the file.
	err := engine.EachLine(r, name, func(line []byte, pos tracediff.Position) bool {
		tick, client, ok := Desynced(line)
		switch {
		case !ok:
		case limits.Claims.Over(int64(len(log.Claims)) + 1):
			log.Trouble = limits.Claims.Reached(name, 0).Error()
		default:
			text := line[bytes.Index(line, []byte("*** ")):]
			log.Claims = append(log.Claims, tracediff.Claim{
				File: name, Pos: pos, Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD"))),
				Tick: tick, HasTick: true, Peers: []string{client},
			})
		}
		return true
	})
	if err != nil || len(log.Claims) == 0 {
		return nil, err
	}
	return log, nil
}

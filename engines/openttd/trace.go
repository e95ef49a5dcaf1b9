package openttd

import (
	"bytes"
	"errors"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"

	"github.com/desynctool/desynctool/tracediff"
)

// LogClaims reads who left because of a desync from a commands-out.log. The tick is that in
// which the server heard of it. A log without such a line gives nil: it is evidence of another kind.
func LogClaims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	lines := orderlog.NewLines(r, name)
	log := &tracediff.ClaimLog{Dialect: tracediff.Dialect{
		Engine: "OpenTTD", File: "commands-out.log", TickName: TickName,
		Covers: "both words of the random number generator's state",
	}}
	for {
		line, err := lines.Next()
		if err != nil {
			if err == io.EOF || errors.As(err, new(*frame.Error)) {
				if len(log.Claims) == 0 {
					return nil, nil
				}
				return log, nil // the order log says what is wrong with the file
			}
			return nil, err
		}
		tick, client, ok := Desynced(line)
		if !ok {
			continue
		}
		if limits.Claims.Over(int64(len(log.Claims)) + 1) {
			log.Trouble = limits.Claims.Reached(name, 0).Error()
			continue
		}
		text := line[bytes.Index(line, []byte("*** ")):]
		log.Claims = append(log.Claims, tracediff.Claim{
			File: name, Pos: tracediff.Position{Line: lines.Number(), Offset: lines.Offset()}, Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD"))),
			Tick: tick, HasTick: true, Peers: []string{client},
		})
	}
}

package spring

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"

	"github.com/desynctool/desynctool/tracediff"
)

// Formats returns the formats of demos and of infologs.
func Formats() []tracediff.Format {
	return []tracediff.Format{
		{Name: "spring-demo", Title: "Spring demo", Sniff: IsDemo, Peers: demoPeers, Read: readDemo, Claims: demoClaims},
		{Name: "spring-infolog", Title: "Spring infolog", Sniff: IsInfolog, Claims: infologClaims},
	}
}

// dialect describes the engine's checksums.
func dialect(file, gameID string) tracediff.Dialect {
	if strings.Trim(gameID, "0") == "" {
		gameID = ""
	}
	return tracediff.Dialect{
		Engine: "Spring", File: file, Session: gameID, Reset: Reset, Arbiter: true,
		Covers: "checksums that do not cover health, resources, reload times and command queues, and that depend on the order of writes",
	}
}

// player returns the name of a player.
func player(h *DemoHeader, number uint32) string {
	if name := h.Players[number]; name != "" {
		return name
	}
	return fmt.Sprintf("player %d", number)
}

// demoPeers returns the names of the players with checksums in a demo, by number. If a demo breaks off, it returns the
// players before the break. A demo without checksums gives an error, which wraps frame.ErrLacking if the demo is whole.
func demoPeers(r io.Reader, name string) (names []string, err error) {
	d, err := NewDemo(r, name)
	if err != nil {
		return nil, err
	}
	var seen [256]bool
	for err == nil {
		var m *Message
		if m, err = d.Next(); err != nil {
			break
		}
		if s, ok := m.SyncResponse(); ok {
			seen[s.Player] = true
		}
	}
	if err != io.EOF && !errors.As(err, new(*frame.Error)) {
		return nil, err
	}
	for n, ok := range seen {
		if ok {
			names = append(names, make([]string, n-len(names))...)
			names = append(names, player(&d.Header, uint32(n)))
		}
	}
	switch {
	case len(names) > 0:
		return names, nil
	case err != io.EOF:
		return nil, err
	}
	return nil, &frame.Error{Name: name, Msg: "a demo without any player's checksum", Err: frame.ErrLacking}
}

// demo is the checksums of one player in a demo, as a trace. Players answer late
// and in any order, but each of them in the order of frames.
type demo struct {
	in     *Demo
	player uint32
	rec    tracediff.Record
	point  tracediff.Checkpoint
	sum    []byte
}

func readDemo(r io.Reader, name string, player int) (tracediff.Source, error) {
	in, err := NewDemo(r, name)
	if err != nil {
		return nil, err
	}
	return &demo{in: in, player: uint32(player)}, nil
}

func (d *demo) Header() tracediff.Header {
	h := &d.in.Header
	return tracediff.Header{Build: h.Engine, RateNum: 30, RateDen: 1, Meta: map[string]string{"map": h.Map, "game": h.Game}}
}

func (d *demo) Dialect() tracediff.Dialect { return dialect("Spring demo", d.in.Header.GameID) }

func (d *demo) Next() (*tracediff.Record, error) {
	for {
		m, err := d.in.Next()
		if err != nil {
			return nil, err
		}
		s, ok := m.SyncResponse()
		if !ok || s.Player != d.player {
			continue
		}
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], s.Checksum)
		d.sum = hex.AppendEncode(d.sum[:0], b[:])
		d.point = tracediff.Checkpoint{Tick: s.Frame, Sums: append(d.point.Sums[:0], tracediff.Sum{Value: d.sum})}
		d.rec = tracediff.Record{Pos: tracediff.Position{Offset: m.Offset}, Checkpoint: &d.point}
		return &d.rec, nil
	}
}

// demoClaims reads the claims that a server sent to all as messages, and the
// checksums of path data that players reported at the start.
func demoClaims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	d, err := NewDemo(r, name)
	if err != nil {
		return nil, err
	}
	log := &tracediff.ClaimLog{Dialect: dialect("Spring demo", d.Header.GameID), Players: d.Header.Players, Start: map[string]map[string]string{}}
	for {
		m, err := d.Next()
		if err == io.EOF {
			return log, nil
		}
		if err != nil {
			if !errors.As(err, new(*frame.Error)) {
				return nil, err
			}
			log.Trouble = err.Error()
			return log, nil
		}
		if n, sum, ok := m.PathChecksum(); ok && len(log.Start) < 256 {
			log.Start[player(&d.Header, n)] = map[string]string{"path checksum": fmt.Sprintf("%08x", sum)}
		}
		switch e, ok := m.SyncError(); {
		case !ok:
		case limits.Claims.Over(int64(len(log.Claims)) + 1):
			log.Trouble = limits.Claims.Reached(name, 0).Error()
		default:
			log.Claims = append(log.Claims, claim(name, tracediff.Position{Offset: m.Offset}, &e))
		}
	}
}

func infologClaims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	in, err := ReadInfolog(r, name)
	if in == nil {
		return nil, err
	}
	log := &tracediff.ClaimLog{Dialect: dialect("Spring infolog", in.GameID), Players: in.Players, Start: in.Start}
	log.Dialect.TickName = func(frame uint64) string { return fmt.Sprintf("frame %d", frame) }
	for i := range in.Errors {
		e := &in.Errors[i]
		log.Claims = append(log.Claims, claim(name, tracediff.Position{Line: e.Line, Offset: e.Offset}, e))
	}
	switch {
	case err != nil:
		log.Trouble = err.Error()
	case in.Malformed > 0:
		log.Trouble = fmt.Sprintf("%s: line %d begins like the engine's report of a desync but is not one; %d such lines in all", name, in.FirstMalformed, in.Malformed)
	case in.Dropped > 0:
		log.Trouble = fmt.Sprintf("%s: %d claims after the first %d were left out", name, in.Dropped, len(in.Errors))
	}
	if in.Next != "" {
		log.Lost = fmt.Sprintf("%s: line %d: game %s begins after game %s; the rest was not read with it: give it in a file of its own", name, in.NextLine, in.Next, in.GameID)
	}
	return log, nil
}

// replaying names the machine with the replay that differs from the recording.
const replaying = "this replay"

func claim(file string, pos tracediff.Position, e *SyncError) tracediff.Claim {
	c := tracediff.Claim{File: file, Pos: pos, Text: e.Text, Tick: e.Frame, HasTick: true}
	correct := ""
	if e.Replay {
		correct = replaying
		c.By, c.Replay = replaying, true
	} else {
		c.Peers = slices.Clone(e.Players)
	}
	for _, name := range e.Players {
		c.Values = append(c.Values, tracediff.ClaimedValue{Peer: name, Value: fmt.Sprintf("%08x", e.Got)})
	}
	c.Values = append(c.Values, tracediff.ClaimedValue{Peer: correct, Value: fmt.Sprintf("%08x", e.Correct)})
	return c
}

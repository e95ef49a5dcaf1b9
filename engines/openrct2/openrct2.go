// Package openrct2 reads OpenRCT2's desync reports: desync_<UTC>_<tick>.txt, which
// a client writes, and replay_desync_<tick>.txt of a replay.
//
// A report is not the state of a peer but a comparison of two, left and right,
// made by the game. A client that notices a desync asks the server for its state
// of that tick: the server's is left, its own right. In a replay the recorded
// state is left and the recomputed one right.
//
//	tick left = 010F4B0A, tick right = 010F4B0A
//	srand0 left = 815228CB, srand0 right = 815228CB
//	Sprite modifications (Guest), index: 4
//	  Peep::StepProgress, len = 1, offset = 106, left = 0x0000000000000002, right = 0x0000000000000003
//	Sprite added (Misc: Steam Particle), index: 1020
//	Sprite removed (Litter), index: 1021
//
// Reports from 2019 have one tick, "tick: 010F4B0A". A sprite that was added is only on the right, one that was removed
// only on the left. Sprites that are equal are not listed.
//
// The report becomes two traces of one tick: a checkpoint of the random number generator's first word, and one for each
// listed sprite, with the differing fields as sums. If the ticks of the two states differ, the differences prove
// nothing, and reading gives a [*TicksError].
//
// A report carries no checksum and no mark of its end. A report that was cut between two lines looks complete.
package openrct2

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// TicksError means that a report compares states of different ticks.
type TicksError struct {
	Name        string // of the file
	Left, Right uint32
}

// Unwrap returns frame.ErrLacking.
func (e *TicksError) Unwrap() error { return frame.ErrLacking }

func (e *TicksError) Error() string {
	return fmt.Sprintf("%s: the report compares states of different ticks, left of %d and right of %d: nothing follows from what differs", e.Name, e.Left, e.Right)
}

// Formats returns the format of desync reports.
func Formats() []tracediff.Format {
	return []tracediff.Format{{
		Name:  "openrct2",
		Title: "OpenRCT2 desync report (desync_*.txt, replay_desync_*.txt)",
		Sniff: sniff,
		Peers: func(_ io.Reader, name string) ([]string, error) { return sides(filepath.Base(name)), nil },
		Read:  func(r io.Reader, name string, peer int) (tracediff.Source, error) { return newReader(r, name, peer) },
	}}
}

// sides returns the peers of the left and the right state, which only the file's name contains.
func sides(base string) []string {
	switch {
	case strings.HasPrefix(base, "desync_"):
		return []string{"server", "client"}
	case strings.HasPrefix(base, "replay_desync_"):
		return []string{tracediff.FirstRun, tracediff.SecondRun}
	}
	return []string{"left", "right"}
}

// warning begins the line that precedes all others if the ticks differ.
const warning = "WARNING: Comparing two snapshots with different ticks"

func sniff(head []byte) bool {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if bytes.HasPrefix(line, []byte(warning)) {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	_, _, ok := ticks(bytes.TrimSuffix(line, []byte("\r")))
	return ok && bytes.HasPrefix(rest, []byte("srand0 left = "))
}

// ticks reads the line of ticks.
func ticks(line []byte) (left, right uint32, ok bool) {
	if one, old := bytes.CutPrefix(line, []byte("tick: ")); old {
		left, ok = hex32(one)
		return left, left, ok
	}
	return pair(line, "tick")
}

// pair reads "NAME left = %08X, NAME right = %08X".
func pair(line []byte, name string) (left, right uint32, ok bool) {
	a, b, _ := bytes.Cut(line, []byte(", "+name+" right = "))
	a, named := bytes.CutPrefix(a, []byte(name+" left = "))
	left, okLeft := hex32(a)
	right, okRight := hex32(b)
	return left, right, named && okLeft && okRight
}

func hex32(text []byte) (uint32, bool) {
	if len(text) != 8 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text), 16, 32)
	return uint32(n), err == nil
}

// newReader reads the head of a report. Side is 0 for left and 1 for right.
func newReader(in io.Reader, name string, side int) (*reader, error) {
	r := &reader{name: name, side: side, lines: orderlog.NewLines(in, name), names: map[string]string{}}
	line, err := r.lines.Next()
	if err == io.EOF {
		return nil, r.lines.Unrecognized("empty file, expected a desync report of OpenRCT2")
	}
	if err == nil && bytes.HasPrefix(line, []byte(warning)) {
		line, err = r.lines.Next()
	}
	if err != nil {
		return nil, r.headError(err)
	}
	left, right, ok := ticks(line)
	if !ok {
		return nil, r.lines.Unrecognized("line %d is %.40q, expected the ticks of a desync report of OpenRCT2", r.lines.Number(), line)
	}
	if left != right {
		return nil, &TicksError{name, left, right}
	}
	r.tick = uint64(left)
	if line, err = r.lines.Next(); err != nil {
		return nil, r.headError(err)
	}
	if left, right, ok = pair(line, "srand0"); !ok {
		return nil, r.lines.Corrupt("%.40q, expected srand0", line)
	}
	r.srand0 = [...]uint32{left, right}[side]
	r.srandPos = engine.PositionOf(r.lines)
	r.header.Peer = sides(filepath.Base(name))[side]
	return r, nil
}

// headError returns the error for a head that ends too soon.
func (r *reader) headError(err error) error {
	if err == io.EOF {
		return r.lines.Corrupt("the file ends, expected the head of a desync report")
	}
	return err
}

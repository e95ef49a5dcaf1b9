package godot

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"

	"github.com/desynctool/desynctool/snapshot"
)

// Format returns the format of logs, each with many states of one peer.
func StateFormat() snapshot.Format {
	return snapshot.Format{
		Name:      "godot-rollback",
		Title:     "Godot Rollback Netcode log (*-peer-<id>.log)",
		Usual:     func(base string) bool { return strings.Contains(base, "-peer-") },
		NamesPeer: true,
		Ground:    ground,
		Sniff:     IsLog,
		Parts:     Parts,
		Open:      snapshot.InMemory(Read),
	}
}

// point returns the state point of the state that was logged for a tick: it is that after the
// tick.
func point(tick uint64) snapshot.Point {
	return snapshot.Point{Tick: tick + 1, Native: "tick " + strconv.FormatUint(tick, 10), Relation: snapshot.After}
}

// maxParts is how many states of a log are listed.
const maxParts = 1 << 22

// Parts lists the states in the content of a log. The state before the first tick, which is logged for tick 0, also
// belongs to state point 0; if there are several, the last one counts. For a log that is cut off or damaged it returns
// the states before the damage; if there are none, it returns the error of [NewLog] or [Log.Next].
func Parts(r io.ReaderAt, size int64, name string) ([]snapshot.Part, error) {
	log, err := NewLog(io.NewSectionReader(r, 0, size), name)
	if err != nil {
		return nil, err
	}
	peer := PeerName(log.Peer())
	var parts []snapshot.Part
	for {
		e, err := log.Next()
		if err == io.EOF || len(parts) > 0 && errors.As(err, new(*frame.Error)) {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Type != StateEntry {
			continue
		}
		part := snapshot.Part{Peer: peer, Point: point(e.Tick), Offset: e.Offset, Size: e.Size}
		if e.Tick == 0 {
			start := part
			start.Point = snapshot.Point{}
			parts = append(parts[:0], start)
		}
		if len(parts) == maxParts {
			return nil, fmt.Errorf("%s: more than %d states", name, maxParts)
		}
		parts = append(parts, part)
	}
}

// Read reads one state, as Parts lists it. Name is for errors.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	if size > MaxEntry+4 {
		return nil, fmt.Errorf("%s: state of %d bytes, expected at most %d", name, size, MaxEntry)
	}
	b := make([]byte, size)
	if n, err := r.ReadAt(b, 0); n < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	e, err := ReadEntry(b, name)
	if err != nil {
		return nil, err
	}
	if e.Type != StateEntry {
		return nil, &frame.Error{Name: name, Msg: "expected a state", Err: frame.ErrCorrupt}
	}
	w := &snapshot.World{Head: snapshot.Head{Point: point(e.Tick)}}
	if w.Tables, err = tables(e.Content()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

// place returns the table and row of a node: the number at the end of its path is the row. A path without one, or with
// zeros before it, has a separate table.
func place(path string) (label string, row uint64) {
	label = strings.TrimRight(path, "0123456789")
	digits := path[len(label):]
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || digits[0] == '0' || label == "" {
		return path, 0
	}
	return label, n
}

package zeroad

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/snapshot"
)

// FirstLocal is the first id of entities that only one peer has, such as corpses and previews of buildings. They are
// not part of the sim's state.
const FirstLocal = 1 << 29

// Format returns the format of 0 A.D.'s state dumps. Sniff knows only the text: the first bytes of a compressed file do
// not show its content. Open reads both.
func Format() snapshot.Format {
	return snapshot.Format{
		Name:      formatName,
		Title:     "0 A.D. state dump (oos_dump.txt, ooslog)",
		ParseName: ParseName,
		Folders:   []string{"oos_logs", "ooslog"},
		Usual:     func(base string) bool { return strings.HasPrefix(base, "oos_dump.txt") || testRun(base) != "" },
		NamesPeer: true,
		Naming:    newNaming,
		Ground:    ground,
		Sniff:     stateSniff,
		Anonymous: true,
		Open:      snapshot.InMemory(Read),
	}
}

// testRun returns the run that a dump of the serialization test belongs to, from the base name, "" for any other name:
// debug.before.a, debug.after.b. Simulation a plays on; b was loaded from a save of a.
func testRun(base string) string {
	switch compression.PlainName(base) {
	case "debug.before.a", "debug.after.a":
		return snapshot.FirstRun
	case "debug.before.b", "debug.after.b":
		return snapshot.SecondRun
	}
	return ""
}

// sniff recognises the first line of each kind of dump.
func stateSniff(head []byte) bool {
	if partial.Of(head, formatName) {
		return true
	}
	line, _, whole := bytes.Cut(head, []byte("\n"))
	if !whole {
		return false
	}
	text := strings.TrimSuffix(string(line), "\r")
	if hash, ok := strings.CutPrefix(text, "State hash: "); ok {
		return strings.Trim(hash, "0123456789abcdef") == ""
	}
	if turn, ok := strings.CutPrefix(text, "oos turn: "); ok {
		return turn != "" && strings.Trim(turn, "0123456789") == ""
	}
	rng, ok := strings.CutPrefix(text, `rng: "`)
	return ok && strings.HasSuffix(rng, `"`)
}

// ParseName reads the name of a turn's dump: the turn in five decimal digits or
// more, .txt, and perhaps .gz, .xz or .zst.
func ParseName(base string) (snapshot.FileName, bool) {
	digits, ok := strings.CutSuffix(compression.PlainName(base), ".txt")
	if !ok || len(digits) < 5 || len(digits) > 5 && digits[0] == '0' {
		return snapshot.FileName{}, false
	}
	label, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return snapshot.FileName{}, false
	}
	return snapshot.FileName{Point: afterTurn(label)}, true
}

// afterTurn returns the point after the turn with that label in commands.txt,
// which is where the dump of that name is taken.
func afterTurn(label uint64) snapshot.Point {
	return snapshot.Point{Tick: label + 1, Native: fmt.Sprintf("turn %d", label), Relation: snapshot.After}
}

// Read reads a dump of size bytes. Name is for errors, and contains the turn of a dump that does not. A malformed dump
// is an *engine.LineError.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	used := scratches.Get().(*scratch)
	defer used.free()
	if err := used.unpack(r, size); err != nil {
		return nil, &engine.LineError{Name: name, Err: err}
	}
	w, err := used.read(name)
	if errors.Is(err, errRepeat) {
		used.tables.record.forget()
		w, err = used.read(name)
	}
	return w, err
}

// read reads the content.
func (s *scratch) read(name string) (*snapshot.World, error) {
	d := decoder{name: name, text: s.content, scratch: s}
	w := &snapshot.World{Head: snapshot.Head{Meta: map[string]string{}, Peer: testRun(filepath.Base(name))}}
	if head, rest, part := partial.Cut(d.text); part {
		d.text = rest
		d.excerpt(w, head)
	} else if err := d.all(w); err != nil {
		return nil, err
	}
	var err error
	if w.Tables, err = d.tables.finish(); err != nil {
		return nil, &engine.LineError{Name: name, Err: err}
	}
	w.Sort()
	d.place(w)
	if w.Incomplete() != "" && w.Point == (snapshot.Point{}) {
		w.Point = snapshot.Point{Native: "turn", Relation: snapshot.Some}
	}
	return w, nil
}

// all reads a whole dump.
func (d *decoder) all(w *snapshot.World) error {
	for _, part := range []func() error{d.whole, func() error { return d.header(w) }, d.entities, d.complete} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// maxHeader is the largest number of lines before the entities.
const maxHeader = 64

// header reads everything up to the entities.
func (d *decoder) header(w *snapshot.World) error {
	for range maxHeader {
		start := d.pos
		line, err := d.line()
		if err != nil {
			return err
		}
		name, value, ok := strings.Cut(string(line), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case len(line) == 0:
		case name == "entities" && value == "":
			return nil
		case !ok || len(name) > snapshot.MaxName || strings.TrimLeft(name, " -") != name:
			return d.errorAt(start, "%.40q, expected the head of a dump", line)
		case name == "rng":
			w.RNG = rngBytes(value)
		default:
			w.Meta[strings.ToValidUTF8(strings.ReplaceAll(strings.ToLower(name), " ", "_"), "\uFFFD")] = strings.ToValidUTF8(value, "\uFFFD")
		}
	}
	return d.errorf("no entities within %d lines", maxHeader)
}

// rngBytes returns the RNG's state, a number in quotes, as eight bytes, big-endian; anything else unchanged.
func rngBytes(value string) []byte {
	digits := strings.Trim(value, `"`)
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || value != `"`+strconv.FormatUint(n, 10)+`"` {
		return []byte(value)
	}
	return binary.BigEndian.AppendUint64(nil, n)
}

// place finds the state point of the dump. Its own head counts, then its name; if neither contains it, the sim's clock
// at least distinguishes dumps of different moments. For a peer that joined later "sim turn" counts from there, so "net
// client turn" takes precedence.
func (d *decoder) place(w *snapshot.World) {
	for _, name := range []string{"net_client_turn", "sim_turn"} {
		if n, err := strconv.ParseUint(w.Meta[name], 10, 32); err == nil && n > 0 {
			w.Point = afterTurn(n - 1)
			return
		}
	}
	if file, ok := ParseName(filepath.Base(d.name)); ok {
		w.Point = file.Point
		return
	}
	t := w.Table(snapshot.Archetype, "Timer")
	if t == nil || t.Rows() != 1 {
		return
	}
	if c := t.Column("Timer", "time"); c != nil && c.Type == snapshot.F64 {
		if ms := c.Float(0); ms >= 0 && ms < 1<<53 {
			w.Point = snapshot.Point{Tick: uint64(ms), Native: fmt.Sprintf("%d ms", uint64(ms))}
		}
	}
}

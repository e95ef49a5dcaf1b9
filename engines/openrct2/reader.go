package openrct2

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	maxType  = 256     // bytes of the name of a type of sprite
	maxField = 512     // bytes of the name of a field
	maxNames = 1 << 12 // names of fields that are kept; the game has some hundred
)

// reader reads one side of a report.
type reader struct {
	name     string
	side     int
	lines    *orderlog.Lines
	header   tracediff.Header
	tick     uint64
	srand0   uint32
	srandPos tracediff.Position
	begun    bool // the checkpoint of srand0 was returned

	line []byte // that was read and is not used yet, nil if there is none
	cut  error  // why there are no more lines

	scope    string // of the sprite that the next fields belong to, "" if none
	scopePos tracediff.Position
	wrong    *tracediff.SyntaxError // to be returned by the next call

	names   map[string]string
	rec     tracediff.Record
	at      tracediff.Checkpoint
	values  []byte
	scratch []byte
	err     error // once reading has ended
}

func (r *reader) Header() tracediff.Header { return r.header }

func (r *reader) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "OpenRCT2", File: "OpenRCT2 desync report", Values: true, Exists: true, Noise: isLink,
		Replay: sides(filepath.Base(r.name))[0] == tracediff.FirstRun,
		Covers: "the random number generator's first word and the listed fields of the listed sprites: sprites that are equal are not listed, tiles, rides and the park are not compared",
	}
}

// isLink reports whether a field is a link of the lists in which sprites are: their order depends on drawing and
// loading, and the game's developers do not count it as a desync.
func isLink(field string) bool {
	_, name, _ := strings.Cut(field, "::")
	return name == "next_in_quadrant" || name == "next" || name == "previous"
}

// Next returns the checkpoint of srand0, then one for each sprite; more than one
// if so many fields differ that they do not fit.
func (r *reader) Next() (*tracediff.Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	if !r.begun {
		r.begun = true
		r.begin("srand0", r.srandPos)
		r.sum("", uint64(r.srand0), 4)
		return &r.rec, nil
	}
	for {
		if r.wrong != nil {
			wrong := r.wrong
			r.wrong = nil
			return nil, wrong
		}
		line := r.peek()
		if line == nil {
			r.err = r.cut
			return nil, r.err
		}
		if bytes.HasPrefix(line, []byte("  ")) && r.scope != "" {
			if r.fields() {
				return &r.rec, nil
			}
			continue
		}
		if r.sprite(line) {
			return &r.rec, nil
		}
	}
}

// peek returns the line that comes next, nil if there is none.
func (r *reader) peek() []byte {
	if r.line == nil && r.cut == nil {
		if r.line, r.cut = r.lines.Next(); r.cut != nil {
			r.line = nil
		} else if r.line == nil {
			r.line = []byte{}
		}
	}
	return r.line
}

func (r *reader) syntax(format string, args ...any) {
	r.wrong = &tracediff.SyntaxError{Name: r.name, Pos: r.pos(), Msg: fmt.Sprintf(format, args...)}
}

func (r *reader) pos() tracediff.Position {
	return engine.PositionOf(r.lines)
}

// begin makes the record a checkpoint without sums.
func (r *reader) begin(scope string, pos tracediff.Position) {
	r.at = tracediff.Checkpoint{Tick: r.tick, Scope: scope, Sums: r.at.Sums[:0]}
	r.rec = tracediff.Record{Pos: pos, Checkpoint: &r.at}
	r.values = r.values[:0]
}

// sum adds a value of length bytes. A report shows at most eight of them.
func (r *reader) sum(name string, value uint64, length uint64) {
	start := len(r.values)
	r.values = append(r.values, "0x"...)
	n := min(length, 8)
	for i := n; i > 0; i-- {
		r.values = hex.AppendEncode(r.values, []byte{byte(value >> (8 * (i - 1)))})
	}
	r.at.Sums = append(r.at.Sums, tracediff.Sum{Name: name, Value: r.values[start:len(r.values):len(r.values)]})
}

// sprite reads the line that begins a sprite. It reports whether the line is a
// record by itself.
func (r *reader) sprite(line []byte) bool {
	r.line, r.scope = nil, ""
	rest, _ := bytes.CutPrefix(line, []byte("Sprite "))
	what, rest, _ := bytes.Cut(rest, []byte(" ("))
	typ, number, ok := bytes.Cut(rest, []byte("), index: "))
	index, err := strconv.ParseUint(string(number), 10, 32)
	if !ok || err != nil || len(typ) == 0 || len(typ) > maxType {
		r.syntax("%.60q, expected a sprite", line)
		return false
	}
	r.scratch = strconv.AppendUint(append(append(r.scratch[:0], typ...), ' '), index, 10)
	scope := string(r.scratch)
	side := -1 // that has the sprite
	switch string(what) {
	case "modifications":
		r.scope, r.scopePos = scope, r.pos()
		return false
	case "added":
		side = 1
	case "removed":
		side = 0
	default:
		r.syntax("%.60q, expected a sprite that was modified, added or removed", line)
		return false
	}
	r.begin(scope, r.pos())
	r.at.HasCount = true
	if r.side == side {
		r.at.Count = 1
	}
	return true
}

// fields reads fields of the current sprite. It reports whether there were any.
func (r *reader) fields() bool {
	r.begin(r.scope, r.scopePos)
	for len(r.at.Sums) < tracediff.MaxSums && r.wrong == nil {
		line := r.peek()
		if !bytes.HasPrefix(line, []byte("  ")) {
			break
		}
		r.line = nil
		r.field(line[2:])
	}
	return len(r.at.Sums) > 0
}

// field reads "STRUCT::FIELD, len = N, offset = N, left = 0xHEX, right = 0xHEX".
func (r *reader) field(line []byte) {
	name, rest, _ := bytes.Cut(line, []byte(", len = "))
	a, rest, _ := bytes.Cut(rest, []byte(", offset = "))
	b, rest, _ := bytes.Cut(rest, []byte(", left = 0x"))
	left, right, _ := bytes.Cut(rest, []byte(", right = 0x"))
	length, errLength := strconv.ParseUint(string(a), 10, 32)
	offset, errOffset := strconv.ParseUint(string(b), 10, 32)
	values := [2]uint64{}
	var errs [2]error
	values[0], errs[0] = strconv.ParseUint(string(left), 16, 64)
	values[1], errs[1] = strconv.ParseUint(string(right), 16, 64)
	for _, err := range []error{errLength, errOffset, errs[0], errs[1]} {
		if err != nil {
			r.syntax("%.80q, expected a field with len, offset, left and right", line)
			return
		}
	}
	switch value := values[r.side]; {
	case !plain(name):
		r.syntax("%.60q, expected the name of a field", name)
	case length == 0 || length < 8 && max(values[0], values[1])>>(8*length) != 0:
		r.syntax("%.60q does not fit into %d bytes", line, length)
	default:
		full := r.fieldName(name, offset)
		for i := range r.at.Sums {
			if r.at.Sums[i].Name == full {
				r.syntax("%s a second time", full)
				return
			}
		}
		r.sum(full, value, length)
	}
}

// fieldName returns the name of a field. The game writes the index of an element
// of an array as i, so that only the offset distinguishes elements.
func (r *reader) fieldName(name []byte, offset uint64) string {
	if before, after, array := bytes.Cut(name, []byte("[i]")); array {
		var full [maxField + 32]byte
		b := append(append(full[:0], before...), "[@"...)
		b = strconv.AppendUint(b, offset, 10)
		name = append(append(b, ']'), after...)
	}
	s, ok := r.names[string(name)]
	if !ok {
		s = string(name)
		if len(r.names) < maxNames {
			r.names[s] = s
		}
	}
	return s
}

// plain reports whether a sum can have a name.
func plain(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c > '~' || c == '=' || c == '"' {
			return false
		}
	}
	return len(name) > 0 && len(name) <= maxField
}

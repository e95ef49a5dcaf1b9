package zeroad

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/snapshot"
)

// decoder reads one dump.
type decoder struct {
	name string
	text []byte
	pos  int

	entity uint64         // the current entity
	local  bool           // whether it is a local one
	class  snapshot.Class // of the current component
	*scratch
}

// scratch is what a decoder takes over from the one before it: memory, and knowledge about dumps.
type scratch struct {
	content []byte // the file's
	tables  *tables
	names   map[string]string

	component int          // counts the components
	lines     []nativeLine // of one component

	// The shapes of the current objects, and their parts that are kept as text: of a component, and of an element of a
	// list in it.
	shapes, kept [2][]byte
}

// Limits on the memory of a decoder that is kept for the next one.
const (
	maxScratch = 4 << 20 // bytes of content
	maxGrown   = 8 << 20 // bytes in which tables grew
	maxMade    = 1 << 15 // tables, columns, paths and fields that are known
)

func newScratch() *scratch { return &scratch{tables: newTables(), names: map[string]string{}} }

var scratches = sync.Pool{New: func() any { return newScratch() }}

// free gives it to the next decoder, unless it is large.
func (s *scratch) free() {
	if cap(s.content) > maxScratch || s.tables.made+len(s.names) > maxMade || s.tables.grown() > maxGrown {
		return
	}
	clear(s.lines[:cap(s.lines)])
	scratches.Put(s)
}

// grown returns how many bytes the tables of the dump grew in.
func (ts *tables) grown() (bytes int) {
	for _, t := range ts.used {
		bytes += 8 * (cap(t.keysA) + cap(t.keysB))
		for _, f := range t.fields {
			bytes += cap(f.column.Data) + 4*cap(f.column.Ends)
		}
	}
	return bytes
}

func (d *decoder) errorf(format string, args ...any) error {
	return d.errorAt(d.pos, format, args...)
}

// errorAt returns an error at an offset in the text.
func (d *decoder) errorAt(pos int, format string, args ...any) error {
	return &engine.LineError{Name: d.name, Line: 1 + bytes.Count(d.text[:min(pos, len(d.text))], []byte("\n")), Err: fmt.Errorf(format, args...)}
}

// line returns the next line without its end. Dumps of Windows end lines in
// two bytes.
func (d *decoder) line() ([]byte, error) {
	rest := d.text[d.pos:]
	n := bytes.IndexByte(rest, '\n')
	if n < 0 {
		return nil, d.errorf("the dump ends within its text: %w", io.ErrUnexpectedEOF)
	}
	d.pos += n + 1
	if n > 0 && rest[n-1] == '\r' {
		n--
	}
	return rest[:n], nil
}

// intern returns a name as a string, the same for equal names.
func (d *decoder) intern(name []byte) string {
	s, ok := d.names[string(name)]
	if !ok {
		s = string(name)
		d.names[s] = s
	}
	return s
}

// entities reads everything after the head.
func (d *decoder) entities() error {
	d.tables.begin()
	d.tables.record.begin(d.text)
	within := false // in an entity
	known := false  // one was read
	for d.pos < len(d.text) {
		start := d.pos
		line, err := d.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			within = false
			continue
		}
		if number, ok := bytes.CutPrefix(line, []byte("- id: ")); ok {
			id, ok := engine.ParseInt(number)
			switch {
			case !ok || id < 0:
				return d.errorAt(start, "%.40q, expected the id of an entity", number)
			case known && uint64(id) <= d.entity:
				return d.errorAt(start, "entity %d after entity %d, expected a greater one", id, d.entity)
			case within:
				return d.errorAt(start, "entity %d within entity %d, expected an empty line", id, d.entity)
			}
			within, known = true, true
			d.begin(uint64(id))
			continue
		}
		if !within {
			return d.errorAt(start, "%.40q, expected an entity", line)
		}
		if err := d.entityLine(start, line); err != nil {
			return err
		}
	}
	return nil
}

// entityTable is the table of all entities.
const entityTable = "entity"

func (d *decoder) begin(id uint64) {
	d.entity, d.local = id, id >= FirstLocal
	class := snapshot.Archetype
	if d.local {
		class = snapshot.Noise
	}
	d.tables.get(class, entityTable, entityTable, false).add(id, 0)
}

// entityLine reads a line of indent 2 and everything that belongs to it.
func (d *decoder) entityLine(start int, line []byte) error {
	if string(line) == "  type: local" {
		if d.local {
			return nil
		}
		return d.errorAt(start, "entity %d is local, expected only those from %d on to be", d.entity, uint64(FirstLocal))
	}
	name, ok := componentName(line)
	if !ok {
		return d.errorAt(start, "%.40q, expected a component", line)
	}
	if len(name) > snapshot.MaxName/2 {
		return d.errorAt(start, "component name of %d bytes, expected at most %d", len(name), snapshot.MaxName/2)
	}
	component := d.intern(name)
	d.class = snapshot.Archetype
	if d.local || component == "AIProxy" {
		d.class = snapshot.Noise
	}
	own := d.tables.get(d.class, component, component, false)
	if !own.follows(d.entity, 0) {
		return d.errorAt(start, "entity %d has %s twice", d.entity, component)
	}
	own.add(d.entity, 0)
	d.component++
	r := &d.tables.record
	if b := r.find(own, d.entity); b != nil {
		if n := r.same(b, d.text[d.pos:]); n > 0 {
			if err := r.repeat(b, d.pos); err != nil {
				return err
			}
			d.pos += n
			return nil
		}
	}
	r.start(own, d.entity, d.pos)
	if err := d.fields(own); err != nil {
		return err
	}
	r.end(d.pos)
	return nil
}

// componentName returns the name in a line "  Name:".
func componentName(line []byte) ([]byte, bool) {
	n := len(line)
	if n < 4 || line[0] != ' ' || line[1] != ' ' || line[n-1] != ':' || line[2] < 'A' || line[2] > 'Z' {
		return nil, false
	}
	for _, c := range line[3 : n-1] {
		if !identifierByte(c) {
			return nil, false
		}
	}
	return line[2 : n-1], true
}

func identifierByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

var (
	fieldIndent = []byte("    ")
	separator   = []byte(": ")
)

// fields reads the fields of one component. Its row already exists. Mostly they are the same as in the component before
// it of the same type.
func (d *decoder) fields(own *table) error {
	d.lines = d.lines[:0]
	next := &own.first
	for bytes.HasPrefix(d.text[d.pos:], fieldIndent) {
		start := d.pos
		line, err := d.line()
		if err != nil {
			return err
		}
		content := line[len(fieldIndent):]
		field := *next
		if field == nil || !bytes.HasPrefix(content, field.lead) {
			name, _, ok := bytes.Cut(content, separator)
			switch {
			case !ok && bytes.HasPrefix(name, []byte("# ")):
				continue // a comment
			case !ok || len(name) == 0 || name[0] == ' ' || len(name) > snapshot.MaxName/2 || !validName(name):
				return d.errorAt(start, "%.40q, expected a field of %s", line, own.component)
			}
			if field = own.native[string(name)]; field == nil {
				field = own.nativeField(d.intern(name))
			}
			*next = field
		}
		next = &field.after
		value := content[len(field.lead):]
		if len(value) == 0 || value[0] != '{' && value[0] != '[' {
			d.lines = append(d.lines, nativeLine{start, field, value})
			continue
		}
		d.pos = start + len(fieldIndent) + len(field.lead)
		if err := d.script(own, field); err != nil {
			return err
		}
		if rest, err := d.line(); err != nil {
			return err
		} else if len(rest) > 0 {
			return d.errorAt(d.pos-1, "%.40q after the value of %s, expected the end of the line", rest, field.name)
		}
	}
	return d.nativeFields(own, d.lines)
}

// validName reports whether a native name is plain text.
func validName(name []byte) bool {
	return !slices.ContainsFunc(name, func(c byte) bool { return c < ' ' || c > '~' })
}

// whole checks that the dump ends with an empty line.
func (d *decoder) whole() error {
	if bytes.HasSuffix(d.text, []byte("\n\n")) || bytes.HasSuffix(d.text, []byte("\n\r\n")) {
		return nil
	}
	return d.errorAt(len(d.text), "the dump ends without an empty line: %w", io.ErrUnexpectedEOF)
}

// complete checks that the dump has the entities that TemplateManager lists. A
// dump that was cut between two entities is well-formed otherwise.
func (d *decoder) complete() error {
	all := d.tables.find(snapshot.Archetype, entityTable)
	if all == nil {
		return d.errorf("no entities: %w", io.ErrUnexpectedEOF)
	}
	last := all.keysA[len(all.keysA)-1]
	t := d.tables.find(snapshot.Archetype, "TemplateManager.template")
	if t == nil {
		return nil
	}
	for _, id := range t.keysB {
		if id > last && id < FirstLocal {
			return d.errorf("the dump ends with entity %d, TemplateManager lists entity %d: %w", last, id, io.ErrUnexpectedEOF)
		}
	}
	return nil
}

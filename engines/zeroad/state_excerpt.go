package zeroad

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/snapshot"
)

// formatName is the name of the format in excerpts of dumps.
const formatName = "0ad-dump"

// IsExcerpt reports whether some lines come from the middle of a dump: an entity and a component of it, or a component
// and a field of it.
func IsExcerpt(lines []byte) bool {
	first, rest, _ := bytes.Cut(lines, []byte("\n"))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	first, second = bytes.TrimSuffix(first, []byte("\r")), bytes.TrimSuffix(second, []byte("\r"))
	if number, ok := bytes.CutPrefix(first, []byte("- id: ")); ok {
		_, id := engine.ParseInt(number)
		_, component := componentName(second)
		return id && component
	}
	_, component := componentName(first)
	return component && bytes.HasPrefix(second, fieldIndent) && bytes.Contains(second, separator)
}

// pieces reads an excerpt line by line. All values are texts: what type one has follows from lines
// that may be missing.
type pieces struct {
	d       *decoder
	w       *snapshot.World
	missing partial.Missing

	entity    bool // the current one is known
	component *table
	depth     []level // of the JSON
	next      int64   // the line of the left file that the last gap was followed by
	since     int64
	lines     int64
	unnamed   uint64 // the last key of the values without a name
	wrong     int
	seen      map[string]uint64 // how often a name was in the component
}

// level is an object or list of a script's state.
type level struct {
	indent int
	name   string
}

// excerpt reads what is there of a dump.
func (d *decoder) excerpt(w *snapshot.World, head partial.Head) {
	d.scratch = newScratch() // values are texts here
	d.tables.begin()
	p := &pieces{d: d, w: w, seen: map[string]uint64{}}
	for d.pos < len(d.text) {
		line, err := d.line()
		if err != nil {
			p.missing.Cut(p.lines)
			break
		}
		p.lines++
		p.since++
		if g, ok := partial.ParseGap(line); ok {
			p.gap(g)
		} else if !p.line(line) {
			p.wrong++
		}
	}
	text := p.missing.String()
	if p.wrong > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s; lines that make no sense: %d", text, p.wrong), "; ")
	}
	w.SetIncomplete(text, head.Twin())
}

// gap forgets what earlier lines said.
func (p *pieces) gap(g partial.Gap) {
	p.missing.Add(g)
	if p.lines = g.Last; g.Last == 0 {
		p.lines = max(0, g.Next-1)
	}
	p.entity, p.component, p.depth, p.next, p.since = false, nil, nil, g.Next, 0
}

// key returns the key of a row that has no name: the number of its line in the left file.
func (p *pieces) key() uint64 {
	p.unnamed = max(p.unnamed+1, uint64(max(0, p.next+p.since-1)))
	return p.unnamed
}

// line takes a line. It reports false for a line that does not belong to a dump.
func (p *pieces) line(line []byte) bool {
	d := p.d
	if len(line) == 0 {
		p.entity, p.component, p.depth = false, nil, nil
		return true
	}
	if number, ok := bytes.CutPrefix(line, []byte("- id: ")); ok {
		id, ok := engine.ParseInt(number)
		class := snapshot.Archetype
		if id >= FirstLocal {
			class = snapshot.Noise
		}
		all := d.tables.find(class, entityTable)
		if !ok || id < 0 || all != nil && !all.follows(uint64(id), 0) {
			return false
		}
		d.begin(uint64(id))
		p.entity, p.component, p.depth = true, nil, nil
		return true
	}
	if name, ok := componentName(line); ok {
		return p.begin(d.intern(name))
	}
	text := bytes.TrimLeft(line, " ")
	indent := len(line) - len(text)
	if indent == 0 && len(bytes.Trim(text, "{}[],")) > 0 {
		return p.head(line)
	}
	return string(text) == "type: local" || p.value(indent, text)
}

// head takes a line of the head.
func (p *pieces) head(line []byte) bool {
	name, value, ok := strings.Cut(string(line), ":")
	value = strings.TrimPrefix(value, " ")
	switch {
	case !ok || len(name) > snapshot.MaxName || len(p.w.Meta) == maxHeader:
		return false
	case name == "entities":
	case name == "rng":
		p.w.RNG = rngBytes(value)
	default:
		p.w.Meta[strings.ToValidUTF8(strings.ReplaceAll(strings.ToLower(name), " ", "_"), "\uFFFD")] = strings.ToValidUTF8(value, "\uFFFD")
	}
	return true
}

// begin begins a component, perhaps of an entity that is not known.
func (p *pieces) begin(component string) bool {
	d := p.d
	if len(component) > snapshot.MaxName/2 {
		return false
	}
	label, key := component, d.entity
	d.class = snapshot.Archetype
	if p.entity && d.local || component == "AIProxy" {
		d.class = snapshot.Noise
	}
	if !p.entity {
		label, key = "(unnamed) "+component, p.key()
	}
	own := d.tables.get(d.class, label, component, false)
	if !own.follows(key, 0) {
		return false
	}
	own.add(key, 0)
	clear(p.seen)
	p.component, p.depth = own, nil
	return true
}

// value takes "name: value" of a component written in C++, or a line of the JSON of one written in JavaScript, which
// has its own indent: names in it are in quotes.
func (p *pieces) value(indent int, text []byte) bool {
	d := p.d
	text = bytes.TrimSuffix(text, []byte(","))
	name, value, named := bytes.Cut(text, separator)
	named = named && len(name) > 0
	native := indent == len(fieldIndent) && named && name[0] != '"'
	if native {
		p.depth, indent = nil, 0
	}
	for len(p.depth) > 0 && p.depth[len(p.depth)-1].indent >= indent {
		p.depth = p.depth[:len(p.depth)-1]
	}
	switch {
	case len(bytes.Trim(text, "{}[]")) == 0, bytes.HasPrefix(text, []byte("# ")):
		return true // the form of the JSON, or a comment
	case !native && (!named || name[0] != '"' || name[len(name)-1] != '"'):
		name, value = []byte("(element)"), text
	}
	field := cmp.Or(string(bytes.Trim(name, `"`)), "(unnamed)")
	if string(value) == "{" || string(value) == "[" {
		if len(p.depth) < maxDepth {
			p.depth = append(p.depth, level{indent, field})
		}
		return true
	}
	for i := len(p.depth) - 1; i >= 0; i-- {
		if i > 0 || p.depth[i].name != "comp" {
			field = p.depth[i].name + "." + field
		}
	}
	if len(field) > snapshot.MaxName/2 || !validName([]byte(field)) {
		return false
	}
	field = d.intern([]byte(field))
	t := p.component
	switch nth := p.seen[field]; {
	case t == nil:
		t = d.tables.get(snapshot.Archetype, "(unnamed)", "unnamed component", false)
		t.add(p.key(), 0)
	case nth > 0:
		key := t.keysA[len(t.keysA)-1]
		p.seen[field]++
		t = d.tables.get(d.class, t.label+"."+field, t.component, true)
		if !t.follows(key, nth) {
			return false
		}
		t.add(key, nth)
	default:
		p.seen[field]++
	}
	return t.text(&t.nativeField(field).text, field, value) == nil
}

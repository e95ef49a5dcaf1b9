package sums

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/notation"
)

// object is the shape of lines that are maps in JSON. Its values may come in any order, and in maps and lists inside
// the map.
type object struct {
	json   *notation.Notation
	key    []byte         // the name of the tick in quotes
	slots  map[string]int // by the paths of values
	needed []int          // slots that every line has
}

// walk is a Sink that gives the scalars of a document with their paths: "sums.ai", "systems[2].hash",
// "systems[ai].hash".
type walk struct {
	path   []byte
	stack  []level
	scalar func(path []byte, kind notation.Kind, text []byte)

	text, rest []byte // of the values of a line, and of what else it has
}

// level is a map or list that is open.
type level struct {
	begin int // of what follows its path
	items int // of a list, -1 of a map
}

func (w *walk) BeginMap(int)  { w.open(-1) }
func (w *walk) BeginList(int) { w.open(0) }

func (w *walk) open(items int) {
	w.element()
	w.stack = append(w.stack, level{begin: len(w.path), items: items})
}

// element goes on to the next element if the current container is a list.
func (w *walk) element() {
	if n := len(w.stack); n > 0 && w.stack[n-1].items >= 0 {
		top := &w.stack[n-1]
		w.path = append(strconv.AppendInt(append(w.path[:top.begin], '['), int64(top.items), 10), ']')
		top.items++
	}
}

func (w *walk) End(int) {
	w.stack = w.stack[:len(w.stack)-1]
	if n := len(w.stack); n > 0 && w.stack[n-1].items < 0 {
		w.path = w.path[:w.stack[n-1].begin]
	}
}

func (w *walk) Name(name []byte) {
	begin := w.stack[len(w.stack)-1].begin
	w.path = w.path[:begin]
	if begin > 0 {
		w.path = append(w.path, '.')
	}
	w.path = append(w.path, name...)
}

func (w *walk) Item(name []byte) { w.Name(name) }

func (w *walk) Scalar(kind notation.Kind, text []byte) {
	w.element()
	w.scalar(w.path, kind, text)
	n := len(w.stack)
	if n < 2 || kind != notation.Text || w.stack[n-1].items >= 0 || w.stack[n-2].items < 0 || len(text) > maxLabel {
		return
	}
	// A map in a list is known by its name rather than by its number.
	begin := w.stack[n-1].begin
	switch string(bytes.TrimPrefix(w.path[begin:], []byte("."))) {
	case "name", "system", "id":
		w.path = append(append(append(w.path[:w.stack[n-2].begin], '['), text...), ']')
		w.stack[n-1].begin = len(w.path)
	}
}

// maxLabel is how long a name of a map in a list may be.
const maxLabel = 64

// jsonOf returns the notation.
func jsonOf() *notation.Notation {
	list := notation.All()
	return &list[slices.IndexFunc(list, func(n notation.Notation) bool { return n.Name == "json" })]
}

// learnObjects finds the values of lines that are maps in JSON.
func learnObjects(lines [][]byte) []template {
	if len(lines) == 0 || lines[0][0] != '{' {
		return nil
	}
	json := jsonOf()
	groups := map[string]*objects{}
	var list []*objects
	var paths []string
	var values [][]byte
	var lexicon vocabulary.Lexicon
	w := walk{}
	w.scalar = func(path []byte, kind notation.Kind, text []byte) {
		if len(paths) < maxSlots && slices.Index(paths, string(path)) < 0 {
			paths, values = append(paths, string(path)), append(values, bytes.Clone(text))
		}
	}
	seen := 0
	for _, line := range lines {
		w.path, w.stack, paths, values = w.path[:0], w.stack[:0], paths[:0], values[:0]
		if line[0] != '{' || json.Parse(line, &w) != nil {
			continue
		}
		seen++
		key, ok := objectKey(paths, values, &lexicon)
		if !ok {
			continue
		}
		g := groups[key]
		if g == nil {
			if len(groups) == maxTemplates {
				continue
			}
			g = &objects{paths: strings.Split(key, "\n")}
			for _, path := range g.paths {
				g.columns = append(g.columns, columnOf(path))
			}
			groups[key] = g
			list = append(list, g)
		}
		if g.rows++; g.rows <= maxRows {
			for i, path := range g.paths {
				g.columns[i].values = append(g.columns[i].values, values[slices.Index(paths, path)])
			}
		}
	}
	if 10*seen < 9*len(lines) {
		return nil
	}
	return acceptObjects(list, json, len(lines))
}

// objects is lines with the same paths.
type objects struct {
	paths   []string
	columns []column
	rows    int
}

// objectKey returns the paths of a line that may have a role, and whether there are a tick and a checksum.
func objectKey(paths []string, values [][]byte, lexicon *vocabulary.Lexicon) (string, bool) {
	var list []string
	ticks, sums := false, false
	for i, path := range paths {
		name := []byte(columnOf(path).name)
		_, _, whole := integer(values[i])
		switch meaning := lexicon.Of(name); {
		case meaning == vocabulary.Tick && whole:
			ticks = true
		case (meaning == vocabulary.Sum || meaning == vocabulary.WeakSum) && whole:
			sums = true
		case meaning == vocabulary.Player, phaseWord(string(name)) != "":
		case meaning == vocabulary.Other && whole && len(values[i]) >= 6:
			sums = true
		case !strings.Contains(" system subsystem scope phase ", " "+string(name)+" "):
			continue
		}
		list = append(list, path)
	}
	slices.Sort(list)
	return strings.Join(list, "\n"), ticks && sums
}

// columnOf returns the column of a path: its last name, and the one before it.
func columnOf(path string) column {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	c := column{}
	if n := len(parts); n > 0 {
		c.name = parts[n-1]
		if n > 1 {
			c.qualifier = parts[n-2]
		}
	}
	return c
}

func acceptObjects(list []*objects, json *notation.Notation, lines int) []template {
	slices.SortStableFunc(list, func(a, b *objects) int { return b.rows - a.rows })
	var out []template
	for _, g := range list {
		if g.rows < 3 && lines > 2 {
			continue
		}
		for i := range g.columns {
			g.columns[i].word = slices.ContainsFunc(g.columns[i].values, isWord)
		}
		r, ok := resolve(g.columns, false)
		if !ok {
			continue
		}
		o := &object{json: json, slots: map[string]int{}}
		for i, path := range g.paths {
			if i == r.tick || r.sums(i) || i == r.peer || i == r.scope {
				o.needed = append(o.needed, i)
			} else if i != r.phase {
				continue
			}
			o.slots[path] = i
		}
		o.key = []byte(strconv.Quote(g.columns[r.tick].name))
		out = append(out, template{shape: o, roles: r})
	}
	return separate(out)
}

func isWord(v []byte) bool { _, _, ok := integer(v); return !ok }

func (o *object) match(line []byte, to *matched) bool {
	if !bytes.Contains(line, o.key) {
		return false
	}
	w := &to.walk
	w.path, w.stack, w.text, w.rest = w.path[:0], w.stack[:0], w.text[:0], w.rest[:0]
	if w.scalar == nil {
		w.scalar = to.take
	}
	to.object = o
	for _, slot := range o.slots {
		to.values[slot] = nil
	}
	if o.json.Parse(line, w) != nil {
		return false
	}
	for _, slot := range o.needed {
		if len(to.values[slot]) == 0 {
			return false
		}
	}
	to.before, to.after = w.rest, nil
	return true
}

// take takes a scalar of a line.
func (m *matched) take(path []byte, kind notation.Kind, text []byte) {
	w := &m.walk
	if slot, ok := m.object.slots[string(path)]; ok {
		begin := len(w.text)
		w.text = append(w.text, text...)
		m.values[slot] = w.text[begin:]
	} else if kind == notation.Text || kind == notation.Bool {
		w.rest = append(append(append(append(w.rest, path...), '='), text...), ' ')
	}
}

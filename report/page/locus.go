package page

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// locusView has the differences where the peers diverged, as a tree to unfold: kinds of entities, entities, archetypes,
// components and their fields.
type locusView struct {
	Compared *document.Compared
	Line     string
	Nodes    []*node
	Schema   []string
	Summary  []document.FieldSummary
	Columns  []*node  // with all values, if Nodes lacks some
	Left     []string // the values that are not listed
	Filter   bool     // there is enough to search in
	Listed   string   // how many values Columns have
	Gathered string   // how many values Nodes have

	sides [2]peer
}

// node is something that differs, with its differences below it.
type node struct {
	ID    string
	Level string // kind, entity, archetype or component
	Title string
	Only  *peer  // that alone has it
	Count string // how much differs
	Open  bool
	Nodes []*node
	Notes []string // rows that only one side has, and values that are not listed
	Rows  []locusRow
	Lines string // values of a column
}

// Unfolds reports whether there is anything below a node.
func (n *node) Unfolds() bool { return len(n.Nodes)+len(n.Notes)+len(n.Rows)+len(n.Lines) > 0 }

// locusRow is one value that differs.
type locusRow struct {
	ID     string
	Name   string // of the field
	Apart  string // how far the values are apart
	Cache  bool
	Note   string
	Values []locusValue
	Bits   *bitsView
	Sides  [2]peer // of the bits
}

type locusValue struct {
	Who  peer
	Text string
	As   string // the text that bytes are, empty if they are none
}

// Limits of the tree.
const (
	maxValues  = 120 // values
	maxNodes   = 400 // entities
	maxFields  = 12  // rows of the table of fields
	maxColumns = 200 // rows of the table of columns, and lines about the schema
	fewValues  = 6   // up to which all is unfolded
	fewColumns = 16  // up to which columns are unfolded
)

func newLocus(r *document.Report, peers peers, ids ids) *locusView {
	if len(r.Locus) == 0 && r.Compared == nil {
		return nil
	}
	v := &locusView{Compared: r.Compared}
	names := document.LocusPeers(r)
	cut := *r
	cut.Locus = document.Leading(r.Locus, maxValues)
	g := cut.Gather()
	t := treeBuilder{report: r, peers: peers, names: names, ids: ids, whole: len(cut.Locus) <= fewValues}
	t.build(g)
	v.Nodes = t.nodes
	if k := r.Compared; k != nil {
		v.Line, v.sides = comparedLine(k), [2]peer{peers.of(k.Peers[0]), peers.of(k.Peers[1])}
		listed := t.columns(v, k)
		v.Summary = k.Summed()
		v.Summary = v.Summary[:min(len(v.Summary), maxFields)]
		for i := range k.Schema[:min(len(k.Schema), maxColumns)] {
			s := &k.Schema[i]
			v.Schema = append(v.Schema, fmt.Sprintf("%s of %s: %s", joined(s.Component, s.Field), labelName(s.Archetype), s.Text()))
		}
		if n := len(k.Columns) - maxColumns; n > 0 {
			v.Left = append(v.Left, prose.Count(n, "more column", "more columns")+" in which values differ.")
		}
		v.Listed, v.Gathered = ofAll(listed, k.Values), ofAll(uint64(len(cut.Locus)), k.Values)
		if listed = max(listed, uint64(len(cut.Locus))); k.Values > listed {
			v.Left = append(v.Left, fmt.Sprintf("%d of %d values.", k.Values-listed, k.Values))
		}
	}
	if n := g.Others.Rows; n > 0 {
		v.Left = append(v.Left, prose.Count(n, "row", "rows")+" that only one side has.")
	}
	if t.left > 0 {
		v.Left = append(v.Left, prose.Count(t.left, "entity", "entities")+".")
	}
	v.Filter = t.entities > 1 || len(cut.Locus) > 2 || len(v.Columns) > 0
	return v
}

// ofAll counts values of all that differ.
func ofAll(n, all uint64) string {
	if n == all {
		return "all " + prose.Count(n, "value", "values")
	}
	return fmt.Sprintf("%d of %s", n, prose.Count(all, "value", "values"))
}

// comparedLine names the states that are compared.
func comparedLine(k *document.Compared) string {
	text := prose.Count(k.Values, "value differs", "values differ")
	var rows uint64
	for i := range k.Rows {
		rows += k.Rows[i].Count
	}
	if rows > 0 && k.Values == 0 {
		text = prose.Count(rows, "row is", "rows are") + " on one side only"
	} else if rows > 0 {
		text += ", " + prose.Count(rows, "row is", "rows are") + " on one side only"
	}
	return text + " " + document.AtPoint(document.PointOf(k.Native, k.Point))
}

// treeBuilder puts what differs together.
type treeBuilder struct {
	report   *document.Report
	peers    peers
	names    []string // of the peers, in the order of their values
	ids      ids
	whole    bool // all is unfolded
	nodes    []*node
	entities int
	left     int // entities that are not listed
}

// build groups entities by their kinds, in the order in which these come first.
func (t *treeBuilder) build(g *document.Gathered) {
	type kind struct {
		name   string
		cache  bool
		values uint64
		only   map[string]int
		list   []*node
	}
	var kinds []*kind
	of := func(e *document.Entity) *kind {
		for _, k := range kinds {
			if k.name == e.Kind && k.cache == e.Cache {
				return k
			}
		}
		kinds = append(kinds, &kind{name: e.Kind, cache: e.Cache, only: map[string]int{}})
		return kinds[len(kinds)-1]
	}
	for i := range g.Entities {
		e := &g.Entities[i]
		if t.full() {
			continue
		}
		k := of(e.Entity)
		k.values += e.Values
		k.list = append(k.list, t.entity(e))
	}
	for i := range g.Absent {
		a := &g.Absent[i]
		for _, e := range a.Entities {
			if t.full() {
				continue
			}
			k := of(e)
			k.only[a.Peer]++
			k.list = append(k.list, t.absent(e))
		}
	}
	for _, k := range kinds {
		if len(k.list) == 1 {
			t.nodes = append(t.nodes, k.list[0])
			continue
		}
		n := &node{Level: "kind", Title: document.CountEntities(k.name, uint64(len(k.list))), Nodes: k.list, Open: t.whole}
		if k.cache {
			n.Title = "cache: " + n.Title
		}
		n.ID = t.ids.unique("differs", k.name)
		var parts []string
		if k.values > 0 {
			parts = append(parts, prose.Count(k.values, "value", "values"))
		}
		for _, name := range t.names {
			if c := k.only[name]; c > 0 {
				parts = append(parts, fmt.Sprintf("%d only on %s", c, name))
			}
		}
		n.Count = strings.Join(parts, ", ")
		t.nodes = append(t.nodes, n)
	}
	if len(t.nodes) > 0 { // the way to the first is unfolded
		for n := t.nodes[0]; ; n = n.Nodes[0] {
			if n.Open = true; len(n.Nodes) == 0 {
				break
			}
		}
	}
}

// full counts an entity, and reports whether there is no room for it.
func (t *treeBuilder) full() bool {
	if t.entities == maxNodes {
		t.left++
		return true
	}
	t.entities++
	return false
}

// entity returns the node of an entity that both sides have. A level that has only one node of
// the name of the one above it is left out.
func (t *treeBuilder) entity(e *document.GatheredEntity) *node {
	n := &node{ID: t.ids.unique("differs", e.Kind, e.Key), Level: "entity", Title: e.Title(), Open: t.whole}
	if e.Values > 0 {
		n.Count = prose.Count(e.Values, "value", "values")
	}
	n.Notes = append(n.Notes, e.RowsText()...)
	if e.Left > 0 {
		n.Notes = append(n.Notes, prose.Count(e.Left, "more value", "more values")+" of it not listed")
	}
	type path struct{ archetype, component string }
	archetypes, components := map[string]*node{}, map[path]*node{}
	for _, line := range e.Each() {
		f := line.LocusField
		a := archetypes[f.Archetype]
		if a == nil {
			a = &node{ID: t.ids.unique(n.ID, labelName(f.Archetype)), Level: "archetype", Title: labelName(f.Archetype), Open: t.whole}
			archetypes[f.Archetype] = a
			n.Nodes = append(n.Nodes, a)
		}
		c := components[path{f.Archetype, f.Component}]
		if c == nil {
			c = &node{ID: t.ids.unique(a.ID, f.Component), Level: "component", Title: f.Component, Open: t.whole}
			components[path{f.Archetype, f.Component}] = c
			a.Nodes = append(a.Nodes, c)
		}
		c.Rows = append(c.Rows, t.row(f, e.Entity, c.ID))
	}
	for _, a := range n.Nodes {
		total := 0
		for _, c := range a.Nodes {
			total += len(c.Rows)
			c.Count = prose.Count(len(c.Rows), "value", "values")
		}
		a.Count = prose.Count(total, "value", "values")
		if len(a.Nodes) == 1 {
			c := a.Nodes[0]
			if !slices.Contains(strings.Split(a.Title, "."), c.Title) && !strings.HasPrefix(a.Title, c.Title+".") && c.Title != "" { // else the archetype names it
				a.Title += " › " + c.Title
			}
			a.Rows, a.Nodes = c.Rows, nil
		}
	}
	if len(n.Nodes) == 1 && n.Nodes[0].Title == e.Kind {
		n.Rows, n.Nodes = n.Nodes[0].Rows, n.Nodes[0].Nodes
	}
	return n
}

// absent returns the node of an entity that only one side has.
func (t *treeBuilder) absent(e *document.Entity) *node {
	who := t.peers.of(e.OnlyOn)
	n := &node{ID: t.ids.unique("differs", e.Kind, e.Key), Level: "entity", Title: e.Title(), Only: &who}
	var rows uint64
	for _, r := range e.Rows {
		rows += r.Count
		n.Notes = append(n.Notes, prose.Count(r.Count, "row", "rows")+" of "+labelName(r.Archetype))
	}
	if rows < 2 {
		n.Notes = nil // it is the row
	} else {
		n.Count = prose.Count(rows, "row", "rows") + " in " + prose.Count(len(e.Rows), "archetype", "archetypes")
	}
	return n
}

// row returns the row of one value of an entity.
func (t *treeBuilder) row(f *document.LocusField, e *document.Entity, under string) locusRow {
	row := locusRow{Name: f.Field, Cache: f.Cache, Apart: string(f.Kind)}
	if row.Name == "" {
		row.Name = f.Component
	}
	if at, ok := strings.CutPrefix(f.Key, e.Key+":"); ok && e.Key != "" {
		row.Name += " [" + at + "]"
	} else if f.Key != e.Key {
		row.Name += ", row " + f.Key
	}
	row.ID = t.ids.unique(under, row.Name)
	var raw []string
	for _, name := range t.names {
		if text, has := f.Values[name]; has {
			who := t.peers.of(name)
			row.Values = append(row.Values, locusValue{who, prose.Shorten(text, maxValueText), bytesText(strings.TrimPrefix(text, "0x"))})
			if f.Raw[name] != "" && len(raw) < 2 {
				row.Sides[len(raw)], raw = who, append(raw, f.Raw[name])
			}
		}
	}
	if t.report.Compared != nil {
		row.Apart = f.Apart(t.report.Compared.Peers)
	}
	if len(raw) == 2 {
		row.Bits = newBits(raw[0], raw[1], f.Kind)
	}
	if f.Excerpt != nil {
		row.Note = fmt.Sprintf("part from byte %d on", f.Excerpt.Offset)
	}
	return row
}

// maxValueText is how much of a value is shown.
const maxValueText = 2000

// bytesText returns the text that bytes encode. They are given as hex digits; the last one may be cut off. It is empty
// if they are not printable text of at least three letters.
func bytesText(digits string) string {
	b, err := hex.DecodeString(digits[:len(digits)&^1])
	if err != nil || len(b) < 3 || !utf8.Valid(b) {
		return ""
	}
	for _, r := range string(b) {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return ""
		}
	}
	return string(b)
}

func joined(component, field string) string {
	switch {
	case component == "":
		return field
	case field == "":
		return component
	}
	return component + "." + field
}

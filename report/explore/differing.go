package explore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// differing returns the differences where the peers diverged.
func (b *builder) differing() *Node {
	k, g := b.Compared, b.Gather()
	n := &Node{Title: "what differs", Command: b.diff(), Unfolded: true}
	n.add(b.details())
	if k != nil {
		n.Tick, n.Native = &k.Point, k.Native
		n.Aside = prose.Count(k.Values, "value", "values")
		rows := [][]string{}
		for i := range k.Summary {
			f := &k.Summary[i]
			rows = append(rows, []string{f.Name(), strconv.FormatUint(f.Values, 10), f.Pattern.Text(k.Peers, f.Values), f.Where(2)})
		}
		n.Parts = append(n.Parts,
			Part{Text: []string{"Compared: " + k.Peers[0] + " and " + k.Peers[1] + " " + document.AtPoint(document.PointOf(k.Native, k.Point)) + "."}},
			Part{Heading: "fields", Table: &Table{Head: []string{"field", "values", "pattern", "in"}, Rows: rows}})
		for i := range k.Schema {
			s := &k.Schema[i]
			n.add(&Node{Title: document.LabelName(s.Archetype) + " " + strings.Trim(s.Component+"."+s.Field, "."), Aside: s.Text(), State: document.RungTrouble, Command: b.diff(),
				Parts: []Part{{Heading: "a column that is not the same on both sides", Text: []string{s.Text()}}}})
		}
	}
	b.entities(n, g)
	for i := range g.Absent {
		n.add(b.absent(&g.Absent[i]))
	}
	if o := g.Others; o.Values > 0 || o.Rows > 0 {
		n.add(more(int(min(o.Values+o.Rows, math.MaxInt32)), "value or row", "values and rows", b.diff()))
	}
	n.add(b.tree())
	if len(n.Children) == 0 && k == nil {
		return nil
	}
	return n
}

// entities adds the entities that both sides have, the entities of each kind below a separate node if there are several
// kinds.
func (b *builder) entities(n *Node, g *document.Gathered) {
	kinds, many := []string{}, map[string][]*document.GatheredEntity{}
	for i := range g.Entities {
		e := &g.Entities[i]
		kind := document.LabelName(e.Kind)
		if e.Cache {
			kind = "cache " + e.Kind
		}
		if many[kind] == nil {
			kinds = append(kinds, kind)
		}
		many[kind] = append(many[kind], e)
	}
	for _, kind := range kinds {
		to := n
		if len(many[kind]) > 1 {
			values := uint64(0)
			rows := [][]string{}
			for _, e := range many[kind] {
				values += e.Values
				rows = append(rows, []string{e.Title(), strconv.FormatUint(e.Values, 10)})
			}
			to = &Node{Title: kind, Aside: prose.Count(len(many[kind]), "entity", "entities") + ", " + prose.Count(values, "value", "values"), Command: b.diff(),
				Parts: []Part{{Table: &Table{Head: []string{"entity", "values"}, Rows: rows}}}, Tick: n.Tick, Native: n.Native, Unfolded: len(kinds) == 1}
			n.add(to)
		}
		for _, e := range many[kind] {
			to.add(b.entity(e, n))
		}
	}
}

// entity is an entity, its components and their fields, of the states that a node is of.
func (b *builder) entity(e *document.GatheredEntity, of *Node) *Node {
	n := &Node{Title: e.Title(), Command: b.diff(), Tick: of.Tick, Native: of.Native}
	lines := e.Each()
	groups, fieldsOf := []string{}, map[string][]*Node{}
	table := &Table{Head: b.heads("field"), Inks: b.sides()}
	for i := range lines {
		f := lines[i].LocusField
		table.Rows = append(table.Rows, append([]string{lines[i].Names(0)}, b.values(f)...))
		group := f.Archetype + "\x00" + f.Component
		if fieldsOf[group] == nil {
			groups = append(groups, group)
		}
		fieldsOf[group] = append(fieldsOf[group], b.field(&lines[i], of))
	}
	for _, group := range groups {
		fields := fieldsOf[group]
		if len(fields) == 1 || len(groups) == 1 {
			n.Children = append(n.Children, fields...)
			continue
		}
		archetype, component, _ := strings.Cut(group, "\x00")
		n.add(&Node{Title: cmp.Or(component, document.LabelName(archetype)), Aside: prose.Count(len(fields), "value", "values"), Command: b.diff(), Tick: of.Tick, Native: of.Native, Children: fields,
			Parts: []Part{{Text: []string{"archetype " + document.LabelName(archetype)}, Ink: Faint}}})
	}
	n.Aside = prose.Count(e.Values, "value", "values")
	if len(n.Children) == 1 && len(e.Rows) == 0 && e.Left == 0 { // nothing is between an entity and its only value
		one := n.Children[0]
		one.Title = n.Title + "  " + one.Title
		return one
	}
	if len(table.Rows) > 0 {
		n.Parts = append(n.Parts, Part{Table: table})
	}
	if rows := e.RowsText(); len(rows) > 0 {
		n.Parts = append(n.Parts, Part{Heading: "on one side only", Text: rows})
	}
	if e.Left > 0 {
		n.add(more(int(min(e.Left, math.MaxInt32)), "value", "values", b.diff()))
	}
	return n
}

// heads returns the heads of columns of the peers' values.
func (b *builder) heads(first string) []string {
	return append([]string{first}, document.LocusPeers(b.Report)...)
}

// sides returns the inks of columns of the peers' values, the first one for names: only a replay shows which peer is
// right.
func (b *builder) sides() []Ink {
	inks := []Ink{Plain}
	for i, name := range document.LocusPeers(b.Report) {
		ink := []Ink{Name, Warn}[i%2]
		switch b.Standing(name) {
		case document.StandingRight:
			ink = Good
		case document.StandingWrong:
			ink = Bad
		}
		inks = append(inks, ink)
	}
	return inks
}

// values returns the values of a field, one a peer.
func (b *builder) values(f *document.LocusField) (out []string) {
	for _, name := range document.LocusPeers(b.Report) {
		v, has := f.Values[name]
		if !has {
			v = "not compared"
		}
		out = append(out, v)
	}
	return out
}

// field is one value on the peers.
func (b *builder) field(line *document.GatheredLine, of *Node) *Node {
	f := line.LocusField
	names := document.LocusPeers(b.Report)
	var has []string // peers with a value
	for _, name := range names {
		if _, ok := f.Values[name]; ok {
			has = append(has, f.Values[name])
		}
	}
	n := &Node{Title: line.Names(0), Aside: strings.Join(has, " | "), Command: b.diff(), Tick: of.Tick, Native: of.Native}
	values := &Table{Head: b.heads(""), Inks: b.sides(), Rows: [][]string{append([]string{"value"}, b.values(f)...)}}
	var raw []int
	bits := []string{"hex"}
	for i, name := range names {
		bits = append(bits, f.Raw[name])
		if f.Raw[name] != "" {
			raw = append(raw, i)
		}
	}
	if len(raw) > 0 {
		values.Rows = append(values.Rows, bits)
	}
	n.Parts = append(n.Parts, Part{Table: values})
	about := facts{}
	about.add("kind", string(f.Kind))
	apart := ""
	if b.Compared != nil {
		if apart = f.Apart(b.Compared.Peers); apart != string(f.Kind) {
			about.add("apart", apart)
		}
	}
	if f.Difference != apart {
		about.add("difference", f.Difference)
	}
	if f.Relative != nil && !math.IsNaN(*f.Relative) && !math.IsInf(*f.Relative, 0) {
		about.add("relative", fmt.Sprintf("%.3g %%", 100**f.Relative))
	}
	if f.ULP != nil {
		about.add("steps", strconv.FormatUint(*f.ULP, 10)+" ulp")
	}
	if f.Units > 0 {
		about.add("units", prose.Count(f.Units, "unit of the last place", "units of the last place"))
	}
	if f.Bits > 0 {
		about.add("changed", prose.Count(f.Bits, "bit", "bits"))
	}
	n.Parts = append(n.Parts, Part{Table: &Table{Rows: about}})
	if len(raw) == 2 {
		if part := bitsOf(f.Raw[names[raw[0]]], f.Raw[names[raw[1]]], f.Kind); part != nil {
			part.Names = [2]string{names[raw[0]], names[raw[1]]}
			n.Parts = append(n.Parts, Part{Heading: "bits", Bits: part})
		}
	}
	at := facts{{"entity", line.Of.Title()}, {"archetype", document.LabelName(f.Archetype)}}
	at.add("row", f.Key)
	if k := b.Compared; k != nil {
		at.add("state", document.AtPoint(document.PointOf(k.Native, k.Point)))
	}
	n.Parts = append(n.Parts, Part{Heading: "where", Table: &Table{Rows: at}})
	if c := b.FirstDivergence; c != nil && c.Tick != nil && c.Native != nil && c.Native.Step != "" {
		n.Parts = append(n.Parts, Part{Text: []string{"diverged in " + document.InTick(document.BothNames(c.Native.Step, *c.Tick))}, Ink: Faint})
	}
	return n
}

// absent are the entities of one kind that only one side has.
func (b *builder) absent(a *document.AbsentEntities) *Node {
	n := &Node{Title: a.Title(3), Aside: "only on " + a.Peer, Command: b.diff()}
	if k := b.Compared; k != nil {
		n.Tick, n.Native = &k.Point, k.Native
	}
	rows := [][]string{}
	for _, e := range a.Entities {
		rows = append(rows, []string{e.Title(), strings.Join(e.RowsText(), ", ")})
	}
	n.Parts = []Part{{Text: []string{"only " + a.Peer + " has"}}, {Table: &Table{Head: []string{"entity", "rows"}, Rows: rows}}}
	if rest := a.Rest(); rest != "" {
		n.Parts = append(n.Parts, Part{Text: []string{rest}, Ink: Faint})
	}
	return n
}

// details returns the details of the first checkpoint that differs, such as call stacks.
func (b *builder) details() *Node {
	d := b.FirstDetails()
	if d == nil {
		return nil
	}
	n := &Node{Title: d.Title(), Aside: d.About(), Command: b.tracediff()}
	n.Tick, n.Native = when(b.FirstDivergence)
	lines := func(from int, all []document.DetailDocument) (out []string) {
		for i, l := range all {
			out = append(out, d.Line(from+i, l))
		}
		return out
	}
	n.Parts = []Part{{Text: []string{d.About()}, Ink: Faint}}
	if len(d.Same) > 0 {
		n.Parts = append(n.Parts, Part{Heading: "the same on all peers", Text: lines(0, d.Same)})
	}
	for _, p := range d.Peers {
		rest := lines(len(d.Same), p.Rest)
		if len(rest) == 0 {
			rest = []string{"nothing more"}
		}
		n.Parts = append(n.Parts, Part{Heading: p.Peer, Text: rest})
	}
	return n
}

// briefHash is how much of a hash is shown next to others.
const briefHash = 12

// tree are the leaves of the hash tree that differ.
func (b *builder) tree() *Node {
	t := b.Tree
	if t == nil {
		return nil
	}
	n := &Node{Title: "hash tree", Command: b.walk(), Tick: &t.Point}
	rows := [][]string{}
	add := func(label string, hashes [2]string, more ...[]string) {
		brief := []string{label}
		for _, h := range hashes {
			brief = append(brief, cmp.Or(prose.Shorten(h, briefHash), "absent"))
		}
		rows = append(rows, brief)
		n.add(&Node{Title: label, Aside: strings.Join(brief[1:], " | "), Command: b.walk(), Tick: &t.Point,
			Parts: []Part{{Table: &Table{Head: []string{"", t.Peers[0], t.Peers[1]}, Rows: append([][]string{{"hash", hashes[0], hashes[1]}}, more...), Inks: []Ink{Plain, Name, Warn}}}}})
	}
	add("root", t.Roots)
	for i := range t.Leaves {
		if l := &t.Leaves[i]; l.Hashes[0] != l.Hashes[1] {
			add(document.LabelName(l.Label), l.Hashes, []string{"rows", strconv.FormatUint(l.Rows[0], 10), strconv.FormatUint(l.Rows[1], 10)})
		}
	}
	n.Aside = fmt.Sprintf("%d of %d leaves differ", len(rows)-1, len(t.Leaves))
	n.Parts = []Part{{Text: []string{n.Aside}}, {Table: &Table{Head: []string{"", t.Peers[0], t.Peers[1]}, Rows: rows, Inks: []Ink{Plain, Name, Warn}}}}
	return n
}

// maxBits is the largest width of a number with bits that are shown.
const maxBits = 128

// bitsOf returns nil unless there are two raw values of one width.
func bitsOf(a, b string, kind snapshot.Kind) *Bits {
	x, y := binary(a), binary(b)
	if x == "" || len(x) != len(y) {
		return nil
	}
	cuts := []int{}
	left := len(x)
	if slices.Contains([]snapshot.Kind{snapshot.KindFloat, snapshot.KindNaN, snapshot.KindSignOfZero}, kind) {
		switch left { // the sign, the exponent
		case 32:
			cuts = append(cuts, 1, 8)
		case 64:
			cuts = append(cuts, 1, 11)
		}
	}
	for _, c := range cuts {
		left -= c
	}
	for left > 0 {
		n := (left-1)%8 + 1
		cuts = append(cuts, n)
		left -= n
	}
	return &Bits{Digits: [2]string{x, y}, Cuts: cuts}
}

// binary returns hex digits as binary ones, empty if there are none or too many.
func binary(hex string) string {
	if 4*len(hex) > maxBits {
		return ""
	}
	var out strings.Builder
	for _, digit := range hex {
		n, err := strconv.ParseUint(string(digit), 16, 4)
		if err != nil {
			return ""
		}
		fmt.Fprintf(&out, "%04b", n)
	}
	return out.String()
}

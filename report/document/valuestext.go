package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// besideTitle is how many columns an entity and its only field take at most in one line of a text of this width.
func besideTitle(width int) int { return min(40, width/3) }

// shownAbsent is how many kinds of entities a text names that only one side has.
const shownAbsent = 6

// maxAbsent is how many entities of one kind that only one side has are named.
const maxAbsent = 120

// values shows what differs, entity by entity.
func (t *reportText) values() {
	k := t.r.Compared
	if k == nil || len(t.r.Locus)+len(k.Rows) == 0 {
		return
	}
	g := t.r.Gather()
	t.section("values", differing(k, g)+" "+Safe(AtPoint(PointOf(k.Native, k.Point))))
	t.summary(k)
	a, b := k.Peers[0], k.Peers[1]
	left := k.Values
	rows, shown := t.valueRows(g, false)
	if width(rows) > t.width-2 || slices.ContainsFunc(g.Entities, func(e GatheredEntity) bool { return len(e.Lines) > 1 }) {
		rows, shown = t.valueRows(g, true)
	}
	left -= min(left, shown)
	switch {
	case shown == 0:
	case width(rows) > t.width-2:
		t.stacked(rows)
	default:
		n := len(rows[0]) - 4 // the columns of the peers follow those of entities and fields
		if t.all {
			n--
		}
		t.rows(rows, table{indent: "  ", heading: t.s.faint, colours: map[int]printer{n + 1: t.side(a, t.s.name), n + 2: t.side(b, t.s.warn)}})
	}
	if left > 0 {
		t.put("  ", t.s.faint.Sprint("… and "+prose.Count(left, "more value", "more values")+t.hint()))
	}
	t.onOneSide(g)
}

// shownFields is how many fields a text sums up. eachValue is the part of a text that lists single values after a
// summary.
const (
	shownFields = 6
	eachValue   = "each value"
)

// summary shows each field with what its values have in common.
func (t *reportText) summary(k *Compared) {
	fields := k.Summed()
	if len(fields) == 0 {
		return
	}
	n := t.shown(len(fields), shownFields)
	t.fields(t.s, fields[:n], k.Peers)
	t.more(len(fields), n)
	t.begin(eachValue)
	t.put()
}

// fields shows each field with what its values have in common: a table, or a list if that is too wide.
func (l *lines) fields(s Style, fields []FieldSummary, peers [2]string) {
	rows := [][]string{{"field", "values", "pattern", "in"}}
	for i := range fields {
		f := &fields[i]
		rows = append(rows, []string{f.Name(), strconv.FormatUint(f.Values, 10), f.Pattern.Text(peers, f.Values), f.Where(2)})
	}
	if l.width == 0 || width(rows) <= l.width-2 {
		l.rows(rows, table{indent: "  ", heading: s.faint, colours: map[int]printer{2: s.warn}})
		return
	}
	for _, row := range rows[1:] {
		pattern := ""
		if row[2] != "" {
			pattern = ": " + s.warn.Sprint(row[2])
		}
		l.hang(4, "  ", whole(row[0]), "  "+row[1]+" in "+row[3], pattern)
	}
}

// stacked writes rows of values for which there are not enough columns: both peers' values and their difference follow
// the name of the field, or are below it.
func (t *reportText) stacked(rows [][]string) {
	a, b := t.side(t.r.Compared.Peers[0], t.s.name), t.side(t.r.Compared.Peers[1], t.s.warn)
	for n, row := range rows {
		if n == 0 {
			t.put("  ", t.s.faint.Sprint(strings.Join(row[1:3], " | ")+"  "+strings.Join(row[3:], "  ")))
			continue
		}
		before := "  " + row[0]
		indent := len(before) - len(strings.TrimLeft(before, " "))
		if len(row) == 1 {
			t.put(whole(strings.TrimRight(before, " ")))
			continue
		}
		values := []string{a.Sprint(whole(row[1])), t.s.faint.Sprint(" | "), b.Sprint(whole(row[2])), "  ", strings.Join(row[3:], "  ")}
		if before += "  "; wordColumns(before)+wordColumns(strings.Join(values, "")) > t.width {
			t.put(whole(strings.TrimRight(before, " ")))
			before = strings.Repeat(" ", indent+2)
		}
		t.hang(indent+4, append([]string{before}, values...)...)
	}
}

// valueRows returns the rows of a table of values that differ, the first being its heading, and how many values they
// show: a row for each, with its entity in front or, in blocks, in a separate row before the rows of its values.
func (t *reportText) valueRows(g *Gathered, blocks bool) (rows [][]string, shown uint64) {
	peers := t.r.Compared.Peers
	head := []string{"field", prose.Name(peers[0]), prose.Name(peers[1]), "difference"}
	if t.all {
		head = append(head, "bits")
	}
	if !blocks {
		head = append([]string{"entity"}, head...)
	}
	rows = append(rows, head)
	var first []*GatheredLine
	if !t.all {
		first = g.telling(shownValues)
	}
	for i := range g.Entities {
		e := &g.Entities[i]
		lines := e.lines(t.all)
		if !t.all {
			lines = slices.DeleteFunc(slices.Clone(lines), func(l GatheredLine) bool {
				return !slices.ContainsFunc(first, func(f *GatheredLine) bool { return f.LocusField == l.LocusField })
			})
		}
		for n, line := range lines {
			shown += uint64(1 + len(line.Same))
			row := []string{line.Names(1), prose.Shorten(Safe(line.Values[peers[0]]), 28), prose.Shorten(Safe(line.Values[peers[1]]), 28), line.apart(peers, "")}
			if t.all {
				row = append(row, bitsText(line.LocusField))
			}
			switch {
			case !blocks:
				row = append([]string{e.Title()}, row...)
			case len(lines) == 1 && prose.Columns(e.Title())+2+prose.Columns(row[0]) <= besideTitle(t.width):
				row[0] = e.Title() + "  " + row[0]
				rows = append(rows, row)
				continue
			case n == 0:
				rows = append(rows, []string{e.Title()})
				fallthrough
			default:
				row[0] = "  " + row[0]
			}
			rows = append(rows, row)
		}
	}
	return rows, shown
}

// width returns how many columns a table takes, without its heading.
func width(rows [][]string) (n int) {
	var wide []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], prose.Columns(cell))
		}
	}
	for _, w := range wide {
		n += w + 2
	}
	return n - 2
}

// hint describes how to see the parts that are left out.
func (t *reportText) hint() string {
	if t.all {
		return ""
	}
	return "  (--all)"
}

// onOneSide lists what only one of two states has.
func (t *reportText) onOneSide(g *Gathered) {
	var lines []string
	keys := shownValues
	if t.all {
		keys = maxAbsent
	}
	for i := range g.Absent {
		a := &g.Absent[i]
		exist := "exist"
		if len(a.Entities) == 1 {
			exist = "exists"
		}
		text := a.Title(keys) + "  " + t.s.faint.Sprint(exist+" only on ") + t.s.name.Sprint(prose.Name(a.Peer))
		if rest := a.Rest(); rest != "" {
			text += t.s.faint.Sprint("; " + rest)
		}
		lines = append(lines, text)
	}
	for i := range g.Entities {
		if texts := g.Entities[i].RowsText(); len(texts) > 0 {
			lines = append(lines, g.Entities[i].Title()+"  "+t.s.faint.Sprint(strings.Join(texts, ", ")))
		}
	}
	n := t.shown(len(lines), shownAbsent)
	for _, line := range lines[:n] {
		t.put("  ", line)
	}
	t.more(len(lines), n)
	if n := g.Others.Rows; n > 0 {
		t.put("  ", t.s.faint.Sprint("… and "+prose.Count(n, "more row", "more rows")+" on one side only"))
	}
}

// lines returns the values of an entity, those that are the same together, or each by itself.
func (e *GatheredEntity) lines(each bool) []GatheredLine {
	if !each {
		return e.Lines
	}
	var out []GatheredLine
	for _, line := range e.Lines {
		out = append(out, GatheredLine{LocusField: line.LocusField, Of: e.Entity})
		for _, f := range line.Same {
			out = append(out, GatheredLine{LocusField: f, Of: e.Entity})
		}
	}
	return out
}

// differing describes how much of two states differs.
func differing(k *Compared, g *Gathered) string {
	var rows uint64
	for i := range k.Rows {
		rows += k.Rows[i].Count
	}
	text := prose.Count(k.Values, "value differs", "values differ")
	if n := len(g.Entities); g.Others == (Others{}) && n > 0 && uint64(n) < k.Values {
		text = prose.Count(k.Values, "value", "values") + " of " + prose.Count(n, "entity", "entities") + " differ"
		if k.Values == 1 {
			text += "s"
		}
	}
	one := prose.Count(rows, "row is", "rows are") + " on one side only"
	if absent, all := g.absent(); all {
		one = prose.Count(absent, "entity is", "entities are") + " on one side only"
	}
	switch {
	case rows == 0:
		return text
	case k.Values == 0:
		return one
	}
	return text + ", " + one
}

// absent counts the entities that only one side has; all reports that there is nothing else that only one side has.
func (g *Gathered) absent() (n int, all bool) {
	for i := range g.Absent {
		n += len(g.Absent[i].Entities)
	}
	return n, g.Others.Rows == 0 && !slices.ContainsFunc(g.Entities, func(e GatheredEntity) bool { return len(e.Rows) > 0 })
}

// bitsText describes how many bits of a value changed, and by how many steps of a float.
func bitsText(f *LocusField) string {
	var parts []string
	if f.Bits > 0 {
		parts = append(parts, prose.Count(uint64(f.Bits), "bit", "bits"))
	}
	if f.ULP != nil {
		parts = append(parts, fmt.Sprintf("%d ulp", *f.ULP))
	}
	return strings.Join(parts, ", ")
}

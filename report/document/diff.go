package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// diffDocument is desynctool.diff/1.
type diffDocument struct {
	Head
	Peers       []string          `json:"peers"`
	Seed        string            `json:"seed"`
	Point       uint64            `json:"point"`
	Phase       string            `json:"phase,omitempty"`
	Native      *Native           `json:"native,omitempty"`
	Archetypes  []TableDocument   `json:"archetypes"`
	Caches      []TableDocument   `json:"caches"`
	Noise       []TableDocument   `json:"noise,omitempty"`
	NoisyTables int               `json:"noisy_tables"`
	Noisy       []string          `json:"noisy"` // labels of the noise that differs
	Hidden      []snapshot.Hidden `json:"hidden"`
	Findings    []string          `json:"findings"`           // differences other than values, by name
	LeftOut     uint64            `json:"left_out,omitempty"` // values and rows that the tables count but do not list
	Notes       []string          `json:"notes,omitempty"`    // what limits what it proves
}

// TableDocument has the differences in one table.
type TableDocument struct {
	Label   string              `json:"label"`
	Only    map[string][]string `json:"only"`
	Fields  []FieldDocument     `json:"fields"`
	Counts  tableCounts         `json:"counts"`
	Schema  []string            `json:"schema,omitempty"`
	Missing string              `json:"missing_on,omitempty"` // the peer that lacks the table
	// Reordered is set if both have the same rows, which have no ids, in another order.
	Reordered bool `json:"reordered,omitempty"`
}

// tableCounts counts all differences, including those left out.
type tableCounts struct {
	Only    map[string]uint64 `json:"only"`
	Fields  uint64            `json:"fields"`
	Columns []ColumnDocument  `json:"columns"`
}

// ColumnDocument counts the changed values of one column, and describes what several values have in common. One value
// has no pattern.
type ColumnDocument struct {
	Component string   `json:"component"`
	Field     string   `json:"field"`
	Changed   uint64   `json:"changed"`
	Pattern   *Pattern `json:"pattern,omitempty"`
}

// Column returns the document of a column; names are the peers' names.
func Column(c *snapshot.ColumnDiff, names [2]string) ColumnDocument {
	return ColumnDocument{c.Component, c.Field, c.Rows, PatternOf(&c.Tally, names)}
}

// FieldDocument is one changed value.
type FieldDocument struct {
	Key       string            `json:"key"`
	Component string            `json:"component"`
	Field     string            `json:"field"`
	Values    map[string]string `json:"values"`
	Kind      snapshot.Kind     `json:"kind"`
	Bits      int               `json:"bits_changed"`
	ULP       *uint64           `json:"ulp,omitempty"`
	// Difference is the second value minus the first, Relative the difference divided by the first, Units the
	// difference in units of a fixed-point number: see snapshot.Apart.
	Difference string   `json:"difference,omitempty"`
	Relative   *float64 `json:"relative,omitempty"`
	Units      uint64   `json:"units,omitempty"`

	Excerpt *excerptDocument `json:"excerpt,omitempty"` // where values holds parts of long ones
}

// excerptDocument is the part of two long values that is shown.
type excerptDocument struct {
	Offset  int            `json:"offset"`
	Lengths map[string]int `json:"lengths"`
}

// findings names what a diff found that no single value shows.
func findings(d *snapshot.Diff) []string {
	out := slices.Clone(d.Findings)
	if d.StaleCache() {
		out = append(out, "stale cache: the authoritative states are equal, a cache that follows from them is not")
	}
	if d.HistoriesDiffer() && !d.RootsDiffer() {
		out = append(out, "healed: the states are equal, their history hashes are not, so the peers diverged before and came back, or a hash of one was wrong")
	}
	if !d.HistoriesDiffer() && d.RootsDiffer() && !d.A.History.IsZero() && d.A.History == d.B.History {
		out = append(out, "contradiction: the states differ, their history hashes are equal")
	}
	for _, c := range d.Classes {
		out = append(out, fmt.Sprintf("contradiction: %q is declared %s in one state and %s in the other: the two do not mean the same state", c.Label, c.A, c.B))
	}
	return out
}

// noisyLabels names the first kinds of noise that differ.
func noisyLabels(d *snapshot.Diff) string {
	const most = 5
	names := make([]string, 0, most)
	for _, label := range d.Noisy[:min(len(d.Noisy), most)] {
		names = append(names, prose.Shorten(label, 40))
	}
	if n := len(d.Noisy) - most; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}

// Diff returns the document of a diff; names are the peers' names.
func Diff(d *snapshot.Diff, names [2]string, warnings []string) Document {
	return Document{
		StatusOf(d),
		func() any { return diffJSON(d, names, warnings) },
		func(out *Text, all bool) { diffText(out, d, names, all) },
	}
}

// Tables returns the documents of the differences in the archetypes of two states, the RNG under the empty label; names
// are the peers' names.
func Tables(d *snapshot.Diff, names [2]string) []TableDocument {
	return diffJSON(d, names, nil).Archetypes
}

func diffJSON(d *snapshot.Diff, names [2]string, warnings []string) *diffDocument {
	doc := &diffDocument{
		Head: head("diff", StatusOf(d), warnings), Peers: names[:], Seed: fmt.Sprintf("%016x", d.A.Seed),
		Point: d.A.Point.Tick, Phase: d.A.Point.Phase, Native: native(d.A.Point),
		NoisyTables: d.NoisyTables, Noisy: d.Noisy, Hidden: d.Hidden, Findings: findings(d), LeftOut: d.LeftOut(), Notes: d.Notes,
	}
	if d.RNG != nil {
		doc.Archetypes = append(doc.Archetypes, TableDocument{
			Label: "", Only: onlyKeys(names, nil, nil), Fields: []FieldDocument{Field(d.RNG, "", names)},
			Counts: tableCounts{Only: map[string]uint64{names[0]: 0, names[1]: 0}, Fields: 1, Columns: []ColumnDocument{{Component: snapshot.RNG, Field: "state", Changed: 1}}},
		})
	}
	for i := range d.Tables {
		t := tableDocument(&d.Tables[i], names)
		switch d.Tables[i].Class {
		case snapshot.Archetype:
			doc.Archetypes = append(doc.Archetypes, t)
		case snapshot.Cache:
			doc.Caches = append(doc.Caches, t)
		default:
			doc.Noise = append(doc.Noise, t)
		}
	}
	return doc
}

func tableDocument(t *snapshot.TableDiff, names [2]string) TableDocument {
	doc := TableDocument{
		Label: t.Label, Reordered: t.Reordered, Only: onlyKeys(names, t.OnlyA, t.OnlyB), Fields: []FieldDocument{}, Schema: schemaTexts(t.Schema, names),
		Counts: tableCounts{Only: map[string]uint64{names[0]: t.OnlyACount, names[1]: t.OnlyBCount}, Fields: t.Changed(), Columns: []ColumnDocument{}},
	}
	for i := range t.Changes {
		doc.Fields = append(doc.Fields, Field(&t.Changes[i], t.Changes[i].Key.String(), names))
	}
	for i := range t.Columns {
		doc.Counts.Columns = append(doc.Counts.Columns, Column(&t.Columns[i], names))
	}
	switch {
	case !t.InA:
		doc.Missing = names[0]
	case !t.InB:
		doc.Missing = names[1]
	}
	return doc
}

// schemaTexts describes in words how the columns and keys of a table differ.
func schemaTexts(schema []snapshot.SchemaChange, names [2]string) []string {
	var out []string
	for _, c := range schema {
		switch {
		case c.Column == "":
			out = append(out, fmt.Sprintf("keys have %s in one state and %d in the other", prose.Count(c.PartsA, "part", "parts"), c.PartsB))
		case c.B == nil:
			out = append(out, fmt.Sprintf("column %s only on %s", c.Column, names[0]))
		case c.A == nil:
			out = append(out, fmt.Sprintf("column %s only on %s", c.Column, names[1]))
		default:
			out = append(out, fmt.Sprintf("column %s is %s/%d on %s, %s/%d on %s", c.Column, c.A.Type, c.A.Scale, names[0], c.B.Type, c.B.Scale, names[1]))
		}
	}
	return out
}

func onlyKeys(names [2]string, a, b []snapshot.Key) map[string][]string {
	text := func(keys []snapshot.Key) []string {
		out := make([]string, len(keys))
		for i, k := range keys {
			out[i] = k.String()
		}
		return out
	}
	return map[string][]string{names[0]: text(a), names[1]: text(b)}
}

// Field returns the JSON document of a changed value; names are the peers' names.
func Field(c *snapshot.Change, key string, names [2]string) FieldDocument {
	f := FieldDocument{
		Key: key, Component: c.Component, Field: c.Field, Kind: c.Kind, Bits: c.BitsChanged, ULP: orNull(c.Kind == snapshot.KindFloat, c.ULP),
		Values: map[string]string{names[0]: c.A.String(), names[1]: c.B.String()},
	}
	apart := c.Apart()
	f.Difference, f.Relative, f.Units = apart.Difference, apart.Relative, apart.Units
	if e := c.Excerpt; e != nil {
		f.Excerpt = &excerptDocument{e.Offset, map[string]int{names[0]: e.LenA, names[1]: e.LenB}}
	}
	return f
}

// diffText takes about a screenful, or everything that the diff kept if all is set.
func diffText(out *Text, d *snapshot.Diff, names [2]string, all bool) {
	s := out.Style
	a, b := s.name.Sprint(prose.Name(names[0])), s.name.Sprint(prose.Name(names[1]))
	point := bothNames(d.A.Point)
	if !d.A.Point.Same(d.B.Point) {
		point += " | " + bothNames(d.B.Point)
	}
	if d.A.Point.Known() || d.B.Point.Known() {
		point = "state point " + point
	}
	out.put(s.Verdict(StatusOf(d)), "  at ", point, "  ", a, " | ", b)
	for _, f := range findings(d) {
		out.put("  ", s.bad.Sprint(Safe(f)))
	}
	summed := diffSummary(out, d, names, all)
	if d.RNG != nil {
		out.put(s.bold.Sprint(snapshot.RNG))
		changes{[]snapshot.Change{*d.RNG}, 1, names}.put(out)
	}
	perTable, tables := budget(d, all, screenful-summed)
	for i := range d.Tables {
		if i == tables {
			out.put(s.faint.Sprintf("… and %s  (--all)", prose.Count(len(d.Tables)-i, "more table", "more tables")))
			break
		}
		tableText(out, &d.Tables[i], names, perTable)
	}
	if d.NoisyTables > 0 {
		out.put(s.faint.Sprintf("noise: %s, which no state hash covers: %s  (--noise)", prose.Count(d.NoisyTables, "table that is declared noise differs", "tables that are declared noise differ"), Safe(noisyLabels(d))))
	}
	for _, h := range d.Hidden {
		what := h.Label
		if h.Column != "" {
			what += "/" + h.Column
		}
		n := ""
		if h.Changed > 0 {
			n = ", " + prose.Count(h.Changed, "value", "values")
		}
		out.put(s.warn.Sprintf("hidden by rule %s: %s%s", Safe(h.Rule), Safe(what), n))
	}
	for _, note := range d.Notes {
		out.put(s.faint.Sprint("note: " + Safe(note)))
	}
}

// manyTables is the number of tables from which on a diff begins with a summary of all fields.
const manyTables = 4

// diffSummary sums up the fields of many tables, or of tables with fields in common, if any has several values that
// differ. It returns how many lines it takes.
func diffSummary(out *Text, d *snapshot.Diff, names [2]string, all bool) int {
	var tables []*snapshot.TableDiff
	columns := 0
	for i := range d.Tables {
		if t := &d.Tables[i]; t.Class != snapshot.Noise && len(t.Columns) > 0 {
			tables, columns = append(tables, t), columns+len(t.Columns)
		}
	}
	fields := (&Compared{Summary: Summarize(tables, names)}).Summed()
	if len(fields) == 0 || len(tables) < manyTables && len(fields) == columns {
		return 0
	}
	n := len(fields)
	if !all {
		n = min(n, shownFields)
	}
	out.put(out.Style.bold.Sprint("all tables"))
	out.fields(out.Style, fields[:n], names)
	if n < len(fields) {
		out.put("  ", out.Style.faint.Sprint("… and "+prose.Count(len(fields)-n, "more field", "more fields")+"  (--all)"))
	}
	out.put()
	return n + 4
}

// budget returns how many changes of each table and how many tables are shown in so many lines.
func budget(d *snapshot.Diff, all bool, room int) (perTable, tables int) {
	if all {
		return -1, -1
	}
	const least, heading = 3, 2
	tables = min(len(d.Tables), room/(least+heading))
	if tables == 0 {
		return 0, -1
	}
	perTable = max(least, room/tables-heading)
	if tables == len(d.Tables) {
		tables = -1
	}
	return perTable, tables
}

func tableText(out *Text, t *snapshot.TableDiff, names [2]string, limit int) {
	s := out.Style
	var parts []string
	if n := t.Changed(); n > 0 {
		parts = append(parts, prose.Count(n, "value differs", "values differ"))
	}
	for i, count := range []uint64{t.OnlyACount, t.OnlyBCount} {
		if count > 0 {
			parts = append(parts, prose.Count(count, "row", "rows")+" only on "+prose.Name(names[i]))
		}
	}
	switch {
	case !t.InA:
		parts = append(parts, "the table is missing on "+prose.Name(names[0]))
	case !t.InB:
		parts = append(parts, "the table is missing on "+prose.Name(names[1]))
	}
	if t.Reordered {
		parts = append(parts, "the same rows in another order, which have no ids")
	}
	class := ""
	if t.Class != snapshot.Archetype {
		class = t.Class.String() + " "
	}
	if t.Class == snapshot.Cache {
		parts = append(parts, "derived from the rest")
	}
	out.put(s.bold.Sprint(class+prose.Name(t.Label)), s.faint.Sprint("  "+strings.Join(parts, ", ")))
	for _, line := range schemaTexts(t.Schema, names) {
		out.put("  ", s.warn.Sprint(Safe(line)))
	}
	columnsText(out, t, names, limit)
	for i, keys := range [][]snapshot.Key{t.OnlyA, t.OnlyB} {
		total := []uint64{t.OnlyACount, t.OnlyBCount}[i]
		if total == 0 {
			continue
		}
		shown := keys
		if limit >= 0 && len(shown) > 12 {
			shown = shown[:12]
		}
		text := make([]string, len(shown))
		for k := range shown {
			text[k] = shown[k].String()
		}
		more := ""
		if n := total - uint64(len(shown)); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		out.put("  only on ", s.name.Sprint(prose.Name(names[i])), ": ", strings.Join(text, " "), more)
	}
	shown, total := t.Changes, t.Changed()
	if limit >= 0 {
		for i := range t.Columns { // their values come last
			if c := &t.Columns[i]; lone(c) {
				total -= c.Rows
			}
		}
		shown = shown[:min(uint64(len(shown)), uint64(limit), total)]
	}
	changes{shown, total, names}.put(out)
}

// lone reports whether one line is enough for a column that a state lacks.
func lone(c *snapshot.ColumnDiff) bool { return c.Lacking && c.Rows > 3 }

// columnsText sums up the columns of a table: the column with most values first, columns that one state lacks last.
func columnsText(out *Text, t *snapshot.TableDiff, names [2]string, limit int) {
	columns := slices.Clone(t.Columns)
	most := func(c *snapshot.ColumnDiff) uint64 {
		if lone(c) {
			return 0
		}
		return c.Rows
	}
	lists.SortStable(columns, func(a, b snapshot.ColumnDiff) int { return cmp.Compare(most(&b), most(&a)) })
	if limit >= 0 {
		columns = columns[:min(len(columns), limit)]
	}
	s := out.Style
	for i := range columns {
		c := &columns[i]
		if c.Rows < 2 {
			continue
		}
		text := prose.Name(c.Component+"."+c.Field) + "  " + prose.Count(c.Rows, "value", "values")
		p := PatternOf(&c.Tally, names)
		switch pattern := p.Text(names, c.Rows); {
		case lone(c):
			with := slices.IndexFunc(names[:], func(name string) bool { return name != p.Peer })
			text = prose.Name(c.Component+"."+c.Field) + ": only on " + prose.Name(names[with]) + ", " + prose.Count(c.Rows, "row", "rows")
		case pattern != "":
			text += ": " + pattern
		}
		out.put("  ", s.warn.Sprint(text))
	}
	if n := len(t.Columns) - len(columns); n > 0 {
		out.put("  ", s.faint.Sprint("… and "+prose.Count(n, "more column", "more columns")+" (--all)"))
	}
}

// changes are values to list, of total in all.
type changes struct {
	list  []snapshot.Change
	total uint64
	names [2]string
}

const valueWidth = 44 // columns of a value before it is shortened

func (c changes) put(out *Text) {
	s := out.Style
	if len(c.list) == 0 {
		return
	}
	row := func(i int) []string {
		ch := &c.list[i]
		r := []string{ch.Key.String(), prose.Name(ch.Component + "." + ch.Field), prose.Shorten(ch.A.String(), valueWidth), prose.Shorten(ch.B.String(), valueWidth), describe(ch)}
		if ch.Component == snapshot.RNG && ch.Key == (snapshot.Key{}) {
			r[0] = ""
		}
		return r
	}
	out.table(len(c.list), row, table{indent: "  ", between: map[int]string{2: s.faint.Sprint(" | ")}, paint: func(n int, r []string) []string {
		a, b := s.good.Sprint(r[2]), s.bad.Sprint(r[3])
		if kind := c.list[n].Kind; kind == snapshot.KindText || kind == snapshot.KindBytes {
			a, b = s.marked(r[2], r[3])
		}
		return []string{r[0], r[1], a, b, s.faint.Sprint(r[4])}
	}})
	if n := c.total - uint64(len(c.list)); n > 0 {
		out.put(s.faint.Sprintf("  … and %d more  (--all)", n))
	}
}

// describe names the kind of change.
func describe(c *snapshot.Change) string {
	text := string(c.Kind)
	if c.Kind == snapshot.KindFloat {
		sides := [2]string{"A", "B"}
		f := Field(c, "", sides)
		text = f.float(sides)
	}
	if c.A.Denormal() || c.B.Denormal() {
		text += ", denormal"
	}
	if e := c.Excerpt; e != nil {
		text += fmt.Sprintf(", from byte %d of %d and %d", e.Offset, e.LenA, e.LenB)
	}
	if c.BitsChanged > 0 {
		text += ", " + prose.Count(c.BitsChanged, "bit", "bits")
	}
	return text
}

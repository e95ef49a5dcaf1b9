package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// field is a field of two reports, or of one of them.
type field struct {
	Name  string
	Sides [2]side
	Same  bool
}

// side is one report's part of a field. None means that the report lacks the field.
type side struct {
	Parts []part
	None  bool
}

// part is a piece of a text. Other means that the other report does not have it.
type part struct {
	Text  string
	Other bool
}

// fields are the fields of one kind.
type fields struct {
	ID, Title string
	Rows      []field
}

// Differ counts the rows that differ.
func (f fields) Differ() int {
	n := lists.Count(f.Rows, func(row field) bool { return !row.Same })
	return n
}

// maxRows is how many fields of one kind are compared. The documents have their own limits.
const maxRows = 200

// compare aligns the fields of two reports. It omits fields that both lack.
func compare(a, b *document.Report) []fields {
	both := [2]*document.Report{a, b}
	var out []fields
	for _, kind := range []struct {
		id, title string
		list      func(*document.Report) []named
	}{
		{"verdict", "Verdict", verdictFields},
		{"where", "Where they diverged", whereFields},
		{"session", "Session", sessionFields},
		{"peers", "Peers", peerFields},
		{"causes", "Causes", causeFields},
		{"locus", "What differs", locusFields},
		{"facts", "Facts of the game and the machines", factFields},
		{"ladder", "How it was narrowed down", ladderFields},
		{"fingerprints", "Fingerprints", printFields},
	} {
		if rows := align(kind.list(both[0]), kind.list(both[1])); len(rows) > 0 {
			out = append(out, fields{kind.id, kind.title, rows})
		}
	}
	return out
}

// named is a field of one report. An empty text means that the report lacks it.
type named struct{ name, text string }

// align pairs fields with the same name, in the order of the first report, followed by fields that only the second
// report has.
func align(a, b []named) []field {
	texts := [2]map[string]string{{}, {}}
	var names []string
	for i, list := range [2][]named{a, b} {
		for _, f := range list {
			if _, has := texts[i][f.name]; has || f.text == "" {
				continue
			}
			if texts[i][f.name] = f.text; i == 0 || texts[0][f.name] == "" {
				names = append(names, f.name)
			}
		}
	}
	var rows []field
	for _, name := range names[:min(len(names), maxRows)] {
		row := field{Name: name, Same: texts[0][name] == texts[1][name]}
		parts := [2][]part{{{Text: texts[0][name]}}, {{Text: texts[1][name]}}}
		if !row.Same {
			parts[0], parts[1] = apart(texts[0][name], texts[1][name])
		}
		for i := range row.Sides {
			row.Sides[i] = side{parts[i], texts[i][name] == ""}
		}
		rows = append(rows, row)
	}
	return rows
}

// maxWords is the maximum length of a text that is compared by words.
const maxWords = 120

// apart splits two texts into words that both have, in the same order, and words that only one has.
func apart(a, b string) (left, right []part) {
	x, y := strings.SplitAfter(a, " "), strings.SplitAfter(b, " ")
	if a == "" || b == "" || len(x) > maxWords || len(y) > maxWords {
		return []part{{Text: a}}, []part{{Text: b}}
	}
	// common[i][j] is the length of the longest common sequence of words in x[i:] and y[j:].
	common := make([][]int, len(x)+1)
	for i := range common {
		common[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			left, right = appendPart(left, x[i], false), appendPart(right, y[j], false)
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
			left = appendPart(left, x[i], true)
			i++
		default:
			right = appendPart(right, y[j], true)
			j++
		}
	}
	return left, right
}

func appendPart(list []part, text string, other bool) []part {
	if n := len(list); n > 0 && list[n-1].Other == other {
		list[n-1].Text += text
		return list
	}
	return append(list, part{text, other})
}

func verdictFields(r *document.Report) []named {
	return []named{
		{"status", string(r.Status)},
		{"verdict", strings.Join(r.Verdict, " ")},
		{"kind", strings.ReplaceAll(string(r.Kind), "-", " ")},
		{"contradictions", strings.Join(r.Contradictions, " ")},
		{"missing", strings.Join(r.Missing, " ")},
	}
}

func number(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n, 10)
}

func whereFields(r *document.Report) []named {
	d := r.FirstDivergence
	if d == nil {
		return nil
	}
	out := []named{{"divergent tick", number(d.Tick)}}
	if b := d.Bracket; b != nil {
		out = append(out, named{"bracket", fmt.Sprintf("(%s, %d], by %s", cmp.Or(number(b.Good), "none known"), b.Bad, b.By)})
	}
	if d.InitialState {
		out = append(out, named{"initial state", "differs"})
	}
	archetypes := make([]string, len(d.Archetypes))
	for i, a := range d.Archetypes {
		archetypes[i] = document.LabelName(a)
	}
	out = append(out, named{"system", d.System})
	if d.Native != nil {
		out = append(out, named{"step", d.Native.Step})
	}
	if c := d.Checkpoint; c != nil {
		out = append(out, named{"first checksum that differs", strings.TrimSpace(c.System + " " + c.Scope + " " + c.Phase)})
	}
	return append(out, named{"archetypes", strings.Join(archetypes, ", ")}, named{"component", d.Component},
		named{"detected at", number(d.Detected)}, named{"equal again at", number(d.Healed)}, named{"known to be wrong", strings.Join(d.Wrong, ", ")})
}

func sessionFields(r *document.Report) []named {
	s := r.Session
	out := []named{{"game", s.Game}, {"build", s.Build}, {"seed", s.Seed}}
	if s.TickRate > 0 {
		out = append(out, named{"ticks a second", strconv.FormatFloat(s.TickRate, 'g', 6, 64)})
	}
	if s.Last > 0 {
		out = append(out, named{"state points", fmt.Sprintf("%d to %d", s.First, s.Last)})
	}
	if s.Played != nil {
		out = append(out, named{"played", s.Played.First + " to " + s.Played.Last})
	}
	return out
}

func peerFields(r *document.Report) []named {
	out := []named{{"how many", strconv.Itoa(len(r.Peers))}}
	for _, p := range r.Peers {
		var left []string
		if p.Snapshots > 0 {
			left = append(left, prose.Count(p.Snapshots, "snapshot", "snapshots"))
		}
		for _, has := range []struct {
			is   bool
			text string
		}{{p.OrderLog, "an order log"}, {p.Trace, "a trace"}, {p.ClaimLog, "a log of the game"}, {p.Mentioned, "nothing, others mention it"}} {
			if has.is {
				left = append(left, has.text)
			}
		}
		if p.Group > 0 {
			left = append(left, fmt.Sprintf("group %d", p.Group))
		}
		out = append(out, named{p.Name, cmp.Or(strings.Join(left, ", "), "nothing")})
	}
	return out
}

func causeFields(r *document.Report) []named {
	var out []named
	for _, c := range r.Causes {
		out = append(out, named{c.Class, c.Title + " (" + strings.ReplaceAll(c.Standing, "-", " ") + ")"})
	}
	return out
}

func locusFields(r *document.Report) []named {
	if r.Compared == nil {
		return nil
	}
	out := []named{{"values that differ", strconv.FormatUint(r.Compared.Values, 10)}}
	for _, c := range r.Compared.Columns {
		out = append(out, named{document.LabelName(c.Archetype) + ": " + prose.Name(c.Component) + "." + prose.Name(c.Field), prose.Count(c.Changed, "value", "values")})
	}
	for _, rows := range r.Compared.Rows {
		out = append(out, named{document.LabelName(rows.Archetype) + ", only on one side", rows.Peer + ": " + prose.Count(rows.Count, "row", "rows")})
	}
	return out
}

func factFields(r *document.Report) []named {
	var out []named
	list := slices.Clone(r.Stated)
	for _, f := range r.Facts {
		if !slices.ContainsFunc(list, func(s document.Fact) bool { return s.Name == f.Name }) {
			list = append(list, f)
		}
	}
	for i := range list {
		f := &list[i]
		values := slices.Compact(slices.Sorted(maps.Values(f.Values)))
		text := strings.Join(values, "")
		if len(values) > 1 {
			each := lists.Map(r.FactPeers(f), func(peer string) string { return peer + ": " + f.Values[peer] })
			text = strings.Join(each, ", ")
		}
		out = append(out, named{f.Name, text})
	}
	return out
}

func ladderFields(r *document.Report) []named {
	var out []named
	for _, step := range r.Ladder {
		out = append(out, named{strings.ReplaceAll(step.Step, "-", " "), string(step.State) + ": " + step.Found})
	}
	return out
}

func printFields(r *document.Report) []named {
	out := []named{{"strict", r.Fingerprint}}
	for _, f := range r.Fingerprints {
		out = append(out, named{string(f.Level), f.Digest + " " + f.Name})
	}
	return out
}

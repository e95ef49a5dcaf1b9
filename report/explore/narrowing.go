package explore

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

func (b *builder) narrowing() *Node {
	if len(b.Ladder) == 0 {
		return nil
	}
	n := &Node{Title: "narrowing", Command: b.triage()}
	rows, open := [][]string{}, 0
	for i := range b.Ladder {
		g := &b.Ladder[i]
		if g.State == document.RungOpen {
			open++
		}
		rows = append(rows, []string{step(g), string(g.State), g.Found})
		n.add(b.rung(g))
	}
	if open > 0 {
		n.Aside = strconv.Itoa(open) + " open"
	}
	n.Parts = []Part{{Table: &Table{Head: []string{"step", "", "found"}, Rows: rows}}}
	return n
}

func step(g *document.Rung) string { return strings.ReplaceAll(g.Step, "-", " ") }

func (b *builder) rung(g *document.Rung) *Node {
	n := &Node{Title: step(g), Aside: g.Found, State: g.State, Command: b.ofStep(g.Step)}
	about := map[document.RungState]string{
		document.RungFound:   "it narrows",
		document.RungEqual:   "nothing differs there",
		document.RungOpen:    "the evidence does not answer it",
		document.RungTrouble: "pieces of evidence contradict each other, or are lost",
	}[g.State]
	n.Parts = []Part{{Text: []string{g.Found}, Ink: Bold}, {Text: []string{about}, Ink: Faint}, {Heading: "evidence", Text: []string{g.Evidence}}}
	if len(g.Needs) > 0 {
		n.Parts = append(n.Parts, Part{Heading: "would answer it", Text: items(g.Needs)})
	}
	d := b.FirstDivergence
	if d == nil {
		return n
	}
	switch g.Step {
	case "bracket", "tick", "checksums", "system":
		n.Tick, n.Native = when(d)
	}
	if c := d.Checkpoint; c != nil && (g.Step == "checksums" || g.Step == "system") {
		n.Parts = append(n.Parts, b.checkpoint(c)...)
	}
	return n
}

// checkpoint shows the first checkpoint that differs, both sides of it.
func (b *builder) checkpoint(c *document.CheckpointDocument) []Part {
	rows := facts{{"tick", document.BothNames(c.Native, c.Tick)}}
	rows.add("system", c.System)
	rows.add("scope", c.Scope)
	rows.add("phase", c.Phase)
	sums := [][]string{}
	for _, p := range b.inOrder(slices.Collect(maps.Keys(c.Values))) {
		v := c.Values[p]
		sums = append(sums, []string{p, cmp.Or(v.Sum, "no sum"), v.File})
	}
	for _, p := range b.inOrder(slices.Collect(maps.Keys(c.Absent))) {
		sums = append(sums, []string{p, "", c.Absent[p]})
	}
	return []Part{{Heading: "first checkpoint that differs", Table: &Table{Rows: rows}}, {Table: &Table{Head: []string{"peer", "sum", ""}, Rows: sums, Inks: []Ink{Name}}}}
}

// inOrder sorts names of peers by their place in the session.
func (b *builder) inOrder(names []string) []string {
	slices.Sort(names)
	place := func(name string) int {
		i := slices.IndexFunc(b.Peers, func(p document.TriagedPeer) bool { return p.Name == name })
		if i < 0 {
			return len(b.Peers)
		}
		return i
	}
	lists.SortStable(names, func(x, y string) int { return place(x) - place(y) })
	return names
}

// gameLogs are warnings that only some of the games' own logs have.
func (b *builder) gameLogs() *Node {
	g := b.GameLogs
	if g == nil || len(g.Lines) == 0 {
		return nil
	}
	n := &Node{Title: "games' own logs", Aside: prose.Count(g.Total, "line", "lines"), Command: b.triage() + " --all"}
	n.Parts = []Part{{Text: []string{"Warnings and errors " + g.About() + "."}}}
	for i := range g.Lines {
		l := &g.Lines[i]
		n.add(&Node{Title: l.Severity, Aside: l.Text, Command: b.triage() + " --all", Text: l.Text,
			Parts: []Part{{Text: []string{l.Text}}, {Table: &Table{Rows: [][]string{{"has it", l.Who()}, {"where", l.Where()}, {"when", l.When()}}}}}})
	}
	if left := g.Total - len(g.Lines); left > 0 {
		n.add(more(left, "line", "lines", b.triage()+" --all"))
	}
	return n
}

// more is a node for the items that the report does not list.
func more(n int, one, many, command string) *Node {
	text := prose.Count(n, one, many)
	return &Node{Title: "… and " + text + " more", Command: command, Parts: []Part{{Text: []string{"The report does not list " + text + "."}}}}
}

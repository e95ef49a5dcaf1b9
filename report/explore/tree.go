// Package explore shows a Report as a tree to walk in a terminal: from the session down to the bits of one value, with
// the facts about each step next to it and the command that shows the same by itself.
//
// The tree (Build) is plain data, independent of a terminal. The model (New, Run) draws it. All text of a report
// reaches the terminal through (*sheet).say, which escapes it.
package explore

import (
	"cmp"
	"strconv"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Node is a line of the tree. Its texts are as the report has them, not escaped.
type Node struct {
	Title string
	Aside string             // in a few words, next to the title
	State document.RungState // how it went, of a step of the narrowing
	Parts []Part             // the facts about it
	// Command shows the same by itself, quoted for a shell. Text, if not empty, is what to copy instead.
	Command string
	Text    string
	// Tick is where it is on the time line, nil if it has no tick; Native is the engine's own name for the tick.
	Tick     *uint64
	Native   string
	Children []*Node
	Unfolded bool // at the start

	parent *Node
	report *document.Report // of a session
}

// Part is a piece of the facts about a node.
type Part struct {
	Heading string
	Text    []string // paragraphs
	Table   *Table
	Bits    *Bits
	Ink     Ink // of the text
}

// Table has a row for each thing and, after the first column, a column for each peer or each
// kind of thing.
type Table struct {
	Head []string // the first is for the names of the rows
	Rows [][]string
	Inks []Ink // of the columns, as far as they have any
}

// Bits are a number on two peers, bit by bit, the most significant first.
type Bits struct {
	Names  [2]string
	Digits [2]string // binary, of one length
	// Cuts are the lengths of the pieces that are not broken, from the first bit on: bytes, or the
	// sign, the exponent and parts of the mantissa of a float.
	Cuts []int
}

// Given are the inputs of a report: the paths, PATH… where there are none, and the flags of triage.
type Given struct{ Paths, Flags []string }

// Build returns the tree of a report, or of several, one for each match, with commands for the given inputs.
func Build(reports []*document.Report, given Given) *Node {
	if len(reports) == 1 {
		root := session(reports[0], commands{reports[0], given, 0})
		root.adopt()
		return root
	}
	root := &Node{Title: prose.Count(len(reports), "match", "matches"), Unfolded: true, Command: commands{given: given}.triage()}
	worst := document.InSync
	rows := [][]string{}
	for i, r := range reports {
		number := i + 1
		if r.Match != nil {
			number = r.Match.Number
		}
		n := session(r, commands{r, given, number})
		n.Title = "match " + strconv.Itoa(number)
		n.Aside = string(r.Status)
		n.Unfolded = false
		rows = append(rows, []string{n.Title, string(r.Status.Known()), cmp.Or(first(r.Verdict), "no verdict")})
		worst = document.Worst(worst, r.Status.Known())
		root.Children = append(root.Children, n)
	}
	root.Aside = string(worst)
	root.Parts = []Part{{Table: &Table{Head: []string{"", "status", "verdict"}, Rows: rows}}}
	root.adopt()
	return root
}

// adopt sets the parents of all nodes below.
func (n *Node) adopt() {
	for _, c := range n.Children {
		c.parent = n
		c.adopt()
	}
}

// of returns the report that a node belongs to, nil for a node of several.
func (n *Node) of() *document.Report {
	for ; n != nil; n = n.parent {
		if n.report != nil {
			return n.report
		}
	}
	return nil
}

// add adds a child unless there is nothing to it.
func (n *Node) add(c *Node) {
	if c != nil {
		n.Children = append(n.Children, c)
	}
}

// builder makes the nodes of one report.
type builder struct {
	*document.Report
	commands
}

func session(r *document.Report, c commands) *Node {
	b := builder{r, c}
	root := &Node{Title: "session", Aside: cmp.Or(r.Session.Game, r.Session.Seed), Unfolded: true, Command: c.doctor(), report: r}
	root.Parts = b.about()
	root.add(b.verdict())
	root.add(b.peers())
	root.add(b.narrowing())
	root.add(b.gameLogs())
	root.add(b.differing())
	root.add(b.causes())
	root.add(b.inputs())
	root.add(b.cascade())
	root.add(b.claims())
	root.add(b.evidence())
	root.add(b.next())
	return root
}

// about describes the game that the evidence comes from.
func (b *builder) about() []Part {
	s := &b.Session
	rows := facts{}
	if m := b.Match; m != nil {
		rows.add("match", m.Name)
	}
	rows.add("game", s.Game)
	rows.add("build", s.Build)
	rows.add("seed", s.Seed)
	rows.add("evidence of", "state points "+strconv.FormatUint(s.First, 10)+" to "+strconv.FormatUint(s.Last, 10))
	if s.TickRate > 0 {
		rows.add("tick rate", strconv.FormatFloat(s.TickRate, 'g', -1, 64)+" ticks/s")
	}
	rows.add("kind", string(b.Kind))
	parts := []Part{{Table: &Table{Rows: rows}}}
	if b.Match != nil && len(b.Match.Doubts) > 0 {
		parts = append(parts, Part{Heading: "not told apart", Text: b.Match.Doubts, Ink: Warn})
	}
	return parts
}

func (b *builder) verdict() *Node {
	n := &Node{Title: "verdict", Aside: string(b.Status), Command: b.triage()}
	n.Parts = append(n.Parts, Part{Text: b.Verdict})
	if d := b.FirstDivergence; d != nil {
		n.Tick, n.Native = when(d)
		n.Parts = append(n.Parts, Part{Heading: "where", Table: &Table{Rows: b.where(d)}})
	}
	for i := range b.Splits {
		if len(b.Splits) > 1 {
			s := &b.Splits[i]
			n.add(&Node{Title: "divergence " + strconv.Itoa(i+1), Aside: document.SplitText(s), Parts: []Part{{Text: []string{document.SplitText(s)}}}, Command: b.bisect(), Tick: &s.Bad})
		}
	}
	if c := b.Caches; c != nil {
		labels := list(c.Labels)
		n.add(&Node{Title: "caches", Aside: labels, Command: b.bisect(), Tick: &c.Bad, Parts: []Part{{Text: []string{"caches that differ though the states are equal: " + labels},
			Table: &Table{Rows: [][]string{{"equal at", point(c.Good)}, {"different at", strconv.FormatUint(c.Bad, 10)}, {"equal again at", point(c.Again)}, {"peers", list(c.Peers)}}}}}})
	}
	for _, s := range b.Seen {
		n.add(&Node{Title: s.How(), Aside: s.Title, Command: b.triage(), Parts: []Part{{Text: []string{s.Title, s.File}}}})
	}
	if len(b.Fingerprints) > 0 {
		rows := [][]string{}
		for _, f := range b.Fingerprints {
			rows = append(rows, []string{string(f.Level), f.Digest, f.Name})
		}
		n.add(&Node{Title: "fingerprint", Aside: cmp.Or(b.Fingerprint, "no strict one"), Command: b.triage(), Text: b.Fingerprint,
			Parts: []Part{{Table: &Table{Head: []string{"level", "digest", "of"}, Rows: rows}}}})
	}
	return n
}

// when returns the divergent tick, or where the bracket ends, and the engine's own name of it.
func when(d *document.FirstDivergence) (tick *uint64, native string) {
	switch {
	case d.Tick != nil && d.Native != nil:
		return d.Tick, d.Native.Step
	case d.Tick != nil:
		return d.Tick, ""
	case d.Bracket != nil && d.Bracket.Native != nil:
		return &d.Bracket.Bad, d.Bracket.Native.Bad
	case d.Bracket != nil:
		return &d.Bracket.Bad, ""
	}
	return nil, ""
}

// where are the facts of the first divergence.
func (b *builder) where(d *document.FirstDivergence) (rows facts) {
	if d.Tick != nil {
		step := ""
		if d.Native != nil {
			step = d.Native.Step
		}
		rows.add("divergent tick", document.BothNames(step, *d.Tick))
	}
	if k := d.Bracket; k != nil {
		good := "none known"
		native, names := "", k.Native
		if names != nil {
			native = names.Bad
		}
		if k.Good != nil {
			good = strconv.FormatUint(*k.Good, 10)
			if names != nil {
				good = document.BothNames(names.Good, *k.Good)
			}
		}
		rows.add("last equal", good)
		rows.add("first different", document.BothNames(native, k.Bad))
		rows.add("known by", k.By)
	}
	if d.InitialState {
		rows.add("initial state", "differs, before the first tick")
	}
	rows.add("system", d.System)
	labels := lists.Map(d.Archetypes, document.LabelName)
	rows.add("archetypes", list(labels))
	rows.add("component", d.Component)
	if d.Detected != nil {
		rows.add("detected at", strconv.FormatUint(*d.Detected, 10))
	}
	if d.Healed != nil {
		rows.add("equal again at", strconv.FormatUint(*d.Healed, 10))
	}
	return rows
}

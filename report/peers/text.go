package peers

import (
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// shownTexts is how many texts of a kind are shown by default.
const shownTexts = 8

// Text writes the combined reports for a person: about a screenful, or everything that was kept if all is set.
func (m *Merged) Text(w io.Writer, s document.Style, all bool) error {
	t := mergedText{s.Text(w), all}
	t.Line(t.Verdict(m.Status), "  ", mergedLine(m))
	t.peers(m.Peers)
	for i := range m.Points {
		t.point(&m.Points[i])
	}
	t.orders(m)
	for _, part := range []struct {
		name  string
		texts []string
		paint func(text string) string
	}{
		{"conflict", m.Contradictions, func(text string) string { return t.Paint(document.Bad, text) }},
		{"lacks", m.Missing, func(text string) string { return t.Paint(document.Warn, text) }},
		{"note", m.Notes, func(text string) string { return text }},
	} {
		for i, text := range part.texts {
			if i == shownTexts && !all {
				t.more("", fmt.Sprintf("%d more", len(part.texts)-i))
				break
			}
			t.Row(part.name, part.paint(document.Safe(text)))
		}
	}
	return t.Err()
}

// mergedLine is the verdict in one line.
func mergedLine(m *Merged) string {
	for i := range m.Points {
		p := &m.Points[i]
		if n := len(p.Groups); n > 1 {
			return fmt.Sprintf("at state point %s: %d states among %s", p.name(), n, prose.Count(count(p.Groups), "peer", "peers"))
		}
	}
	if m.OrderCount > 0 {
		return fmt.Sprintf("inputs differ: %s", prose.Count(m.OrderCount, "order", "orders"))
	}
	if n := len(m.Points); n > 0 {
		return fmt.Sprintf("the reports agree at %s", prose.Count(n, "state point", "state points"))
	}
	return fmt.Sprintf("%s, no two of the same state point", prose.Count(len(m.Peers), "report", "reports"))
}

func count(groups [][]string) int {
	n := 0
	for _, g := range groups {
		n += len(g)
	}
	return n
}

func (p *Point) name() string { return reportedName(p.Point, p.Phase, p.Native) }

func reportedName(tick uint64, phase string, n *document.Native) string {
	point := snapshot.Point{Tick: tick, Phase: phase}
	if n != nil {
		point.Native = n.State
	}
	return document.BothNames(point.Words(), point.Tick)
}

// mergedText writes the parts of a text.
type mergedText struct {
	*document.Text
	all bool
}

// more writes how much is left out.
func (t *mergedText) more(name, what string) {
	t.Row(name, t.Paint(document.Faint, "… and "+what+"  (--all)"))
}

func (t *mergedText) peers(list []Peer) {
	// A redacted report names no player.
	player := func(p *Peer) bool { return p.StateHash != "" && p.Player >= 0 }
	players := false
	for i := range list {
		players = players || player(&list[i])
	}
	rows := make([][]string, len(list))
	for i := range list {
		p := &list[i]
		rows[i] = []string{prose.Name(p.Name)}
		switch {
		case player(p):
			rows[i] = append(rows[i], fmt.Sprintf("player %d", p.Player))
		case players:
			rows[i] = append(rows[i], "")
		}
		var state []string
		if p.StateHash != "" {
			state = append(state, prose.Cut(document.Safe(p.StateHash), 17))
		}
		if p.Group > 0 {
			state = append(state, fmt.Sprintf("group %d", p.Group))
		}
		rows[i] = append(rows[i], "state point "+reportedName(p.Point, p.Phase, p.Native), strings.Join(state, "  "))
	}
	t.Rows("peer", rows)
}

// groups returns groups of peers in one line.
func (t *mergedText) groups(groups [][]string, lack []string) string {
	parts := lists.Map(groups, func(g []string) string { return t.names(g, " = ") })
	text := strings.Join(parts, t.Paint(document.Bad, "  ≠  "))
	if len(lack) > 0 {
		text += "  not on " + t.names(lack, ", ")
	}
	return text
}

func (t *mergedText) names(list []string, between string) string {
	shown := make([]string, len(list))
	for i, name := range list {
		shown[i] = t.Paint(document.Name, prose.Name(name))
	}
	return strings.Join(shown, between)
}

func (t *mergedText) point(p *Point) {
	t.Row("groups", "at ", p.name(), ": ", t.groups(p.Groups, nil))
	if n := p.Majority; n > 0 && n <= len(p.Groups) && len(p.Groups) > 1 {
		t.Row("", t.Paint(document.Faint, fmt.Sprintf("most, %d of %d, are in group %d; that does not make them right", len(p.Groups[n-1]), count(p.Groups), n)))
	}
	const shown = 10
	for i := range p.Archetypes {
		if i == shown && !t.all {
			t.more("", prose.Count(len(p.Archetypes)-i, "more archetype", "more archetypes"))
			break
		}
		a := &p.Archetypes[i]
		t.Row("leaf", t.Paint(document.Bold, document.LabelName(a.Label)), "  ", t.groups(a.Groups, a.Lack))
	}
	for i := range p.Differences {
		d := &p.Differences[i]
		t.Line(t.Paint(document.Bold, "differs"), "  ", t.Paint(document.Name, prose.Name(d.Peers[0])), " | ", t.Paint(document.Name, prose.Name(d.Peers[1])))
		for k := range d.Archetypes {
			if k == shown && !t.all {
				t.Line("  ", t.Paint(document.Faint, "… and "+prose.Count(len(d.Archetypes)-k, "more archetype", "more archetypes")+"  (--all)"))
				break
			}
			t.Differing(&d.Archetypes[k], d.Peers, t.all)
		}
	}
}

func (t *mergedText) orders(m *Merged) {
	if w := m.OrderWindow; w != nil {
		text := "alike"
		if m.OrderCount > 0 {
			text = t.Paint(document.Bad, fmt.Sprintf("%s not on all peers", prose.Count(m.OrderCount, "order is", "orders are")))
		}
		t.Row("orders", fmt.Sprintf("of ticks %d to %d: ", w.From, w.To), text)
	}
	for i := range m.Orders {
		if i == shownTexts && !t.all {
			t.more("", fmt.Sprintf("%d more", m.OrderCount-i))
			break
		}
		o := &m.Orders[i]
		t.Row("", fmt.Sprintf("%d %s of player %d, sequence %d: on %s, not on %s", o.Tick, prose.Name(o.Kind), o.Player, o.Sequence, t.names(o.Peers, ", "), t.names(o.Lack, ", ")))
	}
}

// Text writes one peer's report for a person.
func (r *Report) Text(w io.Writer, s document.Style) error {
	t := s.Text(w)
	t.Line(t.Verdict(r.Status), "  at state point ", document.BothNames(r.Point().Words(), r.Point().Tick))
	if r.Redacted {
		return t.Err()
	}
	t.Row("peer", t.Paint(document.Name, prose.Name(r.Peer)), fmt.Sprintf("  player %d", r.Player))
	t.Row("state", document.Safe(r.StateHash))
	for i, a := range r.Archetypes {
		if i == shownTexts {
			t.Row("", t.Paint(document.Faint, fmt.Sprintf("… and %d more", len(r.Archetypes)-i)))
			break
		}
		t.Row("includes", document.LabelName(a.Label))
	}
	if win := r.Window; win != nil {
		t.Row("orders", fmt.Sprintf("%d of ticks %d to %d", len(r.Excerpt), win.From, win.To))
	}
	return t.Err()
}

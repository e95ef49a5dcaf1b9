package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// MergedText writes what peers' reports say together for a person: about a screenful, or
// everything that was kept if all is set.
func MergedText(w io.Writer, m *MergedReport, s Style, all bool) error {
	out := lines{w: w}
	out.put(s.verdict(m.Status), "  ", mergedLine(m))
	row := func(name string, parts ...string) {
		out.put("  ", s.faint.Sprint(pad(name, len(name), 9)), strings.Join(parts, ""))
	}
	t := mergedText{s: s, out: &out, row: row, all: all}
	t.peers(m.Peers)
	for i := range m.Points {
		t.point(&m.Points[i])
	}
	t.orders(m)
	for _, part := range []struct {
		name  string
		texts []string
		color func(a ...any) string
	}{
		{"conflict", m.Contradictions, s.bad.Sprint}, {"lacks", m.Missing, s.warn.Sprint}, {"note", m.Notes, fmt.Sprint},
	} {
		for i, text := range part.texts {
			if i == shownTexts && !all {
				row("", s.faint.Sprintf("… and %d more  (--all)", len(part.texts)-i))
				break
			}
			row(part.name, part.color(Safe(text)))
		}
	}
	return out.err
}

// mergedLine is the verdict in one line.
func mergedLine(m *MergedReport) string {
	for i := range m.Points {
		p := &m.Points[i]
		if n := len(p.Groups); n > 1 {
			return fmt.Sprintf("at state point %s: %d states among %s", p.name(), n, plural(uint64(count(p.Groups)), "peer", "peers"))
		}
	}
	if m.OrderCount > 0 {
		return fmt.Sprintf("inputs differ: %s", plural(uint64(m.OrderCount), "order", "orders"))
	}
	if n := len(m.Points); n > 0 {
		return fmt.Sprintf("the reports agree at %s", plural(uint64(n), "state point", "state points"))
	}
	return fmt.Sprintf("%s, no two of the same state point", plural(uint64(len(m.Peers)), "report", "reports"))
}

func count(groups [][]string) int {
	n := 0
	for _, g := range groups {
		n += len(g)
	}
	return n
}

func (p *ReportedPoint) name() string { return reportedName(p.Point, p.Phase, p.Native) }

func reportedName(tick uint64, phase string, n *Native) string {
	point := snapshot.Point{Tick: tick, Phase: phase}
	if n != nil {
		point.Native = n.State
	}
	return bothNames(point)
}

// mergedText writes the parts of a text.
type mergedText struct {
	s   Style
	out *lines
	row func(name string, parts ...string)
	all bool
}

func (t *mergedText) peers(list []ReportingPeer) {
	var wide [3]int
	cells := make([][3]string, len(list))
	for i := range list {
		p := &list[i]
		player := ""
		if p.StateHash != "" && p.Player >= 0 { // a redacted report tells no player
			player = fmt.Sprintf("player %d", p.Player)
		}
		cells[i] = [3]string{Safe(p.Name), player, "state point " + reportedName(p.Point, p.Phase, p.Native)}
		for k := range wide {
			wide[k] = max(wide[k], columns(cells[i][k]))
		}
	}
	for i := range list {
		p, c := &list[i], cells[i]
		parts := []string{t.s.name.Sprint(pad(c[0], columns(c[0]), wide[0])), "  "}
		if wide[1] > 0 {
			parts = append(parts, pad(c[1], columns(c[1]), wide[1]), "  ")
		}
		parts = append(parts, pad(c[2], columns(c[2]), wide[2]))
		if p.StateHash != "" {
			parts = append(parts, "  ", shorten(Safe(p.StateHash), 17))
		}
		if p.Group > 0 {
			parts = append(parts, fmt.Sprintf("  group %d", p.Group))
		}
		t.row("peer", parts...)
	}
}

// groups returns groups of peers in one line.
func (t *mergedText) groups(groups [][]string, lack []string) string {
	var parts []string
	for _, g := range groups {
		parts = append(parts, t.names(g, " = "))
	}
	text := strings.Join(parts, t.s.bad.Sprint("  ≠  "))
	if len(lack) > 0 {
		text += "  not on " + t.names(lack, ", ")
	}
	return text
}

func (t *mergedText) names(list []string, between string) string {
	shown := make([]string, len(list))
	for i, name := range list {
		shown[i] = t.s.name.Sprint(Safe(name))
	}
	return strings.Join(shown, between)
}

func (t *mergedText) point(p *ReportedPoint) {
	t.row("groups", "at ", p.name(), ": ", t.groups(p.Groups, nil))
	if n := p.Majority; n > 0 && n <= len(p.Groups) && len(p.Groups) > 1 {
		t.row("", t.s.faint.Sprintf("most, %d of %d, are in group %d; that does not make them right", len(p.Groups[n-1]), count(p.Groups), n))
	}
	const shown = 10
	for i := range p.Archetypes {
		if i == shown && !t.all {
			t.row("", t.s.faint.Sprintf("… and %s  (--all)", plural(uint64(len(p.Archetypes)-i), "more archetype", "more archetypes")))
			break
		}
		a := &p.Archetypes[i]
		t.row("leaf", t.s.bold.Sprint(LabelName(a.Label)), "  ", t.groups(a.Groups, a.Lack))
	}
	for i := range p.Differences {
		d := &p.Differences[i]
		t.out.put(t.s.bold.Sprint("differs"), "  ", t.s.name.Sprint(Safe(d.Peers[0])), " | ", t.s.name.Sprint(Safe(d.Peers[1])))
		for k := range d.Archetypes {
			if k == shown && !t.all {
				t.out.put("  ", t.s.faint.Sprintf("… and %s  (--all)", plural(uint64(len(d.Archetypes)-k), "more archetype", "more archetypes")))
				break
			}
			t.table(&d.Archetypes[k], d.Peers)
		}
	}
}

// table writes how one archetype differs.
func (t *mergedText) table(d *TableDocument, peers [2]string) {
	var parts []string
	if d.Counts.Fields > 0 {
		parts = append(parts, plural(d.Counts.Fields, "value differs", "values differ"))
	}
	for _, peer := range peers {
		if n := d.Counts.Only[peer]; n > 0 {
			parts = append(parts, plural(n, "row", "rows")+" only on "+Safe(peer))
		}
	}
	t.out.put("  ", t.s.bold.Sprint(LabelName(d.Label)), t.s.faint.Sprint("  "+strings.Join(parts, ", ")))
	for _, line := range d.Schema {
		t.out.put("    ", t.s.warn.Sprint(Safe(line)))
	}
	for _, peer := range peers {
		keys := d.Only[peer]
		if len(keys) == 0 {
			continue
		}
		if len(keys) > 12 && !t.all {
			keys = keys[:12]
		}
		more := ""
		if n := d.Counts.Only[peer]; n > uint64(len(keys)) {
			more = fmt.Sprintf(" and %d more", n-uint64(len(keys)))
		}
		t.out.put("    only on ", t.s.name.Sprint(Safe(peer)), ": ", Safe(strings.Join(keys, " ")), more)
	}
	const shown = 5
	fields := d.Fields
	if len(fields) > shown && !t.all {
		fields = fields[:shown]
	}
	for i := range fields {
		f := &fields[i]
		key := ""
		if f.Key != "" { // the RNG has none
			key = Safe(f.Key) + "  "
		}
		t.out.put("    ", key, Safe(f.Component), ".", Safe(f.Field), "  ",
			t.s.good.Sprint(shorten(Safe(f.Values[peers[0]]), valueWidth)), t.s.faint.Sprint(" | "), t.s.bad.Sprint(shorten(Safe(f.Values[peers[1]]), valueWidth)),
			"  ", t.s.faint.Sprint(f.describe()))
	}
	if n := d.Counts.Fields; n > uint64(len(fields)) {
		t.out.put("    ", t.s.faint.Sprintf("… and %d more  (--all, --format json)", n-uint64(len(fields))))
	}
}

// describe says what kind of change it is.
func (f *FieldDocument) describe() string {
	text := Safe(string(f.Kind))
	if f.ULP != nil && *f.ULP < manyULP {
		text += fmt.Sprintf(", %d ulp", *f.ULP)
	}
	if f.Bits > 0 {
		text += ", " + plural(uint64(f.Bits), "bit", "bits")
	}
	return text
}

func (t *mergedText) orders(m *MergedReport) {
	if w := m.OrderWindow; w != nil {
		text := "alike"
		if m.OrderCount > 0 {
			text = t.s.bad.Sprintf("%s not on all peers", plural(uint64(m.OrderCount), "order is", "orders are"))
		}
		t.row("orders", fmt.Sprintf("of ticks %d to %d: ", w.From, w.To), text)
	}
	for i := range m.Orders {
		if i == shownTexts && !t.all {
			t.row("", t.s.faint.Sprintf("… and %d more  (--all)", m.OrderCount-i))
			break
		}
		o := &m.Orders[i]
		t.row("", fmt.Sprintf("%d %s of player %d, sequence %d: on %s, not on %s", o.Tick, Safe(o.Kind), o.Player, o.Sequence, t.names(o.Peers, ", "), t.names(o.Lack, ", ")))
	}
}

// PeerReportText writes one peer's report for a person.
func PeerReportText(w io.Writer, r *PeerReport, s Style) error {
	out := lines{w: w}
	out.put(s.verdict(r.Status), "  at state point ", bothNames(r.Point()))
	if r.Redacted {
		return out.err
	}
	row := func(name string, parts ...string) {
		out.put("  ", s.faint.Sprint(pad(name, len(name), 9)), strings.Join(parts, ""))
	}
	row("peer", s.name.Sprint(Safe(r.Peer)), fmt.Sprintf("  player %d", r.Player))
	row("state", Safe(r.StateHash))
	for i, a := range r.Archetypes {
		if i == shownTexts {
			row("", s.faint.Sprintf("… and %d more", len(r.Archetypes)-i))
			break
		}
		row("includes", LabelName(a.Label))
	}
	if win := r.Window; win != nil {
		row("orders", fmt.Sprintf("%d of ticks %d to %d", len(r.Excerpt), win.From, win.To))
	}
	return out.err
}

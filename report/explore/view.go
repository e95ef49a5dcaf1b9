package explore

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// The least size of a terminal that the tree is drawn in.
const (
	leastWidth  = 50
	leastHeight = 14
)

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView(m.content())
	v.AltScreen = m.err == nil // also before there is a tree: the progress is not left on the screen
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

// drawn reports whether the screen shows the tree.
func (m *Model) drawn() bool {
	return m.root != nil && m.width >= leastWidth && m.height >= leastHeight
}

func (m *Model) content() string {
	switch {
	case m.err != nil:
		return ""
	case m.root == nil:
		return m.paint(m.fit(m.line(Faint, m.waiting()), max(m.width, 20)))
	case !m.drawn():
		return fmt.Sprintf("explore needs a terminal of %d by %d.\nThis one is %d by %d. q quits.", leastWidth, leastHeight, m.width, m.height)
	}
	var out []string
	if m.help {
		out = m.helpLines()
	} else {
		out = append([]string{m.headline()}, m.panes()...)
		out = append(out, lists.Map(m.time(), func(l line) string { return m.paint(m.fit(l, m.width)) })...)
	}
	return strings.Join(append(out, m.status()...), "\n")
}

// waiting describes the progress of the reports.
func (m *Model) waiting() string {
	w := m.working.Load()
	switch {
	case w == nil:
		return "reading  (q quits)"
	case w.total <= 0:
		return w.what + "  (q quits)"
	}
	return fmt.Sprintf("%s  %d %%  (q quits)", w.what, min(100*w.done/w.total, 100))
}

// headline is the first line: what happened.
func (m *Model) headline() string {
	n := m.selected()
	r := n.of()
	if r == nil {
		return m.paint(m.fit(m.line(Bold, m.root.Title+", "+m.root.Aside), m.width))
	}
	ink := map[document.Status]Ink{document.InSync: Good, document.Diverged: Bad, document.Inconclusive: Warn}[r.Status]
	if ink == Plain {
		ink = Bad
	}
	return m.paint(m.fit(line{{ink, strings.ToUpper(r.Status.Words())}, {Plain, "  "}, {Bold, m.say(first(r.Verdict))}}, m.width))
}

// treeWidth is how many columns the tree takes.
func (m *Model) treeWidth() int { return min(max(m.width*2/5, 24), 76) }

// detailWidth is how many the detail has.
func (m *Model) detailWidth() int { return m.width - m.treeWidth() - 2 }

// bodyHeight is how many lines the panes have.
func (m *Model) bodyHeight() int {
	return max(m.height-2-len(m.time())-len(m.statusLines()), 1)
}

// lanes is how many peers have a line of the time line.
func (m *Model) lanes() int { return min(max((m.height-15)/3, 2), 8) }

func (m *Model) time() []line {
	n := m.selected()
	return m.timeline(n.of(), m.width, m.lanes(), n.Tick, n.Native)
}

func (m *Model) detailLines() []line {
	if n, width := m.selected(), m.detailWidth(); m.linesOf != n || m.linesIn != width {
		m.lines, m.linesOf, m.linesIn = m.detail(n, width), n, width
	}
	return m.lines
}

// panes are the tree and the detail next to each other, with a line above that names them.
func (m *Model) panes() []string {
	height, left, right := m.bodyHeight(), m.treeWidth(), m.detailWidth()
	detail := m.detailLines()
	m.scroll = min(m.scroll, max(len(detail)-height, 0))
	switch {
	case m.cursor < m.top:
		m.top = m.cursor
	case m.cursor >= m.top+height:
		m.top = m.cursor - height + 1
	}
	m.top = min(m.top, max(len(m.rows)-height, 0))
	where := ""
	if len(detail) > height {
		where = fmt.Sprintf(" %d-%d of %d ", m.scroll+1, min(m.scroll+height, len(detail)), len(detail))
	}
	tree := fmt.Sprintf(" %d of %d ", m.cursor+1, len(m.rows))
	if m.filter != "" {
		tree = " " + prose.Count(m.matches(), "match", "matches") + " "
	}
	out := []string{m.paint(append(append(m.title("tree", tree, left, !m.inDetail), piece{Faint, m.glyphs.cross}), m.title("detail", where, right+1, m.inDetail)...))}
	for y := range height {
		text := strings.Repeat(" ", left)
		if at := m.top + y; at < len(m.rows) {
			text = m.row(at, left)
		}
		var l line
		if at := m.scroll + y; at < len(detail) {
			l = detail[at]
		}
		out = append(out, text+m.paint(line{{Faint, m.glyphs.down}})+" "+m.paint(m.fit(l, right)))
	}
	return out
}

// title is a line with the name of a pane, in brackets if the keys are for it.
func (m *Model) title(name, where string, width int, here bool) line {
	across := m.glyphs.across
	l := line{{Faint, across + " "}, {Faint, name}, {Faint, " "}}
	if here {
		l = line{{Faint, across}, {Bold, "[" + name + "]"}}
	}
	l = append(l, piece{Faint, across + where})
	if n := width - l.columns(); n > 0 {
		l = append(l, piece{Faint, strings.Repeat(across, n)})
	}
	return m.fit(l, width)
}

// row draws a row of the tree.
func (m *Model) row(at, width int) string {
	r := m.rows[at]
	n := r.node
	mark := " "
	if at == m.cursor {
		mark = ">"
	}
	fold := " "
	if len(n.Children) > 0 {
		fold = m.glyphs.folded
		if m.isUnfolded(at) {
			fold = m.glyphs.unfolded
		}
	}
	l := line{{Bold, mark}, {Plain, strings.Repeat(" ", min(r.depth, 12))}, {Faint, fold}, {Plain, " "}}
	switch n.State {
	case document.RungFound:
		l = append(l, piece{Bad, m.glyphs.found}, piece{Plain, " "})
	case document.RungEqual:
		l = append(l, piece{Good, m.glyphs.equal}, piece{Plain, " "})
	case document.RungOpen:
		l = append(l, piece{Warn, m.glyphs.open}, piece{Plain, " "})
	case document.RungTrouble:
		l = append(l, piece{Bad, m.glyphs.trouble}, piece{Plain, " "})
	}
	ink := Plain
	if r.match {
		ink = Bold
	}
	l = append(l, piece{ink, m.say(n.Title)})
	if n.Aside != "" {
		l = append(l, piece{Plain, "  "}, piece{Faint, m.say(n.Aside)})
	}
	l = m.fit(l, width)
	if at == m.cursor && !m.inDetail {
		return m.reversed(l)
	}
	return m.paint(l)
}

// status are the last lines: the typed text, the effect of a key, or the available keys.
func (m *Model) status() []string {
	return lists.Map(m.statusLines(), func(l line) string { return m.paint(m.fit(l, m.width)) })
}

// maxStatus is how many lines a message may take.
const maxStatus = 5

func (m *Model) statusLines() (out []line) {
	switch {
	case m.help:
		return []line{{{Faint, "any key closes this, q quits"}}}
	case m.typing:
		return []line{{{Bold, "/" + m.say(m.filter) + "_"}, {Faint, "  " + prose.Count(m.matches(), "match", "matches") + "  enter keeps it, esc clears it"}}}
	case m.message != "":
		for i, text := range wrap(m.say(m.message), m.width) {
			if i == maxStatus {
				break
			}
			out = append(out, line{{Bold, text}})
		}
		return out
	case m.filter != "":
		return []line{{{Bold, "/" + m.say(m.filter)}, {Faint, "  n, N next and last match  esc clears it  ? help  q quit"}}}
	}
	g := m.glyphs
	text := g.up + " walk  " + g.right + " fold  / filter  tab detail  y copy command  o page  ? help  q quit"
	if prose.Columns(text) > m.width {
		text = g.up + " " + g.right + "  / filter  tab  y copy  o page  ? help  q quit"
	}
	return []line{{{Faint, text}}}
}

// helpLines are the keys and the marks.
func (m *Model) helpLines() (out []string) {
	put := func(l line) { out = append(out, m.paint(m.fit(l, m.width))) }
	put(line{{Bold, "Keys"}})
	for _, l := range m.table(&Table{Rows: keys, Inks: []Ink{Name}}, m.width-2) {
		put(append(line{{Plain, "  "}}, l...))
	}
	g := m.glyphs
	put(nil)
	put(line{{Bold, "Marks"}})
	put(line{{Plain, "  " + g.found + " found  " + g.equal + " equal  " + g.open + " not answered  " + g.trouble + " contradiction or loss"}})
	put(line{{Plain, "  " + g.bracket + " bracket  X divergent tick  D detected  H equal again  " + g.state + " state"}})
	put(line{{Plain, "  " + g.span + " hashes or trace  J join  L leave  S save  O load  R resync"}})
	for len(out) < m.height-1 {
		put(nil)
	}
	return out[:m.height-1]
}

package explore

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/desynctool/desynctool/report/document"
)

// keys are the keys that the help lists.
var keys = [][]string{
	{"up, down, k, j", "walk the tree, or scroll the detail"},
	{"right, l", "unfold, then go down"},
	{"left, h", "fold, then go up"},
	{"enter, space", "fold or unfold"},
	{"*", "unfold all below"},
	{"PgUp, PgDn, Home, End", "walk farther"},
	{"tab", "from the tree to the detail and back"},
	{"/", "filter: type a text, enter keeps it, esc clears it"},
	{"n, N", "the next match, the one before"},
	{"mouse", "a click selects or folds, the wheel scrolls; drag with shift to select text"},
	{"y", "copy the command that shows this by itself, or the text"},
	{"o", "open the page with the pictures in a browser"},
	{"?", "this help"},
	{"q, ctrl-c", "quit"},
}

// key does what a key is for.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case m.root == nil:
		if name == "q" || name == "esc" {
			return tea.Quit
		}
		return nil
	case m.typing:
		m.typeFilter(name, msg.Text)
		return nil
	case m.help:
		m.help = false
		if name == "q" {
			return tea.Quit
		}
		return nil
	}
	m.message = ""
	switch name {
	case "q":
		return tea.Quit
	case "?":
		m.help = true
	case "/":
		m.typing, m.inDetail = true, false
	case "esc":
		m.clearFilter()
	case "n":
		m.nextMatch(1)
	case "N", "shift+n":
		m.nextMatch(-1)
	case "tab", "shift+tab":
		m.inDetail = !m.inDetail
	case "y":
		return m.copy()
	case "o":
		return m.open()
	default:
		if m.inDetail {
			m.walkDetail(name)
		} else {
			m.walkTree(name)
		}
	}
	return nil
}

// typeFilter takes a key while the filter is typed.
func (m *Model) typeFilter(name, text string) {
	switch name {
	case "enter":
		m.typing = false
	case "esc":
		m.typing = false
		m.clearFilter()
	case "backspace":
		if m.filter == "" {
			m.typing = false
			return
		}
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.search(m.filter[:len(m.filter)-n])
	case "ctrl+u":
		m.search("")
	case "down":
		m.nextMatch(1)
	case "up":
		m.nextMatch(-1)
	default:
		if text != "" {
			m.search(m.filter + text)
		}
	}
}

func (m *Model) walkTree(name string) {
	n := m.selected()
	before := m.cursor
	page := max(m.bodyHeight()-1, 1)
	switch name {
	case "up", "k":
		m.cursor--
	case "down", "j":
		m.cursor++
	case "pgup", "ctrl+b":
		m.cursor -= page
	case "pgdown", "ctrl+f":
		m.cursor += page
	case "home", "g":
		m.cursor = 0
	case "end", "G", "shift+g":
		m.cursor = len(m.rows) - 1
	case "right", "l":
		switch {
		case len(n.Children) == 0:
		case m.isUnfolded(m.cursor):
			m.cursor++
		default:
			m.fold(n, false)
		}
	case "left", "h":
		if len(n.Children) > 0 && m.unfolded[n] && m.isUnfolded(m.cursor) {
			m.fold(n, true)
		} else if n.parent != nil {
			m.moveTo(n.parent)
		}
	case "enter", "space":
		if len(n.Children) > 0 {
			m.fold(n, m.unfolded[n])
		}
	case "*":
		m.unfoldAll(n)
	}
	m.cursor = min(max(m.cursor, 0), len(m.rows)-1)
	if m.cursor != before {
		m.scroll = 0
	}
}

// isUnfolded reports whether something of the node in a row is to be seen.
func (m *Model) isUnfolded(at int) bool {
	return at+1 < len(m.rows) && m.rows[at+1].depth > m.rows[at].depth
}

func (m *Model) fold(n *Node, folded bool) {
	m.unfolded[n] = !folded
	m.list()
}

func (m *Model) unfoldAll(n *Node) {
	var walk func(n *Node)
	walk = func(n *Node) {
		m.unfolded[n] = true
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(n)
	m.list()
}

func (m *Model) walkDetail(name string) {
	page := max(m.bodyHeight()-1, 1)
	switch name {
	case "up", "k":
		m.scroll--
	case "down", "j":
		m.scroll++
	case "pgup", "ctrl+b":
		m.scroll -= page
	case "pgdown", "ctrl+f", "space":
		m.scroll += page
	case "home", "g":
		m.scroll = 0
	case "end", "G", "shift+g":
		m.scroll = len(m.lines)
	case "left", "h":
		m.inDetail = false
	}
	m.scrollTo(m.scroll)
}

// wheelRows is how far a step of the wheel scrolls.
const wheelRows = 3

// click selects the row of the tree at a place of the screen, and folds or unfolds it if it was selected.
func (m *Model) click(x, y int) {
	row := y - 2 // below the headline and the names of the panes
	if !m.drawn() || m.help || row < 0 || row >= m.bodyHeight() {
		return
	}
	m.message = ""
	if m.inDetail = x >= m.treeWidth(); m.inDetail || m.top+row >= len(m.rows) {
		return
	}
	if at := m.top + row; at == m.cursor {
		m.walkTree("enter")
	} else {
		m.cursor, m.scroll = at, 0
	}
}

// wheel scrolls the pane in a column. The cursor stays in the part of the tree that is shown.
func (m *Model) wheel(x, rows int) {
	switch height := m.bodyHeight(); {
	case !m.drawn() || m.help:
	case x >= m.treeWidth():
		m.scrollTo(m.scroll + rows)
	default:
		m.top = min(max(m.top+rows, 0), max(len(m.rows)-height, 0))
		if at := min(max(m.cursor, m.top), m.top+height-1); at != m.cursor {
			m.cursor, m.scroll = at, 0
		}
	}
}

// scrollTo shows the detail from a line on.
func (m *Model) scrollTo(line int) {
	m.scroll = min(max(line, 0), max(len(m.detailLines())-m.bodyHeight(), 0))
}

// copy puts the command of the selected node into the clipboard, or its text, and shows it, so that it can be copied by
// hand if the terminal has no clipboard.
func (m *Model) copy() tea.Cmd {
	n := m.selected()
	text := n.Command
	if n.Text != "" {
		lines := strings.Split(n.Text, "\n")
		for i := range lines {
			lines[i] = document.Safe(lines[i])
		}
		text = strings.Join(lines, "\n")
	}
	m.message = "copied: " + strings.ReplaceAll(text, "\n", " ")
	return tea.SetClipboard(text)
}

// open shows the page of the selected node's report.
func (m *Model) open() tea.Cmd {
	r := m.selected().of()
	switch {
	case m.options.Open == nil:
		return nil
	case r == nil:
		m.message = "the page shows one match: select one"
		return nil
	}
	m.message = "opening the page"
	return func() tea.Msg {
		text, err := m.options.Open(r)
		return opened{text, err}
	}
}

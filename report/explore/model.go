package explore

import (
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/desynctool/desynctool/report/document"
)

// Options are how the tree is shown.
type Options struct {
	Given Given // for commands
	// Color has text coloured, ASCII leaves all other characters out.
	Color, ASCII bool
	// Open shows a report as a page elsewhere, and returns a message about it.
	Open func(r *document.Report) (string, error)
}

// Load makes the reports that are shown, at least one. While it works it may report its progress.
type Load func(progress func(what string, done, total int64)) ([]*document.Report, error)

// Model is the tree on the screen, as Bubble Tea runs it.
type Model struct {
	sheet
	options Options
	load    Load
	working atomic.Pointer[work] // while the reports are made
	reports []*document.Report
	err     error

	width, height int
	root          *Node
	unfolded      map[*Node]bool
	rows          []row
	cursor, top   int // places in rows
	lines         []line
	linesOf       *Node // the node that lines belongs to
	linesIn       int   // in how many columns
	scroll        int   // the first of lines that is shown
	inDetail      bool
	filter        string
	typing        bool
	help          bool
	message       string
}

// row is a line of the tree that is to be seen.
type row struct {
	node  *Node
	depth int
	match bool // of the filter
}

// work is how far something is.
type work struct {
	what        string
	done, total int64
}

// The messages of Bubble Tea that the model sends itself.
type (
	loaded struct {
		reports []*document.Report
		err     error
	}
	again  struct{} // draw how far it is
	opened struct {
		text string
		err  error
	}
)

// New returns a model that shows the reports that load returns.
func New(load Load, options Options) *Model {
	return &Model{sheet: newSheet(options.Color, options.ASCII), options: options, load: load, unfolded: map[*Node]bool{}}
}

// Init begins to load.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(func() tea.Msg {
		reports, err := m.load(func(what string, done, total int64) { m.working.Store(&work{what, done, total}) })
		return loaded{reports, err}
	}, redraw())
}

// redraw asks for the progress to be drawn again.
func redraw() tea.Cmd {
	return tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg { return again{} })
}

// Update takes a key, a new size, or a result that the model waited for.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case again:
		if m.root == nil && m.err == nil {
			return m, redraw()
		}
	case loaded:
		if m.err = msg.err; m.err != nil {
			return m, tea.Quit
		}
		m.show(msg.reports)
	case opened:
		m.message = msg.text
		if msg.err != nil {
			m.message = msg.err.Error()
		}
	case tea.PasteMsg:
		if m.typing {
			m.search(m.filter + strings.Join(strings.Fields(msg.Content), " "))
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.MouseClickMsg:
		m.click(msg.X, msg.Y)
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			m.wheel(msg.X, -wheelRows)
		case tea.MouseWheelDown:
			m.wheel(msg.X, wheelRows)
		}
	}
	return m, nil
}

// show begins with the tree of some reports.
func (m *Model) show(reports []*document.Report) {
	m.reports = reports
	m.root = Build(reports, m.options.Given)
	var walk func(n *Node)
	walk = func(n *Node) {
		if n.Unfolded {
			m.unfolded[n] = true
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(m.root)
	m.list()
	if len(reports) == 1 && len(m.rows) > 1 {
		m.cursor = 1 // the verdict
	}
}

// list finds the rows that are to be seen: those that are unfolded or, with a filter, those that
// have its text and all above them.
func (m *Model) list() {
	var at *Node
	if m.cursor < len(m.rows) {
		at = m.rows[m.cursor].node
	}
	m.rows = m.rows[:0]
	wanted := strings.ToLower(m.filter)
	var walk func(n *Node, depth int) bool
	walk = func(n *Node, depth int) bool {
		place := len(m.rows)
		match := wanted != "" && strings.Contains(strings.ToLower(m.say(n.Title)+"  "+m.say(n.Aside)), wanted)
		m.rows = append(m.rows, row{n, depth, match})
		below := false
		for _, c := range n.Children {
			if wanted == "" && !m.unfolded[n] {
				break
			}
			start := len(m.rows)
			has := walk(c, depth+1)
			below = below || has
			if wanted != "" && !has && !(match && m.unfolded[n]) {
				m.rows = m.rows[:start]
			}
		}
		return m.rows[place].match || below
	}
	walk(m.root, 0)
	m.moveTo(at)
}

// moveTo moves the cursor to a node, or the next above it that is to be seen.
func (m *Model) moveTo(n *Node) {
	for ; n != nil; n = n.parent {
		for i := range m.rows {
			if m.rows[i].node == n {
				m.cursor = i
				return
			}
		}
	}
	m.cursor = 0
}

// selected returns the node under the cursor.
func (m *Model) selected() *Node { return m.rows[m.cursor].node }

// search sets the filter, and moves to the first row that has it unless that under the cursor does.
func (m *Model) search(text string) {
	m.filter = text
	m.list()
	if text != "" && !m.rows[m.cursor].match {
		m.cursor = 0
		if !m.rows[0].match {
			m.nextMatch(1)
		}
	}
	m.scroll = 0
}

// clearFilter shows all again, the selected node among it.
func (m *Model) clearFilter() {
	if m.filter == "" {
		return
	}
	for n := m.selected().parent; n != nil; n = n.parent {
		m.unfolded[n] = true
	}
	m.search("")
}

// nextMatch moves to the next row that the filter has, or back to the last one, around the ends.
func (m *Model) nextMatch(step int) {
	for i := 1; i <= len(m.rows); i++ {
		if at := ((m.cursor+step*i)%len(m.rows) + len(m.rows)) % len(m.rows); m.rows[at].match {
			m.cursor, m.scroll = at, 0
			return
		}
	}
}

// matches returns how many rows the filter has.
func (m *Model) matches() (n int) {
	for i := range m.rows {
		if m.rows[i].match {
			n++
		}
	}
	return n
}

package document

import (
	"io"
	"iter"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/prose"
)

// Text is a text for a person that is being written, line by line.
type Text struct {
	lines
	Style
}

// Text returns a text that goes to w.
func (s Style) Text(w io.Writer) *Text { return &Text{lines{w: w, width: s.width}, s} }

// Err returns the first error of writing.
func (t *Text) Err() error { return t.err }

// Line writes a line of these parts.
func (t *Text) Line(parts ...string) { t.put(parts...) }

// rowIndent is the column at which the text after the name of a row begins.
const rowIndent = 11

// Row writes a line of these parts with a name before it. Where it is cut, its parts are below each other.
func (t *Text) Row(name string, parts ...string) {
	t.hang(rowIndent, "  ", t.faint.Sprint(pad(name, len(name), rowIndent-2)), strings.Join(parts, ""))
}

// upTo yields the places of the first most of n things, of all of them if all is set. A row without a name then counts
// the rest.
func (t *Text) upTo(most, n int, all bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if i == most && !all {
				t.Row("", t.faint.Sprintf("… and %d more  (--all)", n-i))
				return
			}
			if !yield(i) {
				return
			}
		}
	}
}

// Rows writes rows of columns, each with a name before it. The first column has the names of peers.
func (t *Text) Rows(name string, rows [][]string) {
	t.rows(rows, table{indent: "  " + t.faint.Sprint(pad(name, len(name), rowIndent-2)), colours: map[int]printer{0: t.name}})
}

// Table writes rows of columns, the first row being the heading.
func (t *Text) Table(rows [][]string) { t.rows(rows, table{heading: t.bold}) }

// lines writes text line by line and keeps the first error.
type lines struct {
	w     io.Writer
	width int // columns of a line, 0 for as many as it needs
	err   error
}

// put writes a line. The rest that does not fit is below it, two columns further to the right.
func (l *lines) put(parts ...string) {
	line := strings.Join(parts, "")
	l.hang(len(line)-len(strings.TrimLeft(line, " "))+2, line)
}

// hang writes a line. The rest that does not fit is below it, indented by indent columns.
func (l *lines) hang(indent int, parts ...string) {
	if l.err == nil {
		_, l.err = io.WriteString(l.w, fold(guard(strings.TrimRight(strings.Join(parts, ""), " ")), l.width, indent)+"\n")
	}
}

// guard escapes characters in a line that are not printable, even if the code that wrote the line did not, except for
// colours and joints.
func guard(line string) string {
	if strings.IndexFunc(line, func(r rune) bool { return prose.Unseen(r) && string(r) != joint }) < 0 {
		return line
	}
	var out strings.Builder
	for at := 0; at < len(line); {
		next := colour.FindStringIndex(line[at:])
		if next == nil {
			next = []int{len(line) - at, len(line) - at}
		}
		for i, text := range strings.Split(line[at:at+next[0]], joint) {
			if i > 0 {
				out.WriteString(joint)
			}
			out.WriteString(prose.Printable(text))
		}
		out.WriteString(line[at+next[0] : at+next[1]])
		at += next[1]
	}
	return out.String()
}

// colour matches the codes that a Style writes for its colours.
var colour = lazyregexp.New("\x1b\\[[0-9]{1,2}(;[0-9]{1,2})*m")

// table configures the layout of a table.
type table struct {
	indent  string
	heading printer         // of the first row; nil if it is a row like the others
	colours map[int]printer // of columns
	between map[int]string  // separators after columns; elsewhere two spaces
	// paint returns the cells of a row in their colours.
	paint func(n int, row []string) []string
}

// rows writes rows of columns that are there already.
func (l *lines) rows(rows [][]string, form table) {
	l.table(len(rows), func(n int) []string { return rows[n] }, form)
}

// leastLast is how wide the last column of a table must be to be cut into lines below each other.
const leastLast = 24

// table writes rows of columns. Each row is made twice, since all rows together may take several times the memory of
// their data. A row of one cell widens no column. If a row is too wide, the last cell is cut at spaces; if there is no
// room even for that, whole cells go to the next line.
func (l *lines) table(count int, row func(n int) []string, form table) {
	var wide []int
	for n := range count {
		r := row(n)
		for i, cell := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			if len(r) > 1 {
				wide[i] = max(wide[i], prose.Columns(cell))
			}
		}
	}
	before := wordColumns(form.indent)
	last := before // where the last column begins
	for i, w := range wide[:max(0, len(wide)-1)] {
		between, ok := form.between[i]
		if !ok {
			between = "  "
		}
		last += w + wordColumns(between)
	}
	hang := last
	if l.width > 0 && l.width-last < leastLast {
		hang = before + 4
	}
	for n := range count {
		r := row(n)
		line, painted := []string{form.indent}, r
		if form.paint != nil {
			painted = form.paint(n, r)
		}
		for i, cell := range r {
			text, colour := painted[i], form.colours[i]
			if i < len(wide)-1 || len(r) == 1 || hang < last {
				text = whole(text)
			}
			text = pad(text, prose.Columns(cell), wide[i])
			if n == 0 && form.heading != nil {
				colour = form.heading
			}
			if colour != nil {
				text = colour.Sprint(text)
			}
			between, ok := form.between[i]
			if !ok {
				between = "  "
			}
			line = append(line, text, between)
		}
		l.hang(hang, line...)
	}
}

// printer colours text.
type printer interface{ Sprint(...any) string }

// pad pads s, which takes width columns, to n columns.
func pad(s string, width, n int) string {
	if width >= n {
		return s
	}
	return s + strings.Repeat(" ", n-width)
}

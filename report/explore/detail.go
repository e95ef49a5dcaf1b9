package explore

import (
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// detail returns the facts about a node in lines of width columns.
func (s *sheet) detail(n *Node, width int) []line {
	var out []line
	put := func(ink Ink, indent int, texts ...string) {
		for _, t := range texts {
			for _, l := range wrap(s.say(t), width-indent) {
				out = append(out, line{{Plain, strings.Repeat(" ", indent)}, {ink, l}})
			}
		}
	}
	put(Bold, 0, n.Title)
	if n.Aside != "" {
		put(Faint, 0, n.Aside)
	}
	for _, p := range n.Parts {
		if len(p.Text) == 0 && p.Bits == nil && (p.Table == nil || len(p.Table.Rows) == 0) {
			continue
		}
		if len(p.Text) == 1 && p.Heading == "" && (p.Text[0] == n.Aside || p.Text[0] == n.Title) {
			continue // it is in the text already
		}
		out = append(out, nil)
		if p.Heading != "" {
			put(Bold, 0, p.Heading)
		}
		put(p.Ink, 0, p.Text...)
		if p.Table != nil {
			out = append(out, s.table(p.Table, width)...)
		}
		if p.Bits != nil {
			out = append(out, s.bits(p.Bits, width)...)
		}
	}
	if n.Command != "" {
		out = append(out, nil)
		put(Bold, 0, "command")
		put(Plain, 0, n.Command)
	}
	return out
}

// tableGap is the gap between columns, tableLeast the least width of a column that is cut into lines.
const (
	tableGap   = 2
	tableLeast = 9
)

// table lays a table out: columns next to each other, with long texts on several lines; or a line for each cell, where
// the columns would be too narrow.
func (s *sheet) table(t *Table, width int) []line {
	rows := t.Rows
	if len(t.Head) > 0 {
		rows = append([][]string{t.Head}, rows...)
	}
	cells := make([][]string, len(rows))
	var natural []int
	rows = withoutEmpty(rows)
	for i, r := range rows {
		for k, cell := range r {
			cells[i] = append(cells[i], s.say(cell))
			if k == len(natural) {
				natural = append(natural, 0)
			}
			natural[k] = max(natural[k], prose.Columns(cells[i][k]))
		}
	}
	if len(natural) == 0 {
		return nil
	}
	widths := share(natural, width-tableGap*(len(natural)-1))
	for k, w := range widths {
		if w < min(natural[k], tableLeast) {
			return s.stacked(t, cells, width)
		}
	}
	var out []line
	for i, r := range cells {
		var columns [][]string
		height := 1
		for k, cell := range r {
			columns = append(columns, wrap(cell, widths[k]))
			height = max(height, len(columns[k]))
		}
		for y := range height {
			var l line
			for k, c := range columns {
				text := ""
				if y < len(c) {
					text = c[y]
				}
				fill := widths[k] - prose.Columns(text)
				if k < len(columns)-1 {
					fill += tableGap
				}
				l = append(l, piece{t.ink(k, i == 0 && len(t.Head) > 0), text}, piece{Plain, strings.Repeat(" ", fill)})
			}
			out = append(out, l)
		}
	}
	return out
}

// withoutEmpty leaves out columns at the end that have nothing.
func withoutEmpty(rows [][]string) [][]string {
	n := 0
	for _, r := range rows {
		for k, cell := range r {
			if cell != "" {
				n = max(n, k+1)
			}
		}
	}
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = r[:min(len(r), n)]
	}
	return out
}

// ink returns the ink of a column: names of rows and heads are faint unless they have their own.
func (t *Table) ink(column int, head bool) Ink {
	if column < len(t.Inks) && t.Inks[column] != Plain {
		return t.Inks[column]
	}
	if head || column == 0 {
		return Faint
	}
	return Plain
}

// stacked returns a line for each cell, with the head of its column before it.
func (s *sheet) stacked(t *Table, cells [][]string, width int) (out []line) {
	var head []string
	if len(t.Head) > 0 {
		head, cells = cells[0], cells[1:]
	}
	for _, r := range cells {
		for k, cell := range r {
			if cell == "" {
				continue
			}
			indent := ""
			if k > 0 {
				indent = "  "
				if k < len(head) && head[k] != "" {
					cell = head[k] + "  " + cell
				}
			}
			for _, l := range wrap(cell, width-len(indent)) {
				out = append(out, line{{Plain, indent}, {t.ink(k, false), l}})
			}
		}
	}
	return out
}

// share gives columns their widths: those that need less than an equal share have what they
// need, the others what is left.
func share(natural []int, width int) []int {
	widths := make([]int, len(natural))
	open := len(natural)
	for open > 0 {
		fair, changed := max(width, 0)/open, false
		for k, n := range natural {
			if widths[k] == 0 && n <= fair {
				widths[k] = max(n, 1)
				width -= n
				open--
				changed = true
			}
		}
		if changed {
			continue
		}
		for k := range natural {
			if widths[k] == 0 {
				widths[k] = max(width, 0) / open
				width -= widths[k]
				if open--; open == 0 {
					break
				}
			}
		}
		break
	}
	return widths
}

// bits lays out two numbers, one above the other, with a mark below each bit that changed.
func (s *sheet) bits(b *Bits, width int) (out []line) {
	names := [3]string{s.say(b.Names[0]), s.say(b.Names[1]), ""}
	label := 0
	for i, n := range names {
		names[i] = s.cut(n, max(width/4, 6))
		label = max(label, prose.Columns(names[i]))
	}
	room := max(width-label-2, 8)
	var rows [3]line
	used := 0
	flush := func() {
		for i := range rows {
			fill := strings.Repeat(" ", label-prose.Columns(names[i])+2)
			out = append(out, append(line{{[]Ink{Name, Warn, Plain}[i], names[i]}, {Plain, fill}}, rows[i]...))
			rows[i] = nil
		}
		used = 0
	}
	from := 0
	for _, n := range b.Cuts {
		if used > 0 && used+1+n > room {
			flush()
		}
		if used > 0 {
			for i := range rows {
				rows[i] = append(rows[i], piece{Plain, " "})
			}
			used++
		}
		for i := from; i < from+n; i++ {
			ink, mark := Plain, " "
			if b.Digits[0][i] != b.Digits[1][i] {
				ink, mark = Bad, "^"
			}
			rows[0] = append(rows[0], piece{ink, b.Digits[0][i : i+1]})
			rows[1] = append(rows[1], piece{ink, b.Digits[1][i : i+1]})
			rows[2] = append(rows[2], piece{ink, mark})
		}
		used += n
		from += n
	}
	flush()
	return out
}

package notation

import (
	"bytes"
	"slices"
)

// csvNotation is CSV, RFC 4180, with commas, tabs, semicolons or pipes, and a header line. A document is a list with one map
// for each row. A second header line, as in a file that two runs appended to, begins another document.
//
// No cell has a type, since many writers quote all of them. Blanks around a cell do not belong to it, and an empty cell is
// null.
func csvNotation() Notation {
	return Notation{Name: "csv", Repeats: true, Title: "CSV", Extensions: []string{".csv", ".tsv", ".psv", ".tab"}, Lines: true, Sniff: sniffCSV, Parse: parseCSV}
}

const (
	sniffLen  = 4096 // how much of a text decides on its shape
	sniffRows = 8    // rows that must have as many cells as the header

	maxColumns = 1 << 14
)

// sniffCSV reports whether the first lines have equally many cells, the first of them names, and a column of numbers.
func sniffCSV(head []byte, whole bool) bool {
	_, fits := csvShape(head, whole)
	return fits
}

// csvShape returns a reader in front of the header, with the delimiter that gives the most columns, and whether the lines
// are a table with that delimiter.
func csvShape(head []byte, whole bool) (best csvReader, fits bool) {
	columns := 0
	for _, delimiter := range []byte(",\t;|") {
		r := csvReader{text: head, delimiter: delimiter}
		r.skip()
		if n, table := r.table(whole); n > columns && table == fits || table && !fits {
			columns, fits = n, table
			best = csvReader{text: head, at: r.at, delimiter: delimiter}
			best.skip()
		}
	}
	return best, fits
}

// table reads the header and some rows.
func (r csvReader) table(whole bool) (columns int, fits bool) {
	names, err := r.row(nil)
	columns = len(names)
	if err != nil || columns < 2 || r.torn || !header(names) {
		return columns, false
	}
	numeric := make([]int, columns) // rows in which a cell is a number; -1 if one is not
	rows := 0
	var cells [][]byte
	for r.blankLines(); rows < sniffRows && r.at < len(r.text); r.blankLines() {
		if cells, err = r.row(cells[:0]); r.torn && !whole {
			if err == nil && rows == 0 && len(cells) <= columns {
				rows++ // of a wide table
				countNumbers(cells[:len(cells)-1], numeric)
			}
			break
		}
		if err != nil || len(cells) != columns {
			return columns, r.torn && rows > 0 && slices.Max(numeric) > 0
		}
		rows++
		countNumbers(cells, numeric)
	}
	return columns, rows > 0 && slices.Max(numeric) > 0
}

// namedCSV reports whether the lines are a table, as only the name of the file shows: one without a column of numbers, or
// one with a single column.
func namedCSV(head []byte, whole bool) bool {
	r, _ := csvShape(head, whole)
	names, err := r.row(nil)
	if err != nil || len(names[0]) == 0 || r.torn || !header(names) {
		return false
	}
	rows := 0
	for r.blankLines(); r.at < len(head); r.blankLines() {
		cells, err := r.row(nil)
		if r.torn && !whole {
			break
		}
		if err != nil || len(cells) != len(names) || len(cells) == 1 && !isNumber(cells[0]) && (!isLabel(cells[0]) || bytes.IndexByte(cells[0], ' ') >= 0) {
			return false
		}
		rows++
	}
	return rows > 0
}

func countNumbers(cells [][]byte, numeric []int) {
	for i, cell := range cells {
		switch {
		case len(cell) == 0 || numeric[i] < 0:
		case isNumber(cell):
			numeric[i]++
		default:
			numeric[i] = -1
		}
	}
}

// header reports whether cells are names: each only once, and few of them numbers. The first may be empty, as writers
// leave it above the numbers of rows.
func header(cells [][]byte) bool {
	seen := map[string]bool{}
	letters := 0
	for i, cell := range cells {
		if seen[string(cell)] || len(cell) == 0 && i > 0 || !isLabel(cell) {
			return false
		}
		seen[string(cell)] = true
		if len(cell) == 0 || isNameStart(cell[0]) {
			letters++
		}
	}
	return 4*letters >= 3*len(cells)
}

// isLabel reports whether a text may be the name of a column, and no sentence or line of a program.
func isLabel(text []byte) bool {
	if len(text) > 128 || bytes.Count(text, []byte(" ")) > 3 || bytes.ContainsAny(text, "\n\"'`{}<>=,;!?*\\") {
		return false
	}
	if bytes.Count(text, []byte("(")) != bytes.Count(text, []byte(")")) {
		return false
	}
	return len(text) == 0 || text[0] != '-' && bytes.IndexByte([]byte(".,:"), text[len(text)-1]) < 0
}

// isNameStart reports whether a name may begin with a byte.
func isNameStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }

// isNumber reports whether a text is a number, with a sign or without.
func isNumber(text []byte) bool {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	if n := numberLen(text); n > 0 && text[0] != '-' {
		return n == len(text)
	}
	return bytes.EqualFold(text, []byte("nan")) || bytes.EqualFold(text, []byte("inf")) || bytes.EqualFold(text, []byte("infinity"))
}

func parseCSV(text []byte, to Sink) error {
	r, _ := csvShape(text[:min(len(text), sniffLen)], len(text) <= sniffLen)
	r.text = text
	begin := r.at
	names, err := r.row(nil)
	if err != nil {
		return err
	}
	if len(names) == 1 && len(names[0]) == 0 || !header(names) {
		return fault(begin, "%.40q, expected a line with the names of columns", bytes.Join(names, []byte{r.delimiter}))
	}
	for i, name := range names {
		names[i] = bytes.Clone(name)
	}
	if len(names[0]) == 0 {
		names[0] = []byte("#")
	}
	line, peers := text[begin:r.at], r.wide(names)
	to.BeginList(begin)
	for r.blankLines(); r.at < len(text); r.blankLines() {
		if bytes.HasPrefix(text[r.at:], line) {
			to.End(r.at)
			to.BeginList(r.at)
			r.at += len(line)
			continue
		}
		if at := r.at; peers != nil {
			if cells, err := r.row(nil); err == nil && len(cells) == len(names) {
				peers.give(cells, at, to)
				continue
			}
			r.at = at
		}
		if err := r.give(names, to); err != nil {
			return err
		}
	}
	to.End(r.at)
	return nil
}

// csvReader reads cells.
type csvReader struct {
	text      []byte
	at        int
	delimiter byte
	torn      bool   // the end of the text ended the last cell
	scratch   []byte // of a cell with quotes
}

// skip passes over what may precede the header.
func (r *csvReader) skip() {
	if bytes.HasPrefix(r.text, []byte("\xef\xbb\xbf")) {
		r.at = max(r.at, 3)
	}
	for r.blankLines(); r.at < len(r.text) && r.text[r.at] == '#'; r.blankLines() {
		end := bytes.IndexByte(r.text[r.at:], '\n')
		if end < 0 {
			return
		}
		r.at += end
	}
}

func (r *csvReader) blankLines() {
	for r.at < len(r.text) && (r.text[r.at] == '\n' || r.text[r.at] == '\r') {
		r.at++
	}
}

// row appends the cells of a line.
func (r *csvReader) row(cells [][]byte) ([][]byte, error) {
	for {
		cell, more, err := r.cell()
		if err != nil {
			return cells, err
		}
		if len(r.scratch) > 0 {
			cell = bytes.Clone(cell)
		}
		if cells = append(cells, cell); !more {
			return cells, nil
		}
		if len(cells) == maxColumns {
			return cells, fault(r.at, "more than %d columns", maxColumns)
		}
	}
}

// give reads a line as a map.
func (r *csvReader) give(names [][]byte, to Sink) error {
	begin, n := r.at, 0
	to.BeginMap(begin)
	for more := true; more; n++ {
		var cell []byte
		var err error
		if cell, more, err = r.cell(); err != nil {
			return err
		}
		if n >= len(names) {
			continue
		}
		to.Name(names[n])
		giveCell(to, cell)
	}
	if n < len(names) && (r.torn || len(bytes.TrimSpace(r.text[r.at:])) == 0) { // an editor may have ended the line
		return cut(begin, "a row with %d of %d cells", n, len(names))
	}
	if n != len(names) {
		return fault(begin, "a row with %d cells, expected %d as in the header", n, len(names))
	}
	to.End(r.at)
	return nil
}

// giveCell gives the value of a cell.
func giveCell(to Sink, cell []byte) {
	if len(cell) == 0 {
		to.Scalar(Null, nil)
	} else {
		to.Scalar(Bare, cell)
	}
}

// cell reads a cell and the delimiter or end of line after it. More reports whether the line continues.
func (r *csvReader) cell() (cell []byte, more bool, err error) {
	text, i := r.text, r.at
	for i < len(text) && text[i] == ' ' {
		i++
	}
	begin := i
	if i < len(text) && text[i] == '"' {
		if cell, i, err = r.quoted(i + 1); err != nil {
			r.torn = err.(*Error).Cut
			return nil, false, err
		}
		begin = i
	} else {
		delimiter := r.delimiter
		for i < len(text) && text[i] != delimiter && text[i] != '\n' {
			i++
		}
		cell = text[begin:i]
		for len(cell) > 0 && (cell[len(cell)-1] == ' ' || cell[len(cell)-1] == '\r') {
			cell = cell[:len(cell)-1]
		}
	}
	if r.torn = i == len(text); r.torn {
		r.at = i
		return cell, false, nil
	}
	r.at = i + 1
	return cell, text[i] != '\n', nil
}

// quoted reads a cell after its first quote. End is the offset of the delimiter.
func (r *csvReader) quoted(begin int) (cell []byte, end int, err error) {
	text := r.text
	r.scratch = r.scratch[:0]
	for i := begin; ; {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return nil, 0, cut(begin-1, "a cell in quotes")
		}
		end = i + n + 1
		if end < len(text) && text[end] == '"' {
			r.scratch = append(r.scratch, text[i:end]...)
			i = end + 1
			continue
		}
		cell = text[i : end-1]
		if len(r.scratch) > 0 {
			r.scratch = append(r.scratch, cell...)
			cell = r.scratch
		}
		break
	}
	for end < len(text) && (text[end] == ' ' || text[end] == '\r') {
		end++
	}
	if end < len(text) && text[end] != r.delimiter && text[end] != '\n' {
		return nil, 0, fault(end, "%q after a cell in quotes, expected %q or the end of the line", text[end], r.delimiter)
	}
	return cell, end, nil
}

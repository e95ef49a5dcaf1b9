package tracediff

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// parseRow parses a row of a table.
func (r *Reader) parseRow(line []byte) (bool, error) {
	g := &r.grammar
	if g.titled {
		g.titled = false
		return false, nil
	}
	first, rest, more := cutCell(line, g.sep)
	tick, ok := parseUint(first, math.MaxUint64)
	if !ok {
		return false, fmt.Errorf("%s, expected a tick", quoteShort(first))
	}
	var value []byte
	cells := 0
	for ; more && !(cells == len(g.columns) && isNote(rest, g.sep)); cells++ {
		var cell []byte
		cell, rest, more = cutCell(rest, g.sep)
		if cells == g.column {
			value = cell
		}
	}
	if cells != len(g.columns) {
		return false, fmt.Errorf("row of %d checksums, expected %d", cells, len(g.columns))
	}
	if len(value) == 0 {
		return false, nil
	}
	if len(value) > MaxText {
		return false, fmt.Errorf("checksum of %d bytes, limit is %d", len(value), MaxText)
	}
	r.f.c = Checkpoint{Tick: tick, Sums: append(r.f.c.Sums[:0], Sum{Value: value})}
	return true, nil
}

// again reports whether the row that was read has the tick and the value of the one before: it was written twice.
func (r *Reader) again() bool {
	if r.grammar.kind != Table {
		return false
	}
	c := &r.f.c
	same := c.Tick == r.row.tick && bytes.Equal(c.Sums[0].Value, r.row.value)
	r.row.tick, r.row.value = c.Tick, append(r.row.value[:0], c.Sums[0].Value...)
	return same
}

// cutCell returns the first cell of a row, without surrounding blanks and quotes.
func cutCell(row []byte, sep byte) (cell, rest []byte, more bool) {
	if sep == ' ' {
		row = bytes.TrimLeft(row, " ")
	}
	if cell, rest, more, ok := cutQuoted(row, sep); ok {
		return cell, rest, more
	}
	cell, rest, more = bytes.Cut(row, []byte{sep})
	if sep == ' ' {
		rest = bytes.TrimSpace(rest)
		more = len(rest) > 0
	}
	return bytes.TrimSpace(cell), rest, more
}

// isNote reports whether a person's note follows a row between blanks: <--- here.
func isNote(rest []byte, sep byte) bool {
	return sep == ' ' && len(rest) > 0 && strings.IndexByte("<#!*(/-=", rest[0]) >= 0
}

// cutQuoted is cutCell for a cell in quotes. It may contain separators and doubled quotes.
func cutQuoted(row []byte, sep byte) (cell, rest []byte, more, ok bool) {
	row = bytes.TrimLeft(row, " \t")
	if len(row) < 2 || row[0] != '"' {
		return nil, nil, false, false
	}
	doubled := false
	for i := 1; i < len(row); i++ {
		if row[i] != '"' {
			continue
		}
		if i+1 < len(row) && row[i+1] == '"' {
			doubled = true
			i++
			continue
		}
		cell, rest = row[1:i], row[i+1:]
		if doubled {
			cell = bytes.ReplaceAll(cell, []byte(`""`), []byte(`"`))
		}
		if blanks := bytes.TrimLeft(rest, " "); len(blanks) == 0 || blanks[0] == sep {
			rest = blanks
		}
		if len(rest) == 0 {
			return cell, nil, false, true
		}
		return cell, rest[1:], true, rest[0] == sep
	}
	return nil, nil, false, false
}

// sniffTable reports whether most lines are rows of ticks and checksums, with or without titles above them. If they are
// not but the first line is, misfit is the first line that is not a row, else -1.
func sniffTable(lines [][]byte, sep byte) (g grammar, misfit int, ok bool) {
	g = grammar{kind: Table, sep: sep}
	first, rest, more := cutCell(lines[0], sep)
	_, untitled := parseUint(first, math.MaxUint64)
	g.titled = !untitled
	taken, next := map[string]bool{}, map[string]int{} // next is the number to try, by name
	for more {
		var cell []byte
		cell, rest, more = cutCell(rest, sep)
		name := strings.ToValidUTF8(string(cell), string(unicode.ReplacementChar))
		if !g.titled || name == "" {
			name = fmt.Sprintf("column %d", len(g.columns)+1)
		}
		for base := name; taken[name]; next[base]++ {
			name = fmt.Sprintf("%s#%d", base, next[base]+2)
		}
		taken[name] = true
		g.columns = append(g.columns, name)
	}
	begin := 0
	if g.titled {
		begin = 1
	}
	rows := 0
	misfit = -1
	for i, line := range lines[begin:] {
		if isRow(line, sep, len(g.columns)) {
			rows++
		} else if misfit < 0 && rows > 0 {
			misfit = begin + i
		}
	}
	if len(g.columns) == 0 {
		misfit = -1
	}
	return g, misfit, len(g.columns) > 0 && 2*rows > len(lines)-begin && (rows > 1 || untitled || isTickTitle(first))
}

// isTickTitle reports whether a title means ticks. With other titles and only one row below, a table may contain
// anything.
func isTickTitle(title []byte) bool {
	title = bytes.ToLower(bytes.Trim(title, `"'`))
	return slices.ContainsFunc([]string{"tick", "frame", "turn", "step", "cycle"}, func(word string) bool { return bytes.Contains(title, []byte(word)) })
}

func isRow(line []byte, sep byte, columns int) bool {
	first, rest, more := cutCell(line, sep)
	_, ok := parseUint(first, math.MaxUint64)
	n := 0
	for ; more && ok && !(n == columns && isNote(rest, sep)); n++ {
		var cell []byte
		cell, rest, more = cutCell(rest, sep)
		ok = len(cell) == 0 || isChecksum(cell)
	}
	return ok && n == columns
}

package sums

import (
	"bytes"
	"slices"

	"github.com/desynctool/desynctool/anygame/vocabulary"
)

// table is the shape of lines with a separator between values.
type table struct {
	separator byte
	columns   int
	exact     []int // columns that cannot be empty
}

// learnTable finds a table: with a header, or of two or three columns of numbers alone.
func learnTable(lines [][]byte) []template {
	for len(lines) > 1 && bytes.HasPrefix(bytes.TrimSpace(lines[0]), []byte("#")) {
		header := bytes.TrimSpace(bytes.TrimLeft(lines[0], "# "))
		lines = lines[1:]
		if t := tableOf(header, lines); t != nil {
			return t
		}
	}
	if len(lines) < 2 {
		return nil
	}
	if t := tableOf(lines[0], lines[1:]); t != nil {
		return t
	}
	return tableOf(nil, lines)
}

// tableOf returns the template of a table with the names of columns in a header.
func tableOf(header []byte, lines [][]byte) []template {
	for _, separator := range []byte(",;\t| ") {
		first := header
		if header == nil {
			first = lines[0]
		}
		t := table{separator: separator, columns: fields(first, separator, nil)}
		if t.columns < 2 || t.columns > maxSlots || header == nil && t.columns > 3 {
			continue
		}
		columns, ok := t.read(header, lines)
		if !ok {
			continue
		}
		r, ok := resolve(columns, header == nil || t.columns <= 3)
		if !ok || header != nil && vocabulary.Of(r.tickWord) != vocabulary.Tick && !shortTick(r.tickWord) {
			continue
		}
		t.exact = append(t.exact, r.tick)
		for _, p := range r.points {
			for _, s := range p.sums {
				t.exact = append(t.exact, s.slot)
			}
		}
		return []template{{shape: &t, roles: r}}
	}
	return nil
}

// read reads the columns of the rows, and reports whether the lines are a table.
func (t *table) read(header []byte, lines [][]byte) ([]column, bool) {
	columns := make([]column, t.columns)
	values := make([][]byte, maxSlots)
	if header != nil {
		fields(header, t.separator, values)
		for i := range columns {
			if len(values[i]) == 0 || isDigit(values[i][0]) {
				return nil, false
			}
			columns[i].name = string(values[i])
		}
	}
	misfits := 0
	for n, line := range lines {
		if n == maxRows {
			break
		}
		if fields(line, t.separator, values) != t.columns {
			if misfits++; header == nil || 10*misfits > len(lines) {
				return nil, false
			}
			continue
		}
		for i := range columns {
			columns[i].values = append(columns[i].values, bytes.Clone(values[i]))
		}
	}
	for i := range columns {
		columns[i].word = !slices.ContainsFunc(columns[i].values, func(v []byte) bool { _, _, ok := integer(v); return ok })
		if header == nil && columns[i].word {
			return nil, false
		}
	}
	return columns, len(columns[0].values) > 0
}

// fields cuts a line into fields, and returns their number. Blanks and quotes around them are left out.
func fields(line []byte, separator byte, to [][]byte) int {
	if separator == ' ' || separator == '|' {
		line = bytes.Trim(line, " \t|")
	}
	for n := 0; ; n++ {
		i := bytes.IndexByte(line, separator)
		end := i
		if i < 0 {
			end = len(line)
		}
		if n < len(to) {
			to[n] = trimField(line[:end])
		}
		if i < 0 {
			return n + 1
		}
		line = line[i+1:]
		if separator == ' ' {
			line = bytes.TrimLeft(line, " \t")
		}
	}
}

func trimField(b []byte) []byte {
	for len(b) > 0 && (isBlank(b[0]) || b[0] == '"') {
		b = b[1:]
	}
	for len(b) > 0 && (isBlank(b[len(b)-1]) || b[len(b)-1] == '"') {
		b = b[:len(b)-1]
	}
	return b
}

func (t *table) match(line []byte, to *matched) bool {
	to.before, to.after = nil, nil
	if fields(line, t.separator, to.values) != t.columns {
		return false
	}
	return !slices.ContainsFunc(t.exact, func(i int) bool { return len(to.values[i]) == 0 })
}

package notation

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Lines of values without names, as a program prints them in a few minutes:
//
//	orc #0  98/100  (12, 7)
//	(3, 'elf', 77, 12)
//	3|elf|77|12
//
// A value has no name but its place: value, value#2.

// lineForm is what is known of the lines that have the same marks, words and numbers.
type lineForm struct {
	lines int
	last  map[string]int // of each kind, the state with its last line
	again bool           // a kind comes again in a state: its rows have ids
}

// isPlaced reports whether a value after one of that name has no name.
func isPlaced(last []byte) bool {
	return string(last) == "id" || string(last) == "name" || string(last) == "value"
}

// count counts the form of the line that was read.
func (p *rowsParser) count(line []byte, state int) {
	if isDrawn(line) {
		return
	}
	key := formKey(line)
	f := p.forms[key]
	if f == nil {
		if len(p.forms) == maxKinds {
			return
		}
		f = &lineForm{last: map[string]int{}}
		p.forms[key] = f
	}
	f.lines++
	kind := string(p.row.kind[:min(len(p.row.kind), maxWord)])
	if last, ok := f.last[kind]; ok && last == state {
		f.again = true
	}
	if !f.again && len(f.last) < maxKinds {
		f.last[kind] = state
	}
}

// measures finds times of day, and what a machine measures: took 5 ms. A text with these may be a log, so that its lines need names.
var measures = lazyregexp.New(`(?im)(?:^|[ \[(T])\d\d:\d\d:\d\d|\d ?(?:[mun]s|[mun]?secs?|millis|seconds|bytes|[kmg]i?b|packets|fps|calls)\b`)

// settle reports whether other lines have the form of the line that was read, if values of it have no names. If no kind comes
// again, a kind is the name of the thing, and the first number is no id but a value.
func (p *rowsParser) settle(line []byte) bool {
	r := &p.row
	if isDrawn(line) {
		p.formed++
		return true
	}
	f := p.forms[formKey(line)]
	if f == nil || f.lines < 2 || p.measured {
		return !r.nameless
	}
	p.formed++
	if !r.nameless {
		return true
	}
	if !f.again && !r.marked && len(f.last) > 1 && string(r.fields[0].name) == "id" {
		r.fields[0].name = []byte("value")
		placed := 0
		for i := range r.fields {
			if name, _, _ := bytes.Cut(r.fields[i].name, []byte("#")); string(name) == "value" {
				placed++
				r.fields[i].name = placeName(placed)
			}
		}
		r.number()
	}
	return true
}

// placeName returns the name of a value without one.
func placeName(n int) []byte {
	if n == 1 {
		return []byte("value")
	}
	return strconv.AppendInt([]byte("value#"), int64(n), 10)
}

// formKey returns a line with w for its words, 1 for its numbers, and its marks.
func formKey(line []byte) string {
	var out []byte
	for at := 0; at < len(line) && len(out) < 4*maxWord; {
		end := tokenEnd(line, at)
		switch {
		case end > at && isValueBegin(line[at:end]) && line[at] != '"':
			out = append(out, '1')
		case end > at:
			out = append(out, 'w')
		case line[at] != ' ' && line[at] != '\t' || len(out) > 0 && out[len(out)-1] != ' ':
			out = append(out, bytes.ReplaceAll(line[at:at+1], []byte{'\t'}, []byte{' '})...)
		}
		at = max(end, at+1)
	}
	return string(out)
}

// cells reads a line of values with marks between them, and reports whether it is one: each is a number, a word, a text in
// quotes or a list of numbers.
func (r *row) cells(line []byte) bool {
	line = bytes.TrimRight(line, ",; \t")
	n := len(line) - 1
	if n < 2 {
		return false
	}
	bracketed := bytes.IndexByte([]byte("([{"), line[0]) >= 0 && line[n] == closes(line[0])
	if bracketed {
		line = line[1:n]
	}
	i := slices.IndexFunc(delimiters, func(d byte) bool { return bytes.IndexByte(line, d) >= 0 })
	var list [][]byte
	if i >= 0 {
		list = splitCells(line, delimiters[i])
	} else if list = bytes.Fields(line); !r.below || !isUnnamed(list) {
		return false
	}
	numbers := 0
	for _, cell := range list {
		switch {
		case isNumber(cell):
			numbers++
		case len(cell) == 0 || isQuoted(cell) || tokenEnd(cell, 0) == len(cell) || isList(bytes.TrimLeft(cell[tokenEnd(cell, 0):], " ")) && !isValueBegin(cell):
		default:
			return false
		}
	}
	if numbers == 0 || len(list) < 2 || len(list) == 2 && !bracketed {
		return false
	}
	r.kind, r.nameless = []byte("row"), true
	first := list[0]
	switch {
	case len(first) == 0:
		return false
	case !isNumber(first) && !isQuoted(first) && isWhole(list[1]):
		r.kind = first
		r.fields = append(r.fields, field{[]byte("id"), list[1]})
		list = list[2:]
	case isWhole(first):
		r.fields = append(r.fields, field{[]byte("id"), first})
		list = list[1:]
	case !isNumber(first):
		r.fields = append(r.fields, field{[]byte("name"), first})
		list = list[1:]
	}
	for i, cell := range list {
		r.fields = append(r.fields, field{placeName(i + 1), cell})
	}
	return true
}

// delimiters are what may be between cells.
var delimiters = []byte("\t|;,")

// isWhole reports whether a value is a whole number.
func isWhole(value []byte) bool {
	return len(value) > 0 && len(bytes.Trim(value, "0123456789")) == 0
}

// splitCells splits a line at a mark outside brackets and quotes.
func splitCells(line []byte, mark byte) (out [][]byte) {
	var s bracketScan
	begin := 0
	for i := range line {
		if s.next(line, i); line[i] == mark && len(s.open) == 0 && i >= s.until {
			out = append(out, bytes.TrimSpace(line[begin:i]))
			begin = i + 1
		}
	}
	return append(out, bytes.TrimSpace(line[begin:]))
}

// isUnnamed reports whether words between blanks are a number, a word, and numbers of which one follows another: 3 elf 77 12.
func isUnnamed(list [][]byte) bool {
	return len(list) > 3 && isWhole(list[0]) && isLetterByte(list[1][0]) && isNumber(list[2]) && isNumber(list[3])
}

// isDrawn reports whether a line is a row of a map that a program draws with marks: #..@..#
func isDrawn(line []byte) bool {
	marks := 0
	for _, c := range line {
		switch {
		case c <= ' ' || c >= 0x7f || bytes.IndexByte([]byte("{}[]()/\\\"'"), c) >= 0:
			return false
		case !isWordByte(c):
			marks++
		}
	}
	return len(line) >= 4 && 2*marks >= len(line) && bytes.Count(line, line[:1]) < len(line) && !bytes.ContainsAny(line, "0123456789") && bytes.ContainsAny(line, ".#~") && !rules.Match(line)
}

// remarked reports whether a remark is a name and a value: # gold 50
func remarked(line []byte) bool {
	text := bytes.TrimLeft(line, "#;/")
	if len(text) == len(line) || len(text) == 0 || text[0] != ' ' {
		return false
	}
	var r row
	r.read(bytes.TrimSpace(text))
	return r.isMember() && isNumber(r.value())
}

package ggpo

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// Names for things that have no name in a log.
const (
	stateLabel = "state"  // of fields with names that have no number
	linesLabel = "(line)" // of lines that are not fields
	valueField = "value"  // of a name that ends with a number
)

const (
	maxFieldName = 256 // bytes of a name; a longer one is a line
	maxSame      = 64  // fields of one name
)

// decoder puts the lines of one log into tables.
type decoder struct {
	tables   snapshot.Sparse
	lines    uint64    // that are not fields
	headings []heading // that contains the current line
}

// heading is a line with a name and no value. Lines that are indented more belong to it.
type heading struct {
	indent int
	name   string
}

// line adds a line without its end.
func (d *decoder) line(line string) error {
	text := strings.TrimLeft(line, " \t")
	if text == "" {
		return nil
	}
	indent := len(line) - len(text)
	for n := len(d.headings); n > 0 && d.headings[n-1].indent >= indent; n-- {
		d.headings = d.headings[:n-1]
	}
	name, value, ok := strings.Cut(text, ":")
	if before, after, equals := strings.Cut(text, "="); equals && len(before) < len(name) {
		name, value, ok = before, after, true
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if ok && value == "" && d.below(indent, name) {
		return nil
	}
	if len(d.headings) > 0 {
		name = d.headings[len(d.headings)-1].name + " " + name
	}
	if !ok || len(name) > maxFieldName || len(place(name).label) == 0 {
		return d.plain(text)
	}
	return d.field(place(name), strings.TrimSuffix(value, "."), text)
}

// below makes a name without a value a heading, unless it is too long for one.
func (d *decoder) below(indent int, name string) bool {
	if n := len(d.headings); n > 0 {
		name = d.headings[n-1].name + " " + name
	}
	if len(name) > maxFieldName || name == "" {
		return false
	}
	d.headings = append(d.headings, heading{indent, name})
	return true
}

// plain adds a line that is not a field.
func (d *decoder) plain(text string) error {
	t, err := d.tables.Table(snapshot.Archetype, linesLabel, 1)
	if err != nil {
		return err
	}
	row, _ := t.Row(d.lines, 0)
	d.lines++
	return t.SetText(row, "line", "text", text)
}

// field adds a value. A second one of the same name is NAME#2; after many of them lines are kept unchanged.
func (d *decoder) field(p spot, value, line string) error {
	t, err := d.tables.Table(snapshot.Archetype, p.label, max(1, p.parts))
	if err != nil {
		return err
	}
	row, _ := t.Row(p.keys[0], p.keys[1])
	name := p.field
	for n := 2; n <= maxSame; n++ {
		if err := t.SetText(row, p.component, name, value); !errors.Is(err, snapshot.ErrTwice) {
			return err
		}
		name = fmt.Sprintf("%s#%d", p.field, n)
	}
	return d.plain(line)
}

// spot is where the value of a name belongs.
type spot struct {
	label, component, field string
	keys                    [2]uint64
	parts                   int // of the keys, 0 where the name has no number
}

// place finds where the value of a name belongs: numbers in it are keys, the words before them
// the label, those after the last the field. Of more than two numbers the first ones belong to
// the label. The label is empty if the name has no words.
func place(name string) (p spot) {
	words := strings.FieldsFunc(strings.ToValidUTF8(name, "\uFFFD"), func(r rune) bool {
		return r == ' ' || r == '\t' || r == '[' || r == ']' || r == '.' || r == '#' || r == '/'
	})
	numbers, named := 0, false
	for _, w := range words {
		if _, ok := number(w); ok {
			numbers++
		} else {
			named = true
		}
	}
	if !named {
		return spot{}
	}
	if numbers == 0 {
		return spot{label: stateLabel, component: stateLabel, field: strings.Join(words, " ")}
	}
	var groups, group []string
	p.parts = min(numbers, 2)
	seen := 0
	for _, w := range words {
		n, ok := number(w)
		if !ok {
			group = append(group, w)
			continue
		}
		seen++
		if seen <= numbers-2 {
			group = append(group, w)
			continue
		}
		p.keys[seen-1-(numbers-p.parts)] = n
		if len(group) == 0 {
			group = []string{"#"}
		}
		groups = append(groups, strings.Join(group, " "))
		group = nil
	}
	p.label = strings.Join(groups, "/")
	p.component = groups[len(groups)-1]
	p.field = cmp.Or(strings.Join(group, " "), valueField)
	return p
}

// number reads a word that is a number as a game counts things.
func number(word string) (uint64, bool) {
	if len(word) > 1 && word[0] == '0' {
		return 0, false
	}
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(word, 10, 64)
	return n, err == nil
}

package zeroad

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	// maxDepth is how deep objects may be nested in one row, maxElements how
	// long a list in a list may be, before they are kept as text.
	maxDepth    = 32
	maxElements = 64

	shapeField = "(shape)"
	restField  = "(rest)"
)

// path is a place in the JSON that makes the rows of one table.
type path struct {
	table *table
	dump  int    // that it is of
	name  string // of its columns; "" for the state of a component as a whole
	token string // as in the shape: "" for a row as a whole

	members []*path
	keys    map[string]*path // members by name, for so many members that a search would be slow
	items   []*path
	list    *table // the elements of the list that is here

	// Of a member: its name, and its beginning if only one text represents that name.
	member string
	lead   []byte

	// Which member came first the last time, and which after this one.
	first, after *path

	// One column for each kind of value that occurs.
	number, text, boolean *field
}

// kindSuffix distinguishes the columns of one path. Most paths have one kind of
// value, and its column is named like the path.
const (
	textSuffix = " (text)"
	boolSuffix = " (bool)"
)

// nameKinds names the columns of p and all below.
func (p *path) nameKinds() {
	number, text := p.table.has(p.number), p.table.has(p.text)
	if text && number {
		p.text.column.Field += textSuffix
	}
	if p.table.has(p.boolean) && (number || text) {
		p.boolean.column.Field += boolSuffix
	}
	for _, q := range p.members {
		q.nameKinds()
	}
	for _, q := range p.items {
		q.nameKinds()
	}
}

// sub returns the path of a key or an index below p, nil if there is no room
// for its columns.
func (p *path) sub(step string) *path {
	name := p.name + step
	token := p.token + step
	if p.name == "" {
		name = strings.TrimPrefix(name, ".")
	}
	if p.token == "" {
		token = strings.TrimPrefix(token, ".")
	}
	if len(name) > snapshot.MaxName-len(textSuffix) || len(p.table.fields) >= maxColumns {
		return nil
	}
	p.table.all.made++
	return &path{table: p.table, dump: p.table.all.dump, name: name, token: token}
}

// open reports whether p is, or becomes, one of this dump: whether there is room for its columns.
func (p *path) open() bool {
	if p.dump != p.table.all.dump {
		if len(p.table.fields) >= maxColumns {
			return false
		}
		p.dump = p.table.all.dump
	}
	return true
}

// opened returns p, or nil if there is no room for its columns.
func (p *path) opened() *path {
	if p.open() {
		return p
	}
	return nil
}

// key returns the path of a member by its name.
func (p *path) key(key []byte) *path {
	if p.keys != nil {
		if q := p.keys[string(key)]; q != nil {
			return q.opened()
		}
	} else {
		for _, q := range p.members {
			if q.member == string(key) {
				return q.opened()
			}
		}
	}
	q := p.sub(step(key))
	if q == nil {
		return nil
	}
	q.member = string(key)
	if n, ok := engine.ParseInt(key); (!ok || n < 0) && verbatim(key) {
		q.lead = append(append([]byte{'"'}, key...), `": `...)
	}
	p.members = append(p.members, q)
	switch {
	case p.keys != nil:
		p.keys[q.member] = q
	case len(p.members) > maxLooked:
		p.keys = make(map[string]*path, 2*len(p.members))
		for _, q := range p.members {
			p.keys[q.member] = q
		}
	}
	return q
}

func (p *path) item(i int) *path {
	for len(p.items) <= i {
		q := p.sub("[" + strconv.Itoa(len(p.items)) + "]")
		if q == nil {
			return nil
		}
		p.items = append(p.items, q)
	}
	return p.items[i].opened()
}

// maxLooked is how many members are searched one by one.
const maxLooked = 16

// verbatim reports whether a name is in quotes unchanged.
func verbatim(name []byte) bool {
	return !slices.ContainsFunc(name, func(c byte) bool { return c < ' ' || c == '"' || c == '\\' })
}

// step is a key as a part of a path: .name or ["any text"].
func step(key []byte) string {
	for i, c := range key {
		if !identifierByte(c) && c != '$' || i == 0 && c >= '0' && c <= '9' {
			return "[" + strconv.Quote(string(key)) + "]"
		}
	}
	if len(key) == 0 {
		return `[""]`
	}
	return "." + string(key)
}

// listOf returns the table of the list at p.
func (d *decoder) listOf(p *path) *table {
	if p.list == nil {
		label := p.table.component + "." + p.name
		if p.name == "" {
			label += "[]"
		}
		p.list = d.tables.get(d.class, label, p.table.component, true)
		if p.list.paths == nil {
			p.list.paths = &path{table: p.list, name: p.name + "[]"}
		}
	}
	return p.list.open()
}

// script reads a field that is JSON. For a component written in JavaScript it is the component's state; other fields
// are lists of values.
func (d *decoder) script(own *table, field *nativeField) error {
	start := d.pos
	nth := field.in(d.component).scripts
	field.scripts++
	if field.name == "comp" && nth == 0 {
		if own.paths == nil {
			own.paths = &path{table: own}
		}
		return d.object(own, 0)
	}
	t := d.listed(field)
	if t.paths == nil {
		t.paths = &path{table: t, name: field.name + "[]"}
	}
	if !t.follows(d.entity, nth) {
		return d.errorAt(start, "%w", errTwice)
	}
	t.add(d.entity, nth)
	return d.object(t, 1)
}

// object reads a value into the current row. Level is 0 for the row of a component, 1 for the row of an element of a
// list.
func (d *decoder) object(t *table, level int) error {
	start := d.pos
	d.shapes[level], d.kept[level] = d.shapes[level][:0], d.kept[level][:0]
	if err := d.value(t.paths, level, 0); err != nil {
		return err
	}
	if err := t.text(&t.shape, shapeField, d.shapes[level]); err != nil {
		return d.errorAt(start, "%w", err)
	}
	if len(d.kept[level]) == 0 {
		return nil
	}
	if err := t.text(&t.rest, restField, d.kept[level]); err != nil {
		return d.errorAt(start, "%w", err)
	}
	return nil
}

// shape notes that the row has a value of a kind at p. Names, their order and
// the kinds of values are also state: the engine hashes properties in the order
// in which they were made.
func (d *decoder) shape(p *path, level int, kind string) {
	s := d.shapes[level]
	if len(s) > 0 {
		s = append(s, ' ')
	}
	s = append(s, p.token...)
	d.shapes[level] = append(s, kind...)
}

// value reads one value at p.
func (d *decoder) value(p *path, level, depth int) error {
	start := d.pos
	c, err := d.peek()
	if err != nil {
		return err
	}
	switch {
	case c == '{':
		return d.members(p, level, depth)
	case c == '[':
		return d.elements(p, level, depth)
	case c == '"':
		s, err := d.string()
		if err != nil {
			return err
		}
		d.shape(p, level, ":text")
		return d.putText(p, s, start)
	case c == 't' || c == 'f' || c == 'n':
		return d.word(p, level)
	}
	return d.number(p, level)
}

func (d *decoder) putText(p *path, s []byte, start int) error {
	if err := p.table.text(&p.text, p.name, s); err != nil {
		return d.errorAt(start, "%w", err)
	}
	return nil
}

func (d *decoder) word(p *path, level int) error {
	for _, word := range []string{"true", "false", "null"} {
		if !bytes.HasPrefix(d.text[d.pos:], []byte(word)) {
			continue
		}
		start := d.pos
		d.pos += len(word)
		if word == "null" {
			d.shape(p, level, ":null")
			return nil
		}
		d.shape(p, level, ":bool")
		if p.boolean == nil {
			p.boolean = p.table.newField(p.name, snapshot.Bool)
		}
		if err := p.table.setBits(p.boolean, uint64(len("false")-len(word))); err != nil {
			return d.errorAt(start, "%w", err)
		}
		return nil
	}
	return d.errorf("%.10q, expected a value", d.text[d.pos:])
}

// number reads a number, which JavaScript has as f64. One that is not written
// as the engine writes an f64 is kept as text.
func (d *decoder) number(p *path, level int) error {
	start := d.pos
	for d.pos < len(d.text) && numberByte(d.text[d.pos]) {
		d.pos++
	}
	text := d.text[start:d.pos]
	v := 0.0
	if n, ok := engine.ParseInt(text); ok && len(text) <= 15 { // most are, and a f64 holds them
		v = float64(n)
	} else {
		if len(text) == 0 || !json.Valid(text) {
			return d.errorAt(start, "%.10q, expected a value", d.text[start:])
		}
		var err error
		v, err = strconv.ParseFloat(string(text), 64)
		if err != nil || !shortest(v, text) {
			d.shape(p, level, ":text")
			return d.putText(p, text, start)
		}
	}
	d.shape(p, level, "")
	if p.number == nil {
		p.number = p.table.newField(p.name, snapshot.F64)
	}
	if err := p.table.setBits(p.number, math.Float64bits(v)); err != nil {
		return d.errorAt(start, "%w", err)
	}
	return nil
}

func numberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// shortest reports whether text is how JavaScript writes v: the fewest digits
// that read back as v, with an exponent below 1e-6 and from 1e21 on.
func shortest(v float64, text []byte) bool {
	var buf [32]byte
	if abs := math.Abs(v); abs >= 1e-6 && abs < 1e21 {
		return string(strconv.AppendFloat(buf[:0], v, 'f', -1, 64)) == string(text)
	}
	want := strconv.AppendFloat(buf[:0], v, 'e', -1, 64)
	digits, exponent, _ := bytes.Cut(want, []byte("e"))
	if len(exponent) == 3 && exponent[1] == '0' { // e-07
		exponent = append(exponent[:1], exponent[2])
	}
	return string(digits)+"e"+string(exponent) == string(text)
}

// members reads an object. Members of the component's own objects that have a number as name are rows, like elements of
// a list: mostly the number is an entity's.
func (d *decoder) members(p *path, level, depth int) error {
	d.pos++
	own := false // the object has a place in the shape
	next := &p.first
	for n := 0; ; n++ {
		c, err := d.peek()
		if err != nil {
			return err
		}
		if c == '}' {
			d.pos++
			if n == 0 && !own {
				d.shape(p, level, ":{}")
			}
			return nil
		}
		if n > 0 {
			if c != ',' {
				return d.errorf("%q, expected a comma or the end of an object", c)
			}
			d.pos++
			if c, err = d.peek(); err != nil {
				return err
			}
		}
		if c != '"' {
			return d.errorf("%q, expected a name", c)
		}
		if q := *next; q != nil && q.lead != nil && depth < maxDepth && bytes.HasPrefix(d.text[d.pos:], q.lead) && q.open() {
			d.pos += len(q.lead)
			if err := d.value(q, level, depth+1); err != nil {
				return err
			}
			next = &q.after
			continue
		}
		start := d.pos
		key, err := d.string()
		if err != nil {
			return err
		}
		if c, err = d.peek(); err != nil {
			return err
		}
		if c != ':' {
			return d.errorf("%q, expected a colon", c)
		}
		d.pos++
		if number, ok := engine.ParseInt(key); ok && number >= 0 && level == 0 && len(p.name) < maxListName {
			if !own {
				d.shape(p, level, ":{}")
				own = true
			}
			if err := d.element(d.listOf(p), uint64(number), start); err != nil {
				return err
			}
			continue
		}
		if !utf8.Valid(key) {
			return d.errorAt(start, "name %q is not UTF-8", key)
		}
		if q := p.key(key); q == nil || depth == maxDepth {
			err = d.keep(p.token+step(key), level)
		} else {
			*next, next = q, &q.after
			err = d.value(q, level, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// maxListName leaves room for the component's name in a label, and for the text after a list's name.
const maxListName = snapshot.MaxName/2 - 64

// element makes a row of an element of a list.
func (d *decoder) element(t *table, index uint64, start int) error {
	if !t.follows(d.entity, index) {
		return d.errorAt(start, "%s %d:%d does not follow the one before", t.label, d.entity, index)
	}
	t.add(d.entity, index)
	return d.object(t, 1)
}

// elements reads a list. A list in a component is a table; a list in such a
// list has a path for each index.
func (d *decoder) elements(p *path, level, depth int) error {
	asRows := level == 0 && len(p.name) < maxListName
	if !asRows {
		start := d.pos
		n, err := d.skip()
		if err != nil {
			return err
		}
		if n > maxElements || depth == maxDepth {
			d.pos = start
			return d.keep(p.token, level)
		}
		d.pos = start
		if n == 0 {
			d.shape(p, level, ":[]")
		}
	} else {
		d.shape(p, level, ":[]")
	}
	d.pos++
	for n := 0; ; n++ {
		c, err := d.peek()
		if err != nil {
			return err
		}
		if c == ']' {
			d.pos++
			return nil
		}
		if n > 0 {
			if c != ',' {
				return d.errorf("%q, expected a comma or the end of a list", c)
			}
			d.pos++
			if _, err := d.peek(); err != nil {
				return err
			}
		}
		if asRows {
			err = d.element(d.listOf(p), uint64(n), d.pos)
		} else if q := p.item(n); q != nil {
			err = d.value(q, level, depth+1)
		} else {
			err = d.keep(p.token+"["+strconv.Itoa(n)+"]", level)
		}
		if err != nil {
			return err
		}
	}
}

// keep adds a value as text to what the row has no columns for.
func (d *decoder) keep(token string, level int) error {
	start := d.pos
	if _, err := d.skip(); err != nil {
		return err
	}
	kept := bytes.NewBuffer(d.kept[level])
	if kept.Len() > 0 {
		kept.WriteByte('\n')
	}
	kept.WriteString(token)
	kept.WriteByte(' ')
	if err := json.Compact(kept, d.text[start:d.pos]); err != nil {
		return d.errorAt(start, "malformed value: %w", err)
	}
	d.kept[level] = kept.Bytes()
	return nil
}

// skip passes over a value and returns, for a list, how many elements it has.
// It looks at brackets and strings only.
func (d *decoder) skip() (elements int, err error) {
	depth, commas, empty := 0, 0, true
	for {
		c, err := d.peek()
		if err != nil {
			return 0, err
		}
		if depth > 0 && c != '[' && c != ']' || depth > 1 {
			empty = false
		}
		switch c {
		case '"':
			if _, err := d.string(); err != nil {
				return 0, err
			}
		case '[', '{':
			depth++
			d.pos++
		case ']', '}':
			depth--
			d.pos++
		case ',', ':':
			d.pos++
			if depth == 1 && c == ',' {
				commas++
			}
		default:
			start := d.pos
			for d.pos < len(d.text) && (numberByte(d.text[d.pos]) || d.text[d.pos] >= 'a' && d.text[d.pos] <= 'z') {
				d.pos++
			}
			if d.pos == start {
				return 0, d.errorf("%q, expected a value", c)
			}
		}
		switch {
		case depth < 0:
			return 0, d.errorf("%q, expected a value", c)
		case depth == 0 && empty:
			return 0, nil
		case depth == 0:
			return commas + 1, nil
		}
	}
}

// peek returns the next byte that is not blank.
func (d *decoder) peek() (byte, error) {
	for i := d.pos; i < len(d.text); i++ {
		switch c := d.text[i]; c {
		case ' ', '\n', '\r', '\t':
		default:
			d.pos = i
			return c, nil
		}
	}
	d.pos = len(d.text)
	return 0, d.errorf("the dump ends within a value: %w", io.ErrUnexpectedEOF)
}

// string reads a string without its quotes. Escapes are replaced unless one of them is a code unit, which may be half a
// character.
func (d *decoder) string() ([]byte, error) {
	start := d.pos
	escaped := false
	for d.pos++; d.pos < len(d.text); d.pos++ {
		switch c := d.text[d.pos]; {
		case c == '"':
			s := d.text[start+1 : d.pos]
			d.pos++
			if !escaped {
				return s, nil
			}
			return d.unescape(s, start)
		case c == '\\':
			escaped = true
			d.pos++
		case c < ' ':
			return nil, d.errorf("a control character in a string")
		}
	}
	return nil, d.errorAt(len(d.text), "the dump ends within a string: %w", io.ErrUnexpectedEOF)
}

func (d *decoder) unescape(s []byte, start int) ([]byte, error) {
	quoted := append(append([]byte{'"'}, s...), '"')
	if !json.Valid(quoted) {
		return nil, d.errorAt(start, "malformed escape in a string")
	}
	if bytes.Contains(s, []byte(`\u`)) || !utf8.Valid(s) {
		return s, nil
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return nil, d.errorAt(start, "%w", err)
	}
	return []byte(text), nil
}

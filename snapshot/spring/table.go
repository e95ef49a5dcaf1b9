package spring

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/desynctool/desynctool/snapshot"
)

// table collects the rows of one table. The last row is the one at hand.
type table struct {
	label string
	class snapshot.Class
	two   bool // keys have two parts
	keysA []uint64
	keysB []uint64

	columns []*snapshot.Column
	byName  map[name]*memo
	last    *memo // of the line before

	params     []int // columns of a command's parameters
	wantParams int   // of the row at hand, -1 if it has not said so
}

// name is the name of what a line has.
type name struct{ component, key string }

// memo is where a line's values go: rows repeat each other's lines.
type memo struct {
	name
	next    *memo
	columns [kinds][]int // by kind, one a value
	twice   *memo        // the same key a second time in a row
	row     int          // in which it was last met, plus one
}

// kind is the shape of a value. Each has columns of its own, so that their types
// follow from the format and not from what one file has.
type kind int

const (
	integer kind = iota
	decimal
	vector
	word
	kinds
)

func newTable(label string, two bool) *table {
	return &table{label: label, two: two, byName: map[name]*memo{}, wantParams: -1}
}

// begin begins a row.
func (t *table) begin(a, b uint64) {
	t.keysA = append(t.keysA, a)
	if t.two {
		t.keysB = append(t.keysB, b)
	}
	t.wantParams = -1
	t.last = nil
}

// at returns the memo of a key.
func (t *table) at(component string, key []byte) *memo {
	m := (*memo)(nil)
	if t.last != nil && t.last.next != nil && t.last.next.key == string(key) && t.last.next.component == component {
		m = t.last.next
	} else {
		m = t.byName[name{component, string(key)}]
		if m == nil {
			k := text(key)
			m = &memo{name: name{component, k}}
			t.byName[name{component, string(key)}] = m
		}
		if t.last != nil {
			t.last.next = m
		}
	}
	t.last = m
	row := len(t.keysA)
	for n := 2; m.row == row; n++ {
		if m.twice == nil {
			m.twice = &memo{name: name{m.component, fmt.Sprintf("%s#%d", m.key, n)}}
		}
		m = m.twice
	}
	m.row = row
	return m
}

// column returns column i of a memo for values of a kind, ready to take the value
// of the row at hand.
func (t *table) column(m *memo, k kind, i int, suffix string, typ snapshot.Type, d *decoder) (*snapshot.Column, error) {
	for len(m.columns[k]) <= i {
		m.columns[k] = append(m.columns[k], -1)
	}
	if m.columns[k][i] < 0 {
		if len(t.columns) == maxFields {
			return nil, d.errorf("%s has more than %d fields", t.label, maxFields)
		}
		c := snapshot.NewColumn(m.component, m.key+suffix, typ, 0)
		m.columns[k][i] = len(t.columns)
		t.columns = append(t.columns, &c)
	}
	c := t.columns[m.columns[k][i]]
	row := len(t.keysA) - 1
	for c.Rows() < row {
		c.AppendAbsent()
	}
	return c, nil
}

// field appends the value of a key, by its shape.
func (t *table) field(component, key string, value []byte, d *decoder) error {
	return t.known(component, []byte(key), value, d)
}

// known is field for a key as it stands in the line.
func (t *table) known(component string, key, value []byte, d *decoder) error {
	if component == "" || len(key) == 0 || len(key) > snapshot.MaxName/2 || len(component) > snapshot.MaxName {
		return d.errorf("%.40q, expected key: value", key)
	}
	m := t.at(component, key)
	if len(value) > 0 && value[0] == '<' {
		if bytes.IndexByte(value, ',') < 0 || value[len(value)-1] != '>' {
			return t.hashed(m, value[1:], d) // "<123", which is never closed
		}
		return t.vector(m, value, d)
	}
	if n, ok := parseInteger(value); ok {
		if isFloat(key) && n >= 0 && n <= math.MaxUint32 {
			c, err := t.column(m, decimal, 0, "", snapshot.F32, d)
			if err == nil {
				c.AppendUint(uint64(n))
			}
			return err
		}
		if isVector(key) && n >= 0 && n <= math.MaxUint32 {
			return t.hashed(m, value, d)
		}
		c, err := t.column(m, integer, 0, "", snapshot.I64, d)
		if err == nil {
			c.AppendInt(n)
		}
		return err
	}
	if f, ok := parseFloat(value); ok {
		c, err := t.column(m, decimal, 0, "", snapshot.F32, d)
		if err == nil {
			c.AppendUint(uint64(math.Float32bits(f)))
		}
		return err
	}
	if bits, rest, ok := bytes.Cut(value, []byte(" <")); ok {
		if n, isBits := parseInteger(bits); isBits && n >= 0 && n <= math.MaxUint32 {
			if bytes.IndexByte(rest, ',') < 0 { // a float: its bits say all
				c, err := t.column(m, decimal, 0, "", snapshot.F32, d)
				if err == nil {
					c.AppendUint(uint64(n))
				}
				return err
			}
			return t.hashed(m, value, d)
		}
	}
	c, err := t.column(m, word, 0, wordSuffix(key), snapshot.String, d)
	if err == nil {
		c.AppendString(text(value))
	}
	return err
}

// wordSuffix sets texts apart under keys that usually have numbers.
func wordSuffix(key []byte) string {
	if isVector(key) || isFloat(key) {
		return "#text"
	}
	return ""
}

// text appends a value that is text whatever it looks like.
func (t *table) text(component, key string, value []byte, d *decoder) error {
	m := t.at(component, []byte(key))
	c, err := t.column(m, word, 0, "", snapshot.String, d)
	if err == nil {
		c.AppendString(text(value))
	}
	return err
}

// axes are the fields of a vector.
var axes = [...]string{".x", ".y", ".z", ".w"}

// vector takes "<1.0, 2.0, 3.0>".
func (t *table) vector(m *memo, value []byte, d *decoder) error {
	value = value[1 : len(value)-1]
	for i := 0; ; i++ {
		part, rest, more := bytes.Cut(value, []byte(","))
		f, ok := parseFloat(bytes.TrimLeft(part, " "))
		if !ok {
			return d.errorf("%.40q, expected a number", part)
		}
		suffix := ""
		switch {
		case i < len(axes):
			suffix = axes[i]
		case i < 16:
			suffix = "." + strconv.Itoa(i)
		default:
			return d.errorf("vector of more than 16 numbers")
		}
		c, err := t.column(m, vector, i, suffix, snapshot.F32, d)
		if err != nil {
			return err
		}
		c.AppendUint(uint64(math.Float32bits(f)))
		if !more {
			return nil
		}
		value = rest
	}
}

// hashed takes "123456" and "123456 <1,2,3>": the hash of a vector, and perhaps
// its values.
func (t *table) hashed(m *memo, value []byte, d *decoder) error {
	hash, rest, both := bytes.Cut(value, []byte(" <"))
	n, err := strconv.ParseUint(string(hash), 10, 32)
	if err != nil {
		return d.errorf("%.40q, expected the hash of a vector", hash)
	}
	c, err := t.column(m, integer, 0, ".hash", snapshot.U32, d)
	if err != nil {
		return err
	}
	c.AppendUint(n)
	if !both {
		return nil
	}
	rest = bytes.TrimSuffix(rest, []byte(">"))
	return t.vector(m, append(append([]byte{'<'}, rest...), '>'), d)
}

// number appends a number to a column that is a float's.
func (t *table) number(column int, value []byte, d *decoder) error {
	f, ok := parseFloat(value)
	if !ok {
		return d.errorf("%.40q, expected a number", value)
	}
	if column < 0 {
		return d.errorf("more than %d parameters", maxParams)
	}
	c := t.columns[column]
	for c.Rows() < len(t.keysA)-1 {
		c.AppendAbsent()
	}
	c.AppendUint(uint64(math.Float32bits(f)))
	return nil
}

const maxParams = 1024

// parameter returns the column of parameter i of a command, -1 if there are too
// many.
func (t *table) parameter(i int) int {
	for len(t.params) <= i {
		if i >= maxParams || len(t.columns) >= maxFields {
			return -1
		}
		c := snapshot.NewColumn(t.label, fmt.Sprintf("params[%d]", len(t.params)), snapshot.F32, 0)
		t.params = append(t.params, len(t.columns))
		t.columns = append(t.columns, &c)
	}
	return t.params[i]
}

// tables returns the tables, their rows sorted.
func (d *decoder) tables() ([]snapshot.Table, error) {
	cells := 0
	for _, t := range d.all {
		if cells += len(t.keysA) * max(1, len(t.columns)); cells > maxCells {
			return nil, fmt.Errorf("more than %d values", maxCells)
		}
	}
	var out []snapshot.Table
	for _, t := range d.all {
		table := snapshot.Table{Label: t.label, Class: t.class, Keys: snapshot.Keys{A: t.keysA, B: t.keysB}}
		if t.two && t.keysB == nil {
			table.Keys.B = []uint64{}
		}
		for _, c := range t.columns {
			for c.Rows() < len(t.keysA) {
				c.AppendAbsent()
			}
			table.Columns = append(table.Columns, *c)
		}
		if err := table.SortRows(); err != nil {
			return nil, err
		}
		out = append(out, table)
	}
	return out, nil
}

// isFloat reports whether Recoil prints the value of a key as the bits of a float.
func isFloat(key []byte) bool {
	switch string(key) {
	case "health", "experience", "metal", "energy", "metalPull", "energyPull", "metalIncome", "energyIncome", "metalExpense", "energyExpense",
		"maxSpeed", "maxWantedSpeed", "terraformHelp", "myTerraformLeft", "terraformRadius", "radius", "height", "reclaimLeft",
		"PI", "INVPI", "INVPI2", "TWOPI", "THREEPI", "SQRPI", "PIU4", "PISUN4", "HALFPI", "QUARTERPI", "NEGHALFPI", "SQRT2", "HALFSQRT2",
		"RAD_TO_DEG", "DEG_TO_RAD":
		return true
	}
	return false
}

// isVector reports whether Recoil prints the value of a key as the hash of a
// vector or matrix.
func isVector(key []byte) bool {
	switch string(key) {
	case "pos", "speed", "dir", "xdir", "ydir", "zdir", "rot", "relMidPos", "relAimPos", "midPos", "weaponDir", "absWeaponPos", "relAimFromPos",
		"absWeaponMuzzlePos", "relWeaponMuzzlePos", "goalPos", "oldUpdatePos", "oldSlowUpPos", "currWayPoint", "nextWayPoint", "terraformCenter",
		"mins", "maxs", "bposeMatrix", "bakedMatrix", "offset", "goffset", "scales":
		return true
	}
	return false
}

// parseInteger parses digits with an optional sign.
func parseInteger(b []byte) (int64, bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	n := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) != len(b) {
		n = -n
	}
	return n, true
}

// parseFloat returns the f32 that is nearest to a number as it is printed.
func parseFloat(b []byte) (float32, bool) {
	if f, ok := parseDecimal(b); ok {
		return f, true
	}
	if len(b) == 0 || len(b) > 64 || b[0] > '9' && b[0] != 'i' && b[0] != 'n' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(b), 32)
	if err != nil && !math.IsInf(f, 0) {
		if s := string(b); s == "-nan" || s == "nan" {
			return float32(math.NaN()), true
		}
		return 0, false
	}
	return float32(f), true
}

// parseDecimal is parseFloat for digits, a point and up to nine digits, as far as
// it is exact.
func parseDecimal(b []byte) (float32, bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 16 {
		return 0, false
	}
	mantissa, point := uint64(0), -1
	for i, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			mantissa = 10*mantissa + uint64(c-'0')
		case c == '.' && point < 0 && i > 0:
			point = i
		default:
			return 0, false
		}
	}
	f := float64(mantissa) // below 10^15: exact
	if point >= 0 {
		decimals := len(digits) - point - 1
		if decimals == 0 || decimals > 9 {
			return 0, false
		}
		f /= powers[decimals] // rounded once
	}
	// A value halfway between two f32 may have been rounded to there.
	if math.Float64bits(f)<<35 == 1<<63 {
		return 0, false
	}
	if len(digits) != len(b) {
		f = -f
	}
	return float32(f), true
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// text returns text that is UTF-8 and fits a name.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

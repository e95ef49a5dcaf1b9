package refsim

import (
	"fmt"

	"github.com/desynctool/desynctool/snapshot"
)

// column is one field of all rows of a table. Whoever writes to v directly
// calls mark; set does both and marks only what changes.
type column[T snapshot.Number] struct {
	v     []T
	dirty bool // the digest that the table keeps is out of date
}

func (c *column[T]) set(i int, v T) {
	if c.v[i] != v {
		c.v[i] = v
		c.dirty = true
	}
}

func (c *column[T]) mark()         { c.dirty = true }
func (c *column[T]) isDirty() bool { return c.dirty }
func (c *column[T]) clean()        { c.dirty = false }
func (c *column[T]) bytes() []byte { return snapshot.LittleEndianBytes(c.v) }

// grow appends a zero row.
func (c *column[T]) grow() {
	var zero T
	c.v = append(c.v, zero)
	c.dirty = true
}

// remove takes out rows, which are ascending.
func (c *column[T]) remove(rows []int) {
	c.v = removeRows(c.v, rows)
	c.dirty = true
}

func (c *column[T]) view(dst *snapshot.Column) { dst.Data = c.bytes() }

func (c *column[T]) load(src *snapshot.Column) error {
	if src.Present != nil {
		for i := range src.Rows() {
			if !src.Has(i) {
				return fmt.Errorf("row %d has no value", i)
			}
		}
	}
	c.v = snapshot.FromLittleEndian[T](src.Data)
	c.dirty = true
	return nil
}

// flip inverts one bit of row i, as failing memory does.
func (c *column[T]) flip(i, bit int) {
	raw := snapshot.LittleEndianBytes(c.v[i : i+1])
	raw[bit/8] ^= 1 << (bit % 8)
	c.v[i] = snapshot.FromLittleEndian[T](raw)[0]
	c.dirty = true
}

// refs is a column of references, where 0 stands for an absent value.
type refs struct {
	column[uint64]
	present []byte // reused by view
}

func (c *refs) view(dst *snapshot.Column) {
	dst.Data = c.bytes()
	n := (len(c.v) + 7) / 8
	if cap(c.present) < n {
		c.present = make([]byte, n, 2*n)
	}
	c.present = c.present[:n]
	absent := false
	for i := range c.present {
		rows := c.v[8*i : min(8*i+8, len(c.v))]
		bits := byte(0)
		for j, v := range rows {
			if v != 0 {
				bits |= 1 << j
			}
		}
		c.present[i] = bits
		absent = absent || bits != 1<<len(rows)-1
	}
	dst.Present = nil
	if absent {
		dst.Present = c.present
	}
}

func (c *refs) load(src *snapshot.Column) error {
	c.v = snapshot.FromLittleEndian[uint64](src.Data)
	for i, v := range c.v {
		if src.Has(i) && v == 0 {
			return fmt.Errorf("row %d refers to entity 0", i)
		}
	}
	c.dirty = true
	return nil
}

// texts is a column of strings or bytes.
type texts struct {
	v     []string
	dirty bool
	data  []byte // reused by view
	ends  []uint32
}

func (c *texts) set(i int, v string) {
	if c.v[i] != v {
		c.v[i] = v
		c.dirty = true
	}
}

func (c *texts) mark()         { c.dirty = true }
func (c *texts) isDirty() bool { return c.dirty }
func (c *texts) clean()        { c.dirty = false }

func (c *texts) grow() {
	c.v = append(c.v, "")
	c.dirty = true
}

func (c *texts) remove(rows []int) {
	c.v = removeRows(c.v, rows)
	c.dirty = true
}

func (c *texts) view(dst *snapshot.Column) {
	c.data, c.ends = c.data[:0], c.ends[:0]
	for _, s := range c.v {
		c.data = append(c.data, s...)
		c.ends = append(c.ends, uint32(len(c.data)))
	}
	dst.Data, dst.Ends = c.data, c.ends
}

func (c *texts) load(src *snapshot.Column) error {
	c.v = make([]string, src.Rows())
	for i := range c.v {
		c.v[i] = string(src.Raw(i))
	}
	c.dirty = true
	return nil
}

// removeRows closes the gaps that rows, which are ascending, leave in v.
func removeRows[T any](v []T, rows []int) []T {
	if len(rows) == 0 {
		return v
	}
	to := rows[0]
	for i, row := range rows {
		end := len(v)
		if i+1 < len(rows) {
			end = rows[i+1]
		}
		to += copy(v[to:], v[row+1:end])
	}
	return v[:to]
}

// values is what a table knows of its columns, whatever their type.
type values interface {
	grow()
	remove(rows []int)
	view(dst *snapshot.Column) // sets Data, Ends and Present, which stay valid until the next change
	load(src *snapshot.Column) error
	isDirty() bool
	mark()
	clean()
}

// field is a column of a table under its name.
type field struct {
	snapshot.Column // the name and type; the data only as long as a view lasts
	values
	own       string // its name in code, component and field, whatever the game calls it
	uncovered bool   // by the game's checksum, of the fault blind-checksum
}

// number describes a numeric column. The field's type follows from T but for
// booleans and fixed-point numbers.
func number[T snapshot.Number](component, name string, c *column[T]) field {
	var typ snapshot.Type
	switch any(*new(T)).(type) {
	case int8:
		typ = snapshot.I8
	case int16:
		typ = snapshot.I16
	case int32:
		typ = snapshot.I32
	case int64:
		typ = snapshot.I64
	case uint8:
		typ = snapshot.U8
	case uint16:
		typ = snapshot.U16
	case uint32:
		typ = snapshot.U32
	case uint64:
		typ = snapshot.U64
	case float32:
		typ = snapshot.F32
	case float64:
		typ = snapshot.F64
	}
	return field{Column: snapshot.NewColumn(component, name, typ, 0), values: c}
}

func boolean(component, name string, c *column[uint8]) field {
	return field{Column: snapshot.NewColumn(component, name, snapshot.Bool, 0), values: c}
}

// fixedPoint describes a column of 48.16 fixed-point numbers.
func fixedPoint(component, name string, c *column[int64]) field {
	return field{Column: snapshot.NewColumn(component, name, snapshot.Fixed, one), values: c}
}

func reference(component, name string, c *refs) field {
	return field{Column: snapshot.NewColumn(component, name, snapshot.Ref, 0), values: c}
}

func text(component, name string, c *texts) field {
	return field{Column: snapshot.NewColumn(component, name, snapshot.String, 0), values: c}
}

func blob(component, name string, c *texts) field {
	return field{Column: snapshot.NewColumn(component, name, snapshot.Bytes, 0), values: c}
}

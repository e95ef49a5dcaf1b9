package refsim

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// cells are one field of all rows of a table. Code that writes to v directly calls mark; set does both and marks only
// what changes.
type cells[T comparable] struct {
	v     []T
	dirty bool // the digest that the table keeps is out of date
}

func (c *cells[T]) set(i int, v T) {
	if c.v[i] != v {
		c.v[i] = v
		c.dirty = true
	}
}

func (c *cells[T]) mark()         { c.dirty = true }
func (c *cells[T]) isDirty() bool { return c.dirty }
func (c *cells[T]) clean()        { c.dirty = false }

// grow appends a zero row.
func (c *cells[T]) grow() {
	var zero T
	c.v = append(c.v, zero)
	c.dirty = true
}

// remove takes out rows, which are ascending.
func (c *cells[T]) remove(rows []int) {
	c.v = removeRows(c.v, rows)
	c.dirty = true
}

func (c *cells[T]) omit(rows int) {
	c.v = resize(c.v, rows)
	clear(c.v)
	c.dirty = true
}

func (c *cells[T]) remember(i int) (putBack func()) {
	v := c.v[i]
	return func() { c.set(i, v) }
}

// column is a field of numbers.
type column[T snapshot.Number] struct{ cells[T] }

func (c *column[T]) bytes() []byte { return snapshot.LittleEndianBytes(c.v) }

// kind follows from T, except for booleans, fixed-point numbers and references.
func (c *column[T]) kind() (snapshot.Type, uint32) { return numbers[reflect.TypeFor[T]().Kind()], 0 }

var numbers = map[reflect.Kind]snapshot.Type{
	reflect.Int8: snapshot.I8, reflect.Int16: snapshot.I16, reflect.Int32: snapshot.I32, reflect.Int64: snapshot.I64,
	reflect.Uint8: snapshot.U8, reflect.Uint16: snapshot.U16, reflect.Uint32: snapshot.U32, reflect.Uint64: snapshot.U64,
	reflect.Float32: snapshot.F32, reflect.Float64: snapshot.F64,
}

// lengths are 48.16 fixed-point numbers.
type lengths struct{ column[int64] }

func (c *lengths) kind() (snapshot.Type, uint32) { return snapshot.Fixed, one }

// switches are booleans.
type switches struct{ column[uint8] }

func (c *switches) kind() (snapshot.Type, uint32) { return snapshot.Bool, 0 }

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

func (c *column[T]) save(dst []byte) []byte { return append(dst, c.bytes()...) }

func (c *column[T]) restore(src []byte, rows int) error {
	if len(src) != rows*binary.Size(*new(T)) {
		return fmt.Errorf("%d bytes for %d rows", len(src), rows)
	}
	c.v = resize(c.v, rows)
	setLittleEndian(c.v, src)
	c.dirty = true
	return nil
}

func (c *column[T]) is(save []byte) bool { return bytes.Equal(c.bytes(), save) }

// flip inverts one bit of row i, as failing memory does.
func (c *column[T]) flip(i, bit int) {
	raw := snapshot.LittleEndianBytes(c.v[i : i+1])
	raw[bit/8] ^= 1 << (bit % 8)
	c.v[i] = snapshot.FromLittleEndian[T](raw)[0]
	c.dirty = true
}

// refs is a column of references, where 0 means an absent value.
type refs struct {
	column[uint64]
	present []byte // reused by view
}

func (c *refs) kind() (snapshot.Type, uint32) { return snapshot.Ref, 0 }

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

// texts is a column of strings.
type texts struct {
	cells[string]
	data []byte // reused by view
	ends []uint32
}

func (c *texts) kind() (snapshot.Type, uint32) { return snapshot.String, 0 }

// blobs is a column of bytes.
type blobs struct{ texts }

func (c *blobs) kind() (snapshot.Type, uint32) { return snapshot.Bytes, 0 }

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

// A save has the ends of all values, 4 bytes each, and then the values.
func (c *texts) save(dst []byte) []byte {
	end := uint32(0)
	for _, s := range c.v {
		end += uint32(len(s))
		dst = binary.LittleEndian.AppendUint32(dst, end)
	}
	for _, s := range c.v {
		dst = append(dst, s...)
	}
	return dst
}

func (c *texts) restore(src []byte, rows int) error {
	if len(src)/4 < rows {
		return fmt.Errorf("%d bytes for %d rows", len(src), rows)
	}
	c.v = resize(c.v, rows)
	data, begin := src[4*rows:], uint32(0)
	for i := range c.v {
		end := binary.LittleEndian.Uint32(src[4*i:])
		if begin > end || uint64(end) > uint64(len(data)) {
			return fmt.Errorf("row %d ends at byte %d of %d", i, end, len(data))
		}
		c.v[i] = string(data[begin:end])
		begin = end
	}
	if int(begin) != len(data) {
		return fmt.Errorf("%d bytes after the last row", len(data)-int(begin))
	}
	c.dirty = true
	return nil
}

// is is not worth finding out of a few names.
func (c *texts) is([]byte) bool { return false }

// resize returns v, or another slice in its place, with n elements of any value.
func resize[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n, n+n/8)
	}
	return v[:n]
}

// aliased reports whether the bytes of numbers are little-endian on this machine, so that snapshot.LittleEndianBytes
// returns the bytes of its argument itself.
var aliased = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// setLittleEndian decodes the little-endian numbers in src into dst, which has the same length.
func setLittleEndian[T snapshot.Number](dst []T, src []byte) {
	if !aliased {
		copy(dst, snapshot.FromLittleEndian[T](src))
		return
	}
	copy(snapshot.LittleEndianBytes(dst), src)
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

// values is a table's view of its columns, independent of their type.
type values interface {
	kind() (typ snapshot.Type, scale uint32)
	grow()
	remove(rows []int)
	view(dst *snapshot.Column) // sets Data, Ends and Present, which stay valid until the next change
	load(src *snapshot.Column) error
	save(dst []byte) []byte // appends
	restore(src []byte, rows int) error
	omit(rows int)       // restores what a save does not have: zeroes
	is(save []byte) bool // whether save would append that; false if that is not known
	remember(row int) (putBack func())
	isDirty() bool
	mark()
	clean()
}

// field is a column of a table under its name.
type field struct {
	snapshot.Column // the name and type; the data only as long as a view lasts
	values
	own       string // its name in code, component and field, independent of the game's names
	uncovered bool   // by the game's checksum, of the fault blind-checksum
}

// componentFields returns the columns of a component, a pointer to a struct of them. The component
// is called like its type with a capital, a field like the struct's in lower case, or by its tag.
func componentFields(component any) []field {
	v := reflect.ValueOf(component).Elem()
	name := v.Type().Name()
	name = strings.ToUpper(name[:1]) + name[1:]
	list := make([]field, v.NumField())
	for i := range list {
		f, c := v.Type().Field(i), v.Field(i).Addr().Interface().(values)
		typ, scale := c.kind()
		list[i] = field{Column: snapshot.NewColumn(name, cmp.Or(f.Tag.Get("field"), strings.ToLower(f.Name)), typ, scale), values: c}
		list[i].own = list[i].Name()
		c.mark() // no digest has been computed yet
	}
	return list
}

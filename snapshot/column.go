package snapshot

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Schema is the name and type of a column.
type Schema struct {
	Component string
	Field     string
	Type      Type
	Scale     uint32 // for Fixed, the number of units in 1; else 0
}

// Column contains one field of every row of a table.
type Column struct {
	Schema

	// Data contains the values one after another: rows × Type.Width() bytes, little-endian. For String, Bytes and
	// Scalar it is the contents back to back. An absent value is all zero bytes, or empty.
	Data []byte

	// Ends contains the offset in Data at which each row's value ends. It is used only for String, Bytes and Scalar.
	Ends []uint32

	// Present has bit i (byte i/8, bit i%8) set if row i has a value. Nil means that all rows have a value. Bits after
	// the last row are zero.
	Present []byte
}

// NewColumn returns an empty column. Scale must be 0 unless typ is Fixed.
func NewColumn(component, field string, typ Type, scale uint32) Column {
	return Column{Schema: Schema{component, field, typ, scale}}
}

// Name returns "Component.field".
func (s *Schema) Name() string { return s.Component + "." + s.Field }

// compareName orders the columns in a table.
func (s *Schema) compareName(t *Schema) int {
	return cmp.Or(strings.Compare(s.Component, t.Component), strings.Compare(s.Field, t.Field))
}

// Rows returns the number of rows.
func (c *Column) Rows() int {
	if w := c.Type.Width(); w > 0 {
		return len(c.Data) / w
	}
	return len(c.Ends)
}

// Has reports whether row i has a value.
func (c *Column) Has(i int) bool {
	return c.Present == nil || c.Present[i/8]>>(i%8)&1 != 0
}

// Raw returns the bytes of row i's value, which alias Data.
func (c *Column) Raw(i int) []byte {
	if w := c.Type.Width(); w > 0 {
		return c.Data[i*w : i*w+w : i*w+w]
	}
	start := uint32(0)
	if i > 0 {
		start = c.Ends[i-1]
	}
	return c.Data[start:c.Ends[i]:c.Ends[i]]
}

// Uint returns row i's value in a column with a fixed-width type, zero-extended.
func (c *Column) Uint(i int) uint64 {
	switch c.Type.Width() {
	case 1:
		return uint64(c.Data[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(c.Data[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(c.Data[4*i:]))
	default:
		return binary.LittleEndian.Uint64(c.Data[8*i:])
	}
}

// Int returns row i's value in a column with a fixed-width type, sign-extended.
func (c *Column) Int(i int) int64 { return signExtend(c.Uint(i), c.Type.Width()) }

// signExtend returns the signed integer that has width bytes.
func signExtend(bits uint64, width int) int64 {
	shift := 64 - 8*width
	return int64(bits) << shift >> shift
}

// Float returns row i's value in an F32 or F64 column.
func (c *Column) Float(i int) float64 { return floatOf(c.Uint(i), c.Type) }

// floatOf returns the F32 or F64 with these bits.
func floatOf(bits uint64, typ Type) float64 {
	if typ == F32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// floatBits returns the bits of a float. For F32 it rounds first.
func floatBits(f float64, typ Type) uint64 {
	if typ == F32 {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// AppendUint appends a row with a fixed-width value, given by its low bits: signed and unsigned integers, booleans,
// references, fixed-point units, and the bits of floats.
func (c *Column) AppendUint(bits uint64) {
	c.markPresent(true)
	c.appendBits(bits)
}

// AppendInt appends a row with a signed value.
func (c *Column) AppendInt(v int64) { c.AppendUint(uint64(v)) }

// AppendFloat appends a row with a float, rounded to f32 for F32.
func (c *Column) AppendFloat(v float64) { c.AppendUint(floatBits(v, c.Type)) }

// AppendBytes appends a row to a String, Bytes or Scalar column.
func (c *Column) AppendBytes(v []byte) {
	c.markPresent(true)
	c.Data = append(c.Data, v...)
	c.Ends = append(c.Ends, uint32(len(c.Data)))
}

// AppendString appends a row to a String, Bytes or Scalar column.
func (c *Column) AppendString(v string) {
	c.markPresent(true)
	c.Data = append(c.Data, v...)
	c.Ends = append(c.Ends, uint32(len(c.Data)))
}

// AppendAbsent appends a row without a value.
func (c *Column) AppendAbsent() {
	c.markPresent(false)
	if c.Type.Width() > 0 {
		c.appendBits(0)
		return
	}
	c.Ends = append(c.Ends, uint32(len(c.Data)))
}

func (c *Column) appendBits(bits uint64) {
	switch c.Type.Width() {
	case 1:
		c.Data = append(c.Data, byte(bits))
	case 2:
		c.Data = binary.LittleEndian.AppendUint16(c.Data, uint16(bits))
	case 4:
		c.Data = binary.LittleEndian.AppendUint32(c.Data, uint32(bits))
	default:
		c.Data = binary.LittleEndian.AppendUint64(c.Data, bits)
	}
}

// markPresent extends the bitmap for the row that is appended next.
func (c *Column) markPresent(present bool) {
	row := c.Rows()
	if c.Present == nil {
		if present {
			return
		}
		c.Present = make([]byte, row/8, row/8+1)
		for i := range c.Present {
			c.Present[i] = 0xff
		}
		if row%8 != 0 {
			c.Present = append(c.Present, 1<<(row%8)-1)
		}
	}
	if row%8 == 0 {
		c.Present = append(c.Present, 0)
	}
	if present {
		c.Present[row/8] |= 1 << (row % 8)
	}
}

func (c *Column) validate(rows int) error {
	if err := c.Schema.validate(); err != nil {
		return err
	}
	if w := c.Type.Width(); w > 0 {
		if len(c.Data) != rows*w {
			return fmt.Errorf("%d bytes of %s, expected %d for %d rows", len(c.Data), c.Type, rows*w, rows)
		}
		if c.Ends != nil {
			return fmt.Errorf("value ends in a column of %s", c.Type)
		}
	} else {
		if len(c.Ends) != rows {
			return fmt.Errorf("%d values, expected %d", len(c.Ends), rows)
		}
		end := uint32(0)
		for i, e := range c.Ends {
			if e < end || uint64(e) > uint64(len(c.Data)) {
				return fmt.Errorf("value of row %d ends at %d, outside of %d…%d", i, e, end, len(c.Data))
			}
			end = e
		}
		if int(end) != len(c.Data) {
			return fmt.Errorf("%d bytes after the last value", len(c.Data)-int(end))
		}
	}
	if c.Present != nil && len(c.Present) != (rows+7)/8 {
		return fmt.Errorf("presence bitmap of %d bytes, expected %d", len(c.Present), (rows+7)/8)
	}
	return c.validateValues(rows)
}

// validateValues checks conditions that the digests rely on: absent values are zero, booleans are 0 or 1, and the
// unused bits at the end of the bitmap are zero.
func (c *Column) validateValues(rows int) error {
	if c.Type == Bool {
		for i, b := range c.Data {
			if b > 1 {
				return fmt.Errorf("row %d: boolean is %d", i, b)
			}
		}
	}
	if c.Present == nil {
		return nil
	}
	if n := rows % 8; n != 0 && c.Present[rows/8]>>n != 0 {
		return fmt.Errorf("presence bits after the last row")
	}
	for i := range rows {
		if c.Has(i) {
			continue
		}
		for _, b := range c.Raw(i) {
			if b != 0 {
				return fmt.Errorf("row %d: value is absent but not zero", i)
			}
		}
	}
	return nil
}

func (s *Schema) validate() error {
	if err := checkName(s.Component); err != nil {
		return fmt.Errorf("component: %w", err)
	}
	if err := checkName(s.Field); err != nil {
		return fmt.Errorf("field: %w", err)
	}
	if !s.Type.Valid() {
		return fmt.Errorf("unknown type %d", s.Type)
	}
	if (s.Type == Fixed) != (s.Scale != 0) {
		return fmt.Errorf("scale %d for %s", s.Scale, s.Type)
	}
	return nil
}

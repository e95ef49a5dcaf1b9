package godot

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// Kind is the kind of a Value, the same for all versions of the engine.
type Kind uint8

// Kinds.
const (
	Nil Kind = iota
	Bool
	Int
	Float // also what the engine stored as 32 bits, where that loses nothing
	Text  // a String, StringName or NodePath
	Bytes
	Dictionary
	Array
	Struct // a Vector2, Color, …: its parts have names, as in a Dictionary
	Object // by its number on that machine, or an RID
)

// Value is a Variant.
type Value struct {
	Kind Kind
	Type string // the engine's own name: "PoolIntArray"
	Bits uint64 // of Bool, Int (two's complement), Float (the bits of a float64) and Object
	Text string // of Text, and of Bytes, byte by byte

	Keys   []Value // of a Dictionary, in the order of insertion; texts for a Struct
	Values []Value // of a Dictionary or Struct, by Keys; of an Array
}

// Get returns the value of a key that is a text, nil if there is none.
func (v *Value) Get(key string) *Value {
	for i := range v.Keys {
		if k := &v.Keys[i]; k.Kind == Text && k.Text == key {
			return &v.Values[i]
		}
	}
	return nil
}

// Number returns an integer, false for other values. Floats that are whole numbers count as integers: the data may have
// been through JSON.
func (v *Value) Number() (int64, bool) {
	switch {
	case v == nil:
		return 0, false
	case v.Kind == Int:
		return int64(v.Bits), true
	case v.Kind == Float:
		f := math.Float64frombits(v.Bits)
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	return 0, false
}

// Limits of one value.
const (
	maxValues = 1 << 20 // values in it, including keys and the elements of packed arrays
)

// Bits of a header beyond the type, which is its lowest byte.
const (
	typeMask = 0xff
	wide     = 1 << 16 // 64 bits instead of 32; of an object: only its number
)

// shape is how a type is stored.
type shape struct {
	name  string
	kind  Kind
	parts []string // of a Struct
	as    elements // of a Struct, and of what a packed array has
	many  bool     // a packed array
}

// elements is how the numbers of a Struct or of a packed array are stored.
type elements uint8

const (
	reals   elements = iota // 32 bits, or 64 if the header shows that
	singles                 // 32 bits always
	doubles
	integers
	longs
	texts
)

var (
	xy      = []string{"x", "y"}
	xyz     = []string{"x", "y", "z"}
	xyzw    = []string{"x", "y", "z", "w"}
	rect    = []string{"position.x", "position.y", "size.x", "size.y"}
	box     = []string{"position.x", "position.y", "position.z", "size.x", "size.y", "size.z"}
	flat    = []string{"x.x", "x.y", "y.x", "y.y", "origin.x", "origin.y"}
	plane   = []string{"normal.x", "normal.y", "normal.z", "d"}
	rgba    = []string{"r", "g", "b", "a"}
	basis   = matrix(3)
	placed  = append(matrix(3), "origin.x", "origin.y", "origin.z")
	project = matrix(4)
)

// matrix returns the names of the elements of a matrix as they are stored: by rows, for a Projection by columns.
func matrix(n int) (names []string) {
	for i := range n {
		for j := range n {
			names = append(names, fmt.Sprintf("[%d][%d]", i, j))
		}
	}
	return names
}

// Types by their numbers in Godot 3.
var godot3 = [...]shape{
	{name: "Nil"}, {name: "bool", kind: Bool}, {name: "int", kind: Int}, {name: "float", kind: Float}, {name: "String", kind: Text},
	{name: "Vector2", kind: Struct, parts: xy}, {name: "Rect2", kind: Struct, parts: rect}, {name: "Vector3", kind: Struct, parts: xyz},
	{name: "Transform2D", kind: Struct, parts: flat}, {name: "Plane", kind: Struct, parts: plane}, {name: "Quat", kind: Struct, parts: xyzw},
	{name: "AABB", kind: Struct, parts: box}, {name: "Basis", kind: Struct, parts: basis}, {name: "Transform", kind: Struct, parts: placed},
	{name: "Color", kind: Struct, parts: rgba, as: singles}, {name: "NodePath", kind: Text}, {name: "RID"}, {name: "Object", kind: Object},
	{name: "Dictionary", kind: Dictionary}, {name: "Array", kind: Array},
	{name: "PoolByteArray", kind: Bytes}, {name: "PoolIntArray", as: integers, many: true}, {name: "PoolRealArray", as: singles, many: true},
	{name: "PoolStringArray", as: texts, many: true}, {name: "PoolVector2Array", parts: xy, many: true},
	{name: "PoolVector3Array", parts: xyz, many: true}, {name: "PoolColorArray", parts: rgba, as: singles, many: true},
}

// Types by their numbers in Godot 4.
var godot4 = [...]shape{
	{name: "Nil"}, {name: "bool", kind: Bool}, {name: "int", kind: Int}, {name: "float", kind: Float}, {name: "String", kind: Text},
	{name: "Vector2", kind: Struct, parts: xy}, {name: "Vector2i", kind: Struct, parts: xy, as: integers},
	{name: "Rect2", kind: Struct, parts: rect}, {name: "Rect2i", kind: Struct, parts: rect, as: integers},
	{name: "Vector3", kind: Struct, parts: xyz}, {name: "Vector3i", kind: Struct, parts: xyz, as: integers},
	{name: "Transform2D", kind: Struct, parts: flat},
	{name: "Vector4", kind: Struct, parts: xyzw}, {name: "Vector4i", kind: Struct, parts: xyzw, as: integers},
	{name: "Plane", kind: Struct, parts: plane}, {name: "Quaternion", kind: Struct, parts: xyzw}, {name: "AABB", kind: Struct, parts: box},
	{name: "Basis", kind: Struct, parts: basis}, {name: "Transform3D", kind: Struct, parts: placed}, {name: "Projection", kind: Struct, parts: project},
	{name: "Color", kind: Struct, parts: rgba, as: singles}, {name: "StringName", kind: Text}, {name: "NodePath", kind: Text},
	{name: "RID", kind: Object}, {name: "Object", kind: Object}, {name: "Callable"}, {name: "Signal", kind: Object},
	{name: "Dictionary", kind: Dictionary}, {name: "Array", kind: Array},
	{name: "PackedByteArray", kind: Bytes}, {name: "PackedInt32Array", as: integers, many: true}, {name: "PackedInt64Array", as: longs, many: true},
	{name: "PackedFloat32Array", as: singles, many: true}, {name: "PackedFloat64Array", as: doubles, many: true},
	{name: "PackedStringArray", as: texts, many: true}, {name: "PackedVector2Array", parts: xy, many: true},
	{name: "PackedVector3Array", parts: xyz, many: true}, {name: "PackedColorArray", parts: rgba, as: singles, many: true},
	{name: "PackedVector4Array", parts: xyzw, many: true},
}

// Numbers of the type of a Dictionary, which every value of a log is: they show the version.
const (
	dictionary3 = 18
	dictionary4 = 27
)

// variant decodes one value. After the first error its methods return zero values.
type variant struct {
	name   string // of the file
	start  int64  // of the value in it
	in     []byte
	pos    int
	types  []shape
	values int
	err    error
}

// decode returns the dictionary in b, which is at an offset of a file. The type of the dictionary shows the engine's
// version.
func decode(b []byte, name string, offset int64) (Value, error) {
	d := variant{name: name, start: offset, in: b}
	if len(b) < 4 {
		d.corrupt("%d bytes, expected a dictionary", len(b))
		return Value{}, d.err
	}
	switch t := b[0]; t {
	case dictionary3:
		d.types = godot3[:]
	case dictionary4:
		d.types = godot4[:]
	default:
		d.corrupt("type %d, expected a dictionary: %d in Godot 3, %d in Godot 4", t, dictionary3, dictionary4)
		return Value{}, d.err
	}
	v := d.value(0)
	if d.pos < len(b) {
		d.corrupt("%d bytes after a value", len(b)-d.pos)
	}
	return v, d.err
}

// corrupt keeps the first error.
func (d *variant) corrupt(format string, args ...any) {
	if d.err == nil {
		d.err = &frame.Error{Name: d.name, Offset: d.start + int64(d.pos), Msg: fmt.Sprintf(format, args...), Err: frame.Fault(args)}
	}
}

// take returns the next n bytes.
func (d *variant) take(n int) []byte {
	if n < 0 || n > len(d.in)-d.pos {
		d.corrupt("%d bytes of a value that has %d more", n, len(d.in)-d.pos)
	}
	if d.err != nil {
		return nil
	}
	d.pos += n
	return d.in[d.pos-n : d.pos : d.pos]
}

func (d *variant) u32() uint32 {
	if b := d.take(4); d.err == nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// number reads a number of 32 bits, or of 64.
func (d *variant) number(kind Kind, is64 bool) Value {
	v := Value{Kind: kind}
	if is64 {
		if b := d.take(8); d.err == nil {
			v.Bits = binary.LittleEndian.Uint64(b)
		}
		return v
	}
	n := d.u32()
	switch kind {
	case Float:
		v.Bits = math.Float64bits(float64(math.Float32frombits(n)))
	case Int:
		v.Bits = uint64(int64(int32(n)))
	default:
		v.Bits = uint64(n)
	}
	return v
}

// text reads a string with its length, and what pads it to four bytes.
func (d *variant) text() string {
	n := d.u32()
	if n > math.MaxInt32 {
		d.corrupt("string of %d bytes", n)
		return ""
	}
	text := string(d.take(int(n)))
	d.take(-int(n) & 3)
	return text
}

// more counts values, which are bounded whatever their kind.
func (d *variant) more(n int) {
	if d.values += n; d.values > maxValues {
		d.corrupt("more than %d values in one", maxValues)
	}
}

// value reads a value with its header.
func (d *variant) value(depth int) Value {
	if limits.Depth.Over(int64(depth)) {
		d.corrupt("%v", limits.Depth.Reached("", int64(depth)))
	}
	d.more(1)
	header := d.u32()
	if int(header&typeMask) >= len(d.types) {
		d.corrupt("type %d, expected at most %d", header&typeMask, len(d.types)-1)
	}
	if d.err != nil {
		return Value{}
	}
	t := &d.types[header&typeMask]
	v := Value{Kind: t.kind}
	switch {
	case t.many:
		v = d.packed(t, header)
	case t.kind == Bool:
		v = d.number(Bool, false)
		v.Bits = min(v.Bits, 1)
	case t.kind == Int || t.kind == Float:
		v = d.number(t.kind, header&wide != 0)
	case t.name == "NodePath":
		v.Text = d.nodePath()
	case t.kind == Text:
		v.Text = d.text()
	case t.kind == Struct:
		v = d.parts(t, header)
	case t.kind == Object:
		v = d.object(t, header)
	case t.kind == Bytes:
		v.Text = d.text() // padded alike
	case t.kind == Dictionary:
		v = d.dictionary(header, depth)
	case t.kind == Array:
		v = d.array(header, depth)
	}
	v.Type = t.name
	return v
}

// parts reads the numbers of a Struct.
func (d *variant) parts(t *shape, header uint32) Value {
	v := Value{Kind: Struct}
	d.more(len(t.parts))
	for _, name := range t.parts {
		v.Keys, v.Values = append(v.Keys, Value{Kind: Text, Text: name}), append(v.Values, d.element(t.as, header))
	}
	return v
}

// element reads one number, or a string.
func (d *variant) element(as elements, header uint32) Value {
	switch as {
	case integers:
		return d.number(Int, false)
	case longs:
		return d.number(Int, true)
	case doubles:
		return d.number(Float, true)
	case singles:
		return d.number(Float, false)
	case texts:
		return Value{Kind: Text, Text: strings.TrimSuffix(d.text(), "\x00")}
	}
	return d.number(Float, header&wide != 0)
}

// packed reads an array with elements without headers.
func (d *variant) packed(t *shape, header uint32) Value {
	v := Value{Kind: Array}
	n := d.fits(uint64(d.u32()), "elements", 4)
	d.more(n)
	for i := 0; i < n && d.err == nil; i++ {
		if t.parts != nil {
			v.Values = append(v.Values, d.parts(t, header))
		} else {
			v.Values = append(v.Values, d.element(t.as, header))
		}
	}
	return v
}

// fits returns how many of these follow, each with at least least bytes.
func (d *variant) fits(n uint64, what string, least int) int {
	if left := len(d.in) - d.pos; n > uint64(left/least) {
		d.corrupt("%d %s of a value that has %d more bytes", n, what, left)
		return 0
	}
	return int(n)
}

// object reads a reference.
func (d *variant) object(t *shape, header uint32) Value {
	v := Value{Kind: Object}
	if t.name == "Object" && header&wide == 0 {
		d.corrupt("an object with its properties, expected only its number")
	}
	if t.name == "Signal" {
		v.Text = d.text()
	}
	v.Bits = d.number(Int, true).Bits
	return v
}

// nodePath reads a path of names, and of names of properties.
func (d *variant) nodePath() string {
	names := d.u32()
	if d.err == nil && names&(1<<31) == 0 {
		d.corrupt("a path as a string, as engines before Godot 3 wrote it")
	}
	names &^= 1 << 31
	subnames, flags := d.u32(), d.u32()
	total := uint64(names) + uint64(subnames)
	if flags&2 != 0 {
		total++
	}
	n := d.fits(total, "names", 4)
	d.more(n)
	var out strings.Builder
	if flags&1 != 0 {
		out.WriteByte('/')
	}
	for i := 0; i < n && d.err == nil; i++ {
		switch {
		case i >= int(names):
			out.WriteByte(':')
		case i > 0:
			out.WriteByte('/')
		}
		out.WriteString(d.text())
	}
	return out.String()
}

// container skips the element type of a typed dictionary or array; kind is 0 if it has none.
func (d *variant) container(kind uint32) {
	switch kind & 3 {
	case 1:
		d.u32()
	case 2, 3:
		d.text()
	}
}

// count reads how many elements follow, each with at least least bytes.
func (d *variant) count(least int) int {
	return d.fits(uint64(d.u32()&^(1<<31)), "elements", least) // the bit shows that it was shared
}

func (d *variant) dictionary(header uint32, depth int) Value {
	v := Value{Kind: Dictionary}
	d.container(header >> 16)
	d.container(header >> 18)
	n := d.count(8)
	for i := 0; i < n && d.err == nil; i++ {
		v.Keys, v.Values = append(v.Keys, d.value(depth+1)), append(v.Values, d.value(depth+1))
	}
	return v
}

func (d *variant) array(header uint32, depth int) Value {
	v := Value{Kind: Array}
	d.container(header >> 16)
	n := d.count(4)
	for i := 0; i < n && d.err == nil; i++ {
		v.Values = append(v.Values, d.value(depth+1))
	}
	return v
}

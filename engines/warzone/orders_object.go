package warzone

// Object is a kind of object with fields in lines of a dump.
type Object uint8

// The kinds of objects. Each has one line format in all known versions.
const (
	NoObject Object = iota
	Droid
	Structure
	Feature
	Projectile // has no id
)

// Field is one number in the line of an object.
type Field struct {
	Name string // "pos.x"
	// Unsigned reports whether the number is 32 bits without a sign, else it has one.
	Unsigned bool
	// Letter reports whether the value is a letter, not a number: r where a structure researches, p where it produces,
	// else a space.
	Letter bool

	before string // text before the number
	hex    bool   // written in hexadecimal
	bare   bool   // not written if 0
}

// objects is the one table of line formats.
var ordersObjects = [...]struct {
	word   string
	id     bool
	fields []Field
}{
	NoObject: {},
	Droid: {word: "droid", id: true, fields: []Field{
		{Name: "player", before: "p"},
		{Name: "pos.x", before: ";pos("}, {Name: "pos.y", before: ","}, {Name: "pos.z", before: ","},
		{Name: "rot.direction", before: "),rot("}, {Name: "rot.pitch", before: ","}, {Name: "rot.roll", before: ","},
		{Name: "order.type", before: "),order"}, {Name: "order.x", before: "("}, {Name: "order.y", before: ","},
		{Name: "order.queued", before: ")^"},
		{Name: "action", before: ",action"},
		{Name: "secondaryOrder", before: ",secondaryOrder", hex: true, Unsigned: true},
		{Name: "body", before: ",body"},
		{Name: "sMove.status", before: ",sMove(status"}, {Name: "sMove.speed", before: ",speed"},
		{Name: "sMove.moveDir", before: ",moveDir"},
		{Name: "sMove.path.index", before: ",path"}, {Name: "sMove.path.length", before: "/"},
		{Name: "sMove.src.x", before: ",src("}, {Name: "sMove.src.y", before: ","},
		{Name: "sMove.target.x", before: "),target("}, {Name: "sMove.target.y", before: ","},
		{Name: "sMove.destination.x", before: "),destination("}, {Name: "sMove.destination.y", before: ","},
		{Name: "sMove.bump.dir", before: "),bump("}, {Name: "sMove.bump.time", before: ","},
		{Name: "sMove.bump.last", before: ","}, {Name: "sMove.bump.pause", before: ","},
		{Name: "sMove.bump.x", before: ",("}, {Name: "sMove.bump.y", before: ","},
		{Name: "sMove.bump.shuffle", before: "),"},
		{Name: "exp", before: ")),exp", Unsigned: true},
	}},
	Structure: {word: "structure", id: true, fields: []Field{
		{Name: "player", before: "p"},
		{Name: "pos.x", before: ";pos("}, {Name: "pos.y", before: ","}, {Name: "pos.z", before: ","},
		{Name: "status", before: "),status"},
		{Name: "type", before: ",type"},
		{Name: "making", before: ",", Letter: true}, {Name: "making.id", bare: true},
		{Name: "bld", before: ",bld"},
		{Name: "body", before: ",body"},
	}},
	Feature: {word: "feature", id: true, fields: []Field{
		{Name: "player", before: "p"},
		{Name: "pos.x", before: ";pos("}, {Name: "pos.y", before: ","}, {Name: "pos.z", before: ","},
		{Name: "subtype", before: "),subtype"},
		{Name: "damageable", before: ",damageable"},
		{Name: "body", before: ",body"},
	}},
	Projectile: {word: "projectile", fields: []Field{
		{Name: "player", before: "p"},
		{Name: "pos.x", before: ";pos("}, {Name: "pos.y", before: ","}, {Name: "pos.z", before: ","},
		{Name: "rot.direction", before: "),rot("}, {Name: "rot.pitch", before: ","}, {Name: "rot.roll", before: ","},
		{Name: "state", before: "),state"},
		{Name: "expectedDamageCaused", before: ",expectedDamageCaused"},
		{Name: "numberDamaged", before: ",numberDamaged", Unsigned: true},
	}},
}

// String returns the word that lines have for it, "droid".
func (o Object) String() string { return ordersObjects[o].word }

// isObject reports whether a kind is the word of an object.
func isObject(kind string) bool {
	for o := Droid; int(o) < len(ordersObjects); o++ {
		if ordersObjects[o].word == kind {
			return true
		}
	}
	return false
}

// Fields returns the fields of an object, as a line has them in Entry.Values. It
// must not be changed.
func (o Object) Fields() []Field { return ordersObjects[o].fields }

// parse parses the line of an object, from after " = ": its values, and the
// numbers that the CRC covers, which are appended to ints. It reports false if
// the text is not of the object's format to its last byte.
func (o Object) parse(text []byte, values []Value, ints []uint32) ([]Value, []uint32, bool) {
	fields := ordersObjects[o].fields
	for i := range fields {
		f := &fields[i]
		if len(text) < len(f.before) || string(text[:len(f.before)]) != f.before {
			return values, ints, false
		}
		text = text[len(f.before):]
		v, n := f.value(text)
		if n < 0 {
			return values, ints, false
		}
		value := Value{Name: f.Name, Text: text[:n], Number: v}
		if f.Letter && v == ' ' {
			value.Text = nil
		}
		values = append(values, value)
		text = text[n:]
		ints = append(ints, uint32(v))
	}
	return values, ints, len(text) == 0
}

// value decodes the number that text begins with, and returns its size, negative if
// there is none that the engine would write.
func (f *Field) value(text []byte) (v int64, n int) {
	switch {
	case f.Letter:
		if len(text) == 0 {
			return 0, -1
		}
		return int64(text[0]), 1
	case f.hex:
		v, n = hexNumber(text)
	default:
		v, n = number(text)
	}
	switch {
	case n == 0 && f.bare:
		return 0, 0
	case n == 0, f.bare && v == 0, f.Unsigned && v != int64(uint32(v)), !f.Unsigned && v != int64(int32(v)):
		return 0, -1
	}
	return v, n
}

// number decodes a decimal number as printf writes it and returns its size, 0 if
// there is none. More than 18 digits are not taken as a number.
func number(text []byte) (v int64, n int) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		n = 1
	}
	first := n
	for n < len(text) && text[n]-'0' <= 9 {
		v = 10*v + int64(text[n]-'0')
		n++
	}
	switch digits := n - first; {
	case digits == 0, digits > 18, digits > 1 && text[first] == '0', negative && v == 0:
		return 0, 0
	case negative:
		return -v, n
	}
	return v, n
}

// hexNumber decodes digits as printf writes them with %X.
func hexNumber(text []byte) (v int64, n int) {
	for n < len(text) {
		c := text[n]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			c = 0xff
		}
		if c == 0xff {
			break
		}
		v = v<<4 | int64(c)
		if n++; n > 8 {
			return 0, 0
		}
	}
	if n > 1 && text[0] == '0' {
		return 0, 0
	}
	return v, n
}

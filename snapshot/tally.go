package snapshot

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// Tally counts how the values of a column differ. It includes every row in which they differ, so its result does not
// depend on how many changes a diff keeps. It takes a constant amount of memory.
type Tally struct {
	// Rows counts the rows in which the values differ, and which both states have.
	Rows uint64

	typ   Type
	scale uint32
	mixed bool // the values have several types

	side [2]tallySide

	numbers  uint64 // rows with two numbers
	up, down uint64 // those where B is higher, lower
	least    step   // with the lowest difference B − A
	most     step
	whole    relation
	floats   relation
	same     bool   // no row has another sum than 0, see PatternNegated
	net      uint64 // sum of the differences of whole numbers, modulo 2⁶⁴

	pairs   [2]uint64 // sums of hashes of (A, B), and of (B, A)
	bits    uint64    // rows with two values of one width
	flipped uint64    // bits that differ in any of them
	oneBit  uint64    // those in which one bit differs
	ulps    [2]uint64 // least and largest distance of two floats

	stale uint8 // bits of the sides with the other side's values of the tick before, see Diff.MarkStale
}

// tallySide is one side of a Tally.
type tallySide struct {
	absent, zero uint64
	varied       bool   // not all values are equal to first
	first        Value  // a copy
	sum          uint64 // of the hashes of all values
	low, high    number
}

// step is a row with two numbers.
type step struct {
	a, b number
	d    float64 // B − A, rounded for numbers with more than 53 bits
}

// relation describes which relations between two numbers hold in all rows so far.
type relation struct {
	rows           uint64
	offset, factor bool
	a, b           number // the first row
	size           float64
}

// number is a number of any type. Its bits are sign-extended.
type number struct {
	typ  Type // 0 for no number
	bits uint64
	f    float64
}

// maxSameText is the length in bytes of the longest text that a Tally compares in full.
const maxSameText = 256

// Add counts a row whose values differ. It keeps copies.
func (t *Tally) Add(a, b Value) {
	t.begin(a, b)
	t.Rows++
	t.mixed = t.mixed || a.Type != t.typ || b.Type != t.typ || a.Scale != t.scale || b.Scale != t.scale
	t.side[0].add(a)
	t.side[1].add(b)
	t.hash(a.hash(), b.hash())
	if a.Type == Scalar && !a.Absent && !b.Absent {
		a, b = typed(a, b)
	}
	if a.Absent || b.Absent || a.Type.Width() == 0 || a.Type != b.Type || a.Scale != b.Scale {
		return
	}
	t.fixed(a.Type, []uint64{a.bits()}, []uint64{b.bits()})
}

// begin prepares an empty tally for its first row.
func (t *Tally) begin(a, b Value) {
	if t.Rows == 0 {
		t.typ, t.scale, t.same = a.Type, a.Scale, true
		t.side[0].first, t.side[1].first = a.copied(), b.copied()
		t.side[0].varied, t.side[1].varied = len(a.Raw) > maxSameText, len(b.Raw) > maxSameText
	}
}

// addFixed counts rows with two values of a fixed width, the type of all values of the tally. The values are zero-extended.
func (t *Tally) addFixed(typ Type, scale uint32, x, y []uint64) {
	if len(x) == 0 {
		return
	}
	t.begin(valueOf(typ, scale, x[0]), valueOf(typ, scale, y[0]))
	t.Rows += uint64(len(x))
	var sum, zero, varied, pairs [2]uint64
	first := [2]uint64{t.side[0].first.bits(), t.side[1].first.bits()}
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		zero[0] += isEqual(a, 0)
		zero[1] += isEqual(b, 0)
		varied[0] |= a ^ first[0]
		varied[1] |= b ^ first[1]
		a, b = scatter(a+1), scatter(b+1)
		sum[0] += a
		sum[1] += b
		pairs[0] += scatter(a ^ bits.RotateLeft64(b, 32))
		pairs[1] += scatter(b ^ bits.RotateLeft64(a, 32))
	}
	for i := range t.side {
		s := &t.side[i]
		s.zero, s.sum, t.pairs[i] = s.zero+zero[i], s.sum+sum[i], t.pairs[i]+pairs[i]
		s.varied = s.varied || varied[i] != 0 || s.first.Absent
	}
	t.fixed(typ, x, y)
}

// isEqual returns 1 for equal numbers, else 0.
func isEqual(a, b uint64) uint64 { return uint64(1 - differ(a^b)) }

// valueOf returns a value of a type with a fixed width.
func valueOf(typ Type, scale uint32, n uint64) Value {
	return Value{Type: typ, Scale: scale, Raw: binary.LittleEndian.AppendUint64(nil, n)[:typ.Width()]}
}

func (s *tallySide) add(v Value) {
	if v.Absent {
		s.absent++
	}
	if isZero(v) {
		s.zero++
	}
	s.varied = s.varied || !s.first.equal(v)
}

func (v Value) equal(w Value) bool {
	return v.Absent == w.Absent && v.Type == w.Type && v.Scale == w.Scale && bytes.Equal(v.Raw, w.Raw)
}

// isZero reports whether a value is 0, false, empty or absent.
func isZero(v Value) bool {
	for _, b := range v.Raw {
		if b != 0 {
			return v.Type == Scalar && (string(v.Raw) == "0" || string(v.Raw) == "false")
		}
	}
	return true
}

// copied returns a value that does not alias a column. It shortens long texts.
func (v Value) copied() Value {
	v.Raw = bytes.Clone(v.Raw[:min(len(v.Raw), maxSameText)])
	return v
}

// hash returns equal numbers for equal values of one type.
func (v Value) hash() uint64 {
	switch {
	case v.Absent:
		return 0
	case v.Type.Width() > 0:
		return scatter(v.bits() + 1)
	}
	return HashedKey(v.Raw)
}

// hash counts the hashes of a row.
func (t *Tally) hash(x, y uint64) {
	t.side[0].sum += x
	t.side[1].sum += y
	t.pairs[0] += scatter(x ^ bits.RotateLeft64(y, 32))
	t.pairs[1] += scatter(y ^ bits.RotateLeft64(x, 32))
}

// scatter is a bijection whose results for different numbers have no sums in common but by chance.
func scatter(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// fixed looks at the bits and numbers of rows with values of a fixed width.
func (t *Tally) fixed(typ Type, x, y []uint64) {
	if typ == Bool || typ == Ref && len(x) == 0 {
		return
	}
	t.bits += uint64(len(x))
	flipped, one := uint64(0), uint64(0)
	for i, a := range x {
		f := a ^ y[i]
		flipped |= f
		one += isEqual(f&(f-1), 0)
	}
	t.flipped, t.oneBit = t.flipped|flipped, t.oneBit+one
	switch {
	case typ == Ref:
	case typ.Float():
		t.addFloats(typ, x, y)
	default:
		t.addWholes(typ, x, y)
	}
}

// addWholes counts rows with whole numbers, or units of fixed numbers.
func (t *Tally) addWholes(typ Type, x, y []uint64) {
	shift := 0
	if typ.Signed() {
		shift = 64 - 8*typ.Width()
	}
	as := func(n uint64) number {
		if typ.Signed() {
			i := int64(n<<shift) >> shift
			return number{typ, uint64(i), float64(i)}
		}
		return number{typ, n, float64(n)}
	}
	r := &t.whole
	if r.rows == 0 {
		r.a, r.b = as(x[0]), as(y[0])
		r.offset, r.factor = true, r.a.bits != 0 && r.b.bits != 0
	}
	if t.numbers == 0 {
		t.first(r.a, r.b)
	}
	up, steps, sums := uint64(0), uint64(0), uint64(0)
	offset, rising := r.b.bits-r.a.bits, r.a.f < r.b.f || r.a.f == r.b.f && r.a.less(r.b)
	for i, m := range x {
		a, b := as(m), as(y[i])
		steps |= b.bits - a.bits ^ offset
		sums |= a.bits + b.bits
		t.net += b.bits - a.bits
		if a.f < b.f || a.f == b.f && a.less(b) {
			up++
		}
		if r.factor {
			r.factor = r.proportional(a, b)
		}
		t.reach(a, b)
	}
	n := uint64(len(x))
	r.rows += n
	t.numbers += n
	t.up, t.down = t.up+up, t.down+n-up
	r.offset = r.offset && steps == 0 && (rising && up == n || !rising && up == 0)
	t.same = t.same && sums == 0
}

// first begins the ranges with a row.
func (t *Tally) first(a, b number) {
	t.side[0].low, t.side[0].high, t.side[1].low, t.side[1].high = a, a, b, b
	t.least = step{a, b, b.f - a.f}
	t.most = t.least
}

// reach widens the ranges to a row.
func (t *Tally) reach(a, b number) {
	if d, s := b.f-a.f, &t.side; a.f > s[0].low.f && a.f < s[0].high.f && b.f > s[1].low.f && b.f < s[1].high.f && d >= t.least.d && d <= t.most.d {
		return
	}
	t.side[0].reach(a)
	t.side[1].reach(b)
	switch d := b.f - a.f; {
	case d < t.least.d:
		t.least = step{a, b, d}
	case d > t.most.d:
		t.most = step{a, b, d}
	}
}

func (s *tallySide) reach(n number) {
	switch {
	case n.less(s.low):
		s.low = n
	case s.high.less(n):
		s.high = n
	}
}

func (x number) less(y number) bool {
	if x.f != y.f || x.typ != y.typ {
		return x.f < y.f
	}
	if x.typ.Signed() { // whole numbers that are equal as floats
		return int64(x.bits) < int64(y.bits)
	}
	return x.bits < y.bits && !x.typ.Float()
}

// value returns a number as a value.
func (x number) value(scale uint32) Value { return valueOf(x.typ, scale, x.bits) }

// size returns the absolute value of a whole number.
func (x number) size() uint64 {
	if x.f < 0 {
		return -x.bits
	}
	return x.bits
}

// proportional reports whether y/x equals the ratio of the first row.
func (r *relation) proportional(x, y number) bool {
	hi, lo := bits.Mul64(y.size(), r.a.size())
	hi2, lo2 := bits.Mul64(x.size(), r.b.size())
	return x.bits != 0 && hi == hi2 && lo == lo2 && (x.f < 0) != (y.f < 0) == ((r.a.f < 0) != (r.b.f < 0))
}

// Floats follow a relation if they do so up to rounding: a few units in the last place of the larger value.
const (
	rounding64 = 0x1p-49
	rounding32 = 0x1p-20
)

func roundingOf(typ Type) float64 {
	if typ == F32 {
		return rounding32
	}
	return rounding64
}

// addFloats counts rows with floats. Infinite numbers and NaN are no numbers here.
func (t *Tally) addFloats(typ Type, x, y []uint64) {
	r := &t.floats
	rounding, width := roundingOf(typ), typ.Width()
	for i := range x {
		a, b := number{typ, x[i], floatOf(x[i], typ)}, number{typ, y[i], floatOf(y[i], typ)}
		d := b.f - a.f
		if d-d != 0 {
			continue
		}
		size := max(math.Abs(a.f), math.Abs(b.f))
		p, q := orderedFloat(x[i], width), orderedFloat(y[i], width)
		ulps := uint64(max(p, q)) - uint64(min(p, q))
		if r.rows == 0 {
			*r = relation{offset: true, factor: a.f != 0 && b.f != 0, a: a, b: b, size: size}
			t.ulps[0] = ulps
		}
		if t.numbers == 0 {
			t.first(a, b)
		}
		r.rows++
		t.numbers++
		t.ulps[0], t.ulps[1] = min(t.ulps[0], ulps), max(t.ulps[1], ulps)
		r.size = max(r.size, size)
		r.offset = r.offset && math.Abs(d-(r.b.f-r.a.f)) <= rounding*r.size
		if r.factor {
			ratio := r.b.f / r.a.f
			r.factor = a.f != 0 && math.Abs(b.f/a.f-ratio) <= rounding*math.Abs(ratio)
		}
		switch {
		case d > 0:
			t.up++
		case d < 0:
			t.down++
		}
		t.same = t.same && a.f == -b.f
		t.reach(a, b)
	}
}

// Merge adds the rows of another column to t, such as the same field of another archetype.
func (t *Tally) Merge(u *Tally) {
	if u.Rows == 0 {
		return
	}
	if t.Rows == 0 {
		*t = *u
		return
	}
	t.mixed = t.mixed || u.mixed || t.typ != u.typ || t.scale != u.scale
	t.Rows += u.Rows
	t.stale &= u.stale
	for i := range t.side {
		s, o := &t.side[i], &u.side[i]
		s.absent, s.zero, s.sum = s.absent+o.absent, s.zero+o.zero, s.sum+o.sum
		s.varied = s.varied || o.varied || !s.first.equal(o.first)
		t.pairs[i] += u.pairs[i]
	}
	if u.numbers > 0 {
		if t.numbers == 0 {
			t.first(u.least.a, u.least.b)
		}
		t.reach(u.least.a, u.least.b)
		t.reach(u.most.a, u.most.b)
		for i := range t.side {
			t.side[i].reach(u.side[i].low)
			t.side[i].reach(u.side[i].high)
		}
	}
	if u.floats.rows > 0 {
		if t.floats.rows == 0 {
			t.ulps = u.ulps
		}
		t.ulps[0], t.ulps[1] = min(t.ulps[0], u.ulps[0]), max(t.ulps[1], u.ulps[1])
	}
	t.whole.merge(&u.whole)
	t.floats.merge(&u.floats)
	t.numbers, t.up, t.down = t.numbers+u.numbers, t.up+u.up, t.down+u.down
	t.same, t.net = t.same && u.same, t.net+u.net
	t.flipped |= u.flipped
	t.bits, t.oneBit = t.bits+u.bits, t.oneBit+u.oneBit
}

func (r *relation) merge(o *relation) {
	if o.rows == 0 {
		return
	}
	if r.rows == 0 {
		*r = *o
		return
	}
	r.rows += o.rows
	r.size = max(r.size, o.size)
	if r.a.typ.Float() {
		rounding := roundingOf(r.a.typ)
		r.offset = r.offset && o.offset && math.Abs((o.b.f-o.a.f)-(r.b.f-r.a.f)) <= rounding*r.size
		ratio := r.b.f / r.a.f
		r.factor = r.factor && o.factor && math.Abs(o.b.f/o.a.f-ratio) <= rounding*math.Abs(ratio)
		return
	}
	r.offset = r.offset && o.offset && r.a.less(r.b) == o.a.less(o.b) && r.b.bits-r.a.bits == o.b.bits-o.a.bits
	r.factor = r.factor && o.factor && r.proportional(o.a, o.b)
}

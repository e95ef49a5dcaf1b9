package textsearch

import (
	"encoding/binary"
	"math/bits"
)

// Forms remembers something about lines by their shapes, see [Shape]. It finds the shape of a line that it knows by
// comparing eight bytes at a time, without an allocation. The zero value knows none. It holds at most about 2 MiB.
type Forms[T any] struct {
	// Zeros means that the shape includes whether a number is zero. Else it is one shape with other numbers in base 10.
	Zeros bool

	heads [1 << headBits]*form[T]
	last  *form[T]  // of the line before
	forms []form[T] // the last ones
	room  []byte    // for the last texts and masks
	count int       // of all forms
	used  int       // bytes of their texts
}

const (
	// MaxForm is the length of the longest lines that are remembered, in bytes.
	MaxForm = 4 << 10

	headBits = 10
	maxChain = 16 // shapes of one hash
	maxForms = 1 << 12
	maxUsed  = 1 << 19
)

// form is the shape of lines.
type form[T any] struct {
	hash       uint64
	next       *form[T] // another one with the same head
	after      *form[T] // of the line that followed last time
	text, mask []byte   // text is zero where mask is: there are numbers
	numbers    []number
	value      T
}

// number is where a line has a number.
type number struct {
	from, to uint16
	kinds    uint8 // a bit for each kind that it may have
}

// Kinds of digits, and of the numbers that consist of them.
const (
	zeroDigit = 1 << iota
	otherDigit
	hexLetter
	noDigit

	noNumber = iota - 4
	zeroKind
	decimalKind
	hexKind
)

// digitKinds are the kinds of all bytes, numberKinds the kinds of numbers by all kinds of their digits.
var (
	digitKinds = func() (list [256]uint8) {
		for c := range list {
			switch {
			case c == '0':
				list[c] = zeroDigit
			case isDigit(byte(c)):
				list[c] = otherDigit
			case c|0x20 >= 'a' && c|0x20 <= 'f':
				list[c] = hexLetter
			default:
				list[c] = noDigit
			}
		}
		return list
	}()
	numberKinds = [2 * noDigit]uint8{
		zeroDigit: zeroKind, otherDigit: decimalKind, otherDigit | zeroDigit: decimalKind,
		hexLetter | zeroDigit: hexKind, hexLetter | otherDigit: hexKind, hexLetter | otherDigit | zeroDigit: hexKind,
	}
)

// Of returns what is remembered about the lines of one shape, the zero value for a new shape. It is nil if the line is
// too long, or if it has a new shape and there is no room.
func (f *Forms[T]) Of(line []byte) *T {
	if len(line) > MaxForm {
		return nil
	}
	before := f.last
	if before != nil && before.after != nil && before.after.fits(line) {
		f.last = before.after
		return &f.last.value
	}
	one := f.find(line)
	if one == nil {
		return nil
	}
	if f.last = one; before != nil {
		before.after = one
	}
	return &one.value
}

// find is Of for any line.
func (f *Forms[T]) find(line []byte) *form[T] {
	hash := sample(line)
	head := &f.heads[hash>>(64-headBits)]
	n := 0
	for at := head; *at != nil; at = &(*at).next {
		one := *at
		if one.hash == hash && one.fits(line) {
			if at != head { // it comes first the next time
				*at, one.next, *head = one.next, *head, one
			}
			return one
		}
		if n++; n == maxChain {
			one.next = nil
		}
	}
	if f.Full() {
		return nil
	}
	one := f.add(line)
	one.hash, one.next, *head = hash, *head, one
	return one
}

// Full reports whether there is no room for another shape.
func (f *Forms[T]) Full() bool { return f.count == maxForms || f.used >= maxUsed }

// Reset forgets all shapes. What Of returned before is not valid any more.
func (f *Forms[T]) Reset() {
	clear(f.heads[:])
	f.last = nil
	f.forms, f.room, f.count, f.used = f.forms[:0], f.room[:0], 0, 0
}

// add makes the form of a line.
func (f *Forms[T]) add(line []byte) *form[T] {
	n := len(line)
	f.count++
	f.used += n
	if len(f.forms) == cap(f.forms) {
		f.forms = make([]form[T], 0, min(max(2*cap(f.forms), 32), maxForms))
	}
	if cap(f.room)-len(f.room) < 2*n {
		f.room = make([]byte, 0, max(min(2*cap(f.room), maxUsed), 2*n, 4<<10))
	}
	begin := len(f.room)
	f.room = f.room[:begin+2*n]
	f.forms = f.forms[:len(f.forms)+1]
	one := &f.forms[len(f.forms)-1]
	*one = form[T]{text: f.room[begin : begin+n], mask: f.room[begin+n : begin+2*n], numbers: one.numbers[:0]}
	copy(one.text, line)
	for i := range one.mask {
		one.mask[i] = 0xff
	}
	for from, to := range numbers(line) {
		kind := kindOf(line[from:to])
		if kind == zeroKind && f.Zeros {
			continue // as text
		}
		kinds := uint8(1) << kind
		if kind != hexKind && !f.Zeros {
			kinds = 1<<zeroKind | 1<<decimalKind
		}
		one.numbers = append(one.numbers, number{uint16(from), uint16(to), kinds})
		clear(one.text[from:to])
		clear(one.mask[from:to])
	}
	return one
}

// kindOf returns the kind of a number.
func kindOf(digits []byte) uint8 {
	kinds := uint8(0)
	for _, c := range digits {
		kinds |= digitKinds[c]
	}
	return numberKinds[kinds]
}

// fits reports whether a line has the form.
func (f *form[T]) fits(line []byte) bool {
	text, mask := f.text, f.mask
	if len(line) != len(text) || len(mask) != len(text) {
		return false
	}
	i := 0
	for ; i+8 <= len(line); i += 8 {
		if binary.LittleEndian.Uint64(line[i:])&binary.LittleEndian.Uint64(mask[i:]) != binary.LittleEndian.Uint64(text[i:]) {
			return false
		}
	}
	for ; i < len(line); i++ {
		if line[i]&mask[i] != text[i] {
			return false
		}
	}
	for _, one := range f.numbers {
		if one.kinds>>kindOf(line[one.from:one.to])&1 == 0 {
			return false
		}
	}
	return true
}

// sample returns a number that is the same for lines of one shape: of their length, and of some of their letters that
// are no hexadecimal digits.
func sample(line []byte) uint64 {
	const prime = 0x9e3779b97f4a7c15
	n := len(line)
	if n < 8 {
		h := uint64(n) * prime
		for _, c := range line {
			if c|0x20 > 'f' {
				h = (h ^ uint64(c|0x20)) * prime
			}
		}
		return h
	}
	third := (n - 8) / 3
	a, b := beyondHex(binary.LittleEndian.Uint64(line)), beyondHex(binary.LittleEndian.Uint64(line[third:]))
	c, d := beyondHex(binary.LittleEndian.Uint64(line[2*third:])), beyondHex(binary.LittleEndian.Uint64(line[n-8:]))
	h := (a ^ bits.RotateLeft64(b, 29) ^ uint64(n)) * prime
	return h ^ bits.RotateLeft64((c^bits.RotateLeft64(d, 31))*prime, 23)
}

// beyondHex returns eight bytes, letters in lower case, with zero for those that may be digits of a number.
func beyondHex(x uint64) uint64 {
	const ones = 0x0101010101010101
	x |= 0x20 * ones
	beyond := ((x&(0x7f*ones) + (0x7f-'f')*ones) | x) & (0x80 * ones)
	return x & (beyond >> 7 * 0xff)
}

package textsearch

import (
	"bytes"
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
	room  []word    // for the last forms
	bytes []byte    // for the words of a form in the making
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
	hash    uint64
	next    *form[T]    // another one with the same head
	after   [2]*form[T] // of lines that followed: mostly the first
	size    int         // of a line
	words   []word      // its bytes by eight, the last of them to its end
	numbers []number
	value   T
}

// word is eight bytes of a line. They fit if they are text where mask is set, both as they are and with add added. So a
// decimal digit is 0x30 to 0x39: mask is 0xf0, and add is 6.
type word struct{ text, mask, add uint64 }

func (w *word) fits(x uint64) bool { return (x&w.mask^w.text)|((x+w.add)&w.mask^w.text) == 0 }

// number is where a line has a number in base 16, or one that is not zero.
type number struct {
	from, to uint16
	hex      bool
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
	one := f.find(line)
	if one == nil {
		return nil
	}
	f.follows(one)
	return &one.value
}

// follows notes that a line of a form is next.
func (f *Forms[T]) follows(one *form[T]) {
	if before := f.last; before != nil && before.after[0] != one {
		if before.after[1] == one || before.after[0] == nil {
			before.after[0], before.after[1] = one, before.after[0]
		} else {
			before.after[1] = one
		}
	}
	f.last = one
}

// Line returns the first line of a text without its line feed, and what [Forms.Of] returns for it. The line is nil if it
// has no end.
func (f *Forms[T]) Line(text []byte) (line []byte, value *T) {
	if value, size := f.Next(text, false); value != nil {
		return text[:size], value
	}
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return nil, nil
	}
	return text[:end], f.Of(text[:end])
}

// Next returns what is remembered about the shape of the first line of a text, and the length of the line without its
// end: a line feed, after a return if lines have one. It knows only the two shapes that followed the shape of the line
// before, so it need not look for the end. It returns nil for others, and nothing has changed then.
func (f *Forms[T]) Next(text []byte, returns bool) (value *T, size int) {
	if f.last == nil {
		return nil, 0
	}
	for n, one := range f.last.after {
		if one == nil {
			break
		}
		size := one.size
		end := size
		if returns {
			end++
		}
		if end >= len(text) || text[end] != '\n' || returns && text[size] != '\r' || !one.fits(text[:size]) {
			continue
		}
		if after := &f.last.after; n > 0 {
			after[0], after[1] = one, after[0]
		}
		f.last = one
		return &one.value, size
	}
	return nil, 0
}

// find is Of for any line.
func (f *Forms[T]) find(line []byte) *form[T] {
	hash := sample(line)
	head := &f.heads[hash>>(64-headBits)]
	n := 0
	for at := head; *at != nil; at = &(*at).next {
		one := *at
		if one.hash == hash && one.size == len(line) && one.fits(line) {
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
	count := max(1, (n+7)/8)
	if cap(f.room)-len(f.room) < count {
		f.room = make([]word, 0, max(min(2*cap(f.room), maxUsed/8), count, 256))
	}
	begin := len(f.room)
	f.room = f.room[:begin+count]
	f.forms = f.forms[:len(f.forms)+1]
	one := &f.forms[len(f.forms)-1]
	*one = form[T]{size: n, words: f.room[begin : begin+count : begin+count], numbers: one.numbers[:0]}
	if len(f.bytes) < 3*(n+8) { // the mask of bytes behind a short line is zero
		f.bytes = make([]byte, 3*(n+8))
	}
	clear(f.bytes[:3*(n+8)])
	text, mask, add := f.bytes[:n+8], f.bytes[n+8:2*n+16], f.bytes[2*n+16:]
	copy(text, line)
	for i := range line {
		mask[i] = 0xff
	}
	for from, to := range numbers(line) {
		kind := kindOf(line[from:to])
		if kind == zeroKind && f.Zeros {
			continue // as text
		}
		if kind == hexKind || f.Zeros {
			one.numbers = append(one.numbers, number{uint16(from), uint16(to), kind == hexKind})
		}
		for i := from; i < to; i++ {
			text[i], mask[i], add[i] = '0', 0xf0, 6
			if kind == hexKind {
				text[i], mask[i], add[i] = 0, 0, 0
			}
		}
	}
	for i := range one.words {
		at := max(0, min(8*i, n-8))
		one.words[i] = word{binary.LittleEndian.Uint64(text[at:]), binary.LittleEndian.Uint64(mask[at:]), binary.LittleEndian.Uint64(add[at:])}
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

// fits reports whether a line of the form's size has the form.
func (f *form[T]) fits(line []byte) bool {
	words, rest := f.words, line
	for ; len(rest) > 8 && len(words) > 1; words, rest = words[1:], rest[8:] {
		if !words[0].fits(binary.LittleEndian.Uint64(rest)) {
			return false
		}
	}
	last := [8]byte{}
	if n := len(line); n >= 8 {
		last = [8]byte(line[n-8:])
	} else {
		copy(last[:], line)
	}
	if !words[0].fits(binary.LittleEndian.Uint64(last[:])) {
		return false
	}
	for i := range f.numbers {
		one := &f.numbers[i]
		digits := line[one.from:one.to]
		if one.hex && kindOf(digits) != hexKind || !one.hex && digits[0] == '0' && kindOf(digits) == zeroKind {
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

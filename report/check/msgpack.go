package check

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lists"
)

// walker walks over one MessagePack payload. A value that is only not in the shortest form is reported and read; a
// value of another type, out of range or cut off ends the walk, and bad is set.
type walker struct {
	c    *checker
	b    []byte
	at   int
	base int64 // offset of b in the file
	in   string
	part string // of what is in, with its index; empty if there is none
	i    int
	bad  bool

	unplaced bool // b is not a part of the file: the file has it in Base64

	value, shape, shortest, text, utf8 string // the rules; text is of strings that are too long
	wide                               bool   // integers may have any form
	most                               int    // bytes of a string
}

func (w *walker) place(at int) place {
	in := w.in
	if w.part != "" {
		in = fmt.Sprintf("%s, %s %d", in, w.part, w.i)
	}
	if w.unplaced {
		return place{in: in}
	}
	return offsetAt(w.base+int64(at), in)
}

func (w *walker) fail(rule string, at int, format string, args ...any) {
	if !w.bad {
		w.c.add(rule, w.place(at), format, args...)
	}
	w.bad = true
}

// note reports what does not end the walk.
func (w *walker) note(rule string, at int, format string, args ...any) {
	if !w.bad {
		w.c.add(rule, w.place(at), format, args...)
	}
}

func (w *walker) code(what string) (c byte, ok bool) {
	if w.bad {
		return 0, false
	}
	if w.at >= len(w.b) {
		w.fail(w.value, w.at, "the payload ends, expected %s", what)
		return 0, false
	}
	w.at++
	return w.b[w.at-1], true
}

func (w *walker) big(width int, what string) uint64 {
	if len(w.b)-w.at < width {
		w.fail(w.value, w.at, "the payload ends inside %s", what)
		return 0
	}
	n := uint64(0)
	for _, c := range w.b[w.at : w.at+width] {
		n = n<<8 | uint64(c)
	}
	w.at += width
	return n
}

// short reports a value in used bytes that would fit in shortest bytes.
func (w *walker) short(at int, used, shortest int, what string) {
	if used > shortest && !w.bad && w.shortest != "" {
		w.note(w.shortest, at, "%s takes %d bytes (code 0x%02x), %d are enough", what, used, w.b[at], shortest)
	}
}

// uint reads an unsigned integer.
func (w *walker) uint(limit uint64, what string) uint64 {
	at := w.at
	c, ok := w.code(what)
	if !ok {
		return 0
	}
	var n uint64
	switch {
	case c < 0x80:
		n = uint64(c)
	case c >= 0xcc && c <= 0xcf:
		n = w.big(1<<(c-0xcc), what)
	case c >= 0xd0 && c <= 0xd3:
		width := 1 << (c - 0xd0)
		n = w.big(width, what)
		if n>>(8*width-1) != 0 {
			w.fail(w.shape, at, "%s is negative", what)
			return 0
		}
	case c >= 0xe0:
		w.fail(w.shape, at, "%s is negative", what)
		return 0
	default:
		w.fail(w.shape, at, "%s has code 0x%02x, expected an unsigned integer", what, c)
		return 0
	}
	if n > limit {
		w.fail(w.shape, at, "%s is %d, expected at most %d", what, n, limit)
		return 0
	}
	if !w.wide {
		w.short(at, w.at-at, uintSize(n), what)
	}
	return n
}

func uintSize(n uint64) int {
	switch {
	case n < 0x80:
		return 1
	case n <= math.MaxUint8:
		return 2
	case n <= math.MaxUint16:
		return 3
	case n <= math.MaxUint32:
		return 5
	}
	return 9
}

// length reads the head of a container or string: codes from fix on hold it in themselves, up
// to fixMost, and the three codes from first on in 1, 2 or 4 bytes, or, of arrays, in 2 or 4.
func (w *walker) length(what, family string, fix byte, fixMost int, first byte, widths ...int) (n uint64) {
	at := w.at
	c, ok := w.code(what)
	if !ok {
		return 0
	}
	smallest := 1 + widths[0]
	switch {
	case fixMost >= 0 && c >= fix && int(c) <= int(fix)+fixMost:
		n = uint64(c - fix)
	case c >= first && int(c) < int(first)+len(widths):
		n = w.big(widths[c-first], what)
	default:
		w.fail(w.shape, at, "%s has code 0x%02x, expected %s", what, c, family)
		return 0
	}
	if w.bad {
		return 0
	}
	if fixMost >= 0 && n <= uint64(fixMost) {
		smallest = 1
	} else {
		for _, width := range widths {
			if n < 1<<(8*width) {
				smallest = 1 + width
				break
			}
		}
	}
	w.short(at, w.at-at, smallest, "the length of "+what)
	return n
}

// array reads the length of an array with elements of at least one byte each.
func (w *walker) array(what string) int {
	at := w.at
	n := w.length(what, "an array", 0x90, 15, 0xdc, 2, 4)
	return w.fits(at, n, what)
}

func (w *walker) mapping(what string) int {
	at := w.at
	n := w.length(what, "a map", 0x80, 15, 0xde, 2, 4)
	return w.fits(at, n, what)
}

func (w *walker) fits(at int, n uint64, what string) int {
	if left := len(w.b) - w.at; n > uint64(left) {
		w.fail(w.value, at, "%s has %d elements, and %d bytes are left", what, n, left)
		return 0
	}
	return int(n)
}

// tuple reads the length of an array that must have n elements.
func (w *walker) tuple(n int, what string) {
	at := w.at
	if got := w.array(what); !w.bad && got != n {
		w.fail(w.shape, at, "%s has %d elements, expected %d", what, got, n)
	}
}

func (w *walker) bool(what string) bool {
	at := w.at
	c, ok := w.code(what)
	if ok && c != 0xc2 && c != 0xc3 {
		w.fail(w.shape, at, "%s has code 0x%02x, expected a bool", what, c)
	}
	return c == 0xc3
}

func (w *walker) bytes(n uint64, what string) []byte {
	if w.bad {
		return nil
	}
	if left := len(w.b) - w.at; n > uint64(left) {
		w.fail(w.value, w.at, "%s has %d bytes, and %d are left", what, n, left)
		return nil
	}
	w.at += int(n)
	return w.b[w.at-int(n) : w.at]
}

func (w *walker) bin(what string) []byte {
	return w.bytes(w.length(what, "bin", 0, -1, 0xc4, 1, 2, 4), what)
}

// nilOrBin reads a bin or nil.
func (w *walker) nilOrBin(what string) (b []byte, ok bool) {
	if !w.bad && w.at < len(w.b) && w.b[w.at] == 0xc0 {
		w.at++
		return nil, false
	}
	return w.bin(what), !w.bad
}

func (w *walker) str(what string) string {
	at := w.at
	s := string(w.bytes(w.length(what, "str", 0xa0, 31, 0xd9, 1, 2, 4), what))
	if w.bad {
		return ""
	}
	if len(s) > w.most {
		w.note(w.text, at, "%s has %d bytes, at most %d are allowed", what, len(s), w.most)
	}
	if w.utf8 != "" && !utf8.ValidString(s) {
		w.note(w.utf8, at, "%s is %s", what, quoted(s))
	}
	return s
}

// fixed reads a bin of n bytes.
func (w *walker) fixed(n int, what string) []byte {
	at := w.at
	b := w.bin(what)
	if !w.bad && len(b) != n {
		w.fail(w.shape, at, "%s has %d bytes, expected %d", what, len(b), n)
		return nil
	}
	return b
}

// finish reports bytes after the value.
func (w *walker) finish() {
	if !w.bad && w.at < len(w.b) {
		w.fail(w.value, w.at, "%d bytes follow the value", len(w.b)-w.at)
	}
}

// quoted is a text of a file for a message.
func quoted(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

func quotedAll(list []string) []string {
	return lists.Map(list, quoted)
}

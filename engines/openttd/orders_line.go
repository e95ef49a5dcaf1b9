package openttd

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/orderlog"
)

type lineKind uint8

const (
	unknown lineKind = iota
	newMap
	load
	syncLine
	ordersSave
	msg
	client
	cmd
	cmdf
	syncErr
	cacheMismatch
)

// keywords is the only table of the kinds that keywords name.
var keywords = []struct {
	word    string
	kind    lineKind
	stamped bool
}{
	{"cmd: ", cmd, true},
	{"sync: ", syncLine, true},
	{"save: ", ordersSave, true},
	{"msg: ", msg, true},
	{"cmdf: ", cmdf, true},
	{"client: ", client, true},
	{"sync_err: ", syncErr, true},
	{"new_map: ", newMap, false},
	{"load: ", load, false},
}

type shape uint8

const (
	shape12 shape = iota + 1
	shape13
	shape14
)

// line is one parsed line. Slices are parts of the line.
type ordersLine struct {
	kind    lineKind
	tick    uint64
	seed    uint64 // of newMap
	rng     [8]byte
	company uint32
	command uint64
	shape   shape
	name    []byte // of the command
	rest    []byte // the text after a command's number, or all of it if the number is not first
}

// parse parses a line. One that is not exactly as described is unknown.
func ordersParse(b []byte) (l ordersLine) {
	b = cutDate(b)
	for i := range keywords {
		k := &keywords[i]
		if len(b) < len(k.word) || string(b[:len(k.word)]) != k.word {
			continue
		}
		rest, ok := b[len(k.word):], true
		if k.stamped {
			l.tick, rest, ok = stamp(rest)
		}
		if ok && l.parse(k.kind, rest) {
			l.kind = k.kind
		}
		return l
	}
	if isMismatch(b) {
		l.kind, l.rest = cacheMismatch, b
	}
	return l
}

// fixed reports whether a line is of a known kind that has no raw arguments, so that its end is known.
func (l *ordersLine) fixed() bool { return l.kind != unknown && l.shape != shape13 }

// continues reports whether a line of unknown kind can be raw arguments of the command before it: these have no NUL,
// and a line with a stamp in it is more likely a damaged line.
func continues(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 {
		return false
	}
	for i := 0; ; {
		n := bytes.Index(b[i:], semicolon)
		if n < 0 {
			return true
		}
		if i += n; i >= 8 {
			if _, rest, ok := stamp(b[i-8:]); ok && (len(rest) == 0 || bytes.HasSuffix(b[:len(b)-len(rest)], semicolon)) {
				return false
			}
		}
		i += len(semicolon)
	}
}

// cutDate cuts off a "[YYYY-MM-DD HH:MM:SS] ".
func cutDate(b []byte) []byte {
	const pattern = "[0000-00-00 00:00:00] "
	if len(b) < len(pattern) || b[0] != '[' {
		return b
	}
	for i := range len(pattern) {
		if pattern[i] == '0' && (b[i] < '0' || b[i] > '9') || pattern[i] != '0' && b[i] != pattern[i] {
			return b
		}
	}
	return b[len(pattern):]
}

func stamp(b []byte) (tick uint64, rest []byte, ok bool) {
	date, b, ok := ordersField(b, 8)
	if !ok || date > math.MaxInt32 || len(b) < 2 {
		return 0, nil, false
	}
	fract, ok := hexField(b[:2])
	if !ok || fract >= DayTicks {
		return 0, nil, false
	}
	b = b[2:]
	if len(b) > 0 && !bytes.HasPrefix(b, semicolon) {
		return 0, nil, false
	}
	return date*DayTicks + fract, bytes.TrimPrefix(b, semicolon), true
}

var semicolon = []byte("; ")

// field reads a number of exactly width digits and the "; " after it.
func ordersField(b []byte, width int) (n uint64, rest []byte, ok bool) {
	if len(b) < width+len(semicolon) || b[width] != ';' || b[width+1] != ' ' {
		return 0, nil, false
	}
	n, ok = hexField(b[:width])
	return n, b[width+len(semicolon):], ok
}

// digits has the value of a hexadecimal digit, plus 1.
var digits = func() (t [256]uint8) {
	for i, c := range "0123456789abcdef" {
		t[c] = uint8(i + 1)
	}
	for i, c := range "ABCDEF" {
		t[c] = uint8(i + 11)
	}
	return t
}()

// hex reads a number of up to 16 digits.
func hexField(b []byte) (n uint64, ok bool) {
	if len(b) == 0 || len(b) > 16 {
		return 0, false
	}
	for _, c := range b {
		d := digits[c]
		if d == 0 {
			return 0, false
		}
		n = n<<4 | uint64(d-1)
	}
	return n, true
}

func (l *ordersLine) parse(kind lineKind, b []byte) (ok bool) {
	l.rest = b
	switch kind {
	case newMap:
		l.seed, ok = hexField(b)
		return ok && len(b) == 8
	case syncLine:
		var first, second uint64
		first, b, ok = ordersField(b, 8)
		if !ok || len(b) != 8 {
			return false
		}
		second, ok = hexField(b)
		binary.BigEndian.PutUint64(l.rng[:], first<<32|second)
		return ok
	case client:
		return l.player(&b)
	case cmd, cmdf:
		return l.player(&b) && l.parseCommand(b)
	case syncErr:
		return len(b) == 0
	}
	return true
}

func (l *ordersLine) player(b *[]byte) bool {
	n, rest, ok := ordersField(*b, 2)
	l.company, *b = uint32(n), rest
	return ok
}

// parseCommand reads what follows the company, in any of the three shapes.
func (l *ordersLine) parseCommand(b []byte) bool {
	l.rest = b
	if _, rest, ok := ordersField(b, 6); ok { // TILE; P1; P2; CMD; [ERR; ]"TEXT" (NAME)
		l.shape = shape12
		for range 2 {
			if _, rest, ok = ordersField(rest, 8); !ok {
				return false
			}
		}
		if l.command, rest, ok = ordersField(rest, 8); !ok {
			return false
		}
		// Higher bits are flags and the text of an error.
		l.command &= 0xff
		if _, after, ok := ordersField(rest, 8); ok {
			rest = after
		}
		l.name = commandName(rest)
		return len(rest) > 0 && rest[0] == '"'
	}
	var ok bool
	if l.command, b, ok = ordersField(b, 8); !ok {
		return false
	}
	l.rest = b
	if _, b, ok = ordersField(b, 8); !ok {
		return false
	}
	if _, _, ok := ordersField(b, 6); ok {
		l.shape = shape13
		return true
	}
	l.shape = shape14
	l.name = commandName(b)
	return true
}

// commandName returns the word in parentheses at the end of a line.
func commandName(b []byte) []byte {
	open := bytes.LastIndex(b, []byte(" ("))
	if open < 0 || b[len(b)-1] != ')' || len(b)-open > 64 {
		return nil
	}
	name := b[open+2 : len(b)-1]
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return nil
		}
	}
	return name
}

// isMismatch reports whether a line is what the game writes when it finds a
// cache that is not as recomputed: "town cache mismatch: town 0".
func isMismatch(b []byte) bool {
	if bytes.HasPrefix(b, []byte("CACHE ERROR: ")) {
		return true
	}
	before, _, ok := bytes.Cut(bytes.TrimPrefix(b, []byte("warning: ")), []byte(" mismatch: "))
	if !ok || len(before) == 0 {
		return false
	}
	return !slices.ContainsFunc(before, func(c byte) bool { return (c < 'a' || c > 'z') && c != ' ' })
}

// Fields splits a command's payload into the fields that its version has: tile, p1, p2, command, error, text and args.
func Fields(kind string, payload []byte) []orderlog.Field {
	var out []orderlog.Field
	number := func(name string, width int) bool {
		_, rest, ok := ordersField(payload, width)
		if ok {
			out = append(out, orderlog.Field{Path: name, Value: string(payload[:width])})
			payload = rest
		}
		return ok
	}
	last := func(name string) []orderlog.Field {
		return append(out, orderlog.Field{Path: name, Value: strconv.Quote(string(payload))})
	}
	switch {
	case kind == "msg":
		return last("text")
	case number("tile", 6):
		for _, name := range []string{"p1", "p2", "command", "error"} {
			number(name, 8)
		}
		return last("text")
	}
	number("error", 8)
	number("tile", 6)
	return last("args")
}

// desyncError ends the message that a client has left because it was out of sync.
var desyncError = []byte(" has left the game (desync error)")

// Desynced reads a line that reports that a client has left because it was out of sync, and returns the tick and the
// client's name:
//
//	msg: 000ae760; 47; *** Bob has left the game (desync error)
//
// A mark of the writing direction may precede the stars, in any encoding. A player's text begins with "[All] Bob: " or
// the like.
func Desynced(b []byte) (tick uint64, name string, ok bool) {
	said, ok := bytes.CutSuffix(b, desyncError)
	if !ok {
		return 0, "", false
	}
	l := ordersParse(said)
	before, after, ok := bytes.Cut(l.rest, []byte("*** "))
	if l.kind != msg || !ok || len(after) == 0 || len(before) > 8 || bytes.ContainsFunc(before, func(r rune) bool { return r < 0x80 }) {
		return 0, "", false
	}
	return l.tick, string(bytes.ToValidUTF8(after, []byte("\uFFFD"))), true
}

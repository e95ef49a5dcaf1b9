package warzone

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/file/partial"
)

// Entry is one line of a dump. It is valid until the next one is read; its strings stay valid.
type Entry struct {
	Line     int64 // from 1
	Offset   int64 // of the line, in bytes
	Function string
	Text     []byte // all after "[function] "

	// Mark is the byte that the text of a line about an object begins with: '<'
	// before the object's update, 'M' in the middle of it, '>' after it, and
	// others elsewhere. It is 0 if there is none.
	Mark byte
	// Kind is what the line is about, "droid", "economy" or "counts", empty if the line has an unknown form; ID is its
	// number, if HasID.
	Kind  string
	ID    uint32
	HasID bool
	// Subject is the part of Text that names it: "droid289", "counts[0]".
	Subject []byte
	// Object is set if the line has the format of such an object, to its last byte. Values are then the values of
	// Object.Fields.
	Object Object

	Values []Value

	// Gap is set if lines are missing before this one, in an excerpt.
	Gap *partial.Gap
}

// About reports whether the line is about an object, in any form of its values. It then has a Mark.
func (e *Entry) About() bool { return e.Object != NoObject || e.Mark != 0 && isObject(e.Kind) }

// MayDiffer reports whether the line need not be the same on peers in sync: the
// game's version, or a backtrace.
func (e *Entry) MayDiffer() bool { return e.Function == Backtrace || e.version() }

func (e *Entry) version() bool { return e.Kind == KindVersion && e.Function == "gameStateUpdate" }

// Value is one named value of an entry.
type Value struct {
	Name string // "pos.x"; empty for the only value of a line
	Text []byte // as written in the line; empty if it is not written
	// Number is the value if the line belongs to an object; for a letter, its code.
	Number int64
}

// Int returns the value as a decimal number of at most 18 digits, as the engine
// writes it. It reports false if it is not one.
func (v *Value) Int() (int64, bool) {
	i, n := number(v.Text)
	return i, n > 0 && n == len(v.Text)
}

// Names of the things that lines are about.
const (
	KindEconomy  = "economy"           // power of a player, 32.32 fixed point
	KindPower    = "updatePlayerPower" // the same before and after its update: from, to
	KindCounts   = "counts"            // of a player's droids
	KindGameTime = "GAME_GAME_TIME"    // that was read from a queue
	KindPlayer   = "Player"            // name of a player
	KindGame     = "map"               // map, random, allocated, position
	KindBegin    = "Begin"             // of the update of the dump's time
	KindEnd      = "End"               // of the update before it
	KindVersion  = "My client version"
)

// Backtrace is the function of lines that show where the game was when it noticed something odd. They differ between
// machines.
const Backtrace = "BT"

// parse parses Text.
func (e *Entry) parse(d *Dump) {
	text := e.Text
	if len(text) > 2 && text[1] == ' ' {
		if e.object(d, text[2:]) {
			e.Mark = text[0]
			return
		}
		if text[0] == '<' || text[0] == '>' {
			e.Mark = text[0]
			text = text[2:]
		}
	}
	if !e.numbered(d, text) && !e.other(text) {
		e.main(text)
	}
}

func (e *Entry) main(text []byte) { e.Values = append(e.Values, Value{Text: text}) }

func (e *Entry) add(name string, text []byte) {
	e.Values = append(e.Values, Value{Name: name, Text: text})
}

// object takes "droid289 = …", the text after the mark.
func (e *Entry) object(d *Dump, text []byte) bool {
	var o Object
	switch text[0] {
	case 'd':
		o = Droid
	case 's':
		o = Structure
	case 'f':
		o = Feature
	case 'p':
		o = Projectile
	default:
		return false
	}
	word := o.String()
	if len(text) < len(word) || string(text[:len(word)]) != word {
		return false
	}
	rest := text[len(word):]
	if ordersObjects[o].id {
		v, n := number(rest)
		if n == 0 || v != int64(int32(v)) {
			return false
		}
		e.ID, e.HasID = uint32(int32(v)), true
		rest = rest[n:]
	}
	if len(rest) < 3 || string(rest[:3]) != " = " {
		e.ID, e.HasID = 0, false
		return false
	}
	e.Kind, e.Subject = word, text[:len(text)-len(rest)]
	rest = rest[3:]
	d.ints = append(d.ints[:0], uint32(e.Text[0]))
	if e.HasID {
		d.ints = append(d.ints, e.ID)
	}
	var whole bool
	if e.Values, d.ints, whole = o.parse(rest, e.Values, d.ints); whole {
		e.Object = o
		return true
	}
	e.Values = e.Values[:0]
	e.main(rest)
	return true
}

// numbered takes "economy0 = 12", "updatePlayerPower0 12->13",
// "counts[0] = {droid: 2, command: 0}", "Player 0 = …" and
// "GAME_GAME_TIME p0;lat10,ct24602".
func (e *Entry) numbered(d *Dump, text []byte) bool {
	n := 0
	for n < len(text) && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' || text[n] == '_') {
		n++
	}
	if n == 0 || n == len(text) {
		return false
	}
	kind, rest := text[:n], text[n:]
	open := byte(0)
	if c := rest[0]; c == '[' || c == ' ' {
		open, rest = c, rest[1:]
		if c == ' ' && len(rest) > 0 && rest[0] == 'p' {
			open, rest = 'p', rest[1:]
		}
	}
	id, digits := number(rest)
	if digits == 0 || id < 0 || id != int64(uint32(id)) {
		return false
	}
	rest = rest[digits:]
	if open == '[' {
		if len(rest) == 0 || rest[0] != ']' {
			return false
		}
		rest = rest[1:]
	}
	subject := text[:len(text)-len(rest)]
	switch {
	case open == 'p':
		if len(rest) == 0 || rest[0] != ';' || !e.listed(d, rest[1:]) {
			return false
		}
	case open == 0 && len(rest) > 1 && rest[0] == ' ' && bytes.Contains(rest, []byte("->")):
		from, to, _ := bytes.Cut(rest[1:], []byte("->"))
		e.add("from", from)
		e.add("to", to)
	case len(rest) <= 3 || string(rest[:3]) != " = ":
		return false
	case open == '[':
		if !e.braced(d, rest[3:]) {
			return false
		}
	default:
		e.main(rest[3:])
	}
	e.Kind, e.ID, e.HasID, e.Subject = d.intern(kind), uint32(id), true, subject
	return true
}

// listed takes "lat10,ct24602,crc4187,wlat919": each name is in small letters.
func (e *Entry) listed(d *Dump, text []byte) bool {
	return e.each(text, func(part []byte) bool {
		n := 0
		for n < len(part) && part[n] >= 'a' && part[n] <= 'z' {
			n++
		}
		if n == 0 || n == len(part) {
			return false
		}
		e.add(d.intern(part[:n]), part[n:])
		return true
	})
}

// braced takes "{droid: 2, command: 0}".
func (e *Entry) braced(d *Dump, text []byte) bool {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return false
	}
	return e.each(text[1:len(text)-1], func(part []byte) bool {
		spaced := len(e.Values) == 0 // all others have a space before them
		if len(part) > 0 && part[0] == ' ' && !spaced {
			part, spaced = part[1:], true
		}
		name, value, ok := bytes.Cut(part, []byte(": "))
		if !ok || !spaced || !word(name) || len(value) == 0 {
			return false
		}
		e.add(d.intern(name), value)
		return true
	})
}

// word reports whether a name is made of letters, digits and underscores.
func word(name []byte) bool {
	for _, c := range name {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(name) > 0
}

// maxValues is how many values a line can have before it is left as text.
const maxValues = 64

// each hands out what is between commas. Names must be distinct.
func (e *Entry) each(text []byte, take func([]byte) bool) bool {
	for more := true; more; {
		var part []byte
		part, text, more = bytes.Cut(text, []byte(","))
		ok := take(part) && len(e.Values) <= maxValues
		for i := range max(len(e.Values)-1, 0) {
			ok = ok && e.Values[i].Name != e.Values[len(e.Values)-1].Name
		}
		if !ok {
			e.Values = e.Values[:0]
			return false
		}
	}
	return true
}

var (
	versionText   = []byte("My client version = ")
	mapText       = []byte("map = ")
	randomText    = []byte(", pseudorandom 32-bit integer = ")
	allocatedText = []byte(", allocated = ")
	positionText  = []byte(", position = ")
	updateText    = []byte(" game state update, gameTime = ")
)

// other takes lines that occur once in a tick.
func (e *Entry) other(text []byte) bool {
	if version, ok := bytes.CutPrefix(text, versionText); ok && len(version) > 0 {
		e.Kind = KindVersion
		e.main(version)
		return true
	}
	if rest, ok := bytes.CutPrefix(text, mapText); ok {
		name, rest, ok1 := bytes.Cut(rest, randomText)
		random, rest, ok2 := bytes.Cut(rest, allocatedText)
		allocated, position, ok3 := bytes.Cut(rest, positionText)
		if !ok1 || !ok2 || !ok3 || len(name)*len(random)*len(allocated)*len(position) == 0 {
			return false
		}
		e.Kind = KindGame
		e.add("map", name)
		e.add("random", random)
		e.add("allocated", allocated)
		e.add("position", position)
		return true
	}
	which, time, ok := bytes.Cut(text, updateText)
	if !ok || len(time) == 0 || string(which) != "Begin" && string(which) != "End" {
		return false
	}
	e.Subject = which
	if e.Kind = KindEnd; which[0] == 'B' {
		e.Kind = KindBegin
	}
	e.add("gameTime", time)
	return true
}

package gamelog

import (
	"bytes"
	"slices"
)

// lead is the part of a line before the message.
type lead struct {
	text     int // where the message begins
	severity Severity
	level    bool // there is a level, maybe one that is not a warning
	unit     string
	tick     uint64
	seen     int // bytes of the line that decide all this, 0 if not known
}

// Bounds of a lead: its parts, and the bytes that they may have.
const (
	maxParts   = 10
	maxLead    = 240
	maxBracket = 80
)

// leadOf splits a line: time stamps, brackets, levels, in any order.
//
//	[t=00:00:02.378195][f=-000001] Error: …       Spring
//	  39.267 Error GameActionHandler.cpp:3595: …  Factorio
//	error   |14:10:49: [khr_callback:1913] …      Warzone
//	2023-01-01T00:00:00.000Z  WARN bevy_ecs: …    Rust
//	[12:00:00] [main/ERROR] [mod]: …              Java
//	[2025.01.31-00.43.35:843][  0]LogNet: Error:  Unreal
//	E0102 15:04:05.000000 12345 file.cc:10] …     glog
func leadOf(b []byte) lead {
	var l lead
	i, named := 0, false
	for range maxParts {
		for i < len(b) && i < maxLead && (b[i] == ' ' || b[i] == '\t' || b[i] == '|' || i > 0 && (b[i] == '-' || b[i] == ':')) {
			i++
		}
		if i >= len(b) || i >= maxLead {
			break
		}
		c := b[i]
		switch {
		case c == '[':
			end := bytes.IndexByte(b[i:min(len(b), i+maxBracket)], ']')
			if end < 0 {
				return l
			}
			inner := b[i+1 : i+end]
			timed := l.bracket(inner)
			i += end + 1
			if timed {
				l.text = i
			}
			continue
		case c >= '0' && c <= '9':
			n := stamp(b[i:])
			if n == 0 {
				return l.trimmed(b)
			}
			if bytes.ContainsAny(b[i:i+n], ":./-") { // else it may be the message's own: "3 units are missing"
				l.text = i + n
			}
			i += n
			continue
		case isLetter(c):
			n := 1
			for i+n < len(b) && n < maxBracket && (isWord(b[i+n]) || b[i+n] == '.' || b[i+n] == ':' || b[i+n] == '-' || b[i+n] == '/') {
				n++
			}
			word := b[i : i+n]
			if s, ok, from := glog(b[i:]); ok {
				l.severity, l.level, l.text = s, true, i+from
				return l.trimmed(b)
			}
			seen := i + max(n+8, 12) // by now, and by what follows
			if len(b) < i+20 {
				seen = 0 // a longer line may be one of glog
			}
			bare := word
			if k := bytes.IndexByte(word, ':'); k >= 0 {
				bare = word[:k]
			}
			rest := b[i+len(bare):]
			if s, ok := levelOf(bare); ok && delimited(bare, rest, l.text > 0 || i > 0) {
				l.severity, l.level, l.seen = s, true, seen
				i += len(bare)
				l.text = i
				if s != None && bytes.HasPrefix(rest, []byte(" ERROR:")) { // FATAL ERROR:
					l.text += len(" ERROR")
				}
				return l.trimmed(b)
			}
			if len(rest) > 1 && rest[1]|0x20 == 'e' && adjective(bare) {
				after := bytes.TrimLeft(rest, " ")
				if s, ok := levelOf(after[:min(len(after), 5)]); ok && len(after) > 5 && after[5] == ':' && s == Error {
					l.severity, l.level = s, true
					return l.trimmed(b)
				}
			}
			// The category of a message, or the name of a logger, may come before the level.
			if l.seen = seen; named || !(bytes.HasSuffix(word, []byte(":")) || bytes.HasPrefix(rest, []byte(" - ")) || bytes.HasPrefix(rest, []byte(" | ")) || bytes.HasPrefix(rest, []byte("  | "))) {
				return l.trimmed(b)
			}
			named, l.seen = true, 0
			i += n
			continue
		default:
			l.seen = i + 1
		}
		break
	}
	return l.trimmed(b)
}

// trimmed moves the message to its first letter.
func (l lead) trimmed(b []byte) lead {
	for l.text > 0 && l.text < len(b) && (b[l.text] == ' ' || b[l.text] == ':' || b[l.text] == '\t' || b[l.text] == '|' || b[l.text] == '-') {
		l.text++
	}
	return l
}

// bracket takes the text in brackets. It reports whether the text is not a part of the message: a time, a number, a
// level.
func (l *lead) bracket(inner []byte) bool {
	text := bytes.TrimSpace(inner)
	if len(text) == 0 {
		return true
	}
	if len(text) > 1 && text[1] == '=' {
		switch text[0] {
		case 'f':
			if tick, size := number(text[2:]); size > 0 && size == len(text)-2 {
				l.unit, l.tick = "frame", tick
			}
			return true
		case 't':
			return true
		}
	}
	if unit, tick, size := tickAt(text); unit != "" && size == len(text) {
		l.unit, l.tick = unit, tick
		return true
	}
	if !l.level {
		k := len(text)
		for k > 0 && text[k-1] != '/' && text[k-1] != ' ' && text[k-1] != ':' {
			k--
		}
		s, ok := levelOf(text)
		if !ok && k > 0 {
			s, ok = levelOf(text[k:])
		}
		if ok {
			l.severity, l.level = s, true
			return true
		}
	}
	return stamp(text) > 0
}

// stamp returns the length of the number at the beginning, including the rest of a time or a date, 0 if it is part of a
// word. Words of time after it belong to it: "00:05:48.836 real".
func stamp(b []byte) int {
	n := 0
	for n < len(b) && n < 40 && (b[n] >= '0' && b[n] <= '9' || b[n] == ':' || b[n] == '.' || b[n] == '-' || b[n] == '/' || b[n] == ',' || b[n] == '+' || n > 0 && (b[n] == 'T' || b[n] == 'Z')) {
		n++
	}
	if n < len(b) && (isWord(b[n]) || b[n] == '(') {
		if n+1 < len(b) && b[n] == 's' && !isWord(b[n+1]) {
			return n + 1
		}
		return 0
	}
	return n
}

// glog returns the level of a line of glog, and where its message begins.
func glog(b []byte) (Severity, bool, int) {
	if len(b) < 20 || b[5] != ' ' || b[8] != ':' || b[11] != ':' {
		return None, false, 0
	}
	for _, c := range b[1:5] {
		if c < '0' || c > '9' {
			return None, false, 0
		}
	}
	end := bytes.IndexByte(b[:min(len(b), maxLead)], ']')
	k := bytes.IndexByte([]byte("IWEF"), b[0])
	if end < 0 || k < 0 {
		return None, false, 0
	}
	return [...]Severity{None, Warning, Error, Fatal}[k], true, end + 1
}

// levelOf returns the level that a word is, as loggers have words for the levels of lines, false
// if it is none.
func levelOf(word []byte) (Severity, bool) {
	if len(word) < 3 || len(word) > 11 {
		return None, false
	}
	var low [11]byte
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	switch string(low[:len(word)]) {
	case "warning", "warn", "wrn":
		return Warning, true
	case "error", "err", "severe", "failure":
		return Error, true
	case "critical", "crit", "fatal", "alert", "emerg", "panic":
		return Fatal, true
	case "info", "information", "debug", "dbg", "trace", "notice", "verbose", "log", "message", "display", "deprecated":
		return None, true
	}
	return None, false
}

// delimited reports whether a word that could be a level is one: a colon follows, or columns, or it is in capitals, or,
// after a time, anything but more of a sentence in small letters.
func delimited(word, rest []byte, timed bool) bool {
	if len(rest) == 0 {
		return false
	}
	if rest[0] == ':' || rest[0] == '|' || rest[0] == '\t' || bytes.HasPrefix(rest, []byte("  ")) || bytes.HasPrefix(rest, []byte(" |")) || bytes.HasPrefix(rest, []byte(" - ")) {
		return true
	}
	if rest[0] != ' ' {
		return false
	}
	return word[1] >= 'A' && word[1] <= 'Z' || timed && word[0] >= 'A' && word[0] <= 'Z'
}

// adjective reports whether a word may precede "ERROR:".
func adjective(word []byte) bool {
	return slices.ContainsFunc(adjectives, func(one string) bool { return bytes.EqualFold(word, []byte(one)) })
}

var adjectives = []string{"user", "script", "lua", "internal", "network", "runtime", "load"}

// tickWords are the games' words for a tick.
var tickWords = []string{"tick", "turn", "frame", "beat", "step", "cycle", "gametick", "simtick", "simframe"}

// tickAt returns the tick that a text begins with, such as "Turn 12 (200)" or "tick=7", the
// word for it, and how long that is. The word is empty if it begins with something else; the length is that of the text
// which shows this.
func tickAt(b []byte) (unit string, tick uint64, size int) {
	n := 0
	for n < len(b) && n < 9 && isLetter(b[n]) {
		n++
	}
	if n < 4 || n == len(b) || b[n] != ' ' && b[n] != '=' && b[n] != ':' && b[n] != '#' {
		return "", 0, n + 1
	}
	for _, word := range tickWords {
		if len(word) != n || word[0] != b[0]|0x20 || !bytes.EqualFold(b[:n], []byte(word)) {
			continue
		}
		at := n
		for at < len(b) && at < n+3 && bytes.IndexByte([]byte(" =:#"), b[at]) >= 0 {
			at++
		}
		tick, digits := number(b[at:])
		if digits == 0 || at+digits < len(b) && isWord(b[at+digits]) {
			return "", 0, len(b)
		}
		return bareUnit(word), tick, at + digits
	}
	return "", 0, n + 1
}

// bareUnit returns the word without what part of the program the tick is of.
func bareUnit(word string) string {
	switch word {
	case "gametick", "simtick":
		return "tick"
	case "simframe":
		return "frame"
	}
	return word
}

// number reads a decimal number below 10^18, and returns how many digits it has, 0 if there is
// none.
func number(b []byte) (n uint64, digits int) {
	for digits < len(b) && b[digits] >= '0' && b[digits] <= '9' {
		if digits == 18 {
			return 0, 0
		}
		n = 10*n + uint64(b[digits]-'0')
		digits++
	}
	return n, digits
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c >= 0x80 }

package messages

import (
	"bytes"
	"slices"
)

// levels are the words for the severity of a message, in the case that logs use.
var levels = []string{
	"TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL",
	"trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical", "dbg",
	"Trace", "Debug", "Info", "Notice", "Warn", "Warning", "Error", "Fatal", "Critical",
}

// thrown is what .NET writes before the type of an exception that nothing caught.
const thrown = "Exception of type "

// owns reports whether a message is the program's own, from the text before it on its line: times, levels, names of
// modules, places in source code, and the engine's own prefixes. A line of a chat has a player's name there.
func (e *Grammar) owns(lead []byte) bool {
	target := false                       // a word with a colon after a level names what logs
	lead = bytes.TrimLeft(lead, " \t|>`") // a person may quote the lines of a log
	for {
		lead = bytes.TrimLeft(lead, " \t|")
		if len(lead) == 0 {
			return true
		}
		n := e.leading(lead)
		if n == 0 && target {
			n = targetLength(lead)
			target = false
		} else if n > 0 && !target {
			target = isLevel(bytes.TrimRight(lead[:n], ": "))
		}
		if n == 0 {
			return false
		}
		lead = lead[n:]
	}
}

// targetLength returns the length of a first word such as "game:" or
// "ggrs{frame=7}:", 0 if it is none.
func targetLength(lead []byte) int {
	for i, c := range lead {
		switch {
		case c == ' ':
			if i > 1 && lead[i-1] == ':' {
				return i
			}
			return 0
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || bytes.IndexByte([]byte(`_-.:{}="`), c) >= 0:
		default:
			return 0
		}
	}
	return 0
}

// leading returns how many of the first bytes of a lead are what programs write there, 0
// if they are something else.
func (e *Grammar) leading(lead []byte) int {
	for _, s := range e.Leads {
		if !bytes.HasPrefix(lead, []byte(s)) {
			continue
		}
		if s[0] == '[' && s[len(s)-1] == ':' { // the number of a line follows
			return bytes.IndexByte(lead, ']') + 1
		}
		return len(s)
	}
	switch {
	case bytes.HasPrefix(lead, []byte(thrown)):
		return len(thrown)
	case bytes.HasPrefix(lead, []byte("thread '")): // of Rust: thread 'main' panicked at
		const panicked = "' panicked at "
		if i := bytes.Index(lead, []byte(panicked)); i > 0 && i < 64 {
			n := i + len(panicked)
			if n < len(lead) && lead[n] == '\'' {
				n++
			}
			return n
		}
		return 0
	case lead[0] == '[' || lead[0] == '(':
		closing := byte(']')
		if lead[0] == '(' {
			closing = ')'
		}
		if end := bytes.IndexByte(lead, closing); end > 0 && e.bracketed(lead[1:end]) {
			return end + 1 + colon(lead[end+1:])
		}
		return 0
	case lead[0] == 0x1b: // colours of a terminal
		if end := bytes.IndexByte(lead, 'm'); end > 0 && len(bytes.Trim(lead[1:end], "[0123456789;")) == 0 {
			return end + 1
		}
		return 0
	}
	word := lead
	if end := bytes.IndexAny(lead, " \t"); end >= 0 {
		word = lead[:end]
	}
	if e.technical(bytes.TrimSuffix(word, []byte(":"))) {
		return len(word)
	}
	return 0
}

// colon returns 1 if a text begins with a colon.
func colon(b []byte) int {
	if len(b) > 0 && b[0] == ':' {
		return 1
	}
	return 0
}

// bracketed reports whether each word between brackets is one that programs write there.
func (e *Grammar) bracketed(words []byte) bool {
	return !slices.ContainsFunc(bytes.Fields(words), func(word []byte) bool {
		return !e.technical(bytes.TrimSuffix(word, []byte(":")))
	})
}

// technical reports whether a word is a time, a level, the name of a module or a place in
// source code.
func (e *Grammar) technical(word []byte) bool {
	if isLevel(word) || isTime(word) || bytes.Contains(word, []byte("::")) || bytes.HasSuffix(word, []byte("Exception")) {
		return true
	}
	// PATH.EXT:LINE, or with a column after it
	name, place, ok := bytes.Cut(word, []byte(":"))
	return ok && bytes.Contains(name, []byte(".")) && len(place) > 0 && len(bytes.Trim(place, "0123456789:")) == 0
}

func isLevel(word []byte) bool {
	return slices.Contains(levels, string(word))
}

// isTime reports whether a word is a date, a time or both, such as 12:04:11.120,
// 2026-03-02T18:04:11Z, 14-55-11.50, 0.0042s or f=0070684.
func isTime(word []byte) bool {
	if rest, ok := bytes.CutPrefix(word, []byte("t=")); ok {
		word = rest
	}
	digits := 0
	for i, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case bytes.IndexByte([]byte(":.,-+/"), c) >= 0:
		case (c == 'T' || c == 'Z' || c == 's') && i > 0:
		default:
			return false
		}
	}
	return digits > 1
}

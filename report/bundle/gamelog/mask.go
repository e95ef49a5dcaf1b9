package gamelog

import (
	"bytes"
	"slices"
)

// masked appends a message without the parts that always differ between machines. Colours and the folders of absolute
// paths go in any case, and runs of spaces are one. With all set, times, dates, durations, sizes, addresses and numbers
// of processes and threads become marks: lines are compared by the rest. Other numbers stay: in a game that is in sync,
// entity 7 is entity 7 everywhere.
func masked(dst, b []byte, all bool) []byte {
	begin := len(dst)
	for i := 0; i < len(b); {
		c := b[i]
		start := i == 0 || !isWord(b[i-1])
		switch {
		case c == ' ' || c == '\t':
			if len(dst) > begin && dst[len(dst)-1] != ' ' {
				dst = append(dst, ' ')
			}
			i++
		case c == 0xff: // Spring's colours: 255 and three bytes
			i += min(4, len(b)-i)
		case start && (c == '/' || c == '~' || isLetter(c) && i+2 < len(b) && b[i+1] == ':'):
			n := folders(b, i)
			if n == 0 {
				dst = append(dst, c)
				n = 1
			}
			i += n
		case all && start && (isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'):
			mark, n := volatile(b, i)
			if n == 0 {
				for i+n < len(b) && isWord(b[i+n]) {
					n++
				}
				dst = append(dst, b[i:i+n]...)
			} else {
				dst = append(dst, mark...)
			}
			i += n
		default:
			dst = append(dst, c)
			i++
		}
	}
	return bytes.TrimRight(dst, " ")
}

// colour returns the length of a control sequence of a terminal.
func colour(b []byte) int {
	if len(b) < 2 || b[1] != '[' {
		return 1
	}
	n := 2
	for n < len(b) && n < 16 && !isLetter(b[n]) {
		n++
	}
	return min(n+1, len(b))
}

// folders returns how many bytes of the absolute path at i come before the file's name, 0 if
// no such path begins there. A path of Windows may have spaces in its folders.
func folders(b []byte, i int) int {
	at, windows := i, false
	switch {
	case b[i] == '/':
		if i > 0 && (b[i-1] == '/' || b[i-1] == ':' || b[i-1] == '.' || b[i-1] == '\\') {
			return 0
		}
	case b[i] == '~':
		if i+1 >= len(b) || b[i+1] != '/' {
			return 0
		}
		at++
	default:
		if b[i+2] != '\\' && b[i+2] != '/' {
			return 0
		}
		at += 2
		windows = true
	}
	last, seps := -1, 0
	for k := at; k < len(b) && k < at+600; k++ {
		c := b[k]
		if c == '/' || c == '\\' && windows {
			if last, seps = k, seps+1; k+1 < len(b) && b[k+1] == c {
				k++
				last = k
			}
			continue
		}
		if c < ' ' || bytes.IndexByte([]byte("\"'<>|?*;,:)]`"), c) >= 0 && !(windows && c == ')' && closes(b[at:k])) || c == ' ' && !windows {
			break
		}
	}
	if seps < 2 && !windows || last < 0 {
		return 0
	}
	return last + 1 - i
}

// closes reports whether a text has a parenthesis open, as in "Program Files (x86)".
func closes(b []byte) bool { return bytes.Count(b, []byte("(")) > bytes.Count(b, []byte(")")) }

// units are the units of times, sizes and rates: values with a unit depend on the machine.
var units = []string{"ms", "us", "µs", "ns", "s", "sec", "secs", "second", "seconds", "min", "minutes", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB", "fps", "FPS", "Hz", "MHz"}

// volatile returns the mark for a number at i that means nothing on another machine, and how
// long that is; 0 if it is kept.
func volatile(b []byte, i int) (mark string, n int) {
	rest := b[i:]
	if len(rest) > 2 && rest[0] == '0' && rest[1]|0x20 == 'x' {
		if n := 2 + hex(rest[2:]); n > 2 {
			return "0x#", n
		}
	}
	if h := hex(rest); h >= 8 && (h == len(rest) || !isWord(rest[h])) && (h == 8 || h == 12 || h == 16) && bytes.HasPrefix(rest, []byte("0000")) {
		return "0x#", h
	}
	if !isDigit(rest[0]) {
		return "", 0
	}
	n = dotted(rest)
	parts := rest[:n]
	switch {
	case clock(parts):
		return "<time>", n
	case date(parts):
		if n+1 < len(rest) && (rest[n] == 'T' || rest[n] == ' ' || rest[n] == '_') {
			k := dotted(rest[n+1:])
			if t := rest[n+1 : n+1+k]; k > 0 && (clock(t) || rest[n] == '_' && date(t)) {
				n += 1 + k
			}
		}
		if n < len(rest) && rest[n] == 'Z' {
			n++
		}
		return "<date>", n
	case address(parts):
		return "<address>", n
	}
	digits := 0
	for digits < len(rest) && (isDigit(rest[digits]) || rest[digits] == '.' && digits+1 < len(rest) && isDigit(rest[digits+1])) {
		digits++
	}
	after := rest[digits:]
	spaced := bytes.HasPrefix(after, []byte(" "))
	unit := bytes.TrimPrefix(after, []byte(" "))
	for _, u := range units {
		if bytes.HasPrefix(unit, []byte(u)) && (len(unit) == len(u) || !isWord(unit[len(u)])) && !(spaced && u == "s") {
			return "#", digits
		}
	}
	if counter(b[:i]) {
		return "#", digits
	}
	return "", 0
}

// dotted returns how long a number is that may have parts: 127.0.0.1:80, 12:00:01,5.
func dotted(b []byte) int {
	n := 0
	for n < len(b) && n < 40 && (isDigit(b[n]) || n+1 < len(b) && isDigit(b[n+1]) && n > 0 && isDigit(b[n-1]) && bytes.IndexByte([]byte(".:-/,"), b[n]) >= 0) {
		n++
	}
	return n
}

// clock reports whether a text is a time of day, with seconds.
func clock(b []byte) bool {
	return len(b) >= 7 && bytes.Count(b, []byte(":")) == 2 && bytes.IndexByte(b, ':') <= 2 && !bytes.ContainsAny(b, "-/")
}

// date reports whether a text is a date: a year, and two numbers of two digits at most.
func date(b []byte) bool {
	for _, sep := range []string{"-", "/", "."} {
		p := bytes.Split(b, []byte(sep))
		if len(p) < 3 {
			continue
		}
		year := len(p[0]) == 4 && len(p[1]) <= 2 && len(p[2]) <= 2 && (bytes.HasPrefix(p[0], []byte("20")) || bytes.HasPrefix(p[0], []byte("19")))
		return year && len(p) == 3 || len(p) == 3 && len(p[0]) <= 2 && len(p[1]) <= 2 && len(p[2]) == 4 && bytes.HasPrefix(p[2], []byte("20")) || sep == "-" && len(p) == 3 && len(p[0]) == 2 && len(p[1]) == 2 && len(p[2]) == 2
	}
	return false
}

// address reports whether a text is an address of the network, with or without a port.
func address(b []byte) bool {
	host, port, ok := bytes.Cut(b, []byte(":"))
	return bytes.Count(host, []byte(".")) == 3 && !bytes.ContainsAny(host, "-/,") && (!ok || !bytes.ContainsAny(port, ".-/,:"))
}

// counter reports whether the word before a number shows that it identifies a process, a thread or a port.
func counter(b []byte) bool {
	b = bytes.TrimRight(b[max(0, len(b)-24):], " =:#(")
	return slices.ContainsFunc([]string{"pid", "tid", "thread", "process", "port", "handle", "socket"}, func(word string) bool {
		return len(b) >= len(word) && bytes.EqualFold(b[len(b)-len(word):], []byte(word)) && (len(b) == len(word) || !isWord(b[len(b)-len(word)-1]))
	})
}

func hex(b []byte) int {
	n := 0
	for n < len(b) && (isDigit(b[n]) || b[n]|0x20 >= 'a' && b[n]|0x20 <= 'f') {
		n++
	}
	return n
}

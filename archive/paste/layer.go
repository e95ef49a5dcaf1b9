package paste

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
)

// maxLayers is how many layers of different kinds are taken off, one after the other. Quoting
// of any depth is one.
const maxLayers = 8

// layer is text at the beginning of lines. It is a pointer receiver's state where lines follow from each other.
type layer struct {
	kind  layerKind
	depth int    // of quoting
	next  int    // number of the next line
	after string // what follows the number
	width int    // of all columns, where the lines are indented
	named bool   // names follow the time stamps, see speaker
}

type layerKind int

const (
	quoting layerKind = iota
	stamps
	numbers
	indent
)

// words describes what was taken off.
func (l *layer) words() string {
	switch l.kind {
	case quoting:
		if l.depth == 1 {
			return "quoting"
		}
		return fmt.Sprintf("quoting %d deep", l.depth)
	case stamps:
		return "the time stamps and names of a chat"
	case numbers:
		return "line numbers"
	}
	return "indentation"
}

// peelLayer finds a layer at the beginning of a line and takes it off.
func peelLayer(line []byte) (l layer, rest []byte, ok bool) {
	if depth, rest := quotes(line, -1); depth > 0 {
		return layer{kind: quoting, depth: depth}, rest, true
	}
	if rest, ok := stamp(line); ok {
		return layer{kind: stamps}, rest, true
	}
	if n, after, rest, ok := numbered(line); ok {
		return layer{kind: numbers, next: n + 1, after: after}, rest, true
	}
	if len(line) > 0 && line[0] == ' ' {
		rest := bytes.TrimLeft(line, " ")
		return layer{kind: indent, width: len(line) - len(rest)}, rest, true
	}
	return l, line, false
}

// take takes the layer off a further line. It is not ok if the line shows that what the layer
// surrounds has ended.
func (l *layer) take(line []byte) (rest []byte, ok bool) {
	switch l.kind {
	case quoting:
		depth, rest := quotes(line, l.depth)
		return rest, depth == l.depth
	case stamps:
		if rest, ok := stamp(line); ok {
			return rest, true
		}
		return line, true // of a message with several lines the first one has it
	case numbers:
		if n, after, rest, ok := numbered(line); ok && n == l.next && (after == l.after || len(rest) == 0) {
			l.next++
			return rest, true
		}
		return line, true
	}
	n := 0
	for n < l.width && n < len(line) && line[n] == ' ' {
		n++
	}
	return line[n:], true
}

// quotes counts signs of quoting at the beginning of a line, at most limit of them unless that
// is below 0, and takes them off. A space follows each, or none.
func quotes(line []byte, limit int) (depth int, rest []byte) {
	rest = line
	for depth != limit {
		at := bytes.TrimLeft(rest, " ")
		if len(rest)-len(at) > 3 || len(at) == 0 || at[0] != '>' {
			break
		}
		depth++
		rest = bytes.TrimPrefix(at[1:], []byte(" "))
	}
	return depth, rest
}

// stamp takes a time stamp and perhaps a name off: "[12:34:56] <name> ", "12:34 name: ",
// "2020-11-25 12:52:44 ", "[25.11.20, 12:52] name: ".
func stamp(line []byte) (rest []byte, ok bool) {
	const longest = 100
	rest = line
	bracket := len(rest) > 0 && (rest[0] == '[' || rest[0] == '(')
	if bracket {
		rest = rest[1:]
	}
	n := clockEnd(rest[:min(len(rest), 40)])
	if n < 0 {
		return line, false
	}
	rest = rest[n:]
	for _, half := range []string{" AM", " PM", " am", " pm", "Z", " UTC"} {
		rest = bytes.TrimPrefix(rest, []byte(half))
	}
	if bracket {
		end := bytes.IndexAny(rest[:min(len(rest), 24)], "])")
		if end < 0 || len(bytes.Trim(rest[:end], "0123456789.-/, ")) > 0 {
			return line, false
		}
		rest = rest[end+1:]
	}
	rest = bytes.TrimPrefix(rest, []byte(" "))
	if bytes.HasPrefix(rest, []byte("- ")) {
		rest = rest[2:]
	}
	if len(rest) > 0 && rest[0] == '<' {
		if end := bytes.IndexByte(rest[:min(len(rest), longest)], '>'); end > 1 {
			return bytes.TrimPrefix(rest[end+1:], []byte(" ")), true
		}
	}
	return rest, true
}

// isClock reports whether a text has a time of the day in it: digits, a colon, two digits.
func isClock(text []byte) bool { return clockEnd(text) >= 0 }

// clockEnd returns where a time of the day ends that a text begins with, perhaps after a date;
// below 0 if there is none.
func clockEnd(text []byte) int {
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	for i, c := range text {
		switch {
		case c == ':' && digit(i-1) && digit(i+1) && digit(i+2) && !digit(i+3):
			i += 3
			for digit(i) || i < len(text) && (text[i] == ':' || text[i] == '.' || text[i] == ',') && digit(i+1) {
				i++
			}
			return i
		case digit(i), strings.IndexByte("./-, T", c) >= 0 && i > 0:
		default:
			return -1
		}
	}
	return -1
}

// speaker takes a name off that a chat puts before a message: "<name> " or "name: ". A quotation is no name, though it may
// hold one.
func speaker(line []byte) (rest []byte, ok bool) {
	const longest = 64
	head := line[:min(len(line), longest)]
	if len(head) > 2 && head[0] == '<' {
		if end := bytes.IndexByte(head, '>'); end > 1 {
			return bytes.TrimPrefix(line[end+1:], []byte(" ")), true
		}
	}
	if end := bytes.Index(head, []byte(": ")); end > 0 && head[0] != '>' {
		return line[end+2:], true
	}
	return line, false
}

// numbered takes off the number of a line, and the text after the number: " 12 ", "12: ", "12|".
func numbered(line []byte) (n int, after string, rest []byte, ok bool) {
	i := 0
	for i < len(line) && i < 12 && line[i] == ' ' {
		i++
	}
	from := i
	for i < len(line) && i-from < 9 && line[i] >= '0' && line[i] <= '9' {
		n = n*10 + int(line[i]-'0')
		i++
	}
	if i == from {
		return 0, "", line, false
	}
	rest = line[i:]
	for _, after := range []string{": ", ":", " | ", "| ", "|", "\t", "  ", ". ", " "} {
		if bytes.HasPrefix(rest, []byte(after)) {
			return n, after, rest[len(after):], true
		}
	}
	return n, "", rest, len(rest) == 0
}

// fence surrounds a block: a Markdown fence, or a tag of BBCode or HTML.
type fence struct {
	close []string // how a line begins that ends it, in small letters
	depth int      // of quoting before it
	html  bool
	kind  string
	outer *fence // that it lies in
}

// openers are the tags that open a block.
var openers = []struct{ open, close, kind string }{
	{"[code", "[/code]", "BBCode"}, {"[quote", "[/quote]", "BBCode"}, {"[spoiler", "[/spoiler]", "BBCode"}, {"[pre", "[/pre]", "BBCode"},
	{"<pre", "</pre>", "HTML"}, {"<code", "</code>", "HTML"}, {"<blockquote", "</blockquote>", "HTML"}, {"<details", "</details>", "HTML"},
}

// opens takes a line that opens a block, nil if the next one does not. What follows the tag in
// the same line is left.
func opens(ls *lines) *fence {
	line := ls.peek()
	depth, rest := quotes(line, -1)
	rest = bytes.TrimLeft(rest, " ")
	if len(rest) < 3 {
		return nil
	}
	for _, sign := range []byte("`~") {
		n := 0
		for n < len(rest) && rest[n] == sign {
			n++
		}
		if n >= 3 && bytes.IndexByte(rest[n:], sign) < 0 {
			ls.next()
			return &fence{close: []string{string(rest[:n])}, depth: depth, kind: "a Markdown fence"}
		}
	}
	if rest[0] != '[' && rest[0] != '<' {
		return nil
	}
	f := &fence{depth: depth}
	left := rest
	for found := true; found; {
		found = false
		for _, o := range openers {
			if len(left) < len(o.open) || !strings.EqualFold(string(left[:len(o.open)]), o.open) {
				continue
			}
			end := bytes.IndexAny(left[:min(len(left), 200)], "]>")
			if end < 0 || end > len(o.open) && strings.IndexByte(" =", left[len(o.open)]) < 0 {
				continue
			}
			f.close, f.kind, f.html, found = append(f.close, o.close), o.kind+" tags", f.html || o.kind == "HTML", true
			left = left[end+1:]
		}
	}
	// else the first line would lack what comes before all lines
	if f.close == nil || len(rest) < len(line) && len(left) > 0 {
		return nil
	}
	ls.at += len(line) - len(left)
	if len(left) == 0 {
		_, n := cutLine(ls.text[ls.at:])
		ls.at += n
		ls.number++
	}
	return f
}

// maxFences is how many blocks may be nested.
const maxFences = 8

// nests reports whether this block may contain another one.
func (f *fence) nests() bool {
	n := 0
	for ; f != nil; f = f.outer {
		if n++; n == maxFences {
			return false
		}
	}
	return true
}

// isHTML reports whether signs are written as entities in the block.
func (f *fence) isHTML() bool {
	for ; f != nil; f = f.outer {
		if f.html {
			return true
		}
	}
	return false
}

// closed returns what is left of the fences if a line ends one of them, and whether it does.
func (f *fence) closed(line []byte) (outer *fence, ok bool) {
	for ; f != nil; f = f.outer {
		if f.closes(line) {
			return f.outer, true
		}
	}
	return nil, false
}

// closes reports whether a line ends the block.
func (f *fence) closes(line []byte) bool {
	_, rest := quotes(line, f.depth)
	rest = bytes.TrimLeft(rest, " ")
	return slices.ContainsFunc(f.close, func(c string) bool {
		return len(rest) >= len(c) && strings.EqualFold(string(rest[:len(c)]), c) && (c[0] != '`' && c[0] != '~' || len(bytes.Trim(rest, "`~ ")) == 0)
	})
}

// ends takes the tags that end the block off the end of a line.
func (f *fence) ends(line []byte) (rest []byte, ended bool) {
	rest = line
	for again := true; again; {
		again = false
		for g := f; g != nil; g = g.outer {
			for _, c := range g.close {
				if n := len(rest) - len(c); n > 0 && (c[0] == '[' || c[0] == '<') && strings.EqualFold(string(rest[n:]), c) {
					rest, ended, again = rest[:n], true, true
				}
			}
		}
	}
	return rest, ended
}

// unescape puts characters in place of HTML's entities.
func unescape(line []byte) []byte {
	if bytes.IndexByte(line, '&') < 0 {
		return line
	}
	return []byte(strings.ReplaceAll(html.UnescapeString(string(line)), "\u00a0", " "))
}

// escaped reports whether a line has HTML's entities in place of all its signs of HTML.
func escaped(line []byte) bool {
	if bytes.ContainsAny(line, "<>") {
		return false
	}
	return bytes.Contains(line, []byte("&gt;")) || bytes.Contains(line, []byte("&lt;"))
}

package statements

import (
	"bytes"
	"html"
	"strings"
)

// breaks are the elements of HTML that begin another line, cells those that begin another cell, and inline those that
// do neither.
const (
	breaks = " br p div li tr pre ul ol hr blockquote table tbody thead details summary h1 h2 h3 h4 h5 h6 "
	cells  = " td th "
	inline = " a b i u s q em strong code span font tt kbd samp small sub sup del ins mark img html body "
)

// plain returns the lines that a line shows: without tags and entities of HTML, the signs of Markdown that set letters
// bold, and the colours of a terminal.
func plain(line []byte) []string {
	line = bytes.TrimRight(line, "\r")
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = uncoloured(line)
	}
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if strings.IndexByte(text, '<') >= 0 {
		text = untagged(elements(text))
	}
	if strings.IndexByte(text, '&') >= 0 {
		text = html.UnescapeString(text)
	}
	return strings.Split(unmarked.Replace(text), "\n")
}

// unmarked takes away marks of layout.
var unmarked = strings.NewReplacer(
	"**", "", "`", "", "\\_", "_", "\\!", "!", "\\*", "*", "\\[", "[", "\\]", "]", "\\#", "#",
	"\u00a0", " ", "\u200b", "", "\ufeff", "", "\t", " ", "\u2260", "!=", "\u2019", "'", "\u201c", `"`, "\u201d", `"`,
)

// uncoloured takes the escape sequences of a terminal away.
func uncoloured(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			out = append(out, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '[' {
			i++
			for i+1 < len(line) && line[i+1] >= 0x20 && line[i+1] < 0x40 {
				i++
			}
			i++ // the letter at the end
		}
	}
	return out
}

// elements returns the attributes of elements in XML as text, if all of a line but its lead are elements, and one attribute is a
// tick: <desync tick="5120"><peer name="host" sum="aa11"/></desync> is desync tick="5120" ; peer name="host" sum="aa11".
func elements(text string) string {
	lead, rest, _ := strings.Cut(text, "<")
	var out []string
	tick := false
	for rest != "" {
		tag, after, closed := strings.Cut(rest, ">")
		if !closed {
			return text
		}
		if tag = strings.TrimSuffix(tag, "/"); tag != "" && tag[0] != '/' {
			out = append(out, tag)
		}
		for _, field := range strings.Fields(tag) {
			name, _, ok := strings.Cut(field, `="`)
			tick = tick || ok && tickWords()[strings.ToLower(name)] != ""
		}
		if after = strings.TrimLeft(after, " "); after != "" && after[0] != '<' {
			return text
		}
		rest = strings.TrimPrefix(after, "<")
	}
	if !tick {
		return text
	}
	return lead + strings.Join(out, " ; ")
}

// untagged takes tags of HTML away. What only looks like one, such as a name between angle brackets, remains.
func untagged(text string) string {
	var out strings.Builder
	for {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			break
		}
		length := strings.IndexByte(text[open:min(len(text), open+512)], '>')
		with := "\x00"
		if length > 0 {
			with = instead(text[open+1 : open+length])
		}
		if with == "\x00" {
			out.WriteString(text[:open+1])
			text = text[open+1:]
			continue
		}
		out.WriteString(text[:open])
		out.WriteString(with)
		text = text[open+length+1:]
	}
	out.WriteString(text)
	return out.String()
}

// instead returns the text that is shown for a tag, a zero byte if the tag is not one of HTML.
func instead(tag string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(tag, "/"), "/"), " ")
	name = " " + strings.ToLower(name) + " "
	switch {
	case len(name) < 3:
	case strings.Contains(breaks, name):
		return "\n"
	case strings.Contains(cells, name):
		return " | "
	case strings.Contains(inline, name):
		return ""
	}
	return "\x00"
}

// unquoted takes away the marks before lines that people and programs quote or list: those in e-mail,
// Markdown and diffs.
func unquoted(line string) string {
	const rule = " =-*#~_<>!"
	if bare := strings.Trim(line, rule); len(bare)+6 <= len(line) && strings.Trim(line[:3], rule) == "" {
		line = bare // === DESYNC ===
	}
	for {
		line = strings.TrimLeft(line, " >|\u2022")
		n := 0
		switch {
		case line == "":
			return ""
		case strings.HasPrefix(line, "E   "): // of pytest
			n = 1
		case line[0] == '#':
			n = len(line) - len(strings.TrimLeft(line, "#"))
			if n < len(line) && line[n] != ' ' {
				n = 0
			}
		case strings.HasPrefix(line, "[ ] "), strings.HasPrefix(line, "[x] "):
			n = 4
		case line[0] == '*' || line[0] == '+' || line[0] == '-':
			if len(line) > 1 && line[1] != line[0] && !isDigit(line[1]) {
				n = 1
			}
		default:
			d := 0
			for d < len(line) && d < 3 && isDigit(line[d]) {
				d++
			}
			if d > 0 && len(line) > d+1 && (line[d] == '.' || line[d] == ')') && line[d+1] == ' ' {
				n = d + 2
			}
		}
		if n == 0 {
			return strings.TrimRight(line, " |")
		}
		line = line[n:]
	}
}

// stacks are what begins a stack of calls that programs write at the end of a message, as a field of it.
var stacks = [...]string{" stack=", " stacktrace=", `,"stack":`, `,"stacktrace":`, `, "stack":`, `, "stacktrace":`}

// withoutStack cuts the stack of calls off the end of a message.
func withoutStack(text string) string {
	for _, s := range stacks {
		if at := strings.Index(text, s); at > 0 {
			text = text[:at]
		}
	}
	return text
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

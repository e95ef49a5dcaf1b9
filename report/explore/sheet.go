package explore

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Ink is the role of a piece of text.
type Ink int

// Inks.
const (
	Plain Ink = iota
	Bad
	Good
	Warn
	Name
	Faint
	Bold
)

var meanings = [...]document.Meaning{Bad: document.Bad, Good: document.Good, Warn: document.Warn, Name: document.Name, Faint: document.Faint, Bold: document.Bold}

// sheet is how text is drawn: with colours or not, with all characters or only ASCII.
type sheet struct {
	style  document.Style
	color  bool
	glyphs *glyphs
}

func newSheet(color, ascii bool) sheet {
	g := &unicodeGlyphs
	if ascii {
		g = &asciiGlyphs
	}
	return sheet{document.NewStyle(color), color, g}
}

// glyphs are the characters that are not letters.
type glyphs struct {
	ascii                         bool
	down, across, cross           string // lines between the panes
	folded, unfolded              string
	found, equal, open, trouble   string
	rest                          string // of a text that is cut
	bracket, state, span, pointer string // of the time line
	up, right                     string // keys
}

var (
	unicodeGlyphs = glyphs{false, "│", "─", "┬", "▸", "▾", "●", "=", "?", "!", "…", "▒", "┼", "─", "▲", "↑↓", "←→"}
	asciiGlyphs   = glyphs{true, "|", "-", "+", "+", "-", "*", "=", "?", "!", "~", "#", "+", "-", "^", "up/down", "left/right"}
)

// plain are the characters of our texts that ASCII lacks.
var plain = strings.NewReplacer("…", "...", "→", "->", "“", `"`, "”", `"`, "’", "'", "≠", "!=", "−", "-", "–", "-", "µ", "u", "×", "x", "±", "+-", "≤", "<=", "≥", ">=")

// say returns a text that is safe for the terminal: characters that are not printable are escaped, and everything
// outside of ASCII if the terminal has only that.
func (s *sheet) say(text string) string {
	text = document.Safe(text)
	if !s.glyphs.ascii || strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	text = plain.Replace(text)
	var out strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		out.WriteString(quoted[1 : len(quoted)-1])
	}
	return out.String()
}

// piece is text of one ink, which has been said.
type piece struct {
	ink  Ink
	text string
}

// line is the content of a line of a pane.
type line []piece

func (s *sheet) line(ink Ink, text string) line { return line{{ink, s.say(text)}} }

func (l line) columns() (n int) {
	for _, p := range l {
		n += prose.Columns(p.text)
	}
	return n
}

// cut cuts a text that was said to n columns.
func (s *sheet) cut(text string, n int) string {
	if n <= 0 {
		return ""
	}
	if prose.Columns(text) <= n {
		return text
	}
	var out strings.Builder
	left := n - 1 // one for the line that reports more
	for _, r := range text {
		w := prose.Columns(string(r))
		if left -= w; left < 0 {
			break
		}
		out.WriteRune(r)
	}
	return out.String() + s.glyphs.rest
}

// fit cuts or fills a line to a width.
func (s *sheet) fit(l line, width int) line {
	var out line
	left := width
	for i, p := range l {
		w := prose.Columns(p.text)
		if w > left || w == left && i+1 < len(l) && l[i+1:].columns() > 0 {
			p.text = s.cut(p.text+" ", left)
			w = prose.Columns(p.text)
			out = append(out, p)
			left -= w
			break
		}
		out = append(out, p)
		left -= w
	}
	if left > 0 {
		out = append(out, piece{Plain, strings.Repeat(" ", left)})
	}
	return out
}

// paint returns a line as it goes to the terminal.
func (s *sheet) paint(l line) string {
	var out strings.Builder
	for _, p := range l {
		if p.ink == Plain || strings.TrimSpace(p.text) == "" {
			out.WriteString(p.text)
			continue
		}
		out.WriteString(s.style.Paint(meanings[p.ink], p.text))
	}
	return out.String()
}

// reversed returns a line as that which is selected.
func (s *sheet) reversed(l line) string {
	if !s.color {
		return s.paint(l)
	}
	var out strings.Builder
	for _, p := range l {
		out.WriteString(p.text)
	}
	return "\x1b[7m" + out.String() + "\x1b[27m"
}

// wrap cuts a text from say into lines of width columns, at spaces where there are some. Further lines begin where the
// first does.
func wrap(text string, width int) (out []string) {
	width = max(width, 1)
	indent := len(text) - len(strings.TrimLeft(text, " "))
	if strings.HasPrefix(text[indent:], "- ") {
		indent += 2
	}
	indent = min(indent, width/2)
	current, used, empty := "", 0, true
	flush := func() {
		out = append(out, strings.TrimRight(current, " "))
		current, used, empty = strings.Repeat(" ", indent), indent, true
	}
	for i, word := range strings.Split(text, " ") {
		w := prose.Columns(word)
		if i > 0 {
			if used+1+w > width && !empty {
				flush()
			} else {
				current += " "
				used++
			}
		}
		for used+w > width { // a word that is longer than a line
			cut := 0
			for at, r := range word {
				c := prose.Columns(string(r))
				if at == 0 && empty && used+c > width { // there is no room for the indent
					current, used = "", 0
				}
				if used+c > width && (at > 0 || !empty) {
					break
				}
				used += c
				cut = at + utf8.RuneLen(r)
			}
			current += word[:cut]
			empty = false
			word = word[cut:]
			w = prose.Columns(word)
			if word == "" {
				break
			}
			flush()
		}
		if word != "" {
			current += word
			used += w
			empty = false
		}
	}
	if !empty || len(out) == 0 {
		out = append(out, strings.TrimRight(current, " "))
	}
	return out
}

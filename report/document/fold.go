package document

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// joint replaces a space at which no line ends. Text from a file never contains it: Safe escapes it.
const joint = "\u00a0"

// whole returns a name, a path, a command or a value, in which no line is to end.
func whole(s string) string { return strings.ReplaceAll(s, " ", joint) }

// keeper returns a function that keeps these names whole wherever they are in a text.
func keeper(names []string) func(text string) string {
	var pairs []string
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // the longest that fits counts
	for _, name := range slices.Compact(names) {
		if name = Safe(name); strings.Contains(name, " ") {
			pairs = append(pairs, name, whole(name))
		}
	}
	if pairs == nil {
		return func(text string) string { return text }
	}
	return strings.NewReplacer(pairs...).Replace
}

// Fold cuts a line at spaces into lines of a number of columns. All but the first are indented by hang columns. A word
// that is wider than a line has a line to itself.
func Fold(line string, width, hang int) string { return fold(line, width, hang) }

// fold cuts a line at spaces into lines of so many columns, 0 for one line whatever its length
// is. All but the first are indented by hang columns. Colours end with each line and begin
// again in the next. A word that is wider than a line has a line to itself.
func fold(line string, width, hang int) string {
	if width == 0 || wordColumns(line) <= width {
		return strings.ReplaceAll(line, joint, " ")
	}
	var out strings.Builder
	at, gap, begun := 0, 0, true // columns written and of spaces that are due; nothing but spaces is in the line yet
	on := ""                     // the colours that are on
	for len(line) > 0 {
		if line[0] == ' ' {
			n := len(line) - len(strings.TrimLeft(line, " "))
			gap, line = gap+n, line[n:]
			continue
		}
		word, rest := nextWord(line)
		line = rest
		if !begun && at+gap > hang && at+gap+wordColumns(word) > width {
			if on != "" {
				out.WriteString(colourOff)
			}
			out.WriteString("\n" + strings.Repeat(" ", hang) + on)
			at, gap = hang, 0
		}
		out.WriteString(strings.Repeat(" ", gap))
		out.WriteString(strings.ReplaceAll(word, joint, " "))
		at, gap = at+gap+wordColumns(word), 0
		begun = begun && wordColumns(word) == 0
		on = colourAfter(word, on)
	}
	return out.String()
}

// nextWord returns a line up to its next space, colours included.
func nextWord(line string) (word, rest string) {
	if i := strings.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i:]
	}
	return line, ""
}

const (
	colourStart = "\x1b["
	colourOff   = "\x1b[0m"
)

// wordColumns returns how many columns a word takes, without its colours.
func wordColumns(word string) int { return prose.Columns(WithoutColours(word)) }

// WithoutColours returns a text without the colours of a Style.
func WithoutColours(text string) string {
	before, rest, found := strings.Cut(text, colourStart)
	if !found {
		return text
	}
	var out strings.Builder
	for found {
		out.WriteString(before)
		_, rest, _ = strings.Cut(rest, "m")
		before, rest, found = strings.Cut(rest, colourStart)
	}
	return out.String() + before
}

// colourAfter returns the colours that are on after a word before which some were.
func colourAfter(word, on string) string {
	for {
		_, rest, found := strings.Cut(word, colourStart)
		if !found {
			return on
		}
		var codes string
		codes, word, _ = strings.Cut(rest, "m")
		switch first, _, _ := strings.Cut(codes, ";"); first {
		case "", "0", "22", "24": // all off, or bold, faint or underlined off
			on = ""
		default:
			on += colourStart + codes + "m"
		}
	}
}

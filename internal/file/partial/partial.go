// Package partial marks what is missing in a text of which only some lines are there: one
// side of a diff, whose lines between the hunks nobody pasted, or a report that a person
// shortened.
//
// An excerpt is the text of a file with lines of ours in it, which begin with a byte that no
// log has at the beginning of a line, 0x1D:
//
//	␝excerpt openra 3f81c2aa-01d94be7     of what format it is, and of what paste
//	Player: …
//	␝gap 8 1882 1883                      lines 8 to 1882 are missing; see Gap
//	…
//
// A reader that allows for it takes the first line off with [Cut], takes each gap with
// [ParseGap], forgets at a gap what earlier lines said of later ones, and collects the gaps in a
// [Missing], which says in words what is not known.
package partial

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// mark begins the lines of ours.
const mark = "\x1d"

const (
	headWord = mark + "excerpt "
	gapWord  = mark + "gap "
	openWord = " open"
)

// Head is the first line of an excerpt.
type Head struct {
	Format string // of the file that it is of, as `desynctool formats` lists it

	// Paste names the diff that the excerpt is one side of. The excerpts of both sides lack the
	// same lines, so that what only one of them has is a difference. It is empty for an excerpt
	// that stands alone.
	Paste string

	// Open says that the diff breaks off among lines of which only one side has some. The other side
	// may have them in what is cut off, so that what only one side has is no difference.
	Open bool
}

// Twin names the diff whose other side has all that this side has, or differs. It is empty where
// there is no such side.
func (h Head) Twin() string {
	if h.Open {
		return ""
	}
	return h.Paste
}

// Line returns the line, with its end.
func (h Head) Line() []byte {
	line := headWord + h.Format
	if h.Paste != "" {
		line += " " + h.Paste
	}
	if h.Open {
		line += openWord
	}
	return []byte(line + "\n")
}

// ParseHead reads the first line of a text, which may be cut off after 64 bytes. It is ok
// if the text is an excerpt.
func ParseHead(text []byte) (h Head, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(headWord))
	if !ok {
		return h, false
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	h.Format, h.Paste, _ = strings.Cut(string(bytes.TrimSuffix(line, []byte("\r"))), " ")
	h.Paste, h.Open = strings.CutSuffix(h.Paste, openWord)
	return h, h.Format != ""
}

// Of reports whether a text begins as an excerpt of a file of some format does.
func Of(text []byte, format string) bool {
	h, ok := ParseHead(text)
	return ok && h.Format == format
}

// Cut takes the first line off an excerpt. It is not ok, and takes nothing off, if the text
// is none.
func Cut(text []byte) (h Head, rest []byte, ok bool) {
	if h, ok = ParseHead(text); !ok {
		return h, text, false
	}
	_, rest, _ = bytes.Cut(text, []byte("\n"))
	return h, rest, true
}

// Gap is a run of lines that are missing.
type Gap struct {
	// First and Last are the numbers of the first and the last line that is missing, from 1.
	// First is 0 where it is not known. Last is 0 where it is not known, and where nothing
	// follows.
	First, Last int64

	// Next is the number of the line that follows in the left file of the diff, on both sides of
	// it: what has no name after a gap is named by it. It is 0 where it is not known.
	Next int64
}

// Line returns the line of a gap, with its end.
func (g Gap) Line() []byte { return g.Append(nil) }

// Append appends the line of a gap to a text.
func (g Gap) Append(text []byte) []byte {
	text = append(text, gapWord...)
	for i, n := range [...]int64{g.First, g.Last, g.Next} {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return append(text, '\n')
}

// ParseGap reads a line without its end. It is ok for a line of ours, and for one with which
// people say that they left lines out, "…", "[...]", of which nothing is known.
func ParseGap(line []byte) (g Gap, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(gapWord))
	if !ok {
		return g, Elided(line)
	}
	for i, to := range [...]*int64{&g.First, &g.Last, &g.Next} {
		number, after, more := bytes.Cut(rest, []byte(" "))
		n, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil || n < 0 || more != (i < 2) {
			return Gap{}, false
		}
		*to, rest = n, after
	}
	return g, true
}

// elisions are what people write for lines that they left out.
var elisions = []string{"snip", "cut", "truncated", "shortened", "omitted", "and so on", "etc"}

// Elided reports whether a line is one with which a person says that lines were left out:
// nothing but dots, or a word for it in brackets.
func Elided(line []byte) bool {
	if len(line) > 64 {
		return false
	}
	text := bytes.TrimSpace(line)
	if len(text) == 0 || strings.IndexByte("[({<-*=.\xe2", text[0]) < 0 {
		return false
	}
	bare := strings.TrimSpace(strings.Trim(string(text), "[](){}<>-*= "))
	word := strings.Trim(bare, ".… ")
	if word == "" {
		return strings.Contains(bare, "…") || strings.Count(bare, ".") >= 3
	}
	return len(bare) < len(text) && slices.Contains(elisions, strings.ToLower(word))
}

// Missing collects what is missing of a file. The zero value is of one that is whole.
type Missing struct {
	ranges  [shown][2]int64
	count   int   // of ranges whose lines are known by their numbers
	after   int64 // the last line that is there before the end is missing, 0 if it is not
	unknown bool  // some lines are missing, and it is not known which
	cut     bool  // the text ends before the file does
}

const shown = 3

// Add adds a gap.
func (m *Missing) Add(g Gap) {
	switch {
	case g.First > 0 && g.Last >= g.First:
		if m.count < shown {
			m.ranges[m.count] = [2]int64{g.First, g.Last}
		}
		m.count++
	case g.First > 1 && g.Last == 0:
		m.after = g.First - 1
	default:
		m.unknown = true
	}
}

// Cut says that the text ends before the file does, after a line.
func (m *Missing) Cut(line int64) { m.cut, m.after = true, line }

// Any reports whether anything is missing.
func (m *Missing) Any() bool { return m.count > 0 || m.after > 0 || m.unknown || m.cut }

// String says what is missing: "lines 8–1882 and 1891–2117 are not in it". It is empty if
// nothing is.
func (m *Missing) String() string {
	var parts []string
	if m.count > 0 {
		var lines []string
		for _, r := range m.ranges[:min(m.count, shown)] {
			if r[0] == r[1] {
				lines = append(lines, strconv.FormatInt(r[0], 10))
			} else {
				lines = append(lines, fmt.Sprintf("%d–%d", r[0], r[1]))
			}
		}
		word := "lines "
		if m.count == 1 && m.ranges[0][0] == m.ranges[0][1] {
			word = "line "
		}
		text := word + and(lines)
		if m.count > shown {
			text = word + strings.Join(lines, ", ") + " and those of " + prose.Count(m.count-shown, "more gap", "more gaps")
		}
		parts = append(parts, text)
	}
	switch {
	case m.after > 0:
		parts = append(parts, fmt.Sprintf("what follows line %d", m.after))
	case m.cut:
		parts = append(parts, "what follows")
	}
	if m.unknown {
		parts = append(parts, "some lines whose numbers are not known")
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) == 1 && !strings.HasPrefix(parts[0], "lines ") && !m.unknown:
		return parts[0] + " is not in it"
	}
	return and(parts) + " are not in it"
}

// and returns "a, b and c".
func and(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Package partial marks missing lines in incomplete texts: one side of a pasted diff without the lines between its
// hunks, or a report that a person shortened.
//
// An excerpt is the text of a file with additional lines. These begin with the byte 0x1D, with which no line of a log
// begins:
//
//	␝excerpt openra 3f81c2aa-01d94be7     of what format it is, and of what paste
//	Player: …
//	␝gap 8 1882 1883                      lines 8 to 1882 are missing; see Gap
//	…
//
// A reader that supports excerpts removes the first line with [Cut] and parses each gap with [ParseGap]. At a gap it
// discards state from earlier lines that applies to later ones. It collects the gaps in a [Missing], which describes
// what is unknown.
package partial

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// mark begins the additional lines.
const mark = "\x1d"

const (
	headWord = mark + "excerpt "
	gapWord  = mark + "gap "
	openWord = " open"
)

// Head is the first line of an excerpt.
type Head struct {
	Format string // of the original file, as listed by `desynctool formats`

	// Paste identifies the diff that contains the excerpt as one side. The excerpts of both sides lack the same lines,
	// so data in only one of them is a difference. It is empty for an excerpt without another side.
	Paste string

	// Open means that the diff is cut off among lines that only one side has. The other side may have them after the
	// cut, so data in only one side is not a difference.
	Open bool
}

// Twin returns the diff whose other side contains or changes everything on this side. It is empty if there is no such
// side.
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

// ParseHead parses the first line of a text, which may be cut off after 64 bytes. ok is true if the text is an excerpt.
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

// Of reports whether a text begins like an excerpt of a file in a format.
func Of(text []byte, format string) bool {
	h, ok := ParseHead(text)
	return ok && h.Format == format
}

// Cut removes the first line from an excerpt. If the text is not an excerpt, ok is false and nothing is removed.
func Cut(text []byte) (h Head, rest []byte, ok bool) {
	if h, ok = ParseHead(text); !ok {
		return h, text, false
	}
	_, rest, _ = bytes.Cut(text, []byte("\n"))
	return h, rest, true
}

// Gap is a run of lines that are missing.
type Gap struct {
	// First and Last are the numbers of the first and the last missing line, from 1. First is 0 if it is unknown. Last
	// is 0 if it is unknown or nothing follows.
	First, Last int64

	// Next is the number of the line after the gap in the left file of the diff, for both sides. Data without a name
	// after a gap is identified by it. It is 0 if it is unknown.
	Next int64
}

// Line returns the line for a gap, with its end.
func (g Gap) Line() []byte { return g.Append(nil) }

// Append appends the line for a gap to a text.
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

// ParseGap parses a line without its end. ok is true for a gap line, and for a line with which people mark lines that
// they left out: "…", "[...]". The size of such a gap is unknown.
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

// elisions are words that people write in place of lines that they left out.
var elisions = []string{"snip", "cut", "truncated", "shortened", "omitted", "and so on", "etc"}

// Elided reports whether a line marks lines that a person left out: only dots, or a word for it in brackets.
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

// Missing collects the missing parts of a file. The zero value means a whole file.
type Missing struct {
	ranges  [shown][2]int64
	count   int   // of ranges with known line numbers
	after   int64 // last line before a missing end, 0 if the end is there
	unknown bool  // some lines are missing, but it is unknown which
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

// Cut records that the text ends before the file does, after a line.
func (m *Missing) Cut(line int64) { m.cut, m.after = true, line }

// Any reports whether anything is missing.
func (m *Missing) Any() bool { return m.count > 0 || m.after > 0 || m.unknown || m.cut }

// String describes the missing parts: "lines 8–1882 and 1891–2117 are not in it". It is empty if there are none.
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
			text = word + strings.Join(lines, ", ") + " and the lines of " + prose.Count(m.count-shown, "more gap", "more gaps")
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
		parts = append(parts, "some lines with numbers that are not known")
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) == 1 && !strings.HasPrefix(parts[0], "lines ") && !m.unknown:
		return parts[0] + " is not in it"
	}
	return and(parts) + " are not in it"
}

// and joins words: "a, b and c".
func and(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

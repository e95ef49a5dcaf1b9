package tracediff

import (
	"strings"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Op is the change of a line.
type Op byte

// Ops.
const (
	Same    Op = ' '
	Removed Op = '-' // only in the first trace
	Added   Op = '+' // only in the second one
)

// maxWindow is the number of lines of each side that DiffContext compares. maxMarked is the length in bytes of the
// longest lines that it compares by character.
const (
	maxWindow = 2000
	maxMarked = maxContextLine + 4
)

// ContextLine is a line in a side-by-side view of two contexts.
type ContextLine struct {
	Op Op
	// A and B are the numbers of the line in the two traces, 0 for a trace without the line or without line numbers.
	A, B  int64
	Text  string // valid UTF-8, not escaped
	Spans []Span // parts of a changed line that its counterpart does not have
}

// Span is a range of bytes of a line's text.
type Span struct{ Begin, End int }

// DiffContext compares the lines around a record in two traces, and compares changed lines by character. The result
// depends only on the lines, never on time.
func DiffContext(a, b *Context) []ContextLine {
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // no timeout: otherwise a busy machine gets a coarser result
	left, right, lines := d.DiffLinesToRunes(joinLines(a), joinLines(b))
	var out []ContextLine
	na, nb := a.FirstLine, b.FirstLine
	number := func(n *int64) int64 {
		if *n == 0 {
			return 0
		}
		*n++
		return *n - 1
	}
	begin := 0 // of the removed lines that may match added ones
	for _, part := range d.DiffCharsToLines(d.DiffMainRunes(left, right, false), lines) {
		if part.Type != diffmatchpatch.DiffInsert {
			begin = len(out)
		}
		added := len(out)
		for text := range strings.Lines(part.Text) {
			line := ContextLine{Op: Same, Text: strings.TrimSuffix(text, "\n")}
			if part.Type != diffmatchpatch.DiffInsert {
				line.A = number(&na)
				line.Op = Removed
			}
			if part.Type != diffmatchpatch.DiffDelete {
				line.B = number(&nb)
				line.Op = Added
			}
			if part.Type == diffmatchpatch.DiffEqual {
				line.Op = Same
			}
			out = append(out, line)
		}
		if part.Type == diffmatchpatch.DiffInsert {
			for i := 0; begin+i < added && added+i < len(out) && out[begin+i].Op == Removed; i++ {
				mark(d, &out[begin+i], &out[added+i])
			}
			begin = len(out)
		}
	}
	return out
}

// joinLines makes a text that is safe for go-diff: every line has an end, and all of it is valid UTF-8.
func joinLines(c *Context) string {
	var b strings.Builder
	for i, line := range c.Lines {
		if i == maxWindow {
			break
		}
		b.WriteString(strings.ToValidUTF8(strings.ReplaceAll(line, "\n", " "), string(utf8.RuneError)))
		b.WriteByte('\n')
	}
	return b.String()
}

// mark sets the spans of a removed line and of the added line that replaces it.
func mark(d *diffmatchpatch.DiffMatchPatch, a, b *ContextLine) {
	if len(a.Text) > maxMarked || len(b.Text) > maxMarked {
		return
	}
	i, j := 0, 0
	for _, part := range d.DiffCleanupSemantic(d.DiffMain(a.Text, b.Text, false)) {
		n := len(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			a.Spans = append(a.Spans, Span{i, i + n})
			i += n
		case diffmatchpatch.DiffInsert:
			b.Spans = append(b.Spans, Span{j, j + n})
			j += n
		default:
			i += n
			j += n
		}
	}
}

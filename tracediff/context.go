package tracediff

import (
	"strings"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Op is what happened to a line.
type Op byte

// Ops.
const (
	Same    Op = ' '
	Removed Op = '-' // only in the first trace
	Added   Op = '+' // only in the second one
)

// maxWindow is the number of lines of each side that DiffContext compares, and
// maxMarked the length of lines in bytes up to which it compares characters.
const (
	maxWindow = 2000
	maxMarked = maxContextLine + 4
)

// ContextLine is one line of two contexts laid side by side.
type ContextLine struct {
	Op Op
	// A and B are the numbers of the line in both traces, 0 where it is not or
	// where lines have none.
	A, B  int64
	Text  string // valid UTF-8, not escaped
	Spans []Span // what of a changed line is not in its counterpart
}

// Span is a range of bytes of a line's text.
type Span struct{ Begin, End int }

// DiffContext compares what surrounds a record in two traces, line by line and
// within changed lines character by character. The answer depends only on
// the lines, never on time.
func DiffContext(a, b *Context) []ContextLine {
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // else a busy machine gets a coarser answer
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
	begin := 0 // of the removed lines that added ones may answer
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

// joinLines makes a text that go-diff cannot mistake: every line ends, and all
// of it is valid UTF-8.
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

// mark fills the spans of a removed line and the added one in its place.
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

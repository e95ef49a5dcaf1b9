package explore

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/prose"
)

func withoutSpaces(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// text is the output that say may have: printable characters, some of two columns.
var text = rapid.StringOf(rapid.RuneFrom([]rune("aB0-.: 步兵é")))

// TestWrap: no line is wider, and nothing but spaces is lost.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, width := text.Draw(t, "text"), rapid.IntRange(2, 30).Draw(t, "width")
		lines := wrap(s, width)
		for _, l := range lines {
			if prose.Columns(l) > width {
				t.Fatalf("%q takes %d of %d columns", l, prose.Columns(l), width)
			}
		}
		if got := strings.Join(lines, ""); withoutSpaces(got) != withoutSpaces(s) {
			t.Fatalf("%q became %q", s, lines)
		}
	})
}

// TestFit: a line takes the width that it is given.
func TestFit(t *testing.T) {
	s := newSheet(false, false)
	rapid.Check(t, func(t *rapid.T) {
		var l line
		for range rapid.IntRange(0, 4).Draw(t, "pieces") {
			l = append(l, piece{Plain, text.Draw(t, "text")})
		}
		width := rapid.IntRange(1, 40).Draw(t, "width")
		got := s.fit(l, width)
		if n := got.columns(); n != width && (n != width-1 || l.columns() <= width) { // a wide character may not fit the last column
			t.Fatalf("%q takes %d of %d columns", s.paint(got), n, width)
		}
		if whole := s.paint(l); l.columns() <= width && !strings.HasPrefix(s.paint(got), whole) {
			t.Fatalf("%q became %q", whole, s.paint(got))
		}
	})
}

// TestTable: no line is wider, and every cell can be read.
func TestTable(t *testing.T) {
	s := newSheet(false, false)
	word := rapid.StringMatching("[a-z0-9]{1,30}")
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		table := &Table{}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			table.Rows = append(table.Rows, rapid.SliceOfN(word, columns, columns).Draw(t, "row"))
		}
		width := rapid.IntRange(12, 80).Draw(t, "width")
		counts := map[rune]int{}
		for _, l := range s.table(table, width) {
			if l.columns() > width {
				t.Fatalf("%q takes %d of %d columns", s.paint(l), l.columns(), width)
			}
			for _, r := range withoutSpaces(s.paint(l)) {
				counts[r]++
			}
		}
		for _, row := range table.Rows {
			for _, r := range strings.Join(row, "") {
				counts[r]--
			}
		}
		for r, n := range counts {
			if n != 0 {
				t.Fatalf("%d times %q too many", n, r)
			}
		}
	})
}

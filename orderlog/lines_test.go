package orderlog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPass: after lines were passed, the others are the same, with their places.
func TestPass(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "\n", "b\r\n", "\r\n", "c", strings.Repeat("x", lineBuffer/3) + "\n", strings.Repeat("y", lineBuffer) + "\n"})
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOfN(line, 0, 60).Draw(t, "before"), "")
		text := []byte(before + strings.Join(rapid.SliceOfN(line, 0, 5).Draw(t, "behind"), ""))
		offset := int64(len(before)) + rapid.Int64Range(-3, 3).Draw(t, "and")
		rest := func(l *Lines, take bool) (list []string) {
			for {
				var line []byte
				var err error
				ahead := l.Ahead()
				size := bytes.IndexByte(ahead, '\n')
				returns := size > 0 && ahead[size-1] == '\r'
				if returns {
					size--
				}
				if take && size >= 0 && l.Number() > 0 && returns == l.CRLF() {
					line = l.Take(size)
				} else if line, err = l.Next(); err != nil {
					return append(list, fmt.Sprint(err, l.CRLF()))
				}
				if end := l.Offset() + int64(len(line)); end >= offset {
					list = append(list, fmt.Sprint(l.Number(), l.Offset(), l.End(), l.Return(), string(line)))
				}
			}
		}
		all := NewLines(bytes.NewReader(text), "x")
		some := NewLines(bytes.NewReader(text), "x")
		some.Pass(offset)
		if want, got := rest(all, false), rest(some, true); strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Fatalf("%.80q\n%.80q", want, got)
		}
	})
	text := bytes.Repeat([]byte("a line\r\n"), 100_000)
	l := NewLines(bytes.NewReader(text), "x")
	l.Pass(8*90_000 + 7)
	if l.Number() != 90_000 {
		t.Fatalf("%d lines are passed, expected 90,000", l.Number())
	}
}

package textsearch

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFind compares the search with one for each literal by itself, in texts made of their parts, short ones and some
// that are long enough for strands.
func TestFind(t *testing.T) {
	var places Places
	rapid.Check(t, func(t *rapid.T) {
		folded := rapid.Bool().Draw(t, "folded")
		least, prepare, has := MinLength, New, bytes.HasPrefix
		if folded {
			least, prepare, has = MinFolded, NewFolded, func(text, l []byte) bool { return bytes.HasPrefix(bytes.ToLower(text), l) }
		}
		letters := rapid.SliceOfN(rapid.SampledFrom([]byte("ab ")), least, 14)
		var literals []string
		for _, l := range rapid.SliceOfN(letters, 1, 6).Draw(t, "literals") {
			literals = append(literals, string(l))
		}
		part := rapid.OneOf(rapid.Map(letters, func(b []byte) string { return string(b) }), rapid.SampledFrom(literals), rapid.Map(rapid.SampledFrom(literals), func(s string) string { return s[1:] }),
			rapid.StringMatching(`[abcAB ]{0,9}`))
		text := []byte(strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "text"), ""))
		for range rapid.IntRange(0, 9).Draw(t, "doubled") {
			text = append(text, text...)
			text = append(text, 'a')
		}
		s := prepare(literals)
		var want []int
		for at := range text {
			first := slices.IndexFunc(literals, func(l string) bool { return has(text[at:], []byte(l)) })
			if first >= 0 {
				want = append(want, at)
			}
			if got := s.At(text, at, 0); got != first {
				t.Fatalf("%q in %q at %d: literal %d, want %d", literals, text, at, got, first)
			}
			if first >= 0 {
				next := slices.IndexFunc(literals[first+1:], func(l string) bool { return has(text[at:], []byte(l)) })
				if next >= 0 {
					next += first + 1
				}
				if got := s.At(text, at, first+1); got != next {
					t.Fatalf("%q in %q at %d: second literal %d, want %d", literals, text, at, got, next)
				}
			}
		}
		if got := s.Find(text, &places); !slices.Equal(got, want) {
			t.Fatalf("%q in %q: %v, want %v", literals, text, got, want)
		}
	})
}

// TestAlike compares texts byte by byte.
func TestAlike(t *testing.T) {
	text := rapid.SliceOfN(rapid.SampledFrom([]byte("0159/:aA?\x00\xb5\xff")), 0, 40)
	rapid.Check(t, func(t *rapid.T) {
		a := text.Draw(t, "a")
		b := slices.Clone(a)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			if len(b) > 0 {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0369/:a\x05\xb9")).Draw(t, "to")
			}
		}
		want := true
		for i := range a {
			want = want && (a[i] == b[i] || a[i] >= '0' && a[i] <= '9' && b[i] >= '0' && b[i] <= '9')
		}
		if Alike(a, b) != want || Alike(a, append(b, 'x')) {
			t.Fatalf("%q and %q: want %v", a, b, want)
		}
	})
}

// TestShape compares shapes with lines in which a pattern replaced the numbers.
func TestShape(t *testing.T) {
	words := regexp.MustCompile(`[0-9A-Za-z\x{80}-\x{ff}]+`)
	number := regexp.MustCompile(`^(0[xX])?([0-9a-fA-F]*[0-9][0-9a-fA-F]*)$`)
	plain := func(line []byte) string {
		runes := make([]rune, len(line)) // a byte each
		for i, c := range line {
			runes[i] = rune(c)
		}
		return words.ReplaceAllStringFunc(string(runes), func(word string) string {
			m := number.FindStringSubmatch(word)
			if m == nil {
				return word
			}
			return fmt.Sprintf("%s\x00%d %t %t\x00", m[1], len(m[2]), strings.Trim(m[2], "0") == "", strings.ContainsAny(m[2], "abcdefABCDEF"))
		})
	}
	part := rapid.SampledFrom([]string{"0", "00", "12", "7", "a", "Ff", "e", "x", "0x", "0X", "g", "tick", " ", "=", "\xc3\xa9", "12345678", "deadbeef"})
	line := rapid.Map(rapid.SliceOfN(part, 0, 9), func(parts []string) []byte { return []byte(strings.Join(parts, "")) })
	same := 0
	rapid.Check(t, func(t *rapid.T) {
		a := line.Draw(t, "a")
		b := slices.Clone(a)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			if len(b) > 0 {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0123abXg ")).Draw(t, "to")
			}
		}
		if got, want := Shape(a) == Shape(b), plain(a) == plain(b); got != want {
			t.Fatalf("%q and %q have one shape: %v, want %v", a, b, got, want)
		} else if got && !bytes.Equal(a, b) {
			same++
		}
	})
	if same == 0 {
		t.Fatal("no two lines had one shape")
	}
}

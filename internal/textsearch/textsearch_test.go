package textsearch

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

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
	forms, coarse := Forms[int]{Zeros: true}, Forms[int]{}
	line := rapid.Map(rapid.SliceOfN(part, 0, 9), func(parts []string) []byte { return []byte(strings.Join(parts, "")) })
	unzero := func(text string) string { return strings.ReplaceAll(text, " true ", " false ") }
	same, next := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		a := line.Draw(t, "a")
		b := slices.Clone(a)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			if len(b) > 0 {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0123abXg :?\xff")).Draw(t, "to")
			}
		}
		if rapid.Bool().Draw(t, "another number") {
			b = bytes.ReplaceAll(b, []byte("7"), []byte("8"))
		}
		if forms.Full() || coarse.Full() {
			forms.Reset()
			coarse.Reset()
		}
		got, want := Shape(a) == Shape(b), plain(a) == plain(b)
		if got != want {
			t.Fatalf("%q and %q have one shape: %v, want %v", a, b, got, want)
		} else if form := forms.Of(a) == forms.Of(b); form != want {
			t.Fatalf("%q and %q have one form: %v, want %v", a, b, form, want)
		} else if form, want := coarse.Of(a) == coarse.Of(b), unzero(plain(a)) == unzero(plain(b)); form != want {
			t.Fatalf("%q and %q have one form without zeros: %v, want %v", a, b, form, want)
		} else if got && !bytes.Equal(a, b) {
			same++
		}
		forms.Of(a)
		end, returns := rapid.SampledFrom([]string{"", "\r", "x"}).Draw(t, "end"), rapid.Bool().Draw(t, "returns")
		if value, size := forms.Next([]byte(string(b)+end+"\n"+string(a)), returns); value != nil {
			whole := string(b)
			if !returns || end == "x" {
				whole += end
			}
			if next++; size != len(whole) || returns && end != "\r" || value != forms.Of([]byte(whole)) {
				t.Fatalf("after %q, the line %q has the form of another one, or %d bytes", a, whole, size)
			}
		}
	})
	if same == 0 || next == 0 {
		t.Fatalf("%d pairs of lines had one shape, %d followed each other again", same, next)
	}
}

// TestFormsOfBytes changes each byte of lines: the form stays if the shape does.
func TestFormsOfBytes(t *testing.T) {
	forms := Forms[int]{Zeros: true}
	for _, text := range []string{"a=1234567", "frame 1234567 sum 0x00ffab12 hp=5", "7, 81", "12345678"} {
		for i := range text {
			for c := range 256 {
				line := []byte(text)
				line[i] = byte(c)
				forms.Reset()
				if got, want := forms.Of([]byte(text)) == forms.Of(line), Shape([]byte(text)) == Shape(line); got != want {
					t.Fatalf("%q and %q have one form: %v, want %v", text, line, got, want)
				}
			}
		}
	}
}

// TestForms: what is remembered about a shape is found again until all is forgotten, and a long line has none.
func TestForms(t *testing.T) {
	var forms Forms[int]
	line := func(i, number int) []byte {
		return fmt.Appendf(nil, "%s: unit %d moved to 0x%08x", strings.Repeat("g", i%7)+strings.Repeat("hi", i/7%50), 100+number%900, 0xa0000001+number)
	}
	for i := range 350 {
		if v := forms.Of(line(i, i)); *v != 0 {
			t.Fatalf("line %d has the form of line %d", i, *v-1)
		} else {
			*v = i + 1
		}
	}
	allocations := testing.AllocsPerRun(1, func() {
		for i := range 350 {
			if v := forms.Of(line(i, 77*i)); *v != i+1 {
				t.Fatalf("line %d has the form of line %d", i, *v-1)
			}
		}
	})
	if allocations > 10*350 { // of the lines themselves
		t.Errorf("%v allocations", allocations)
	}
	if forms.Of(make([]byte, MaxForm+1)) != nil {
		t.Error("a long line has a form")
	}
	for i := 0; !forms.Full(); i++ {
		forms.Of(fmt.Appendf(nil, "%s line", strings.Repeat("x", i)))
	}
	if forms.Of([]byte("another")) != nil || *forms.Of(line(3, 3)) != 4 {
		t.Error("a new shape is remembered where there is no room, or another one is forgotten")
	}
	if forms.Reset(); *forms.Of(line(3, 3)) != 0 {
		t.Error("a shape is known after all were forgotten")
	}
}

// TestIsPlain looks for literals in lines of the same shape.
func TestIsPlain(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	pick := func(parts ...string) string { return parts[random.Intn(len(parts))] }
	varies := map[string]bool{}
	for range 20_000 {
		literal := ""
		for range 1 + random.Intn(3) {
			literal += pick("a", "be", "x", "0x", "g", "sync", " ", "7", "\xc3\xa9", ":")
		}
		line := []byte(pick("", "7", "0x7", "7g") + literal + pick("", "7", " 7"))
		other := slices.Clone(line)
		for i := range other {
			if digitKinds[other[i]] != noDigit && random.Intn(2) == 0 {
				other[i] = pick("1", "2", "a", "b")[0]
			}
		}
		if Shape(line) != Shape(other) || bytes.Contains(other, []byte(literal)) {
			continue
		}
		if varies[literal] = true; IsPlain(literal) {
			t.Fatalf("%q is in %q and not in %q", literal, line, other)
		}
	}
	if len(varies) < 100 {
		t.Fatalf("only %d literals were in some lines of a shape", len(varies))
	}
	for _, literal := range []string{"Desync at ", "DESYNC!!! f:", "expect", "CRC error ", "Found CRC: "} {
		if !IsPlain(literal) {
			t.Errorf("%q is not plain", literal)
		}
	}
}

// TestWindow searches texts for literals in a window, with and without lines that are known to have none.
func TestWindow(t *testing.T) {
	s := New([]string{"desync", "mismatch"})
	search := func(t rapid.TB, text string, judges bool) (found []string, searched int64) {
		w := NewWindow(iotest.HalfReader(strings.NewReader(text)), "x")
		searcher, at, places := w.Join(judges), Cursor{Line: 1}, Places{}
		for {
			if err := w.Next(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			w.Together(func(lines []Line, text []byte) {
				from, end := lines[0].From, lines[len(lines)-1].To
				for _, place := range s.Find(text, &places) {
					if place += from; place >= end {
						break
					}
					for len(lines) > 0 && lines[0].To <= place {
						lines[0].Dull(searcher)
						lines = lines[1:]
					}
					if len(lines) > 0 && lines[0].From <= place {
						lines = lines[1:] // it has a literal
					}
					at.Pass(w, place)
					found = append(found, fmt.Sprint(at.Line, at.Start, w.Base+int64(place)))
				}
			})
			at.Pass(w, w.To)
		}
		if w.Base+int64(len(w.Buf)) != int64(len(text)) || at.Line != int64(strings.Count(text, "\n"))+1 {
			t.Fatalf("the window ends at line %d, %d of %d bytes", at.Line, w.Base+int64(len(w.Buf)), len(text))
		}
		return found, w.Searched
	}
	line := rapid.StringMatching(`[a-c]{0,2}[ :][0-9a-f]{1,8} (desync|mismatch|match|x)?(\r?\n){0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line, 1, 9).Draw(t, "lines")
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			lines = append(lines, strings.Repeat("-", 3*WindowSize)+"desync", "\n")
		}
		text := strings.Repeat(strings.Join(lines, ""), rapid.SampledFrom([]int{1, 200}).Draw(t, "times"))
		text = text[rapid.IntRange(0, min(len(text), 20)).Draw(t, "from"):]
		if len(text) > 4*WindowSize {
			text = text[:4*WindowSize]
		}
		want, _ := search(t, text, false)
		if got, _ := search(t, text, true); !slices.Equal(got, want) {
			t.Fatalf("%.200q: %v, want %v", text, got, want)
		}
	})
	text := strings.Repeat("a: 12ab\nb 34 mismatch\n", WindowSize/5)
	_, all := search(t, text, false)
	if _, some := search(t, text, true); some > all*3/4 {
		t.Fatalf("%d of %d bytes were searched, although half of the lines have no literal", some, all)
	}
}

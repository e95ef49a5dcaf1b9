package factorio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/tracediff"
)

func format(t testing.TB, name string) *tracediff.Format {
	t.Helper()
	for _, f := range Formats() {
		if f.Name == name {
			return &f
		}
	}
	t.Fatalf("no format %s", name)
	return nil
}

// list reads a source to its end.
func list(t testing.TB, s tracediff.Source, err error) (string, error) {
	t.Helper()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		rec, err := s.Next()
		if wrong := (*tracediff.SyntaxError)(nil); errors.As(err, &wrong) {
			fmt.Fprintf(&b, "! %v\n", wrong)
			continue
		}
		if err != nil {
			if again, err2 := s.Next(); again != nil || err2 != err {
				t.Fatalf("%v, then %v, %v", err, again, err2)
			}
			return b.String(), err
		}
		c := rec.Checkpoint
		fmt.Fprintf(&b, "%d %s at %d n=%d", c.Tick, c.Scope, rec.Pos.Offset, c.Count)
		for _, s := range c.Sums {
			fmt.Fprintf(&b, " %s=%s", s.Name, s.Value)
		}
		b.WriteByte('\n')
		for _, d := range c.Detail {
			fmt.Fprintf(&b, "  %s|%s\n", d.Text, d.Aside)
		}
	}
}

// compare compares two files of one format as the program does.
func compare(t testing.TB, name, base string, a, b []byte) *tracediff.Result {
	t.Helper()
	dir := t.TempDir()
	f := format(t, name)
	var traces []*tracediff.Trace
	for i, content := range [][]byte{a, b} {
		path := filepath.Join(dir, []string{"reference-level", "desynced-level"}[i], base)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		one, err := tracediff.OpenForeign(files.Disk, path, f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, one...)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func texts(list []tracediff.Detail) (out []string) {
	for _, d := range list {
		out = append(out, strings.TrimSpace(d.Text+"|"+d.Aside))
	}
	return out
}

// TestLevel: the writer knows what it made: belt 102 has another gap.
func TestLevel(t *testing.T) {
	a, b := peers[reference].level(), peers[desynced].level()
	r := compare(t, LevelFormat, "level_with_tags_tick_3703.dat", a, b)
	if r.First == nil || r.First.Scope != "transport-belt-serialiser" || r.First.Tick.Number != 3703 || r.Changed != 1 || r.Missing != 0 {
		t.Fatalf("%+v", r)
	}
	if r.Traces[0].Name != reference || r.Traces[1].Name != desynced {
		t.Errorf("peers %s and %s", r.Traces[0].Name, r.Traces[1].Name)
	}
	at := bytes.Index(a, []byte("<transport-line belt=102>"))
	item := at + bytes.Index(a[at:], []byte("<transport-line-item>"))
	first := item + len("<transport-line-item>")
	gaps := at + bytes.Index(a[at:], []byte("<transport-line-gaps>")) + len("<transport-line-gaps>")
	for i, content := range [][]byte{a, b} {
		want := []string{
			fmt.Sprintf("transport-belt-serialiser active-groups=2 active-lines=3|offset %d", bytes.Index(a, []byte("<transport-belt"))),
			fmt.Sprintf("transport-line belt=102|offset %d", at),
			fmt.Sprintf("line|offset %d", at+len("<transport-line belt=102>")),
			fmt.Sprintf("transport-line-item|offset %d", item),
			fmt.Sprintf("bytes % x|offset %d", content[first:first+12], first),
			fmt.Sprintf("then in transport-line-gaps: bytes % x|offset %d", content[gaps:gaps+8], gaps),
		}
		if diff := cmp.Diff(want, texts(r.First.Values[i].Detail)); diff != "" {
			t.Errorf("peer %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestNarrow pins what is said of each way in which parts can differ.
func TestNarrow(t *testing.T) {
	long := strings.Repeat("x", 3*pieceSize)
	for _, c := range []struct{ a, b, wantA, wantB string }{
		{"<aa>1</aa>", "<aa>2</aa>", "aa; bytes 31", "aa; bytes 32"},
		{"<aa n=1>x</aa>", "<aa n=2>x</aa>", "<aa n=1>", "<aa n=2>"},
		{"<aa><bb>1</bb>t</aa>", "<aa><bb>1</bb><cc></cc>t</aa>", "aa; bytes 74", "aa; <cc>"},
		{"<aa><bb>1</bb></aa>", "<aa><bb>1</bb><cc></cc></aa>", "aa; </aa>", "aa; <cc>"},
		{"<aa><bb>1<cc>4</cc></bb><dd>1</dd></aa>", "<aa><bb>1</bb><dd>2</dd></aa>", "aa; bb; <cc>; then in dd: bytes 31", "aa; bb; </bb>; then in dd: bytes 32"},
		{"<aa>" + long + "1</aa>", "<aa>" + long + "2</aa>", "aa; bytes 31", "aa; bytes 32"},
		{"<aa>" + long[:40] + "1" + long + "</aa>", "<aa>" + long[:40] + "2" + long + "</aa>",
			"aa; bytes … 78 78 78 78 31 78 78 78 78 78 78 78 78 78 78 78 …", "aa; bytes … 78 78 78 78 32 78 78 78 78 78 78 78 78 78 78 78 …"},
		{"<aa>" + long + "<bb>1</bb></aa>", "<aa>" + long + "1<bb>1</bb></aa>", "aa; <bb>", "aa; bytes 31"},
		{"\x01\x02<aa></aa>", "\x01\x03<aa></aa>", "bytes 01 02", "bytes 01 03"},
		{"\x01\x02<aa></aa>", "\x01<aa></aa>", "bytes 01 02", "bytes 01"},
		{strings.Repeat("x", 100) + "<aa></aa>", strings.Repeat("x", 90) + "<aa></aa>", "bytes … 78 78 78 78 78 78 78 78 78 78 78 78 78 78", "bytes … 78 78 78 78"},
	} {
		r := compare(t, LevelFormat, "level-heuristic-7", []byte(c.a), []byte(c.b))
		if r.First == nil || r.First.Tick.Number != 7 {
			t.Errorf("%.40q and %.40q: %+v", c.a, c.b, r.First)
			continue
		}
		for i, want := range []string{c.wantA, c.wantB} {
			var got []string
			for _, d := range r.First.Values[i].Detail {
				got = append(got, d.Text)
			}
			if got := strings.Join(got, "; "); got != want {
				t.Errorf("%.40q and %.40q, side %d: %s, want %s", c.a, c.b, i, got, want)
			}
		}
	}
}

// TestNarrowMany: most places are only counted.
func TestNarrowMany(t *testing.T) {
	for n, want := range map[int]string{12: "… and 7 more places", 5000: "… and more than 994 more places"} {
		text := func(v string) []byte { return []byte("<aa>" + strings.Repeat("<bb>"+v+"</bb>", n) + "</aa>") }
		r := compare(t, LevelFormat, "level-heuristic-7", text("1"), text("2"))
		got := r.First.Values[0].Detail
		if len(got) != 2+1+maxListed-1+1 || got[len(got)-1].Text != want {
			t.Errorf("%d: %v", n, got)
		}
	}
}

// tagPattern is the tool's own definition of a tag, by which matchTag is judged.
var tagPattern = regexp.MustCompile(`^(?s:<([a-z-]{2,})(?: (?:[^\x00-\x1f<>\x80-\xff]|<[a-zA-Z]+>)*)?>|</([a-z-]{2,})>)`)

func TestTags(t *testing.T) {
	alphabet := []string{"<", "<", ">", ">", "/", "a", "b", "zz", "-", "A", " ", "=", "\x00", "\x1f", "\x7f", "\x80", "1"}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 14).Draw(t, "n") {
			b.WriteString(rapid.SampledFrom(alphabet).Draw(t, "s"))
		}
		text := "<" + b.String()
		latin := []rune{} // regexp reads UTF-8: each byte as a rune
		for _, c := range []byte(text) {
			latin = append(latin, rune(c))
		}
		want := len([]rune(tagPattern.FindString(string(latin))))
		if _, _, got := matchTag([]byte(text)); got != want {
			t.Fatalf("%q: a tag of %d bytes, want %d", text, got, want)
		}
	})
}

// TestScanner: whatever the file and however it is read, the tokens are the file.
func TestScanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				b.WriteString("<" + rapid.SampledFrom([]string{"aa", "bb n=1"}).Draw(t, "open") + ">")
			case 1:
				b.WriteString("</" + rapid.SampledFrom([]string{"aa", "bb"}).Draw(t, "close") + ">")
			default:
				b.Write(bytes.Repeat([]byte("<a\x00"), rapid.SampledFrom([]int{1, 9, pieceSize / 3, pieceSize}).Draw(t, "data")))
			}
		}
		all := func(in io.Reader) (tokens []string) {
			s := newScanner(in, "x", 0)
			at := int64(0)
			for {
				tok, err := s.next()
				if err == io.EOF {
					return tokens
				}
				if err != nil || tok.at != at || len(tok.bytes) == 0 || len(tok.bytes) > pieceSize {
					t.Fatalf("%+v, %v, expected offset %d", tok, err, at)
				}
				at += int64(len(tok.bytes))
				tokens = append(tokens, fmt.Sprint(tok.kind, tok.first, string(tok.bytes)))
			}
		}
		want := all(bytes.NewReader(b.Bytes()))
		r := rand.New(rand.NewPCG(1, 2))
		got := all(readerFunc(func(p []byte) (int, error) { return b.Read(p[:min(len(p), 1+r.IntN(2*pieceSize))]) }))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestUnclosed: a tag that never closes ends the file, and what precedes it counts.
func TestUnclosed(t *testing.T) {
	f := format(t, LevelFormat)
	s, err := f.Read(strings.NewReader("12<aa>1</aa><bb>2<cc>3</cc>"), "level-heuristic-9", 0)
	got, err := list(t, s, err)
	if want := regexp.MustCompile(`^9 between tags at 0 n=2 =0x\w{16}\n9 aa at 2 n=10 =0x\w{16}\n$`); !want.MatchString(got) || !errors.Is(err, frame.ErrTorn) {
		t.Errorf("%s%v", got, err)
	}
	deep, err := f.Read(strings.NewReader(strings.Repeat("<aa>", 100_000)+strings.Repeat("</aa>", 100_000)+"<bb></bb>"), "level-heuristic-9", 0)
	got, err = list(t, deep, err)
	if err != io.EOF || !strings.HasSuffix(got[:strings.LastIndex(got[:len(got)-1], "=")], "n=9 ") {
		t.Errorf("%.300s%v", got, err)
	}
	if _, err := f.Read(strings.NewReader(""), "level-heuristic-9", 0); !errors.Is(err, frame.ErrUnrecognized) {
		t.Errorf("empty: %v", err)
	}
}

// TestManyParts: so many tags are not read to the end, and what differs before is found.
func TestManyParts(t *testing.T) {
	rest := strings.Repeat("<bb></bb>", maxParts)
	r := compare(t, LevelFormat, "level-heuristic-7", []byte("<aa>1</aa>"+rest), []byte("<aa>2</aa>"+rest))
	if r.First == nil || r.First.Scope != "aa" || !strings.Contains(r.Traces[0].Trouble, "more than 100000 outermost tags") {
		t.Errorf("%+v, %s", r.First, r.Traces[0].Trouble)
	}
}

// TestCut: a file that is cut anywhere is never said to differ.
func TestCut(t *testing.T) {
	whole := peers[reference].level()
	for n := 1; n < len(whole); n += effort.Of(17, 1) {
		r := compare(t, LevelFormat, "level_with_tags_tick_3703.dat", whole, whole[:n])
		if r.First != nil {
			t.Fatalf("cut at %d: %+v", n, r.First)
		}
	}
}

func TestScript(t *testing.T) {
	dir := t.TempDir()
	for _, peer := range []string{reference, desynced} {
		sub := filepath.Join(dir, peer+"-level")
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"script.dat": peers[peer].script(), "level_with_tags_tick_3703.dat": {1}} {
			if err := os.WriteFile(filepath.Join(sub, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var traces []*tracediff.Trace
	for _, peer := range []string{reference, desynced} {
		one, err := tracediff.OpenForeign(files.Disk, filepath.Join(dir, peer+"-level", "script.dat"), format(t, ScriptFormat), tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, one...)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.First == nil || r.First.Scope != "mod rampant" || r.First.Tick.Number != 3703 || r.Changed != 1 {
		t.Fatalf("%+v", r.First)
	}
	// The length of the text differs first, after the name of the field and a 4.
	want := [][]string{
		{"data of mod rampant|", `after the text "squad_order"|`, "bytes 06 61 74 74 61 63 6b 02 02 02 02 02 02 02 02 02 …|offset 69"},
		{"data of mod rampant|", `after the text "squad_order"|`, "bytes 07 72 65 74 72 65 61 74 02 02 02 02 02 02 02 02 …|offset 69"},
	}
	for i := range want {
		if diff := cmp.Diff(want[i], texts(r.First.Values[i].Detail)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", i, diff)
		}
	}
	whole := peers[reference].script()
	for n := range len(whole) {
		s, err := newScript(bytes.NewReader(whole[:n]), "x", 1, true)
		got, err := list(t, s, err)
		if !errors.Is(err, frame.ErrTorn) && !errors.Is(err, frame.ErrUnrecognized) {
			t.Fatalf("cut at %d: %s%v", n, got, err)
		}
	}
	s, err := newScript(bytes.NewReader(append(whole, 0)), "x", 1, true)
	if _, err := list(t, s, err); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("a byte more: %v", err)
	}
}

// output is the tool's output for two saves, as its own source writes it.
const output = `Unzipping desync-report-2024-01-01_00-00-00.zip

level_with_tags.dat differs
---------------------------

replace   ref[10:11] -> des[10:11]
<surface name=nauvis> pos=17
  <chunk x=1 y=0> pos=39
ref: b'@\x00"'
<surface name=nauvis> pos=17
  <chunk x=1 y=0> pos=39
des: b"B\x00'"

insert    ref[12:12] -> des[12:13]
<surface name=nauvis> pos=17
des: b'\\\n<aa>'

delete    ref[13:14] -> des[14:14]
<surface name=nauvis> pos=17
ref: b'1'
`

func TestDiff(t *testing.T) {
	f := format(t, DiffFormat)
	for side, want := range []string{`0 surface at 93 n=1 bytes=0x400022
  surface name=nauvis|offset 17
  chunk x=1 y=0|offset 39
  bytes 40 00 22|
0 surface at 285 n=0
  surface name=nauvis|offset 17
  nothing|
0 surface at 370 n=1 bytes=0x31
  surface name=nauvis|offset 17
  bytes 31|
`, `0 surface at 93 n=1 bytes=0x420027
  surface name=nauvis|offset 17
  chunk x=1 y=0|offset 39
  bytes 42 00 27|
0 surface at 285 n=1 bytes=0x5c0a3c61613e
  surface name=nauvis|offset 17
  bytes 5c 0a 3c 61 61 3e|
0 surface at 370 n=0
  surface name=nauvis|offset 17
  nothing|
`} {
		s, err := f.Read(strings.NewReader(output), "paste.txt", side)
		got, err := list(t, s, err)
		want = regexp.MustCompile(`at \d+`).ReplaceAllString(want, "at N")
		got = regexp.MustCompile(`at \d+`).ReplaceAllString(got, "at N")
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Errorf("side %d: %v (-want +got):\n%s", side, err, diff)
		}
	}
	for n := range len(output) { // cut anywhere: never other values
		s, err := f.Read(strings.NewReader(output[:n]), "paste.txt", 1)
		got, err := list(t, s, err)
		if err != io.EOF && !errors.Is(err, frame.ErrTorn) && !errors.Is(err, frame.ErrUnrecognized) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		for line := range strings.Lines(got) {
			if _, value, ok := strings.Cut(line, "bytes="); ok && !strings.Contains("0x420027\n0x5c0a3c61613e\n", value) {
				t.Fatalf("cut at %d: %s", n, line)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"level_with_tags_tick_12.dat": true, "level_with_tags.dat": true, "level-heuristic-12": true, "level_with_tags_tick_12.dat.gz": true,
		"level.dat0": false, "level-heuristic": false, "xlevel_with_tags_tick_12.dat": false,
	} {
		if IsLevel(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for name, want := range map[string]string{
		"r.zip/reference-level.zip/x.dat": reference, "r/server-level/a/x": reference, "r.zip/client-level.zip/x.dat": desynced, "desynced-level/x": desynced, "x": "", "/a/x": "",
	} {
		if got := peerOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzLevel(f *testing.F) {
	f.Add(peers[reference].level(), peers[desynced].level())
	f.Add([]byte("<aa n=<b>>1</aa>"), []byte("<aa></aa>2"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s, err := newLevel(bytes.NewReader(a), "level-heuristic-1")
		_, err = list(t, s, err)
		if err == nil {
			t.Fatal("no end")
		}
		v := [2]*tracediff.Value{{Present: true, Count: 1, HasCount: true}, {Present: true, Count: 2, HasCount: true}}
		details, err := narrowLevel([]tracediff.Side{{Name: "a", In: bytes.NewReader(a), Value: v[0]}, {Name: "b", In: bytes.NewReader(b), Value: v[1]}})
		if err != nil || len(details[0]) > tracediff.MaxDetails || len(details[1]) > tracediff.MaxDetails {
			t.Fatalf("%v, %v", details, err)
		}
		if bytes.Equal(a, b) && len(details[0]) > 0 {
			t.Fatalf("equal: %v", details)
		}
	})
}

func FuzzScript(f *testing.F) {
	f.Add(peers[reference].script(), peers[desynced].script())
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s, err := newScript(bytes.NewReader(a), "x", 0, false)
		list(t, s, err)
		v := [2]*tracediff.Value{{Pos: tracediff.Position{Offset: 13}, Count: 1, HasCount: true}, {Pos: tracediff.Position{Offset: 13}, Count: 2, HasCount: true}}
		narrowScript([]tracediff.Side{{Name: "a", In: bytes.NewReader(a), Value: v[0]}, {Name: "b", In: bytes.NewReader(b), Value: v[1]}})
	})
}

func FuzzDiff(f *testing.F) {
	f.Add(output)
	f.Fuzz(func(t *testing.T, text string) {
		a, errA := newDiff(strings.NewReader(text), "x", 0)
		b, errB := newDiff(strings.NewReader(text), "x", 1)
		if (errA == nil) != (errB == nil) {
			t.Fatal(errA, errB)
		}
		if errA != nil {
			return
		}
		x, errA := list(t, a, nil)
		y, errB := list(t, b, nil)
		if strings.Count(x, " at ") != strings.Count(y, " at ") && !strings.Contains(text, "at ") || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("%s%v\n%s%v", x, errA, y, errB)
		}
	})
}

func BenchmarkLevel(b *testing.B) {
	one := peers[reference].level()
	text := bytes.Repeat(one, 16<<20/len(one))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := newLevel(bytes.NewReader(text), "level-heuristic-1")
		for err == nil {
			_, err = s.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

package tracediff

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"

	unpack "github.com/desynctool/desynctool/internal/file/compression"
)

// block returns the fenced block of docs/trace.md with an info string.
func block(t testing.TB, info string) string {
	t.Helper()
	doc, err := os.ReadFile("../docs/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?ms)^```"+info+"\n(.*?)^```$").FindAllStringSubmatch(string(doc), -1)
	if len(m) != 1 {
		t.Fatalf("docs/trace.md has %d blocks of %s, expected 1", len(m), info)
	}
	return m[0][1]
}

func specified(t testing.TB) (text string, binary []byte) {
	var digits strings.Builder
	for line := range strings.Lines(block(t, "trace-hex")) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	binary, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return block(t, "trace-text"), binary
}

func encodeText(text string) ([]byte, error) {
	var out bytes.Buffer
	err := ParseText(&out, strings.NewReader(text), "text")
	return out.Bytes(), err
}

func decodeText(binary []byte) (string, error) {
	r, err := NewReader(bytes.NewReader(binary), "trace", ReadOptions{})
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = WriteText(&out, r)
	return out.String(), err
}

// The worked example of the specification pins the bytes of the format.
func TestSpecification(t *testing.T) {
	text, want := specified(t)
	got, err := encodeText(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("text is encoded as\n%x, the specification says\n%x", got, want)
	}
	if got, err := decodeText(want); err != nil || got != text {
		t.Errorf("bytes are decoded as\n%s (error %v), the specification says\n%s", got, err, text)
	}
	// Text is also read and written without change.
	if got, err := decodeText([]byte(text)); err != nil || got != text {
		t.Errorf("text is written as\n%s (error %v), expected\n%s", got, err, text)
	}
}

func TestTornBinary(t *testing.T) {
	_, whole := specified(t)
	for _, cut := range []int{8, 24, 40} {
		text, err := decodeText(whole[:len(whole)-cut])
		if !errors.Is(err, frame.ErrTorn) {
			t.Errorf("cut by %d: error is %v, expected torn", cut, err)
		}
		if !strings.Contains(text, "\n%torn offset ") {
			t.Errorf("cut by %d: text does not say so:\n%s", cut, text)
		}
		again, err := encodeText(text)
		if err != nil {
			t.Errorf("cut by %d: %v", cut, err)
		}
		if _, err := decodeText(again); !errors.Is(err, frame.ErrTorn) {
			t.Errorf("cut by %d: what was torn is read back with error %v", cut, err)
		}
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-30] ^= 1
	if text, err := decodeText(flipped); !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(text, "\n%corrupt offset ") {
		t.Errorf("error is %v and text\n%s, expected corrupt", err, text)
	}
}

var (
	genName = rapid.OneOf(rapid.SampledFrom([]string{"", "Combat", "two words", "\x1b[31m", "\xff", "a=b", `"`, "naïve", "n="}), rapid.String())
	genSum  = rapid.Custom(func(t *rapid.T) Sum {
		name := rapid.SampledFrom([]string{"", "rng", "pos.x", "ünit"}).Draw(t, "name")
		if rapid.Bool().Draw(t, "bytes") {
			return BytesSum(name, rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "value"))
		}
		v := rapid.OneOf(rapid.SampledFrom([]string{"1a2b", "0X1A", "0x1", "-5", "\"", "two words", "\n"}), rapid.StringN(1, 20, 60)).Draw(t, "text")
		if v == "" {
			v = "0"
		}
		return Sum{name, []byte(v)}
	})
	genSums = rapid.SliceOfNDistinct(genSum, 0, 3, func(s Sum) string { return s.Name })
)

// TestTwins writes random traces in both forms and turns each into the other.
func TestTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{Peer: genName.Draw(t, "peer"), Build: genName.Draw(t, "build"), HasSeed: rapid.Bool().Draw(t, "has seed")}
		if h.HasSeed {
			h.Seed = rapid.Uint64().Draw(t, "seed")
		}
		if rapid.Bool().Draw(t, "meta") {
			h.Meta = map[string]string{genName.Draw(t, "key"): genName.Draw(t, "value")}
		}
		var binary, text bytes.Buffer
		w, err := NewWriter(&binary, h)
		if err != nil {
			t.Fatal(err)
		}
		tw, err := NewTextWriter(&text, h)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 20).Draw(t, "records") {
			var e1, e2 error
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				e := Event{Kind: EventKind(rapid.IntRange(1, 4).Draw(t, "event")), Tick: rapid.Uint64Max(5).Draw(t, "tick"), Sums: genSums.Draw(t, "sums")}
				if eventKinds[e.Kind].other != "" {
					e.Other = rapid.Uint64().Draw(t, "other")
				}
				if eventKinds[e.Kind].player {
					e.Player, e.Phase = rapid.Uint32().Draw(t, "player"), Phase(rapid.IntRange(0, 1).Draw(t, "phase"))
				}
				e1, e2 = w.WriteEvent(&e), tw.WriteEvent(&e)
			} else {
				c := Checkpoint{
					Tick: rapid.Uint64Max(5).Draw(t, "tick"), System: genName.Draw(t, "system"), Scope: genName.Draw(t, "scope"),
					Phase: Phase(rapid.IntRange(0, 1).Draw(t, "phase")), Sums: genSums.Draw(t, "sums"), HasCount: rapid.Bool().Draw(t, "counted"),
				}
				if c.HasCount {
					c.Count = rapid.Uint64().Draw(t, "count")
				}
				e1, e2 = w.WriteCheckpoint(&c), tw.WriteCheckpoint(&c)
			}
			if (e1 == nil) != (e2 == nil) {
				t.Fatalf("binary says %v, text %v", e1, e2)
			}
		}
		if err := errors.Join(w.Close(), tw.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := decodeText(binary.Bytes()); err != nil || got != text.String() {
			t.Fatalf("binary is decoded as\n%s (error %v), expected\n%s", got, err, text.String())
		}
		if got, err := encodeText(text.String()); err != nil || !bytes.Equal(got, binary.Bytes()) {
			t.Fatalf("text is encoded as\n%x (error %v), expected\n%x", got, err, binary.Bytes())
		}
	})
}

// list reads a trace and writes one line a record, malformed ones included.
func list(t testing.TB, content []byte, opts ReadOptions) string {
	t.Helper()
	r, err := NewReader(bytes.NewReader(content), "x", opts)
	if err != nil {
		return err.Error() + "\n"
	}
	defer r.Close()
	var out strings.Builder
	for {
		rec, err := r.Next()
		var syntax *SyntaxError
		switch {
		case err == io.EOF:
			return out.String()
		case errors.As(err, &syntax):
			fmt.Fprintf(&out, "%v\n", err)
		case err != nil:
			return out.String() + err.Error() + "\n"
		default:
			fmt.Fprintf(&out, "%d %s\n", rec.Pos.Line, appendPairs(nil, rec))
		}
	}
}

func TestGrammars(t *testing.T) {
	md5 := "0f7432d6615dab7803358bb94787223d"
	for _, test := range []struct {
		name, in, want string
		opts           ReadOptions
	}{
		{name: "any order, blanks, unknown keys", in: "  sum=a1 \t tick=3 took=0.3ms n=7 system=Fog\n", want: "1 tick=3 system=Fog n=7 sum=a1\n"},
		{name: "line ends mixed", in: "tick=1 sum=a\r\ntick=2 sum=b\n\r\ntick=3 sum=c", want: "1 tick=1 sum=a\n2 tick=2 sum=b\n4 tick=3 sum=c\n"},
		{name: "byte order mark", in: "\xef\xbb\xbftick=1 sum=a\n", want: "1 tick=1 sum=a\n"},
		{name: "quotes and escapes", in: "tick=1 system=\"a b\\x1b[0m\" sum=\"\\xff\"\n", want: "1 tick=1 system=\"a b\\x1b[0m\" sum=\"\\xff\"\n"},
		{name: "raw escapes are quoted", in: "tick=1 system=\xff\x7f sum=\xc3\xa9\n", want: "1 tick=1 system=\"\\xff\\x7f\" sum=é\n"},
		{name: "malformed lines", in: "tick=1 sum=a\ntick=2\ntick=x sum=a\nsum=b\nhello\ntick=1 tick=1 sum=a\ntick=1 sum=a sum=b\ntick=1 sum=\ntick=1 sum=\"\ntick=18446744073709551616 sum=a\ntick=2 sum=b\n",
			want: "1 tick=1 sum=a\nx:2: neither sum nor n\nx:3: tick=\"x\" is not in its range\nx:4: no tick\nx:5: \"hello\", expected key=value\nx:6: key tick a second time\n" +
				"x:7: sum \"\" a second time\nx:8: sum \"\" is empty\nx:9: \"\\\"\" is not a string in Go's notation\nx:10: tick=\"18446744073709551616\" is not in its range\n11 tick=2 sum=b\n"},
		{name: "events", in: "event=save tick=1 sum=a\nevent=save tick=1 at=3\nevent=nap tick=1\n", want: "1 event=save tick=1 sum=a\nx:2: save event with a key that it has no use for\nx:3: event=\"nap\" is not in its range\n"},
		{name: "like lines", in: "tick=1 system=A n=5 sum=aa\ntick=1 system=B sum=bb\ntick=2 system=A n=6 sum=cc\ntick=2 system=B sum=dd\ntick=3 system=A n=x sum=cc\ntick=3 system=B sum=\"e e\"\ntick=4 system=A n=7 sum=a sum.x=1\n",
			want: "1 tick=1 system=A n=5 sum=aa\n2 tick=1 system=B sum=bb\n3 tick=2 system=A n=6 sum=cc\n4 tick=2 system=B sum=dd\nx:5: n=\"x\" is not in its range\n6 tick=3 system=B sum=\"e e\"\n7 tick=4 system=A n=7 sum=a sum.x=1\n"},
		{name: "hashes", in: md5 + "\n\n# comment\n" + strings.ToUpper(md5) + "\nnone\n", want: "1 tick=1 sum=" + md5 + "\n4 tick=4 sum=" + strings.ToUpper(md5) + "\nx:5: \"none\", expected a checksum\n"},
		{name: "table with names, first column", in: "frame,host,client\n7,aa,bb\n8,,cc\n9,dd\n", want: "2 tick=7 sum=aa\nx:4: row of 1 checksums, expected 2\n"},
		{name: "table with names, second column", in: "frame,host,client\n7,aa,bb\n8,,cc\n", want: "2 tick=7 sum=bb\n3 tick=8 sum=cc\n", opts: ReadOptions{Column: 1}},
		{name: "row that was written twice", in: "tick,crc\n7,aa\n7,aa\n8,aa\n7,bb\n7,aa\n", want: "2 tick=7 sum=aa\n4 tick=8 sum=aa\n5 tick=7 sum=bb\n6 tick=7 sum=aa\n"},
		{name: "table of blanks with a note", in: "frame host\n1 aa\n2 bb <--- here\n", want: "2 tick=1 sum=aa\n3 tick=2 sum=bb\n"},
		{name: "table of blanks", in: "00000 " + md5 + "\n00001   " + md5 + "\n", want: "1 tick=0 sum=" + md5 + "\n2 tick=1 sum=" + md5 + "\n"},
		{name: "quoted table", in: "\"frame\";\"a\"\n1;\"aa\"\n", want: "2 tick=1 sum=aa\n"},
		{name: "pattern", in: "[12:00] beat 7 ok\n[12:01] Combat beat 8 checksum ab12 count 5\n", want: "2 tick=8 system=Combat n=5 sum=ab12\n",
			opts: ReadOptions{Pattern: regexp.MustCompile(`(?P<system>\w+) beat (?P<tick>\d+) checksum (?P<sum>[0-9a-f]+) count (?P<count>\d+)`)}},
		{name: "pattern without ticks", in: "hash aa rng bb\nnoise\nhash cc rng dd\n", want: "1 tick=1 sum=aa sum.rng=bb\n3 tick=2 sum=cc sum.rng=dd\n",
			opts: ReadOptions{Pattern: regexp.MustCompile(`hash (?P<sum>\w+) rng (?P<sum_rng>\w+)`)}},
		{name: "pattern without a sum", in: "a\n", want: "x: not a trace: the pattern has no group named sum\n", opts: ReadOptions{Pattern: regexp.MustCompile(`(?P<tick>\d+)`)}},
		{name: "empty", in: "", want: "x: not a trace: empty file\n"},
		{name: "binary file", in: "\x7fELF\x00\x00", want: "x: not a trace: binary file of another kind\n"},
		{name: "prose", in: "once upon a time\n", want: "x: not a trace: line \"once upon a time\" has no pairs of tick and sum, and is neither a checksum nor a row of a table; a pattern may find a checksum in it\n"},
		{name: "line after the end", in: "%desynctool trace 1\ntick=1 sum=a\n%end\ntick=2 sum=b\n", want: "2 tick=1 sum=a\nx:4: line after the end\n"},
		{name: "other version", in: "%desynctool trace 2\n", want: "x:1: \"%desynctool trace 2\", expected %desynctool trace 1\n"},
		{name: "seed twice", in: "%desynctool trace 1\n%seed 1\n%seed 2\n", want: "x:3: %seed a second time\n"},
	} {
		if got := list(t, []byte(test.in), test.opts); got != test.want {
			t.Errorf("%s: read as\n%s\nexpected\n%s", test.name, got, test.want)
		}
	}
}

// A line of any length is passed over in bounded memory.
func TestLongLine(t *testing.T) {
	in := io.MultiReader(strings.NewReader("tick=1 sum=a\ntick=2 sum="), io.LimitReader(endless('f'), 100<<20), strings.NewReader("\ntick=3 sum=c\n"))
	r, err := NewReader(in, "long", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprint(rec.Tick()))
	}
	if want := "1; long:2: line of more than 1048576 bytes; 3"; strings.Join(got, "; ") != want {
		t.Errorf("read %q, expected %q", got, want)
	}
	if len(r.win.own) > usual.window {
		t.Errorf("%d bytes of memory, expected at most %d", len(r.win.own), usual.window)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func pack(t testing.TB, name string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	switch name {
	case "gzip":
		w := gzip.NewWriter(&out)
		w.Write(content)
		w.Close()
	case "zstd":
		w, _ := zstd.NewWriter(&out)
		w.Write(content)
		w.Close()
	default: // of several blocks, then padding, then a second stream
		for i, part := range [][]byte{content[:len(content)/2], content[len(content)/2:]} {
			cmd := exec.Command("xz", "-c", "--block-size=1000", []string{"--check=crc64", "--check=sha256"}[i])
			cmd.Stdin = bytes.NewReader(part)
			packed, err := cmd.Output()
			if err != nil {
				t.Skipf("xz: %v", err)
			}
			out.Write(packed)
			out.Write(make([]byte, 4))
		}
	}
	return out.Bytes()
}

func TestPacked(t *testing.T) {
	effort.Whole(t)
	ticks := effort.Of(20, 50)
	content := textOf(session(ticks))
	want := list(t, content, ReadOptions{})
	for _, name := range []string{"gzip", "zstd", "xz"} {
		t.Run(name, func(t *testing.T) {
			packed := pack(t, name, content)
			if got := unpack.Packing(packed); got != name {
				t.Errorf("packed with %q, expected %q", got, name)
			}
			if got := list(t, packed, ReadOptions{}); got != want {
				t.Errorf("read as\n%s, expected\n%s", got, want)
			}
			if got := list(t, packed, ReadOptions{MaxUnpacked: 100}); !strings.Contains(got, "expands to more than 100 bytes") {
				t.Errorf("read as\n%.200s, expected a bound", got)
			}
			// Damage is never read as a trace that ends.
			for _, n := range []int{len(packed) / 2, len(packed) - 9} {
				if got := list(t, packed[:n], ReadOptions{}); !strings.Contains(got, "unexpected EOF") {
					t.Errorf("cut to %d bytes: read as\n%.200s, expected an unexpected end", n, got)
				}
			}
			path := filepath.Join(t.TempDir(), "a.txt."+name)
			if err := os.WriteFile(path, packed, 0o666); err != nil {
				t.Fatal(err)
			}
			traces, err := Open(files.Disk, path, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			res, err := Compare(append(traces, open(t, "b.txt", content)...), Options{})
			if err != nil || res.Diverged() || res.LastCompared.Number != uint64(ticks-1) || res.Traces[0].Packing != name {
				t.Errorf("result %+v, error %v, expected equal traces of %d ticks", res, err, ticks)
			}
		})
	}
	bomb := pack(t, "zstd", bytes.Repeat([]byte("tick=1 sum=a\n"), effort.Of(6<<20, 20<<20)))
	if got := list(t, bomb[:], ReadOptions{}); !strings.Contains(got, "limit stream-ratio is reached") {
		t.Errorf("read %d bytes as\n%.100s, expected a bound on the ratio", len(bomb), got)
	}
}

func FuzzReader(f *testing.F) {
	text, binary := specified(f)
	f.Add([]byte(text))
	f.Add(binary)
	f.Add([]byte("frame,a,b\n1,aa,bb\n"))
	f.Add([]byte("0f7432d6615dab78\n0f7432d6615dab79\n"))
	f.Add(pack(f, "gzip", []byte(text)))
	f.Add(pack(f, "xz", []byte(text)))
	f.Add([]byte("frame 7 checksum 1f2e\nframe 8 of Combat/Infantry, 40, checksum 2f2e\n"))
	f.Add([]byte("tick,\"a, b\",\"c\"\"d\"\n1,\"aa\",bb\n"))
	pattern := regexp.MustCompile(`frame (?P<tick>\d+)(?: of (?P<system>\w+)/(?P<scope>\w*))?(?:, (?P<count>\d+))?.* checksum (?P<sum>\w+)`)
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzReader(t, content, ReadOptions{MaxUnpacked: 1 << 20})
		fuzzReader(t, content, ReadOptions{MaxUnpacked: 1 << 20, Pattern: pattern})
	})
}

// fuzzReader reads anything as a trace, and writes what it is.
func fuzzReader(t *testing.T, content []byte, opts ReadOptions) {
	r, err := NewReader(bytes.NewReader(content), "fuzz", opts)
	if err != nil {
		return
	}
	defer r.Close()
	var out bytes.Buffer
	w, err := NewWriter(&out, r.Header())
	if err != nil {
		t.Fatalf("header %+v: %v", r.Header(), err)
	}
	for {
		rec, err := r.Next()
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			continue
		} else if err != nil {
			break
		}
		// What was read can be written, if sums have names that can.
		if rec.Event != nil {
			err = w.WriteEvent(rec.Event)
		} else {
			err = w.WriteCheckpoint(rec.Checkpoint)
		}
		if err != nil && !strings.Contains(err.Error(), "sum name") && !strings.Contains(err.Error(), "limit") {
			t.Fatalf("%s: %v", rec.Pos, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	first, err := decodeText(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := encodeText(first); err != nil || !bytes.Equal(again, out.Bytes()) {
		t.Fatalf("text\n%s\nis encoded as\n%x (error %v), expected\n%x", first, again, err, out.Bytes())
	}
}

// FuzzPairs holds the short way of reading a line against the long one.
func FuzzPairs(f *testing.F) {
	f.Add("tick=1 system=A n=5 sum=aa", "tick=2 system=A n=6 sum=bb")
	f.Add("tick=1 sum=aa", "tick=2 sum=\"b\"")
	f.Fuzz(func(t *testing.T, like, line string) {
		var short, long fields
		interned := new(names)
		for range 2 { // so that the memo follows itself
			_ = short.parse([]byte(like), interned)
		}
		e1, e2 := short.parse([]byte(line), interned), long.parsePairs([]byte(line), interned)
		if (e1 == nil) != (e2 == nil) {
			t.Fatalf("errors are %v and %v", e1, e2)
		}
		if e1 != nil {
			return
		}
		if got, want := fmt.Sprintf("%+v %v", short.c, short.event), fmt.Sprintf("%+v %v", long.c, long.event); got != want {
			t.Fatalf("read as\n%s\nexpected\n%s", got, want)
		}
	})
}

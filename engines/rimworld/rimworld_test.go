package rimworld

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/tracediff"
)

// list reads traces to their end: a line for each record, its details indented.
func list(t testing.TB, text, name string) (string, error) {
	t.Helper()
	s, err := Formats()[0].Read(strings.NewReader(text), name, 0)
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
		fmt.Fprintf(&b, "%d %s", c.Tick, c.Scope)
		for _, s := range c.Sums {
			fmt.Fprintf(&b, " %s=%s", s.Name, s.Value)
		}
		if c.HasCount {
			fmt.Fprintf(&b, " n=%d", c.Count)
		}
		fmt.Fprintf(&b, " line %d\n", rec.Pos.Line)
		for _, d := range c.Detail {
			fmt.Fprintf(&b, "  %s|%s\n", d.Text, d.Aside)
		}
	}
}

func unpacked(t testing.TB, change func(content map[string]string)) string {
	t.Helper()
	dir := t.TempDir()
	names, content := fixture()
	if change != nil {
		change(content)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func compare(t *testing.T, dir string) *tracediff.Result {
	t.Helper()
	f := Formats()[0]
	var traces []*tracediff.Trace
	var claims []*tracediff.ClaimLog
	for _, name := range []string{"local_traces.txt", "host_traces.txt"} {
		one, err := tracediff.OpenForeign(files.Disk, filepath.Join(dir, name), &f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, one...)
		log, err := tracediff.ReadClaims(files.Disk, filepath.Join(dir, name), &f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, log)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{Claims: claims})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCompare: the writer knows what it made: trace 63 is the first that differs, its rng
// does not, and the fifth frame is another one.
func TestCompare(t *testing.T) {
	r := compare(t, unpacked(t, nil))
	local, host := session(120, 63)
	if r.First == nil || r.First.Scope != "trace 63" || r.First.Tick.Number != uint64(local.list[63].tick) || r.First.Kind != tracediff.Changed {
		t.Fatalf("%+v", r.First)
	}
	if diff := cmp.Diff([]string{"hash"}, r.First.Sums); diff != "" {
		t.Errorf("sums that differ: %s", diff)
	}
	for i, side := range []peerTraces{local, host} {
		if got, want := r.First.Values[i].Sum("hash"), fmt.Sprint(side.list[63].hash); got != want {
			t.Errorf("hash %s, want %s", got, want)
		}
		if got, want := r.First.Values[i].Sum("rng"), fmt.Sprint(side.list[63].rng); got != want {
			t.Errorf("rng %s, want %s", got, want)
		}
	}
	if at, ok := tracediff.FirstOther([][]tracediff.Detail{r.First.Values[0].Detail, r.First.Values[1].Detail}); !ok || at != 5 {
		t.Errorf("details part at %d, %v: %v", at, ok, r.First.Values)
	}
	if !r.Bracket.Exact() || r.Bracket.Bad.Number != uint64(local.list[63].tick) {
		t.Errorf("bracket %+v", r.Bracket)
	}
	if r.Traces[0].Name != "local" || r.Traces[1].Name != "host" {
		t.Errorf("peers %s and %s", r.Traces[0].Name, r.Traces[1].Name)
	}
	h := r.Traces[0].Header
	if h.Build != "Multiplayer 0.11.0" || h.Meta["version"] != "1.6.4518 rev45" || h.Meta["os"] != "Linux 6.8 Example 24.04 64bit" || h.Meta["cpu"] != "Example CPU 3000" ||
		h.Meta["mods"] != "Harmony(brrainz.harmony)[mv:2.3.3.0], Core(Ludeon.RimWorld), Multiplayer(rwmt.Multiplayer), Example Mod(example.mod)" {
		t.Errorf("facts of the client: %+v", h)
	}
	if r.Traces[1].Header.Build != "" || len(r.Traces[1].Header.Meta) > 0 {
		t.Errorf("facts of the host, of whom no file is: %+v", r.Traces[1].Header)
	}
	if len(r.Claims) != 2 || r.Claims[0].Standing != tracediff.Borne || r.Claims[1].Standing != tracediff.Borne {
		t.Errorf("claims %+v", r.Claims)
	}
}

// TestLonger: all traces are equal, and one peer has more: its tick went on.
func TestLonger(t *testing.T) {
	local, host := session(120, 500)
	host.list = host.list[:110]
	r := compare(t, unpacked(t, func(content map[string]string) {
		content["local_traces.txt"] = "Note: traces differ in amount, but the existing ones are equal. This means that a tick has ended sooner on one of the connection sides\n\n" + local.text(109)
		content["host_traces.txt"] = host.text(109)
	}))
	if r.First == nil || r.First.Scope != "number of traces" || !r.First.Count || r.First.Values[0].Count != 120 || r.First.Values[1].Count != 110 {
		t.Fatalf("%+v", r.First)
	}
	if len(r.Claims) != 2 || r.Claims[1].HasTick || !strings.HasPrefix(r.Claims[1].Text, "traces differ in amount") {
		t.Errorf("claims %+v", r.Claims)
	}
}

// TestEqual: no trace differs, so the peers differ in what the mod does not trace.
func TestEqual(t *testing.T) {
	local, host := session(120, 500)
	host.list = host.list[:120-3]
	local.list = local.list[:120-3]
	r := compare(t, unpacked(t, func(content map[string]string) {
		content["local_traces.txt"] = "Note: trace hashes are equal between local and remote\n\n" + local.text(-1)
		content["host_traces.txt"] = host.text(-1)
	}))
	if r.First != nil || len(r.Claims) != 1 || r.Claims[0].HasTick {
		t.Errorf("%+v, claims %+v", r.First, r.Claims)
	}
}

// TestNone: the texts in place of traces that were not available.
func TestNone(t *testing.T) {
	for _, text := range []string{"No host traces", "Traces not available", "No traces (remote: 12, local: 0)"} {
		got, err := list(t, text, "host_traces.txt")
		if got != "" || err == nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		log, err := Formats()[0].Claims(strings.NewReader(text), "host_traces.txt")
		if err != nil || len(log.Claims) != 1 || log.Claims[0].Text != text {
			t.Errorf("%q: %+v, %v", text, log, err)
		}
	}
}

// paste is a file that was cut in its first stack, with methods patched at run time.
const paste = `Trace count: 1000
Trace of first desynced map random state:
200 Tick:500 Hash:-77 '450 Muffalo12 The People of 7 22 4 129 moved'
at Multiplayer.Client.Desyncs.DeferredStackTracing.Postfix () [0x00046] in <08a1>:0
at (wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition.Verse.Rand.get_Int_Patch1 () [0x00025] in <7d17>:0
at Verse.Rand.Range (int,int) [0x00017] in <cb53>:0
`

func TestPaste(t *testing.T) {
	got, err := list(t, paste, "paste.txt")
	want := `500 trace 200 hash=-77 rng=129 depth=4 line 3
  thing Muffalo12, faction The People of 7 22, game tick 450, moved|
  Multiplayer.Client.Desyncs.DeferredStackTracing.Postfix ()|[0x00046]
  Verse.Rand.get_Int ()|[0x00025]
  Verse.Rand.Range (int,int)|[0x00017]
  … the file has 3 of 4 frames|
500 number of traces n=1000 line 1
`
	if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, frame.ErrTorn) {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	log, err := Formats()[0].Claims(strings.NewReader(paste), "paste.txt")
	if err != nil || len(log.Claims) != 1 {
		t.Fatalf("%+v, %v", log, err)
	}
	c := log.Claims[0]
	if c.Tick != 500 || !c.HasTick || c.Pos.Line != 3 || !strings.HasPrefix(c.Detail[0].Text, "trace 200 of 1000: tick 500, hash -77") || len(c.Detail) != 6 {
		t.Errorf("%+v", c)
	}
}

func TestMalformed(t *testing.T) {
	const head = "Trace count: 3\nTrace of first desynced map random state:\n"
	for text, want := range map[string]struct {
		list string
		err  error
	}{
		"":                                    {"", frame.ErrUnrecognized},
		"x\n":                                 {"", frame.ErrUnrecognized},
		head:                                  {"", io.EOF},
		head + "1":                            {"", frame.ErrTorn},
		head + "x\n":                          {"! f:3: \"x\", expected a trace\n", io.EOF},
		"said:\n```\n7 Tick:1 Hash:2 'a b'\n": {"1 trace 7 hash=2 line 3\n  a b|\n", io.EOF},
		"\xef\xbb\xbf7 Tick:1 Hash:2 'a\nmore'\n": {"1 trace 7 hash=2 line 1\n  a|\n  more'|\n", io.EOF},
		"7 Tick:-1 Hash:2 'a'\n8 Tick:1 Hash:2 'a'\n": {
			"! f:1: tick -1, expected one from 0\n1 trace 8 hash=2 line 2\n  a|\n", io.EOF},
		"-7 Tick:1 Hash:2 'a'\n":                              {"! f:1: trace number -7, expected one from 0\n", io.EOF},
		"9999999999999999999 Tick:1 Hash:2 'a'\n":             {"! f:1: trace number 9999999999999999999, expected one from 0\n", io.EOF},
		"7 Tick:1 Hash:99999999999 'a'\n":                     {"! f:1: hash 99999999999, expected a number of 32 bits\n", io.EOF},
		"7 Tick:1 Hash:2 'a'\n7 Tick:1 Hash:2 'a'\n":          {"1 trace 7 hash=2 line 1\n  a|\n! f:2: trace 7 of tick 1 after trace 7 of tick 1\n", io.EOF},
		"7 Tick:5 Hash:2 'a'\n8 Tick:4 Hash:2 'a'\n":          {"5 trace 7 hash=2 line 1\n  a|\n! f:2: trace 8 of tick 4 after trace 7 of tick 5\n", io.EOF},
		"7 Tick:1 Hash:2 '1 A B 33 5 '\n":                     {"1 trace 7 hash=2 line 1\n  1 A B 33 5 |\n", io.EOF},
		"7 Tick:1 Hash:2 '1 A  0 5 '\n":                       {"1 trace 7 hash=2 rng=5 depth=0 line 1\n  thing A, faction none, game tick 1|\n", io.EOF},
		"7 Tick:1 Hash:2 'a'\nNull\n\nstray\n":                {"1 trace 7 hash=2 line 1\n  a|\n  a method without a name|\n! f:4: \"stray\", expected a trace\n", io.EOF},
		"7 Tick:1 Hash:2 '1 A B 99999 99999999999999999999 '": {"", frame.ErrTorn},
	} {
		got, err := list(t, text, "f")
		if !errors.Is(err, want.err) || got != want.list {
			t.Errorf("%q:\n%s%v\nwant\n%s%v", text, got, err, want.list, want.err)
		}
	}
}

// TestTruncated cuts a file at every byte: the whole traces equal the traces of the file, and a file that is cut inside
// its last trace is reported as cut.
func TestTruncated(t *testing.T) {
	_, content := fixture()
	text := content["host_traces.txt"]
	whole, err := list(t, text, "host_traces.txt")
	if err != io.EOF {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	at := regexp.MustCompile(` line \d+\n$`) // the first that differs appears twice
	for line := range strings.Lines(whole) {
		seen[at.ReplaceAllString(line, "")] = true
	}
	for n := 0; n < len(text); n += effort.Of(11, 1) {
		got, err := list(t, text[:n], "host_traces.txt")
		if err == nil || errors.Is(err, frame.ErrCorrupt) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		for line := range strings.Lines(got) {
			if !seen[at.ReplaceAllString(line, "")] && !strings.HasPrefix(line, "  … the file has ") && !strings.HasPrefix(line, "!") {
				t.Fatalf("cut at %d: %s", n, line)
			}
		}
	}
}

// TestMany: so many traces are not read to the end, nor held.
func TestMany(t *testing.T) {
	pr, pw := io.Pipe()
	go func() {
		for i := range maxTraces + 10 {
			if _, err := fmt.Fprintf(pw, "%d Tick:1 Hash:2 'a b'\n", i); err != nil {
				return
			}
		}
		pw.Close()
	}()
	s, err := Formats()[0].Read(pr, "many", 0)
	n := 0
	for ; err == nil; n++ {
		_, err = s.Next()
	}
	pr.Close()
	if !errors.Is(err, frame.ErrCorrupt) || n != maxTraces+1 {
		t.Errorf("%d records, %v", n, err)
	}
}

// TestManyFrames: a stack of any length is bounded, and its details fit.
func TestManyFrames(t *testing.T) {
	got, err := list(t, "7 Tick:1 Hash:2 'a'\n"+strings.Repeat("at x ()\n", 10_000), "f")
	if err != io.EOF || strings.Count(got, "  x ()|\n") != tracediff.MaxDetails-2 || !strings.Contains(got, "… and 9746 more lines") {
		t.Errorf("%.300s\n%v", got, err)
	}
}

func TestSniff(t *testing.T) {
	_, content := fixture()
	f := Formats()[0]
	for _, name := range []string{"local_traces.txt", "host_traces.txt"} {
		if !f.Sniff([]byte(content[name][:tracediff.SniffLen])) {
			t.Errorf("%s is not recognised", name)
		}
	}
	for _, text := range []string{"", "Trace count: 7\n", content["desync_info"], content["local_metadata.txt"], content["local_jitted_methods.txt"], "tick=1 sum=0x00\n"} {
		if f.Sniff([]byte(text)) {
			t.Errorf("%.60q is recognised", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	_, content := fixture()
	f.Add(content["host_traces.txt"])
	f.Add(content["local_traces.txt"])
	f.Add(paste)
	f.Add("No host traces")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := list(t, text, "host_traces.txt")
		again, err2 := list(t, text, "host_traces.txt")
		if got != again || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("%s%v\n%s%v", got, err, again, err2)
		}
		log, err := Formats()[0].Claims(strings.NewReader(text), "host_traces.txt")
		if err == nil && len(log.Claims) > 1 {
			t.Errorf("%+v", log.Claims)
		}
		s, err := Formats()[0].Read(strings.NewReader(text), "x", 0)
		if err != nil {
			return
		}
		var twin bytes.Buffer
		if err := tracediff.WriteSource(&twin, s); err != nil && !errors.As(err, new(*frame.Error)) && !errors.As(err, new(*tracediff.SyntaxError)) {
			t.Errorf("%v", err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	local, _ := session(20_000, 10_000)
	local.radius = 20_000
	text := local.text(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Formats()[0].Read(strings.NewReader(text), "x", 0)
		for err == nil {
			_, err = s.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

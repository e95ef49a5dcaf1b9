package golden_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// entries are replays with different digests of their golden traces.
func entries(n int) (list []golden.Entry) {
	for i := range n {
		list = append(list, golden.Entry{Name: fmt.Sprint("r", i), Manifest: &golden.Manifest{Log: "log", Trace: golden.Digest{byte(i)}, To: 100, Every: 1, Platform: "x"}})
	}
	return list
}

// drawRun draws a check of some of the replays.
func drawRun(t *rapid.T, list []golden.Entry) golden.Run {
	r := golden.Run{Platform: rapid.SampledFrom([]string{"linux/amd64", "linux/arm64", "windows/amd64", "pi"}).Draw(t, "platform")}
	r.Build.Build = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "build")
	if compiler := rapid.SampledFrom([]string{"", "gcc 13", "clang 17"}).Draw(t, "compiler"); compiler != "" {
		r.Facts = map[string]string{"compiler": compiler}
	}
	for i, e := range list {
		if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
			continue
		}
		digest := e.Manifest.Trace
		if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
			digest[31] = 9
		}
		o := golden.Outcome{Replay: e.Name, Golden: &digest, Ticks: 100}
		switch o.Result = rapid.SampledFrom([]golden.Result{golden.Same, golden.Same, golden.Diverged, golden.NotPlayed, golden.Unusable}).Draw(t, "result"); o.Result {
		case golden.Diverged:
			tick := uint64(rapid.IntRange(1, 3).Draw(t, "tick"))
			equal := tick - 1
			o.First = &golden.First{Tick: &tick, Differs: &tick, Equal: &equal, Expected: "00", Got: fmt.Sprint(i)}
		case golden.NotPlayed, golden.Unusable:
			o.Why = "why"
		}
		r.Replays = append(r.Replays, o)
	}
	return r
}

// TestMergeOrder: the same runs in any order, some of them twice, give the same table, and so does a table that is
// written, read and merged again.
func TestMergeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := entries(rapid.IntRange(1, 4).Draw(t, "replays"))
		var runs []golden.Run
		for range rapid.IntRange(1, 6).Draw(t, "runs") {
			runs = append(runs, drawRun(t, list))
		}
		want := golden.Merge(list, runs)
		again := slices.Concat(runs, runs[:rapid.IntRange(0, len(runs)).Draw(t, "twice")])
		for i := len(again) - 1; i > 0; i-- {
			k := rapid.IntRange(0, i).Draw(t, "swap")
			again[i], again[k] = again[k], again[i]
		}
		if got := golden.Merge(list, again); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order gives\n%+v\nnot\n%+v", got, want)
		}
		var doc, second bytes.Buffer
		if err := document.Golden(want).JSON(&doc); err != nil {
			t.Fatal(err)
		}
		read, err := golden.ParseResults(doc.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, &doc)
		}
		if err := document.Golden(golden.Merge(list, read)).JSON(&second); err != nil || !bytes.Equal(doc.Bytes(), second.Bytes()) {
			t.Fatalf("read and merged again it is\n%s\nnot\n%s", &second, &doc)
		}
		count(t, list, runs, want)
	})
}

// count compares a table with a count of the runs, one by one.
func count(t *rapid.T, list []golden.Entry, runs []golden.Run, table *golden.Table) {
	diverged := map[string]bool{}
	for _, r := range runs {
		for _, o := range r.Replays {
			e := list[slices.IndexFunc(list, func(e golden.Entry) bool { return e.Name == o.Replay })]
			if o.Result == golden.Diverged && *o.Golden == e.Manifest.Trace {
				diverged[o.Replay] = true
			}
		}
	}
	if len(diverged) != len(table.Broken) || table.Diverged() != (len(diverged) > 0) {
		t.Fatalf("%v diverged, the table has %+v", diverged, table.Broken)
	}
	for _, b := range table.Broken {
		if !diverged[b.Replay] {
			t.Fatalf("%s did not diverge", b.Replay)
		}
		// Each property that is said to be common is, and the others are counted.
		for _, c := range b.Common {
			n := [2]int{}
			for i, side := range [][]int{b.Runs, b.Held} {
				for _, k := range side {
					if property(&table.Runs[k], c.Name) == c.Value {
						n[i]++
					}
				}
			}
			if n[0] != len(b.Runs) || n[1] != c.Same || c.Same+c.Other+c.Unknown != len(b.Held) || c.Other == 0 {
				t.Fatalf("%+v of %+v", c, b)
			}
		}
		for _, name := range []string{"platform", "os", "arch", "build", "compiler"} {
			shared, other := property(&table.Runs[b.Runs[0]], name), false
			for _, k := range b.Runs {
				if property(&table.Runs[k], name) != shared {
					shared = ""
				}
			}
			for _, k := range b.Held {
				if value := property(&table.Runs[k], name); value != "" && value != shared {
					other = true
				}
			}
			said := slices.ContainsFunc(b.Common, func(c golden.Common) bool { return c.Name == name })
			if said != (shared != "" && other) {
				t.Fatalf("%s is common: %v, said: %v in %+v", name, shared, said, b)
			}
		}
	}
}

// property is one property of a run.
func property(r *golden.Run, name string) string {
	os, arch, split := strings.Cut(r.Platform, "/")
	platform := ""
	if !split {
		os, platform = "", r.Platform
	}
	return map[string]string{"platform": platform, "os": os, "arch": arch, "build": r.Build.Build, "compiler": r.Facts["compiler"]}[name]
}

// TestResults: files with results are found by what they are, and one that is damaged is named.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	list := entries(1)
	digest := list[0].Manifest.Trace
	run := golden.Run{Platform: "linux/amd64", Replays: []golden.Outcome{{Replay: "r0", Golden: &digest, Result: golden.Same, Ticks: 100}}}
	run.Build.Build = "v1 (debug)"
	var doc bytes.Buffer
	if err := document.Golden(golden.Merge(list, []golden.Run{run})).JSON(&doc); err != nil {
		t.Fatal(err)
	}
	if name := golden.ResultsName(&run); name != "linux-amd64-v1--debug-.json" {
		t.Error(name)
	}
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a/linux.json", doc.Bytes())
	write("b/other.json", []byte(`{"schema": "desynctool.triage/1"}`))
	write("b/notes.txt", []byte("{"))
	runs, unread, err := golden.ReadResults([]string{dir})
	if err != nil || len(runs) != 1 || len(unread) != 0 || !reflect.DeepEqual(runs[0], run) {
		t.Fatalf("%v %v %+v", err, unread, runs)
	}
	write("c/torn.json", doc.Bytes()[:doc.Len()/2])
	write("c/twice.json", slices.Concat(doc.Bytes(), doc.Bytes()))
	if runs, unread, err = golden.ReadResults([]string{dir}); err != nil || len(runs) != 1 || len(unread) != 2 || !strings.Contains(unread[0], "torn.json: not results of golden check") || !strings.Contains(unread[1], "expected the end of the document") {
		t.Errorf("%v %q %d", err, unread, len(runs))
	}
	for _, path := range []string{filepath.Join(dir, "none"), t.TempDir()} {
		if _, _, err := golden.ReadResults([]string{path}); err == nil {
			t.Errorf("%s is read", path)
		}
	}
	for _, change := range [][2]string{
		{`"same"`, `"fine"`}, {`"same"`, `"diverged"`}, {`"linux/amd64"`, `""`}, {`golden/1`, `golden/2`}, {`"golden": "00`, `"golden": "zz`}, {`"runs": [`, `"runs": [], "more": [`},
	} {
		if !bytes.Contains(doc.Bytes(), []byte(change[0])) {
			t.Fatalf("no %s in\n%s", change[0], &doc)
		}
		if _, err := golden.ParseResults(bytes.ReplaceAll(doc.Bytes(), []byte(change[0]), []byte(change[1]))); err == nil {
			t.Errorf("%q is read", change)
		}
	}
}

// TestResultsMemory: results take memory in proportion to what is right in them.
func TestResultsMemory(t *testing.T) {
	const n = 1 << 20
	for _, list := range []string{`"runs": [%s{}]`, `"runs": [{"platform": "x", "replays": [%s{}]}]`} {
		doc := fmt.Appendf(nil, `{"schema": "desynctool.golden/1", `+list+`}`, strings.Repeat("{},", n))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := golden.ParseResults(doc); err == nil {
			t.Error("it is read")
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 10*uint64(len(doc)) {
			t.Errorf("%d bytes for a document of %d", took, len(doc))
		}
	}
}

// sample is a manifest with all that one can have.
var sample = "desynctool golden 1\nlog \"order-log.bin\"\nlog-sha256 " + strings.Repeat("0f", 32) + "\ntrace-sha256 " + strings.Repeat("a0", 32) +
	"\npoints 10 300\nevery 3\nsystems yes\nstart 0011223344556677\nplatform \"linux/amd64\"\ngame \"refsim\"\nbuild \"1 \\\"x\\\"\"\nfact \"compiler\" \"clang 17\"\nfact \"os\" \"\\x1b\"\n"

// TestManifest: every line of a manifest has one form.
func TestManifest(t *testing.T) {
	m, err := golden.ParseManifest([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	start := merkle.Short{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}
	if m.Log != "order-log.bin" || m.LogDigest[0] != 0x0f || m.Trace[0] != 0xa0 || m.From != 10 || m.To != 300 || m.Every != 3 || !m.Systems || *m.Start != start ||
		m.Platform != "linux/amd64" || m.Game != "refsim" || m.Build.Build != `1 "x"` || len(m.Facts) != 2 || m.Facts["os"] != "\x1b" {
		t.Errorf("%+v", m)
	}
	if got := string(m.Format()); got != sample {
		t.Errorf("written again it is\n%s", got)
	}
	if windows, err := golden.ParseManifest([]byte(strings.ReplaceAll(sample, "\n", "\r\n"))); err != nil || !reflect.DeepEqual(windows, m) {
		t.Errorf("with the lines of Windows: %v", err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"golden 1\n", "golden 2\n", `line 1: expected "desynctool golden 1"`},
		{`"order-log.bin"`, `"../order-log.bin"`, "line 2: "},
		{`"order-log.bin"`, `"golden.txt"`, "line 2: "},
		{`"order-log.bin"`, "`order-log.bin`", "line 2: "},
		{`"order-log.bin"`, `"order-log.bin" x`, `line 2: "x": expected the end of the line`},
		{"0f0f", "0F0F", "line 3: "},
		{"0f0f", "0f", "line 3: "},
		{"10 300", "300 10", "line 5: "},
		{"10 300", "010 300", "line 5: "},
		{"10 300", "10 99999999999999999999", "line 5: "},
		{"every 3", "every 0", "line 6: "},
		{"systems yes", "systems maybe", "line 7: "},
		{"start 00", "start 0", "line 8: "},
		{"platform", "place", `line 9: expected "platform"`},
		{`game "refsim"`, `game ""`, "line 10: "},
		{`"os" `, `"a" `, "line 13: "},
		{"fact \"os\"", "more \"os\"", "line 13: "},
		{"\"\\x1b\"\n", "\"\\x1b\"", "line 13 breaks off"},
	} {
		if strings.Count(sample, c.from) == 0 {
			t.Fatalf("no %q", c.from)
		}
		if _, err := golden.ParseManifest([]byte(strings.Replace(sample, c.from, c.to, 1))); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, want %s", c.to, c.from, err, c.want)
		}
	}
}

// FuzzManifest: a manifest that is read is written again in the same bytes.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(strings.ReplaceAll(sample, "\n", "\r\n")))
	f.Add([]byte("desynctool golden 1\nlog \"x\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := golden.ParseManifest(text)
		if err != nil {
			return
		}
		if got := m.Format(); !bytes.Equal(got, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))) {
			t.Errorf("%q is written as %q", text, got)
		}
	})
}

// FuzzResults: results that are read can be merged, and shown.
func FuzzResults(f *testing.F) {
	digest := golden.Digest{}
	tick := uint64(3)
	run := golden.Run{Platform: "linux/amd64", Replays: []golden.Outcome{{Replay: "r0", Golden: &digest, Result: golden.Diverged, Ticks: 100, First: &golden.First{Tick: &tick}}}}
	var doc bytes.Buffer
	if err := document.Golden(golden.Merge(entries(1), []golden.Run{run})).JSON(&doc); err != nil {
		f.Fatal(err)
	}
	f.Add(doc.Bytes())
	f.Add([]byte(`{"schema": "desynctool.golden/1", "runs": [{"platform": "x", "replays": null}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		runs, err := golden.ParseResults(b)
		if err != nil {
			return
		}
		table := golden.Merge(entries(2), slices.Concat(runs, runs))
		var out bytes.Buffer
		if err := document.Golden(table).Text(&out, document.NewStyle(false), true); err != nil {
			t.Fatal(err)
		}
		if err := document.GoldenMarkdown(&out, table); err != nil {
			t.Fatal(err)
		}
	})
}

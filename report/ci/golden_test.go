package ci

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"

	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/report/document"
)

var goldenFormats = []struct {
	name  string
	write func(io.Writer, *golden.Table) error
	check func(t *testing.T, out []byte)
}{
	{"junit", JUnitOfGolden, func(t *testing.T, out []byte) { checkSuites(t, out) }}, {"github", GitHubOfGolden, checkGitHub}, {"markdown", document.GoldenMarkdown, checkMarkdown},
	{"text", func(w io.Writer, t *golden.Table) error {
		return document.Golden(t).Text(w, document.NewStyle(false), true)
	}, printable},
	{"json", func(w io.Writer, t *golden.Table) error { return document.Golden(t).JSON(w) }, printable},
}

// goldenTable is what so many replays come to on so many platforms, where every text is that one.
func goldenTable(replays, runs int, text string) *golden.Table {
	var entries []golden.Entry
	for i := range replays {
		entries = append(entries, golden.Entry{Name: fmt.Sprint(i, text), Manifest: &golden.Manifest{To: 100}})
	}
	var list []golden.Run
	for i := range runs {
		r := golden.Run{Platform: fmt.Sprint(text, i%5), Build: golden.Build{Game: text, Build: fmt.Sprint(i%3, text), Facts: map[string]string{text: fmt.Sprint(i%2, text)}}}
		for k := range replays {
			o := golden.Outcome{Replay: entries[k].Name, Golden: &golden.Digest{}, Ticks: 100, Result: []golden.Result{golden.Same, golden.Diverged, golden.NotPlayed, golden.Unusable}[(i+k)%4], Why: text}
			if tick := uint64(k); o.Result == golden.Diverged {
				o.Why, o.First, o.Again = "", &golden.First{Tick: &tick, Equal: &tick, Differs: &tick, System: text, Expected: text, Got: text}, golden.AgainOther
			}
			r.Replays = append(r.Replays, o)
		}
		list = append(list, r)
	}
	t := golden.Merge(entries, list)
	t.Unread = append(t.Unread, text)
	return t
}

// TestGoldenHostile writes golden replays with hostile text everywhere, and many of them.
func TestGoldenHostile(t *testing.T) {
	tables := map[string]*golden.Table{"none": golden.Merge(nil, nil), "many": goldenTable(60, 12, "a|<b>@c")}
	for _, text := range hostile {
		tables[fmt.Sprintf("%.40q", text)] = goldenTable(2, 3, text)
	}
	for name, table := range tables {
		for _, f := range goldenFormats {
			if f.name == "junit" && len(table.Runs) == 0 && len(table.Unread) == 0 {
				continue // a document without any suite
			}
			var out, again bytes.Buffer
			if err := f.write(&out, table); err != nil {
				t.Fatal(err)
			}
			f.check(t, out.Bytes())
			if err := f.write(&again, table); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
				t.Errorf("%s of %s: other bytes the second time", f.name, name)
			}
			if t.Failed() {
				t.Fatalf("%s of %s: see above", f.name, name)
			}
		}
	}
}

// TestGoldenCounts compares the tests of JUnit with the outcomes.
func TestGoldenCounts(t *testing.T) {
	table := goldenTable(7, 4, "x")
	table.Unread = nil
	var out bytes.Buffer
	if err := JUnitOfGolden(&out, table); err != nil {
		t.Fatal(err)
	}
	var doc element
	if err := xml.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	failed, broken, tests := 0, 0, 0
	for i, suite := range doc.named("testsuite") {
		for k, c := range suite.named("testcase") {
			tests++
			failed, broken = failed+len(c.named("failure")), broken+len(c.named("error"))
			result := table.Runs[i].Replays[k].Result
			if got := len(c.named("failure")) == 1; got != (result == golden.Diverged) {
				t.Errorf("run %d, replay %d is %s, and fails: %v", i, k, result, got)
			}
		}
	}
	// Each of the four results in turn, in 28 outcomes.
	if tests != 28 || failed != 7 || broken != 14 {
		t.Errorf("%d tests, %d failures, %d errors", tests, failed, broken)
	}
	for _, name := range []string{"tests", "failures", "errors"} {
		if got, _ := doc.attr(name); got != map[string]string{"tests": "28", "failures": "7", "errors": "14"}[name] {
			t.Errorf("%s=%s", name, got)
		}
	}
	out.Reset()
	if err := JUnitOfGoldenFailed(&out, "a\n]]>"); err != nil {
		t.Fatal(err)
	}
	checkSuites(t, out.Bytes())
}

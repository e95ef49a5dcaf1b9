package engines_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

// TestScanEach compares one reading for all with a reading for each, over logs with messages of several engines next to
// and inside each other.
func TestScanEach(t *testing.T) {
	paths, err := filepath.Glob(folder + "/*.log")
	if err != nil || len(paths) == 0 {
		t.Fatal("no logs", err)
	}
	var parts []string
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			parts = append(parts, line)
		}
	}
	for _, e := range engines.Messages() {
		for _, f := range e.Forms {
			parts = append(parts, f.Literal)
		}
	}
	same := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".TickName" || p.Last().String() == ".Detail" }, cmp.Ignore())
	rapid.Check(t, func(t *rapid.T) {
		var text bytes.Buffer
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			part := rapid.SampledFrom(parts).Draw(t, "part")
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				part = part[:rapid.IntRange(0, len(part)).Draw(t, "length")]
			}
			text.WriteString(part)
			if rapid.IntRange(0, 15).Draw(t, "far") == 0 {
				text.WriteString(strings.Repeat(filler, rapid.IntRange(0, 1).Draw(t, "on")*textsearch.WindowSize/len(filler)))
			}
		}
		all, each, err := messages.ScanEach(iotest.HalfReader(bytes.NewReader(text.Bytes())), "x", engines.Messages())
		if err != nil {
			t.Fatal(err)
		}
		check := func(name string, got *tracediff.ClaimLog, by func() (*tracediff.ClaimLog, error)) {
			want, err := by()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got, same); d != "" {
				t.Fatalf("%s of %q:\n%s", name, text.String(), d)
			}
		}
		check("all", all, func() (*tracediff.ClaimLog, error) { return scan(bytes.NewReader(text.Bytes()), "x") })
		for _, f := range engines.Messages() {
			check(f.Name, each[f.Name], func() (*tracediff.ClaimLog, error) { return f.Read(bytes.NewReader(text.Bytes()), "x") })
		}
	})
}

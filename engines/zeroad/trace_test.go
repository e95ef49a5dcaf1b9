package zeroad

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

const folder = "../../testdata/0ad/replay_output"

func traceContent(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// compare compares the two sides of an output.
func traceCompare(t *testing.T, path string) *tracediff.Result {
	t.Helper()
	format := Formats()[0]
	list, err := tracediff.OpenForeign(files.Disk, path, &format, tracediff.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Name != tracediff.FirstRun || list[1].Name != tracediff.SecondRun {
		t.Fatalf("traces %v, expected the first and the second run", list)
	}
	res, err := tracediff.Compare(list, tracediff.Options{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestTruth: with faster spearmen the first 17 turns are as recorded, the other 153
// are not.
func TestTraceTruth(t *testing.T) {
	res := traceCompare(t, filepath.Join(folder, "modded.stdout.log.gz"))
	if d := res.First; d == nil || d.Tick.Number != 17 || d.Scope != QuickScope ||
		d.Values[0].Sum("") != "9b53ffb1272d1be2d5735193fcedf2da" || d.Values[1].Sum("") != "35f00bbbe0ae79b5e4dd37d4a6538235" || d.Values[0].Pos.Line != 55 {
		t.Errorf("first %+v", d)
	}
	if res.Changed != 153 || res.Missing != 0 || res.LastDiffering.Number != 169 || res.Bracket == nil || !res.Bracket.Exact() {
		t.Errorf("%d differ, %d missing, last at %s, bracket %+v", res.Changed, res.Missing, res.LastDiffering, res.Bracket)
	}
	for _, info := range res.Traces {
		if !info.Ended || info.First.Number != 0 || info.Last.Number != 169 || info.Trouble != "" {
			t.Errorf("trace %+v", info)
		}
	}
	if res := traceCompare(t, filepath.Join(folder, "stock.stdout.log.gz")); res.Diverged() || res.LastCompared.Number != 169 {
		t.Errorf("first %+v, compared up to %s", res.First, res.LastCompared)
	}
}

func TestTraceSniff(t *testing.T) {
	for _, name := range []string{"modded.stdout.log.gz", "stock.stdout.log.gz"} {
		if head := traceContent(t, name)[:tracediff.SniffLen]; !traceSniff([]byte(head)) {
			t.Errorf("%s is not recognised", name)
		}
	}
	for _, text := range []string{
		"", "Turn 0 (200)...\n", "hash ok (aa)\n", "Turn 0 (200)...\nother\nhash ok (aa)\n",
		"start {\"settings\":{}}\nturn 0 200\nend\nhash aa\n", "Turn x (200)...\nhash ok (aa)\n", "Turn 0 (200)...\nhash ok (AA)\n",
	} {
		if traceSniff([]byte(text)) {
			t.Errorf("%q is taken for one", text)
		}
	}
	if !traceSniff([]byte("Turn 0 (200)...\r\nhash ok (aa)\r\n")) {
		t.Error("lines that end with CR LF are not recognised")
	}
}

// list reads one side and returns its records, one a line, and how it ends.
func list(text string, side int) (string, error) {
	source, err := Formats()[0].Read(strings.NewReader(text), "out", side)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		rec, err := source.Next()
		var syntax *tracediff.SyntaxError
		if errors.As(err, &syntax) {
			fmt.Fprintln(&b, err)
			continue
		}
		if err != nil {
			return b.String(), err
		}
		c := rec.Checkpoint
		fmt.Fprintf(&b, "line %d: %d %s %s\n", rec.Pos.Line, c.Tick, c.Scope, c.Sums[0].Value)
	}
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       [2]string
		err        error
	}{
		{"whole", "Turn 0 (200)...\nhash ok (aa)\nTIMER| x\nTurn 1 (200)...\nhash-quick MISMATCH (bb != cc)\n# Final state: dd\n",
			[2]string{"line 2: 0  aa\nline 5: 1 hash-quick cc\n", "line 2: 0  aa\nline 5: 1 hash-quick bb\n"}, io.EOF},
		{"breaks off", "Turn 0 (200)...\nhash ok (aa)\nTurn 1 (200)...\n", [2]string{"line 2: 0  aa\n", "line 2: 0  aa\n"}, frame.ErrTorn},
		{"cut", "Turn 0 (200)...\nhash ok (aa)\nTurn 1 (200)...\nhash ok (b", [2]string{"line 2: 0  aa\n", "line 2: 0  aa\n"}, frame.ErrTorn},
		{"a turn is hurt", "Turn 0 (200)...\nhash ok (aa)\nTurn \x00 (200)...\nhash ok (bb)\n# Final state: dd\n",
			[2]string{
				"line 2: 0  aa\nout:3: \"Turn \\x00 (200)...\", expected a turn or the hashes of one\nout:4: a hash without a turn before it\n",
				"line 2: 0  aa\nout:3: \"Turn \\x00 (200)...\", expected a turn or the hashes of one\nout:4: a hash without a turn before it\n",
			}, io.EOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			for side, want := range test.want {
				got, err := list(test.text, side)
				if got != want || !errors.Is(err, test.err) {
					t.Errorf("side %d: error %v and\n%s\nexpected %v and\n%s", side, err, got, test.err, want)
				}
			}
		})
	}
}

func FuzzTraceReader(f *testing.F) {
	f.Add("Turn 0 (200)...\nhash ok (aa)\nTurn 1 (200)...\nhash-quick MISMATCH (bb != cc)\n# Final state: dd\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, errA := list(text, 0)
		b, errB := list(text, 1)
		if strings.Count(a, "\n") != strings.Count(b, "\n") || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("sides of one output are\n%s (%v)\n%s (%v)", a, errA, b, errB)
		}
	})
}

package openrct2

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	folder = "../../testdata/openrct2"

	report    = "desync_1749630000_17779466.txt"
	generator = "desync_1749630100_17779980.txt" // no sprite differs
	apart     = "desync_1749630200_17779466.txt" // of different ticks
	old       = "desync_1571432100_17779466.txt"
	replay    = "replay_desync_5000.txt" // written on Windows
)

func content(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// list reads one side to its end and returns its records, one a line, and the
// error at the end.
func list(t testing.TB, text, name string, side int) (string, error) {
	t.Helper()
	s, err := Formats()[0].Read(strings.NewReader(text), name, side)
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
		fmt.Fprintf(&b, "%d %q %q line %d at %d", c.Tick, c.System, c.Scope, rec.Pos.Line, rec.Pos.Offset)
		for _, s := range c.Sums {
			fmt.Fprintf(&b, " %s=%s", s.Name, s.Value)
		}
		if c.HasCount {
			fmt.Fprintf(&b, " n=%d", c.Count)
		}
		b.WriteByte('\n')
	}
}

func TestSides(t *testing.T) {
	for _, c := range []struct {
		name string
		want [2]string
	}{
		{report, [2]string{
			`17779466 "" "srand0" line 2 at 44 =0x815228cb
17779466 "" "Guest 4" line 3 at 92 EntityBase::x=0x00000140 Peep::StepProgress=0x02 Peep::PathfindHistory[@316].x=0x0020 Peep::PathfindHistory[@324].x=0x0020 Guest::ItemFlags=0x0123456789abcdef
17779466 "" "Vehicle 57" line 9 at 634 Vehicle::colours=0x0102030405060708
17779466 "" "Misc: Steam Particle 1020" line 11 at 774 n=0
17779466 "" "Litter 1021" line 12 at 823 n=1
`, `17779466 "" "srand0" line 2 at 44 =0x3f0a11d2
17779466 "" "Guest 4" line 3 at 92 EntityBase::x=0xffffffec Peep::StepProgress=0x03 Peep::PathfindHistory[@316].x=0x0021 Peep::PathfindHistory[@324].x=0x0022 Guest::ItemFlags=0x0123456789abcdee
17779466 "" "Vehicle 57" line 9 at 634 Vehicle::colours=0x0102030405060709
17779466 "" "Misc: Steam Particle 1020" line 11 at 774 n=1
17779466 "" "Litter 1021" line 12 at 823 n=0
`}},
		{old, [2]string{
			`17779466 "" "srand0" line 2 at 15 =0x815228cb
17779466 "" "Misc: Steam Particle 943" line 3 at 63 rct_sprite_common::next_in_quadrant=0xffff
17779466 "" "Misc: Steam Particle 1020" line 5 at 233 n=0
`, `17779466 "" "srand0" line 2 at 15 =0x815228cb
17779466 "" "Misc: Steam Particle 943" line 3 at 63 rct_sprite_common::next_in_quadrant=0x03fc
17779466 "" "Misc: Steam Particle 1020" line 5 at 233 n=1
`}},
		{replay, [2]string{
			`5000 "" "srand0" line 2 at 45 =0x00000001
5000 "" "Staff 12" line 3 at 94 Staff::StaffMowingTimeout=0x07
`, `5000 "" "srand0" line 2 at 45 =0x00000001
5000 "" "Staff 12" line 3 at 94 Staff::StaffMowingTimeout=0x08
`}},
	} {
		for side, want := range c.want {
			got, err := list(t, content(t, c.name), c.name, side)
			if err != io.EOF {
				t.Errorf("%s: ends with %v", c.name, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, side %d (-want +got):\n%s", c.name, side, diff)
			}
		}
	}
}

// compare compares the two sides of a report as the program does.
func compare(t *testing.T, name string) *tracediff.Result {
	t.Helper()
	f := Formats()[0]
	traces, err := tracediff.OpenForeign(files.Disk, filepath.Join(folder, name), &f, tracediff.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestCompare(t *testing.T) {
	for name, want := range map[string]struct{ peers, first, all string }{
		report:    {"server client", "srand0", "srand0, Guest 4, Vehicle 57, Misc: Steam Particle 1020, Litter 1021"},
		generator: {"server client", "srand0", "srand0"},
		old:       {"server client", "Misc: Steam Particle 1020", "Misc: Steam Particle 1020"},
		replay:    {"first run second run", "Staff 12", "Staff 12"},
	} {
		res := compare(t, name)
		if got := res.Traces[0].Name + " " + res.Traces[1].Name; got != want.peers {
			t.Errorf("%s: peers %s, want %s", name, got, want.peers)
		}
		if res.First == nil || res.First.Scope != want.first {
			t.Errorf("%s: first difference %+v, want %s", name, res.First, want.first)
			continue
		}
		var all []string
		for _, c := range res.Cascade {
			all = append(all, c.Scope)
		}
		if got := strings.Join(all, ", "); got != want.all {
			t.Errorf("%s: differs in %s, want %s", name, got, want.all)
		}
	}
}

// TestLinks has reports in which links of lists differ, which is noise: counted, and no difference.
func TestLinks(t *testing.T) {
	res := compare(t, old)
	if len(res.Noise) != 1 || res.Noise[0].Sum != "rct_sprite_common::next_in_quadrant" || res.Noise[0].Count != 1 || res.Noise[0].Scope != "Misc: Steam Particle 943" {
		t.Errorf("%+v", res.Noise)
	}
	dir := t.TempDir()
	f := Formats()[0]
	field := func(name string) string { return "  " + name + ", len = 2, offset = 4, left = 0x1, right = 0x2\n" }
	for text, want := range map[string]string{
		"": "noise 2 1 1", field("rct_sprite_common::x"): "first rct_sprite_common::x noise 2 1 1", field("rct_sprite_common::next_free"): "first rct_sprite_common::next_free noise 2 1 1",
	} {
		path := filepath.Join(dir, "desync_1_1.txt")
		report := "tick: 00000001\nsrand0 left = 00000002, srand0 right = 00000002\nSprite modifications (A), index: 1\n" + field("rct_sprite_common::next") + field("rct_sprite_common::previous") +
			"Sprite modifications (A), index: 2\n" + field("SpriteBase::next_in_quadrant") + field("rct_sprite_common::next") + text
		if err := os.WriteFile(path, []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
		traces, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if res.First != nil {
			got = "first " + strings.Join(res.First.Sums, " ") + " "
		}
		counts := map[string]int64{}
		for _, n := range res.Noise {
			counts[n.Sum] = n.Count
		}
		got += fmt.Sprint("noise ", counts["rct_sprite_common::next"], " ", counts["rct_sprite_common::previous"], " ", counts["SpriteBase::next_in_quadrant"])
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestTicksApart(t *testing.T) {
	_, err := list(t, content(t, apart), apart, 1)
	ticks := (*TicksError)(nil)
	if !errors.As(err, &ticks) || *ticks != (TicksError{apart, 17779466, 17779467}) {
		t.Fatalf("error %v", err)
	}
	if want := apart + ": the report compares states of different ticks, left of 17779466 and right of 17779467: nothing follows from what differs"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestPeers(t *testing.T) {
	f := Formats()[0]
	for name, want := range map[string]string{
		"a/" + report: "server client", report + ".gz": "server client", "b/replay_desync_1.txt": "first run second run", "desync_a/x.txt": "left right",
	} {
		got, err := f.Peers(nil, name)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, want)
		}
	}
}

// head is the head of a report without sprites.
const head = "tick left = 00000001, tick right = 00000001\nsrand0 left = 00000002, srand0 right = 00000003\n"

const headRecord = "1 \"\" \"srand0\" line 2 at 44 =0x00000002\n"

func TestMalformed(t *testing.T) {
	for text, want := range map[string]struct {
		list string
		err  error
	}{
		"":                                    {"", frame.ErrUnrecognized},
		"x\n":                                 {"", frame.ErrUnrecognized},
		"tick left = 1\n":                     {"", frame.ErrUnrecognized},
		"tick: 0000000g\n":                    {"", frame.ErrUnrecognized},
		"tick: 00000001\n":                    {"", frame.ErrCorrupt},
		"tick: 00000001\nx\n":                 {"", frame.ErrCorrupt},
		head[:len(head)-1]:                    {"", frame.ErrTorn},
		head + "x":                            {headRecord, frame.ErrTorn},
		head + "  A::b\n":                     {headRecord + "! x:3: \"  A::b\", expected a sprite\n", io.EOF},
		head + "Sprite eaten (A), index: 1\n": {headRecord + "! x:3: \"Sprite eaten (A), index: 1\", expected a sprite that was modified, added or removed\n", io.EOF},
		head + "Sprite added (A), index: -1\nSprite added (A), index: 1\n": {
			headRecord + "! x:3: \"Sprite added (A), index: -1\", expected a sprite\n1 \"\" \"A 1\" line 4 at 120 n=0\n", io.EOF,
		},
		head + "Sprite modifications (A), index: 1\n": {headRecord, io.EOF},
		head + "Sprite modifications (A), index: 1\n  a::b, len = 1, offset = 2, left = 0x1, right = 0x2\n  x\n  a::c, len = 1, offset = 2, left = 0x1, right = 0x2\n": {
			headRecord + "1 \"\" \"A 1\" line 3 at 92 a::b=0x01\n! x:5: \"x\", expected a field with len, offset, left and right\n1 \"\" \"A 1\" line 3 at 92 a::c=0x01\n", io.EOF,
		},
		head + "Sprite modifications (A), index: 1\n  a::b, len = 1, offset = 2, left = 0x100, right = 0x2\n": {
			headRecord + "! x:4: \"a::b, len = 1, offset = 2, left = 0x100, right = 0x2\" does not fit into 1 bytes\n", io.EOF,
		},
		head + "Sprite modifications (A), index: 1\n  a::b, len = 1, offset = 2, left = 0x1, right = 0x2\n  a::b, len = 1, offset = 2, left = 0x1, right = 0x2\n": {
			headRecord + "1 \"\" \"A 1\" line 3 at 92 a::b=0x01\n! x:5: a::b a second time\n", io.EOF,
		},
		head + "Sprite modifications (A), index: 1\n  a b, len = 1, offset = 2, left = 0x1, right = 0x2\n": {headRecord + "! x:4: \"a b\", expected the name of a field\n", io.EOF},
	} {
		got, err := list(t, text, "x", 0)
		if !errors.Is(err, want.err) || got != want.list {
			t.Errorf("%q:\n%s%v\nwant\n%s%v", text, got, err, want.list, want.err)
		}
	}
}

// TestMany has more fields than a checkpoint has room for.
func TestMany(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + "Sprite modifications (A), index: 1\n")
	for i := range 300 {
		fmt.Fprintf(&b, "  a::b[i], len = 1, offset = %d, left = 0x1, right = 0x2\n", i)
	}
	got, err := list(t, b.String(), "x", 1)
	if err != io.EOF || strings.Count(got, "\"A 1\"") != 2 || strings.Count(got, "=0x02") != 300 || strings.Contains(got, "!") {
		t.Errorf("%s%v", got, err)
	}
}

// TestTruncated cuts a report at every byte: everything before is delivered.
func TestTruncated(t *testing.T) {
	text := content(t, report)
	whole, _ := list(t, text, report, 0)
	for n := range len(text) {
		got, err := list(t, text[:n], report, 0)
		switch {
		case n > len(head) && text[n-1] == '\n' && err == io.EOF:
		case n < 44 && (errors.Is(err, frame.ErrTorn) || errors.Is(err, frame.ErrUnrecognized)):
		case n == 44 && errors.Is(err, frame.ErrCorrupt):
		case n > 44 && errors.Is(err, frame.ErrTorn):
		case n == len(head) && err == io.EOF:
		default:
			t.Fatalf("cut at %d: %v", n, err)
		}
		for line := range strings.Lines(got) {
			if !strings.Contains(whole, strings.TrimSuffix(line, "\n")) {
				t.Fatalf("cut at %d: %s", n, line)
			}
		}
	}
}

func TestSniff(t *testing.T) {
	f := Formats()[0]
	for _, name := range []string{report, generator, apart, old, replay} {
		text := content(t, name)
		if !f.Sniff([]byte(text[:min(len(text), tracediff.SniffLen)])) {
			t.Errorf("%s is not recognised", name)
		}
	}
	for _, head := range []string{"", "tick left = 00000001, tick right = 00000001\n", "tick: 00000001\nsum=1\n", "tick=1 sum=0x00\nsrand0 left = "} {
		if f.Sniff([]byte(head)) {
			t.Errorf("%q is recognised", head)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{report, generator, apart, old, replay} {
		f.Add(content(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, errA := list(t, text, "x", 0)
		b, errB := list(t, text, "x", 1)
		if strings.Count(a, "\n") != strings.Count(b, "\n") || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("%s%v\n%s%v", a, errA, b, errB)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := content(b, report)
	start := strings.Index(text, "Sprite")
	text = text[:start] + strings.Repeat(text[start:], 16<<20/(len(text)-start))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Formats()[0].Read(strings.NewReader(text), "x", 0)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = s.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

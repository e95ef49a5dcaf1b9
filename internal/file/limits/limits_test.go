package limits_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// TestParse pins what values look like.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int64
	}{
		{"cell", "1GiB", 1 << 30}, {"cell", "64k", 64 << 10}, {"cell", "64KiB", 64 << 10}, {"cell", "3M", 3 << 20}, {"cell", "120", 120}, {"cell", "12", -1}, {"cell", "7b", 7},
		{"rows", "10k", 10_000}, {"rows", "10m", 10_000_000}, {"rows", "10kb", -1}, {"rows", "0", -1}, {"rows", "-1", -1}, {"rows", "", -1}, {"rows", "1.5", -1},
		{"rows", "kk", -1}, {"rows", "9999999999999t", -1}, {"rows", "18446744073709551615", -1}, {"cell", "3GiB", -1}, {"cell", "2GiB", 2 << 30},
		{"wall", "90s", 90e9}, {"wall", "10m", 600e9}, {"wall", "none", limits.None}, {"wall", "0s", -1}, {"wall", "-3s", -1}, {"wall", "5", -1},
	} {
		got, err := limits.Named(c.name).Parse(c.text)
		if err != nil {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s=%s: %d, %v; expected %d", c.name, c.text, got, err, c.want)
		}
	}
}

// TestValuesReadBack holds that what is shown can be given, for every limit.
func TestValuesReadBack(t *testing.T) {
	for _, l := range limits.All() {
		for _, v := range []int64{l.Default, l.Most} {
			if got, err := l.Parse(l.Text(v)); err != nil || got != v {
				t.Errorf("%s: %d is shown as %s, which is %d, %v", l.Name, v, l.Text(v), got, err)
			}
		}
		if limits.Named(l.Name) != l {
			t.Errorf("two limits %s", l.Name)
		}
		if l.Doc == "" || strings.HasSuffix(l.Doc, ".") || len(l.Doc) > 110 {
			t.Errorf("%s: %q", l.Name, l.Doc)
		}
	}
}

// TestSettings: later settings count, and settings that are left out have their defaults again.
func TestSettings(t *testing.T) {
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
	var s limits.Settings
	if err := s.Read(strings.NewReader("# mine\n\ncell 1k # small\nrows 5\n"), "file"); err != nil {
		t.Fatal(err)
	}
	if err := s.List(" rows=6 , depth=7,", "environment"); err != nil {
		t.Fatal(err)
	}
	if err := s.Assign("depth=8", "--limit"); err != nil {
		t.Fatal(err)
	}
	limits.Use(s)
	for _, c := range []struct {
		l    *limits.Limit
		want int64
		from string
	}{{limits.Cell, 1024, "file"}, {limits.Rows, 6, "environment"}, {limits.Depth, 8, "--limit"}, {limits.Columns, 65536, "default"}} {
		if c.l.Max() != c.want || c.l.From() != c.from {
			t.Errorf("%s is %d from %s, expected %d from %s", c.l.Name, c.l.Max(), c.l.From(), c.want, c.from)
		}
	}
	if !limits.Rows.Over(7) || limits.Rows.Over(6) {
		t.Error("6 of 6 rows is too many, or 7 are not")
	}
	limits.Use(limits.Settings{})
	if limits.Cell.Max() != limits.Cell.Default || limits.Cell.From() != "default" {
		t.Errorf("cell is %d from %s", limits.Cell.Max(), limits.Cell.From())
	}
	for text, want := range map[string]string{
		"cell 1k\nrow 5\n": `x:2: there is no limit "row"`, "cell\n": "x:1: expected a name and a value", "cell 1 2": "x:1: expected a name and a value",
		"\n\ncell much": `x:3: limit cell is "much", expected bytes, such as 65536, 64KiB or 1GiB`, "wall 5": `x:1: limit wall is "5", expected a time, such as 90s or 10m, or none`,
		strings.Repeat("x", 1<<17): "x: bufio.Scanner: token too long",
	} {
		if err := new(limits.Settings).Read(strings.NewReader(text), "x"); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, expected %s", text, err, want)
		}
	}
}

// TestReached pins the text that reports have.
func TestReached(t *testing.T) {
	for err, want := range map[*limits.Error]string{
		limits.Cell.Reached("a/x.snap", 300<<20): "a/x.snap: limit cell is reached: 314572800 bytes, at most 256MiB (one block of one column of a .snap, or the index of a table); --limit cell=512MiB raises it",
		limits.Depth.Reached("", 0):              "limit depth is reached: at most 128 (how deep values, tags and elements of engines' files are nested); --limit depth=256 raises it",
		limits.Cell.Reached("x", 3<<30):          "x: limit cell is reached: 3221225472 bytes, at most 256MiB (one block of one column of a .snap, or the index of a table); --limit cell=2GiB raises it",
		limits.Memory.Reached("x", 0):            "x: limit memory is reached: at most 4GiB (the content that is held in memory at one time); --limit memory=8GiB raises it",
	} {
		if err.Error() != want {
			t.Errorf("%s\nexpected %s", err, want)
		}
	}
}

// TestHeld: taking is bounded, and memory that is given back can be taken again.
func TestHeld(t *testing.T) {
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
	var s limits.Settings
	if err := s.Set("memory", "100", "test"); err != nil {
		t.Fatal(err)
	}
	limits.Use(s)
	var a, b limits.Held
	over := (*limits.Error)(nil)
	if err := errors.Join(a.Take("a", 60), b.Take("b", 40)); err != nil {
		t.Fatal(err)
	}
	if err := b.Take("b", 1); !errors.As(err, &over) || over.Limit != limits.Memory || over.Path != "b" || over.Got != 101 || b.Bytes() != 40 {
		t.Errorf("%v, %d held", err, b.Bytes())
	}
	if err := a.Resize("a", 10); err != nil {
		t.Error(err)
	}
	if err := b.Resize("b", 90); err != nil {
		t.Error(err)
	}
	a.Free()
	b.Free()
	if now := limits.InUse(); now != 0 {
		t.Errorf("%d bytes are held", now)
	}
}

// TestEveryLimitIsUsed: a limit that no reader asks for would be a promise that nothing keeps.
func TestEveryLimitIsUsed(t *testing.T) {
	unused := map[string]bool{}
	source, err := os.ReadFile("limits.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) += define\("`).FindAllStringSubmatch(string(source), -1) {
		unused[m[1]] = true
	}
	if len(unused) != len(limits.All()) {
		t.Fatalf("%d of %d limits found", len(unused), len(limits.All()))
	}
	delete(unused, "Wall")   // Deadline
	delete(unused, "Memory") // Held
	delete(unused, "Excess") // Exceed
	delete(unused, "Cells")  // Filled
	delete(unused, "Sparse") // Filled
	used := regexp.MustCompile(`\blimits\.(\w+)\b`)
	root := filepath.Join("..", "..", "..")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range used.FindAllSubmatch(b, -1) {
			delete(unused, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range unused {
		t.Errorf("no reader asks for limits.%s", name)
	}
}

func TestFilled(t *testing.T) {
	for _, c := range []struct {
		cells, given int
		want         *limits.Limit
	}{
		{0, 0, nil}, {1 << 20, 0, nil}, {1<<20 + 1, 0, limits.Sparse}, {64 << 20, 1 << 20, limits.Cells},
		{1 << 24, 1 << 18, nil}, {1 << 24, 1<<18 - 1, nil}, {1 << 24, 1 << 17, limits.Sparse}, {1 << 25, 1 << 25, nil},
	} {
		err := limits.Filled(c.cells, c.given)
		over := (*limits.Error)(nil)
		switch {
		case c.want == nil && err != nil, c.want != nil && (!errors.As(err, &over) || over.Limit != c.want):
			t.Errorf("%d cells, %d given: %v", c.cells, c.given, err)
		}
	}
}

package zeroad

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

const testFolder = "../../testdata/claims/zeroad-test"

// folder writes files by name and returns their folder.
func folderOf(t testing.TB, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadTest(t *testing.T) {
	for name, want := range map[string]string{"after": "hash.after.a", "before": "state.before.a"} {
		log, err := ReadTest(files.Disk, filepath.Join(testFolder, name))
		if err != nil || log == nil || len(log.Claims) != 1 {
			t.Fatalf("%s: %+v, %v", name, log, err)
		}
		c := log.Claims[0]
		if !strings.HasPrefix(c.Text, want) || !c.SelfTest || !c.Proves() || c.HasTick || c.Loaded != (name == "before") || c.Began == c.Loaded {
			t.Errorf("%s: %+v", name, c)
		}
	}
	c := tracediff.ClaimedValue{Peer: tracediff.SecondRun, Value: "35f00bbbe0ae79b5e4dd37d4a6538235"}
	if log, _ := ReadTest(files.Disk, filepath.Join(testFolder, "after")); log.Claims[0].Values[1] != c {
		t.Errorf("values %+v", log.Claims[0].Values)
	}
	for name, test := range map[string]struct {
		content map[string]string
		claims  int
		fails   bool
		began   bool // the last claim is about runs that began with one state
	}{
		"nothing":         {map[string]string{"x": ""}, 0, false, false},
		"one side":        {map[string]string{"hash.after.a": "ab"}, 0, false, false},
		"equal":           {map[string]string{"hash.after.a": "ab", "hash.after.b": "AB\n"}, 0, true, false},
		"equal hashes":    {map[string]string{"hash.after.a": "ab", "hash.after.b": "ab\r\n"}, 0, false, false},
		"both moments":    {map[string]string{"hash.after.a": "ab", "hash.after.b": "ac", "hash.before.a": "ab", "hash.before.b": "ad"}, 2, false, false},
		"other states":    {map[string]string{"hash.after.a": "ab", "hash.after.b": "ac", "hash.before.a": "ab", "hash.before.b": "ab", "state.before.a": "x", "state.before.b": "y"}, 2, false, false},
		"one beginning":   {map[string]string{"hash.after.a": "ab", "hash.after.b": "ac", "hash.before.a": "ab", "hash.before.b": "ab"}, 1, false, true},
		"one state":       {map[string]string{"hash.after.a": "ab", "hash.after.b": "ab", "state.after.a": "x"}, 0, false, false},
		"a longer state":  {map[string]string{"hash.after.a": "ab", "hash.after.b": "ab", "state.after.a": "x", "state.after.b": "xy"}, 1, false, false},
		"the same states": {map[string]string{"hash.after.a": "ab", "hash.after.b": "ab", "state.after.a": "x", "state.after.b": "x"}, 0, false, false},
		"no hash":         {map[string]string{"hash.after.a": "ab", "hash.after.b": "a hash"}, 0, true, false},
		"an empty hash":   {map[string]string{"hash.after.a": "", "hash.after.b": "ab"}, 0, true, false},
		"a long one":      {map[string]string{"hash.after.a": "ab", "hash.after.b": strings.Repeat("ab", 1<<20)}, 0, true, false},
	} {
		log, err := ReadTest(files.Disk, folderOf(t, test.content))
		if (err != nil) != test.fails || (log != nil) != (test.claims > 0) || log != nil && (len(log.Claims) != test.claims || log.Claims[test.claims-1].Began != test.began) {
			t.Errorf("%s: %+v, %v", name, log, err)
		}
	}
}

func FuzzReadTest(f *testing.F) {
	f.Add("27ce755d45e29f7dc478a5d25be6fbac", "35f00bbbe0ae79b5e4dd37d4a6538235", "x", "y")
	f.Add("ab", "ab", "x", "xx")
	f.Add("", "zz", "", "")
	f.Fuzz(func(t *testing.T, a, b, x, y string) {
		log, err := ReadTest(files.Disk, folderOf(t, map[string]string{"hash.after.a": a, "hash.after.b": b, "state.after.a": x, "state.after.b": y}))
		if err != nil || log == nil {
			return
		}
		if c := &log.Claims[0]; len(log.Claims) != 1 || !c.Proves() || strings.TrimSpace(a) == strings.TrimSpace(b) && x == y {
			t.Errorf("%q %q %q %q: %+v", a, b, x, y, log.Claims)
		}
	})
}

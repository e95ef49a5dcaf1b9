package archive

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOnDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("a", "b@7"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.zip", filepath.Join("a", "state@5")} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a": "a", "./a/": "a", "a@12": "a", "a/b@7": "a/b@7", "a/b@7@9": "a/b@7", "a/state@5": "a/state@5", "a/state@5@9": "a/state@5",
		"x.zip": "x.zip", "x.zip/host": "x.zip", "x.zip/host@3": "x.zip", "x.zip@3": "x.zip",
		"nothing": "", "a/nothing": "", "a/nothing@3": "", "nothing/a": "", "-": "", "ab": "", ".": ".",
	} {
		var all []string
		if want != "" {
			all = []string{filepath.FromSlash(want)}
		}
		if got := OnDisk([]string{filepath.FromSlash(path)}); !slices.Equal(got, all) {
			t.Errorf("%s: %q, want %q", path, got, all)
		}
	}
}

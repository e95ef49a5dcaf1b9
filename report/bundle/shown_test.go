package bundle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot"
)

// A folder that a game left is one peer of its name, but where the game's own test found two results.
func TestShownPeers(t *testing.T) {
	const dump = "oos turn: 38\nsim turn: 38\nrng: \"1\"\nentities:\n- id: 1\n  Timer:\n    comp: {\"time\": 7600}\n\n"
	for _, c := range []struct {
		files []string
		want  []string
	}{
		{[]string{"oos_dump.txt"}, []string{"replay of host's log"}},
		{[]string{"serializationtest/debug.after.a", "serializationtest/debug.after.b"}, []string{snapshot.FirstRun, snapshot.SecondRun}},
	} {
		dir := t.TempDir()
		for _, name := range c.files {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(dump), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		tree, err := archive.Open(nil, archive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		if err := tree.Show("replay of host's log", dir); err != nil {
			t.Fatal(err)
		}
		s, err := bundle.Open(tree, []string{"replay of host's log"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range s.Peers() {
			got = append(got, p.Name)
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)-1] != c.want[len(c.want)-1] {
			t.Errorf("%q: peers %q, expected %q", c.files, got, c.want)
		}
	}
}

package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/archive"
)

const warzoneSession = "../../testdata/warzone2100/player_power_3peer"

// TestRecorded takes the real session of Warzone 2100 with the dumps of all three peers in its folders, and recordings
// with the checksums of all.
func TestRecorded(t *testing.T) {
	paths := []string{filepath.Join(warzoneSession, "host_p0"), filepath.Join(warzoneSession, "gamma_p1"), filepath.Join(warzoneSession, "beta_p2")}
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s, err := Open(tree, paths)
	if err != nil {
		t.Fatal(err)
	}
	list := s.Recordings(func(format string) bool { return format == "warzone-replay" })
	want := map[string][]string{
		"slot 0": {"20261120_085851_multiplay_p0.wzrp", "desync25702_p0.txt", "desync25802_p0.txt"},
		"slot 1": {"20261120_085852_multiplay_p1.wzrp", "desync25702_p1.txt", "desync25802_p1.txt"},
	}
	if len(list) != len(want) {
		t.Fatal(len(list), "recordings")
	}
	for _, r := range list {
		var names []string
		for _, path := range r.Paths {
			names = append(names, filepath.Base(path))
		}
		if slices.Sort(names); !slices.Equal(names, want[r.Peer]) {
			t.Errorf("%s left %q, want %q", r.Peer, names, want[r.Peer])
		}
		if got := tracesOf(t, r.File.Path, ""); len(got) != 3 {
			t.Errorf("traces of %s alone: %q, want those of 3 slots", r.Peer, got)
		}
		// Its recording is used in place of a replay's.
		const replay = "replay"
		if got := tracesOf(t, r.File.Path, replay); !slices.Equal(got, []string{r.Peer, replay}) {
			t.Errorf("traces of %s beside a replay: %q, want its own and that of the replay", r.Peer, got)
		}
	}
}

// tracesOf returns the names of the traces of a file, and of a replay that left the same file if it has a name.
func tracesOf(t *testing.T, file, replay string) (names []string) {
	t.Helper()
	paths := []string{file}
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if replay != "" {
		dir := t.TempDir()
		b, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "x.wzrp"), b, 0o666)
		}
		if err == nil {
			err = tree.Show(replay, dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, replay)
	}
	s, err := Open(tree, paths)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := s.Traces(TraceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range traces.Groups {
		for _, one := range group {
			names = append(names, one.Name)
		}
	}
	return names
}

package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
)

// TestOneLogOfSeveralMatches splits logs by their messages: the lines of each match, as a person would put them.
func TestOneLogOfSeveralMatches(t *testing.T) {
	beat := func(tick, mine, theirs, peer string) string {
		return "warning: Checksum for beat " + tick + " mismatched: " + strings.Repeat(mine, 16) + " (sim) != " + strings.Repeat(theirs, 16) + " (" + peer + ")."
	}
	for name, c := range map[string]struct {
		lines  []string
		begins []int // the lines with which the matches begin, from 1
	}{
		"ticks that run backwards": {[]string{beat("9000", "1a", "2b", "Nina"), beat("9050", "1c", "2d", "Nina"), "info: something", beat("950", "3a", "4b", "Otto"), beat("1000", "3c", "4d", "Otto")}, []int{1, 4}},
		"three, in any order":      {[]string{beat("900", "1a", "2b", "Nina"), "...", beat("19050", "1c", "2d", "Otto"), "", beat("4000", "3a", "4b", "Piet")}, []int{1, 3, 5}},
		"named by a person":        {[]string{"Game 1:", beat("900", "1a", "2b", "Nina"), "Game 2, seed 5", beat("950", "1c", "2d", "Nina")}, []int{1, 3}},
		"a seed that changes": {[]string{"seed: 1f00", "Network desync at frame 512 (local 1a2b3c4d remote 5e6f7a8b)", "seed: 1f01", "Network desync at frame 513 (local 1a2b3c4e remote 5e6f7a8c)"},
			[]int{1, 3}},
		"one match, many peers":    {[]string{beat("900", "1a", "2b", "Nina"), "", beat("900", "1a", "2d", "Otto"), "", beat("950", "1e", "2f", "Piet"), beat("1200", "1f", "3f", "Nina")}, []int{1}},
		"one match, a late report": {[]string{beat("9000", "1a", "2b", "Nina"), beat("8950", "1c", "2d", "Nina"), beat("9050", "1e", "2f", "Nina")}, []int{1}},
		"self-tests":               {[]string{"Detected checksum mismatch during rollback on frame 308, mismatched frames: [305, 306]", "Detected checksum mismatch during rollback on frame 12, mismatched frames: [10]"}, []int{1}},
		"one match, cut":           {[]string{beat("900", "1a", "2b", "Nina"), "[...]", beat("9000", "1c", "2d", "Nina")}, []int{1}},
		"random seeds of ticks":    {[]string{"tick 511 seed: 1f00", "Network desync at frame 512 (local 1a2b3c4d remote 5e6f7a8b)", "tick 512 seed: 1f01", "Network desync at frame 513 (local 1a2b3c4e remote 5e6f7a8c)"}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "pasted.log"), strings.Join(c.lines, "\n")+"\n")
			m := matchesBelow(t, dir)
			var begins []int
			for _, x := range m.List {
				switch u := x.units[0]; {
				case u.part == nil:
					begins = append(begins, 1)
				default:
					begins = append(begins, int(u.part.line))
				}
			}
			if !slices.Equal(begins, c.begins) {
				t.Errorf("matches begin with lines %v, want %v", begins, c.begins)
			}
		})
	}
}

// TestLogsOfTwoPeersOfSeveralMatches puts the parts of two logs together that have a message of the same tick.
func TestLogsOfTwoPeersOfSeveralMatches(t *testing.T) {
	dir := t.TempDir()
	line := func(tick, mine, theirs, peer string) string {
		return "warning: Checksum for beat " + tick + " mismatched: " + strings.Repeat(mine, 16) + " (sim) != " + strings.Repeat(theirs, 16) + " (" + peer + ").\n"
	}
	write(t, filepath.Join(dir, "nina", "game.log"), line("9000", "1a", "2b", "Otto")+line("950", "3a", "4b", "Otto"))
	write(t, filepath.Join(dir, "otto", "game.log"), line("9000", "2b", "1a", "Nina")+line("950", "4b", "3a", "Nina"))
	m := matchesBelow(t, dir)
	if len(m.List) != 2 || len(m.List[0].units) != 2 || len(m.List[1].units) != 2 {
		t.Errorf("%d matches: %s", len(m.List), m)
	}
}

func matchesBelow(t *testing.T, dir string) *Matches {
	t.Helper()
	tree, err := archive.Open([]string{dir}, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	m, err := OpenMatches(tree, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

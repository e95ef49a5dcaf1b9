package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// sameBy measures how often reports of one bug share the fingerprints that triage --same-by compares, and how often
// reports of different bugs of a game do. Each game has bugs anywhere, with this many sessions of each.
func sameBy(names []string, seed uint64, sessions int) {
	dir := try.Get(os.MkdirTemp("", "accuracy-"))
	defer os.RemoveAll(dir)
	views := []verdicts.View{verdicts.Complete, verdicts.Untracked}
	fmt.Print("| Game, evidence | --same-by | Pairs of one bug | Pairs of different bugs |\n|---|---|---|---|\n")
	for _, name := range names {
		game := gameOf(name, dir)
		bugs := try.Get(verdicts.Bugs([]verdicts.Game{game}, bugsPlanted, seed, false, verdicts.Shows(seed, filepath.Join(dir, "shows"))))
		strikes := verdicts.Strikes(bugs, sessions, seed)
		list, _, err := verdicts.Group(strikes, views, func(i int) string { return filepath.Join(dir, fmt.Sprintf("%s-%d", name, i)) }, triaged, keyed,
			func(done int) { fmt.Fprintf(os.Stderr, "\r%s: %d of %d", name, done, len(strikes)) })
		fmt.Fprintln(os.Stderr)
		try.Check(err)
		try.Check(verdicts.PairTable(os.Stdout, name, list, views...))
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/words"
	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// recorded are desyncs of real games, named by how they were caused.
var recorded = []verdicts.Recorded{
	{Bug: "0ad walkspeed", Dir: "testdata/0ad/mp_orders_walkspeed"},
	{Bug: "0ad walkspeed", Dir: "testdata/0ad/replay_walkspeed"},
	{Bug: "0ad damage", Dir: "testdata/0ad/mp_late_damage"},
	{Bug: "openttd random numbers", Dir: "testdata/openttd/rng_poke"},
	{Bug: "openttd money", Dir: "testdata/openttd/money_poke"},
	{Bug: "openttd town", Dir: "testdata/openttd/town_poke"},
	{Bug: "openttd dropped command", Dir: "testdata/openttd/dropped_sign"},
	{Bug: "openttd cache", Dir: "testdata/openttd/cache_poke"},
	{Bug: "spring health", Dir: "testdata/spring/silent_health"},
	{Bug: "spring position", Dir: "testdata/spring/pos_1ulp"},
	{Bug: "spring order of writes", Dir: "testdata/spring/checksum_only"},
	{Bug: "warzone power", Dir: "testdata/warzone2100/player_power_3peer"},
	{Bug: "widelands serial of a command", Dir: "testdata/widelands/cmdact_serial"},
}

// bugsPlanted is how many bugs are planted.
const bugsPlanted = 24

// groups measures how well reports are grouped by bug in some games, with this many sessions of each bug, and writes the
// tables of docs/desk-accuracy.md. The reference game plays under two sets of names. With mix, it writes the sessions with all of their evidence, the recordings and the truth to
// that folder instead.
func groups(names []string, seed uint64, sessions int, mix string) {
	dir := try.Get(os.MkdirTemp("", "accuracy-"))
	defer os.RemoveAll(dir)
	var games []verdicts.Game
	for _, name := range names {
		if name == "refsim" {
			games = append(games, verdicts.Reference{Names: 7}, verdicts.Reference{Names: 3})
			continue
		}
		games = append(games, try.Get(verdicts.Compile(".", name, dir)))
	}
	shows := verdicts.Shows(seed, filepath.Join(dir, "shows"))
	if mix != "" {
		bugs := try.Get(verdicts.Bugs(games, bugsPlanted, seed, true, shows))
		try.Get(verdicts.Mix(mix, verdicts.Strikes(bugs, sessions, seed), verdicts.Complete, recorded))
		return
	}
	played := 0
	measure := func(apart bool, sessions int, views []verdicts.View) []verdicts.Grouped {
		bugs := try.Get(verdicts.Bugs(games, bugsPlanted, seed, apart, shows))
		strikes := verdicts.Strikes(bugs, sessions, seed)
		played++
		part := filepath.Join(dir, fmt.Sprint(played))
		list, hidden, err := verdicts.Group(strikes, views, func(i int) string { return fmt.Sprintf("%s/%d", part, i) }, triaged, keyed,
			func(done int) { fmt.Fprintf(os.Stderr, "\r%d of %d", done, len(strikes)) })
		fmt.Fprintln(os.Stderr)
		for _, s := range hidden {
			fmt.Printf("never showed: %s, session %d\n", s.Bug.Name, s.Number)
		}
		try.Check(err)
		return list
	}
	list := measure(true, sessions, verdicts.Views())
	for _, x := range recorded {
		g := verdicts.Grouped{Bug: x.Bug, View: verdicts.Complete}
		r, err := triaged([]string{filepath.FromSlash(x.Dir)})
		if err != nil {
			panic(try.Failed("%s: %w", x.Dir, err))
		}
		if k, weak, ok := keyed(r); ok {
			g.Key, g.Weak, g.Found = k, weak, r.Fingerprints
		}
		list = append(list, g)
	}
	fmt.Print("Each bug in a separate place:\n\n")
	show(list)
	list = measure(false, sessions/2, []verdicts.View{verdicts.Complete})
	fmt.Print("\nBugs anywhere:\n\n")
	show(list)
}

func show(list []verdicts.Grouped) {
	try.Check(verdicts.GroupTable(os.Stdout, list))
	fmt.Println()
	for _, line := range verdicts.Together(list) {
		fmt.Println("- " + line)
	}
}

func triaged(dirs []string) (*document.Report, error) {
	c, err := conclude(dirs, nil, nil)
	if err != nil {
		return nil, err
	}
	return words.Report(c), nil
}

func keyed(r *document.Report) (key string, weak, ok bool) {
	k, ok := desk.KeyOf(r)
	return k.Coarse, k.Weak, ok
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/words"
	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
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
func groups(names []string, seed uint64, sessions int, mix string) error {
	dir, err := os.MkdirTemp("", "accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var games []verdicts.Game
	for _, name := range names {
		if name == "refsim" {
			games = append(games, verdicts.Reference{Names: 7}, verdicts.Reference{Names: 3})
			continue
		}
		g, err := verdicts.Compile(".", name, dir)
		if err != nil {
			return err
		}
		games = append(games, g)
	}
	shows := verdicts.Shows(seed, filepath.Join(dir, "shows"))
	if mix != "" {
		bugs, err := verdicts.Bugs(games, bugsPlanted, seed, true, shows)
		if err != nil {
			return err
		}
		_, err = verdicts.Mix(mix, verdicts.Strikes(bugs, sessions, seed), verdicts.Complete, recorded)
		return err
	}
	played := 0
	measure := func(apart bool, sessions int, views []verdicts.View) ([]verdicts.Grouped, error) {
		bugs, err := verdicts.Bugs(games, bugsPlanted, seed, apart, shows)
		if err != nil {
			return nil, err
		}
		strikes := verdicts.Strikes(bugs, sessions, seed)
		played++
		part := filepath.Join(dir, fmt.Sprint(played))
		list, hidden, err := verdicts.Group(strikes, views, func(i int) string { return fmt.Sprintf("%s/%d", part, i) }, triaged, keyed,
			func(done int) { fmt.Fprintf(os.Stderr, "\r%d of %d", done, len(strikes)) })
		fmt.Fprintln(os.Stderr)
		for _, s := range hidden {
			fmt.Printf("never showed: %s, session %d\n", s.Bug.Name, s.Number)
		}
		return list, err
	}
	list, err := measure(true, sessions, verdicts.Views())
	if err != nil {
		return err
	}
	for _, x := range recorded {
		g := verdicts.Grouped{Bug: x.Bug, View: verdicts.Complete}
		r, err := triaged([]string{filepath.FromSlash(x.Dir)})
		if err != nil {
			return fmt.Errorf("%s: %w", x.Dir, err)
		}
		if k, weak, ok := keyed(r); ok {
			g.Key, g.Weak, g.Found = k, weak, r.Fingerprints
		}
		list = append(list, g)
	}
	fmt.Print("Each bug in a separate place:\n\n")
	if err := show(list); err != nil {
		return err
	}
	if list, err = measure(false, sessions/2, []verdicts.View{verdicts.Complete}); err != nil {
		return err
	}
	fmt.Print("\nBugs anywhere:\n\n")
	return show(list)
}

func show(list []verdicts.Grouped) error {
	if err := verdicts.GroupTable(os.Stdout, list); err != nil {
		return err
	}
	fmt.Println()
	for _, line := range verdicts.Together(list) {
		fmt.Println("- " + line)
	}
	return nil
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

// Command accuracy plays seeded sessions of five games and prints how often the verdicts about them are right, as in
// docs/accuracy.md:
//
//	go run ./tools/accuracy -sessions 240 -clean 60 -games refsim,arena,trade,tugs,moles
//
// or how reports of planted bugs are grouped, as in docs/desk-accuracy.md:
//
//	go run ./tools/accuracy -desk -games refsim,arena,trade
//
// or how often reports of one bug, and of different bugs, share what triage --same-by compares:
//
//	go run ./tools/accuracy -same-by -games refsim,arena,trade
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
	"github.com/desynctool/desynctool/tools/internal/try"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run() (err error) {
	defer try.Catch(&err)
	faulty := flag.Int("sessions", 240, "sessions of each game with a mistake")
	clean := flag.Int("clean", 60, "sessions of each game without one")
	names := flag.String("games", "refsim", "games, by comma: refsim, arena, trade, tugs, moles")
	skip := flag.Int("skip", 0, "leave out so many of the first sessions of each game")
	half := flag.String("half", "", "only the odd or the even seeds")
	only := flag.String("only", "", "only mistakes with names that begin so")
	rules := flag.Bool("rules", false, "print how often each rule of likeness is right")
	tested := flag.Bool("tested", false, "print the experiments on each session")
	many := flag.Bool("desk", false, "measure how reports of bugs group")
	same := flag.Bool("same-by", false, "measure the levels of triage --same-by")
	each := flag.Int("each", 12, "with -desk and -same-by: sessions of each bug")
	seed := flag.Uint64("seed", 1, "with -desk and -same-by: of the bugs and sessions")
	mix := flag.String("mix", "", "with -desk: write the sessions and the truth to this folder, and measure nothing")
	flag.Parse()
	if *same {
		sameBy(strings.Split(*names, ","), *seed, *each)
		return nil
	}
	if *many {
		groups(strings.Split(*names, ","), *seed, *each, *mix)
		return nil
	}
	dir := try.Get(os.MkdirTemp("", "accuracy-"))
	defer os.RemoveAll(dir)
	var list []verdicts.Session
	for _, name := range strings.Split(*names, ",") {
		game := gameOf(name, dir)
		list = append(append(list, verdicts.Faulty(game, *faulty)...), verdicts.Clean(game, *clean)...)
	}
	list = slices.DeleteFunc(list, func(s verdicts.Session) bool {
		odd := s.Seed*0x9e3779b97f4a7c15>>63 == 1 // independent of its mistake, which alternates
		other := *half == "odd" && !odd || *half == "even" && odd
		return other || s.Seed <= uint64(*skip) || *only != "" && !strings.HasPrefix(s.Fault, *only)
	})
	measured := conclude
	if *rules { // the rules concern conclusions without a simulator
		measured = func(dirs []string, sim, own *bisect.Sim) (*verdict.Conclusion, error) {
			if sim != nil {
				return &verdict.Conclusion{}, nil
			}
			return conclude(dirs, nil, nil)
		}
	}
	scores, err := verdicts.Run(list, func(i int) string { return fmt.Sprintf("%s/%d", dir, i) }, measured,
		func(done int) { fmt.Fprintf(os.Stderr, "\r%d of %d", done, len(list)) })
	fmt.Fprintln(os.Stderr)
	try.Check(err)
	if *tested {
		for _, s := range scores {
			for _, c := range s.Causes {
				fmt.Println(s.Session, "|", c.Shape, "|", c.Outcome, c.Said, c.Tested)
			}
		}
	}
	if *rules {
		return verdicts.RuleTable(os.Stdout, scores)
	}
	try.Check(verdicts.Table(os.Stdout, scores))
	fmt.Println()
	return verdicts.CauseTable(os.Stdout, scores)
}

// conclude concludes from all that the sessions left. The number of replays is limited, not the time, which depends on the
// machine.
func conclude(dirs []string, sim, own *bisect.Sim) (*verdict.Conclusion, error) {
	s, err := bundle.OpenPaths(dirs...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return compare.Conclude(s, compare.Builds{Sim: sim, Own: own, Replays: 1000}, nil)
}

// gameOf returns a game. Programs are compiled to dir.
func gameOf(name, dir string) verdicts.Game {
	if name == "refsim" {
		return verdicts.Reference{}
	}
	return try.Get(verdicts.Compile(".", name, dir))
}

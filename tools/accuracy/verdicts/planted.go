package verdicts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// Bug is a mistake in one place of one game, which many sessions show.
type Bug struct {
	Name    string // arena map-order/Shots
	Game    Game
	Mistake string // NAME/PLACE
}

// Bugs plants n bugs in games alternately, based on a seed, each mistake once. If apart is true, a place in a game has
// at most one bug, except for orders that the network changes. Otherwise a place may have any number. If shows returns
// false for a bug, another place of the same mistake is used, or another game, or finally another mistake; nil accepts
// all. The result has fewer than n bugs if there are not enough mistakes.
func Bugs(games []Game, n int, seed uint64, apart bool, shows func(Bug) (bool, error)) (bugs []Bug, err error) {
	dice := rand.New(rand.NewPCG(seed, 2))
	var names []string // of mistakes
	for _, g := range games {
		for _, m := range g.Mistakes() {
			if name, _, _ := strings.Cut(m, "/"); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	dice.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	planted, taken := make([]int, len(games)), map[string]bool{}
	plant := func(name string) error {
		network := strings.HasPrefix(name, "order-")
		order := make([]int, len(games)) // those with the fewest bugs first
		for i := range order {
			order[i] = i
		}
		lists.SortStable(order, func(a, b int) int { return planted[a] - planted[b] })
		for _, at := range order {
			var free []string
			for _, m := range games[at].Mistakes() {
				of, place, _ := strings.Cut(m, "/")
				if of == name && (!apart || network || !taken[fmt.Sprint(at, place)]) {
					free = append(free, m)
				}
			}
			for len(free) > 0 {
				i := dice.IntN(len(free))
				b := Bug{Name: fmt.Sprintf("%s %s", games[at].Name(), free[i]), Game: games[at], Mistake: free[i]}
				free = slices.Delete(free, i, i+1)
				if shows != nil {
					if shown, err := shows(b); err != nil || !shown {
						if err != nil {
							return err
						}
						continue
					}
				}
				if _, place, _ := strings.Cut(b.Mistake, "/"); !network {
					taken[fmt.Sprint(at, place)] = true
				}
				planted[at]++
				bugs = append(bugs, b)
				return nil
			}
		}
		return nil
	}
	for _, name := range names {
		if len(bugs) == n {
			break
		}
		if err := plant(name); err != nil {
			return nil, err
		}
	}
	return bugs, nil
}

// Shows returns a function for Bugs that reports whether a bug appears in a session. It plays the session in a folder
// that must not exist.
func Shows(seed uint64, dir string) func(Bug) (bool, error) {
	return func(b Bug) (bool, error) {
		s := Strike{Bug: b, Seed: seed}
		return s.Leave(dir, []View{Complete}, func(View, []string) error { return nil })
	}
}

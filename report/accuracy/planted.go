package accuracy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
)

// Bug is a mistake in one place of one game, which many sessions show.
type Bug struct {
	Name    string // arena map-order/Shots
	Game    Game
	Mistake string // NAME/PLACE
}

// Bugs plants up to n bugs in games, by turns, as a seed has it: each mistake once, and where
// apart is true no two in one place of a game, but for orders that the network changes. Else any
// place may have any number of them.
func Bugs(games []Game, n int, seed uint64, apart bool) []Bug {
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
	var bugs []Bug
	for _, name := range names {
		order := make([]int, len(games)) // those with the fewest bugs first
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return planted[a] - planted[b] })
		for _, at := range order {
			var free []string
			for _, m := range games[at].Mistakes() {
				of, place, _ := strings.Cut(m, "/")
				if of == name && (!apart || strings.HasPrefix(name, "order-") || !taken[fmt.Sprint(at, place)]) {
					free = append(free, m)
				}
			}
			if len(free) == 0 || len(bugs) == n {
				continue
			}
			m := free[dice.IntN(len(free))]
			_, place, _ := strings.Cut(m, "/")
			if !strings.HasPrefix(name, "order-") {
				taken[fmt.Sprint(at, place)] = true
			}
			planted[at]++
			bugs = append(bugs, Bug{Name: fmt.Sprintf("%s %s", games[at].Name(), m), Game: games[at], Mistake: m})
			break
		}
	}
	return bugs
}

// Strike is a session in which a bug strikes.
type Strike struct {
	Bug    Bug
	Number int // from 0, of those of its bug
	Seed   uint64
}

// Strikes returns n sessions of each bug.
func Strikes(bugs []Bug, n int, seed uint64) (list []Strike) {
	for number := range n {
		for i, b := range bugs {
			list = append(list, Strike{b, number, seed*1_000_000 + uint64(1000*i+number)})
		}
	}
	return list
}

// session returns what to play: each has another seed, tick, size and number of peers.
func (s Strike) session(again int, trace session.TraceLevel) Session {
	dice := rand.New(rand.NewPCG(s.Seed, uint64(again)))
	list := Session{
		Game: s.Bug.Game, Seed: s.Seed + uint64(again)*100_000, Peers: 2, Entities: []int{110, 150, 200}[dice.IntN(3)],
		Ticks: 120, Trace: trace, Fault: fmt.Sprintf("%s@%d", s.Bug.Mistake, 15+5*dice.IntN(16)),
	}
	if dice.IntN(4) == 0 {
		list.Peers = 3
	}
	if _, own := s.Bug.Game.(Reference); !own { // other games have peers of their own
		list.Peers, list.Entities = 0, 0
	}
	return list
}

// tries is how often a session is played with other seeds if its mistake does not show.
const tries = 4

// Leave plays it in a folder that is not there, and calls each with the folders of the peers for
// each view. It removes all of it at the end, and reports whether the mistake showed.
func (s Strike) Leave(dir string, views []View, each func(View, []string) error) (shown bool, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for again := range tries {
		recordings := map[session.TraceLevel]*session.Recording{}
		for i, v := range views {
			x := s.session(again, v.trace())
			r := recordings[x.Trace]
			if r == nil {
				if r, err = x.Game.Play(x, filepath.Join(dir, fmt.Sprint(again), string(x.Trace))); err != nil {
					return shown, fmt.Errorf("%s: %w", x, err)
				}
				recordings[x.Trace] = r
			}
			if !x.shows(r) { // the same with any trace, but for threads that run as they like
				break
			}
			shown = true
			dirs, err := v.show(r, filepath.Join(dir, fmt.Sprintf("view%d", i)))
			if err != nil {
				return shown, err
			}
			if err := each(v, dirs); err != nil {
				return shown, fmt.Errorf("%s, %s: %w", x, v, err)
			}
		}
		if shown {
			return true, nil
		}
	}
	return false, nil
}

// View is what is left of a session's artifacts.
type View string

// Views, those with less evidence later.
const (
	Complete     View = "complete"
	ArchetypesOf View = "traces of archetypes"
	SystemsOf    View = "traces of systems"
	Untracked    View = "no traces"
	Unlogged     View = "no order logs"
	BracketOnly  View = "regular snapshots alone"
	OnePeer      View = "one peer alone"
	Claimed      View = "claims alone"
)

// Views returns all views.
func Views() []View {
	return []View{Complete, ArchetypesOf, SystemsOf, Untracked, Unlogged, BracketOnly, OnePeer, Claimed}
}

// claimedTick is a line of a library that both peers may write, as testdata/loglines has it.
const claimedTick = "2026-03-02T18:04:13.874002Z  INFO game: Event: DesyncDetected { frame: %d, local_checksum: %d, remote_checksum: %d, addr: 127.0.0.1:7001 }\n"

// trace is the finest trace that it has.
func (v View) trace() session.TraceLevel {
	switch v {
	case ArchetypesOf:
		return session.TraceArchetype
	case SystemsOf:
		return session.TraceSystem
	}
	return session.TraceColumn
}

// show lays out what a view leaves of a recording, in a folder for each peer below dir, and returns
// these folders.
func (v View) show(r *session.Recording, dir string) (dirs []string, err error) {
	for i := range r.Peers {
		p := &r.Peers[i]
		if v == OnePeer && i != 1 {
			continue
		}
		to := filepath.Join(dir, p.Name)
		if err := os.MkdirAll(to, 0o777); err != nil {
			return nil, err
		}
		dirs = append(dirs, to)
		if v == Claimed {
			if err := os.WriteFile(filepath.Join(to, "game.log"), claimOf(r, i), 0o666); err != nil {
				return nil, err
			}
			continue
		}
		entries, err := os.ReadDir(p.Dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			from := filepath.Join(p.Dir, e.Name())
			if v.keeps(r, p, from) {
				if err := os.Link(from, filepath.Join(to, e.Name())); err != nil {
					return nil, err
				}
			}
		}
	}
	return dirs, nil
}

// keeps reports whether a view has a file of a peer.
func (v View) keeps(r *session.Recording, p *session.Recorded, file string) bool {
	trace := strings.HasSuffix(file, ".trace")
	switch {
	case strings.HasSuffix(file, ".json"):
		return false
	case v == Untracked:
		return !trace
	case v == Unlogged:
		return file != p.Log
	case v == BracketOnly:
		first := r.Truth.Bracket != nil && r.Truth.Bracket.Bad > 0 && file == p.At(r.Truth.Bracket.Bad)
		return !trace && file != p.Log && !first
	}
	return true
}

// claimOf is what a peer's game says of the desync, and nothing else.
func claimOf(r *session.Recording, peer int) []byte {
	tick := uint64(0)
	if r.Truth.Bracket != nil {
		tick = r.Truth.Bracket.Bad
	}
	sums := [2]uint64{tick*2654435761 + 1, tick*2246822519 + 2}
	return fmt.Appendf(nil, claimedTick, tick, sums[peer%2], sums[(peer+1)%2])
}

// Planted is what a bundle of a folder of planted bugs is of.
type Planted struct {
	Bundle string `json:"bundle"` // the name of its folder
	Bug    string `json:"bug"`
	View   View   `json:"evidence"`
}

// Mix writes sessions into one folder, a folder for each, whose names say nothing of their bugs, and the
// truth beside them as truth.json. Those in which a mistake never showed are left out.
func Mix(dir string, strikes []Strike, view View) ([]Planted, error) {
	list := []Planted{}
	for _, s := range strikes {
		name := fmt.Sprintf("%016x", s.Seed*0x9e3779b97f4a7c15) // another for each seed
		to := filepath.Join(dir, name)
		shown, err := s.Leave(to+".played", []View{view}, func(_ View, dirs []string) error {
			return os.Rename(filepath.Dir(dirs[0]), to)
		})
		if err != nil {
			return nil, err
		}
		if shown {
			list = append(list, Planted{name, s.Bug.Name, view})
		}
	}
	slices.SortFunc(list, func(a, b Planted) int { return strings.Compare(a.Bundle, b.Bundle) })
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, err
	}
	return list, os.WriteFile(filepath.Join(dir, session.TruthName), append(text, '\n'), 0o666)
}

package verdicts

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// Strike is a session in which a bug occurs.
type Strike struct {
	Bug    Bug
	Number int // from 0, among the sessions of its bug
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

// lengths are the lengths in ticks of the sessions that are played one after another until the mistake appears. Some
// mistakes appear when a peer comes back, long after the beginning.
var lengths = []uint64{120, 120, 240, 240, 240, 240}

// session returns the session to play. Each has a different seed, tick, size and number of peers.
func (s Strike) session(again int, trace session.TraceLevel) Session {
	dice := rand.New(rand.NewPCG(s.Seed, uint64(again)))
	list := Session{
		Game: s.Bug.Game, Seed: s.Seed + uint64(again)*100_000, Peers: 2, Entities: []int{110, 150, 200}[dice.IntN(3)],
		Ticks: lengths[again], Trace: trace, Fault: fmt.Sprintf("%s@%d", s.Bug.Mistake, 15+5*dice.IntN(16)),
	}
	if dice.IntN(4) == 0 {
		list.Peers = 3
	}
	if _, own := s.Bug.Game.(Reference); !own { // other games have their own peers
		list.Peers, list.Entities = 0, 0
	}
	return list
}

// Leave plays it in a folder that must not exist, with different seeds, sizes and lengths until the mistake appears. It
// calls each with the peers' folders for each view. It removes everything at the end, and reports whether the mistake
// appeared.
func (s Strike) Leave(dir string, views []View, each func(View, []string) error) (shown bool, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	defer try.Catch(&err)
	for again := range lengths {
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
			if !x.shows(r) { // the same with any trace, except for threads with random timing
				break
			}
			shown = true
			dirs := v.show(r, filepath.Join(dir, fmt.Sprintf("view%d", i)))
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

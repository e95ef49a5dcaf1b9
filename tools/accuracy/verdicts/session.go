// Package verdicts measures how often the verdicts on desyncs are right: it plays many
// sessions with a mistake in each, leaves some of their artifacts out, and compares what is
// concluded from the rest with what really happened. What happened is known from a
// comparison of the sims while they ran, without hashes and without the code that is
// measured.
//
// It plants bugs too ([Bugs]), lets each strike in many sessions ([Strikes]), and compares the
// groups of their reports with them ([Group], [Agree]).
package verdicts

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/report/verdict"
)

// Lack is what is taken away from a session's artifacts.
type Lack string

// Lacks.
const (
	Nothing   Lack = ""
	LogsGone  Lack = "no order logs"
	StateGone Lack = "no snapshots where the peers first differ"
	Sparse    Lack = "every second snapshot lost"
	NoStates  Lack = "no snapshots"
)

// Session is one session to play.
type Session struct {
	Game     Game
	Seed     uint64
	Fault    string // NAME/PLACE@TICK, empty for a clean one
	Peers    int
	Entities int
	Ticks    uint64 // 0 for Ticks
	Trace    session.TraceLevel
	Lack     Lack
	Shuffled bool // its archetypes, columns, systems and orders have swapped names
}

// Ticks is how long a session is, and snapshotEvery how many ticks lie between two
// snapshots.
const (
	Ticks         = 360
	snapshotEvery = 100
)

// String identifies a session.
func (s Session) String() string {
	fault := s.Fault
	if fault == "" {
		fault = "clean"
	}
	text := fmt.Sprintf("%s, seed %d, %s, %d peers, %d entities, trace %s", s.Game.Name(), s.Seed, fault, s.Peers, s.Entities, s.Trace)
	if s.Lack != Nothing {
		text += ", " + string(s.Lack)
	}
	if s.Shuffled {
		text += ", shuffled names"
	}
	return text
}

// Faulty returns n sessions of a game with every mistake in every place, in several sizes, with
// and without traces, with artifacts missing, half of them with shuffled names where the game
// can do that. The same number is the same session.
func Faulty(g Game, n int) []Session {
	list, mistakes := Clean(g, n), g.Mistakes()
	for i := range list {
		list[i].Fault = fmt.Sprintf("%s@%d", mistakes[i%len(mistakes)], 20+5*(i%29))
	}
	return list
}

// traces are the levels of traces that sessions have.
var traces = []session.TraceLevel{session.TraceColumn, session.TraceSystem, session.TraceArchetype, session.TraceNone}

// Clean returns n sessions of a game without a mistake.
func Clean(g Game, n int) []Session {
	lacks := []Lack{Nothing, Nothing, StateGone, LogsGone, Sparse, NoStates}
	sizes := []int{200, 400, 700}
	list := make([]Session, n)
	for i := range list {
		// What a session is like must not depend on its fault, which comes by turns.
		dice := rand.New(rand.NewPCG(uint64(i), 1))
		list[i] = Session{
			Game: g, Seed: uint64(1 + i), Peers: 2, Entities: sizes[dice.IntN(len(sizes))],
			Trace: traces[dice.IntN(len(traces))], Lack: lacks[dice.IntN(len(lacks))],
		}
		if dice.IntN(4) == 0 { // the cost of a session is that of its peers
			list[i].Peers = 3 + dice.IntN(6)
		}
		list[i].Shuffled = dice.IntN(2) == 0
		if _, own := g.(Reference); !own { // other games have peers and names of their own
			list[i].Peers, list[i].Entities, list[i].Shuffled = 0, 0, false
		}
	}
	return list
}

// guilty returns the peer that makes the mistake.
func (s Session) guilty() string {
	if strings.HasPrefix(s.Fault, "host-only/") {
		return "host"
	}
	return "client"
}

// ticks is how long it is.
func (s Session) ticks() uint64 { return cmp.Or(s.Ticks, Ticks) }

// take removes what a session is to lack.
func (s Session) take(r *session.Recording) error {
	for _, p := range r.Peers {
		reports, err := filepath.Glob(filepath.Join(p.Dir, "*.json"))
		if err != nil {
			return err
		}
		gone := reports // they say what the rest is to show
		if s.Lack == LogsGone {
			gone = append(gone, p.Log)
		}
		for i, point := range p.Points {
			first := r.Truth.Bracket != nil && point == r.Truth.Bracket.Bad && point > 0
			if s.Lack == StateGone && first || s.Lack == Sparse && i%2 == 1 || s.Lack == NoStates {
				gone = append(gone, p.Snapshots[i])
			}
		}
		for _, file := range gone {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return os.Remove(filepath.Join(filepath.Dir(r.Peers[0].Dir), session.TruthName))
}

// network reports whether the mistake is made on the way of an order.
func (s Session) network() bool { return strings.HasPrefix(s.Fault, "order-") }

// Measured concludes from what the peers in some folders left; sim and own are the builds to
// replay it in, nil if there are none.
type Measured func(dirs []string, sim, own *bisect.Sim) (*verdict.Conclusion, error)

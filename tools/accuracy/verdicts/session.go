// Package verdicts measures how often the verdicts about desyncs are right. It plays many sessions with a mistake in
// each, removes some of their artifacts, and compares the conclusions from the rest with the truth. The truth comes
// from a comparison of the sims while they run, without hashes and without the measured code.
//
// It also plants bugs ([Bugs]), lets each occur in many sessions ([Strikes]), and compares the groups of their reports
// with them ([Group], [Agree]).
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
	"github.com/desynctool/desynctool/tools/internal/try"
)

// Lack is the evidence that is removed from a session's artifacts.
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

// Ticks is the length of a session. snapshotEvery is the number of ticks between two snapshots.
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

// Faulty returns n sessions of a game with every mistake in every place, in several sizes, with and without traces, and
// with missing artifacts. Half of them have shuffled names if the game supports that. The same number always gives the
// same session.
func Faulty(g Game, n int) []Session {
	list, mistakes := Clean(g, n), g.Mistakes()
	for i := range list {
		from := uint64(20 + 5*(i%29)) // before the middle of a session
		list[i].Fault = fmt.Sprintf("%s@%d", mistakes[i%len(mistakes)], from*list[i].ticks()/Ticks)
	}
	return list
}

// traces are the trace levels of sessions.
var traces = []session.TraceLevel{session.TraceColumn, session.TraceSystem, session.TraceArchetype, session.TraceNone}

// Clean returns n sessions of a game without a mistake.
func Clean(g Game, n int) []Session {
	lacks := []Lack{Nothing, Nothing, StateGone, LogsGone, Sparse, NoStates}
	sizes := []int{200, 400, 700}
	list := make([]Session, n)
	for i := range list {
		// The properties of a session must not depend on its fault, which alternates.
		dice := rand.New(rand.NewPCG(uint64(i), 1))
		list[i] = Session{
			Game: g, Seed: uint64(1 + i), Peers: 2, Entities: sizes[dice.IntN(len(sizes))],
			Trace: traces[dice.IntN(len(traces))], Lack: lacks[dice.IntN(len(lacks))],
		}
		if dice.IntN(4) == 0 { // the cost of a session grows with its peers
			list[i].Peers = 3 + dice.IntN(6)
		}
		list[i].Shuffled = dice.IntN(2) == 0
		if p, ok := g.(*Program); ok {
			list[i].Ticks = p.ticks
		}
		if _, own := g.(Reference); !own { // other games have their own peers and names
			list[i].Peers, list[i].Entities, list[i].Shuffled = 0, 0, false
		}
	}
	return list
}

// guilty returns the peer with the mistake.
func (s Session) guilty() string {
	if strings.HasPrefix(s.Fault, "host-only/") {
		return "host"
	}
	return "client"
}

// ticks returns the length of the session.
func (s Session) ticks() uint64 { return cmp.Or(s.Ticks, Ticks) }

// take removes the artifacts that a session must lack.
func (s Session) take(r *session.Recording) {
	for _, p := range r.Peers {
		reports := try.Get(filepath.Glob(filepath.Join(p.Dir, "*.json")))
		gone := reports // they contain the answer that the rest should show
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
			try.Check(os.Remove(file))
		}
	}
	try.Check(os.Remove(filepath.Join(filepath.Dir(r.Peers[0].Dir), session.TruthName)))
}

// network reports whether the mistake happens to an order on its way.
func (s Session) network() bool { return strings.HasPrefix(s.Fault, "order-") }

// Measured draws a conclusion from the peers' files in some folders. sim and own are the builds for replays, nil if
// there are none.
type Measured func(dirs []string, sim, own *bisect.Sim) (*verdict.Conclusion, error)

// Package accuracy measures how often the verdicts on desyncs are right: it plays many
// sessions with a mistake in each, leaves some of their artifacts out, and compares what is
// concluded from the rest with what really happened. What happened is known from a
// comparison of the sims while they ran, without hashes and without the code that is
// measured.
package accuracy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/playbook"
)

// Lack is what is taken away from a session's artifacts.
type Lack string

// Lacks.
const (
	Nothing   Lack = ""
	LogsGone  Lack = "no order logs"
	StateGone Lack = "no snapshots where the peers first differ"
	Sparse    Lack = "every second snapshot lost"
)

// Session is one session to play.
type Session struct {
	Seed     uint64
	Fault    string // NAME/PLACE@TICK, empty for a clean one
	Peers    int
	Entities int
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
	text := fmt.Sprintf("seed %d, %s, %d peers, %d entities, trace %s", s.Seed, fault, s.Peers, s.Entities, s.Trace)
	if s.Lack != Nothing {
		text += ", " + string(s.Lack)
	}
	if s.Shuffled {
		text += ", shuffled names"
	}
	return text
}

// Faulty returns n sessions with every fault in every place, in several sizes, with and
// without traces, with artifacts missing, half of them with shuffled names. The same number
// is the same session.
func Faulty(n int) []Session {
	var places []string
	for round := range 8 {
		for _, kind := range refsim.Faults() {
			if round < len(kind.Places) {
				places = append(places, kind.Name+"/"+kind.Places[round])
			}
		}
	}
	list := Clean(n)
	for i := range list {
		list[i].Fault = fmt.Sprintf("%s@%d", places[i%len(places)], 20+5*(i%29))
	}
	return list
}

// traces are the levels of traces that sessions have.
var traces = []session.TraceLevel{session.TraceColumn, session.TraceSystem, session.TraceArchetype, session.TraceNone}

// Clean returns n sessions without a fault.
func Clean(n int) []Session {
	lacks := []Lack{Nothing, Nothing, StateGone, LogsGone, Sparse}
	sizes := []int{200, 400, 700}
	list := make([]Session, n)
	for i := range list {
		// What a session is like must not depend on its fault, which comes by turns.
		dice := rand.New(rand.NewPCG(uint64(i), 1))
		list[i] = Session{
			Seed: uint64(1 + i), Peers: 2, Entities: sizes[dice.IntN(len(sizes))],
			Trace: traces[dice.IntN(len(traces))], Lack: lacks[dice.IntN(len(lacks))],
		}
		if dice.IntN(4) == 0 { // the cost of a session is that of its peers
			list[i].Peers = 3 + dice.IntN(6)
		}
		list[i].Shuffled = dice.IntN(2) == 0
	}
	return list
}

// guilty returns the peer that makes the mistake.
func (s Session) guilty() string { return "client" }

// play plays a session to dir and takes away what it is to lack.
func (s Session) play(dir string) (*session.Recording, error) {
	o := session.Options{
		Config: refsim.Config{Seed: s.Seed, Entities: s.Entities}, Ticks: Ticks, SnapshotEvery: snapshotEvery,
		Peers: []string{"host", "client"},
	}
	if s.Shuffled {
		o.Config.Names = s.Seed + 1
	}
	for i := 2; i < s.Peers; i++ {
		o.Peers = append(o.Peers, fmt.Sprintf("client%d", i))
	}
	if s.Fault != "" {
		f, err := session.ParseFault(s.Fault + ":" + s.guilty())
		if err != nil {
			return nil, err
		}
		o.Faults = []session.Fault{f}
	}
	r, err := session.RecordTo(dir, o, s.Trace)
	if err != nil {
		return nil, err
	}
	return r, s.take(r)
}

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
			if s.Lack == StateGone && first || s.Lack == Sparse && i%2 == 1 {
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

// Measured is what is measured. Both conclude from what the peers in some folders left.
type Measured struct {
	Narrow func(dirs []string) (*playbook.Conclusion, error)
	Triage func(dirs []string) (*report.Report, error) // nil if only Narrow is measured
}

package bisect

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Simulator is a running game that applies orders tick by tick.
type Simulator interface {
	// Point returns the state point that the simulator is at.
	Point() uint64
	// Step applies the orders of the tick at hand, in their order, and moves on
	// to the next point. Their kinds are numbers in the log's header.
	Step(orders []orderlog.Order) error
	// SyncHash returns the sync hash at Point, StateHash the full hash.
	SyncHash() merkle.Short
	StateHash() merkle.Hash
}

// Sim starts simulators.
type Sim struct {
	Name string

	// Start starts a session from what its log's header says.
	Start func(h *orderlog.Header) (Simulator, error)

	// Resume starts a session from a state. The header may be nil.
	Resume func(w *snapshot.World, h *orderlog.Header) (Simulator, error)
}

// Replay is what replaying the orders says.
type Replay struct {
	Sim string

	// From and To are the state points of the replay. FromState says that it
	// was resumed from a snapshot, not from the start of the session.
	From, To  uint64
	FromState bool

	Peers []ReplayedPeer

	// InputsPart is the first point at which two peers' replays differ from
	// each other: then their orders do, in the tick before. Nil if they never
	// do.
	InputsPart *uint64
}

// ReplayedPeer is how one peer's evidence compares with the replay of the
// orders in its own log.
type ReplayedPeer struct {
	Name string

	// Compared counts the hashes of the peer that were held against the replay.
	Compared int

	// Departs is the first point at which the peer's hash is not the replay's,
	// nil if they agree throughout. LastAgreed is the last point before it at
	// which they were seen to agree.
	Departs, LastAgreed *uint64

	// Expected is the replay's hash at Departs, Got the peer's.
	Expected, Got merkle.Short

	// Borrowed names the peer whose orders were replayed because this one has
	// no log.
	Borrowed string
}

// MatchesReference reports whether the peer's hashes were compared and agree
// with the replay.
func (p *ReplayedPeer) MatchesReference() bool { return p.Compared > 0 && p.Departs == nil }

// run is one peer's replay.
type run struct {
	peer *Peer
	log  *orderlog.Log
	sim  Simulator
	out  ReplayedPeer
}

// replay replays the orders over the bracket and narrows it to the tick at
// which the peers part.
func replay(r *Result, peers []*Peer, sim *Sim) error {
	b := r.Bracket
	if b.Bad.Phase != "" || b.Good != nil && b.Good.Phase != "" {
		r.note("no replay: the states were taken inside a tick, %s starts at whole ones", sim.Name)
		return nil
	}
	runs, lender, err := lineUp(r, peers)
	if runs == nil || err != nil {
		return err
	}
	rep := &Replay{Sim: sim.Name, To: b.Bad.Tick}
	world, err := goodWorld(r, peers)
	if err != nil {
		return err
	}
	if world != nil {
		rep.From, rep.FromState = world.Point.Tick, true
	} else {
		rep.From = lender.Header.FirstPoint
	}
	for i := range runs {
		run := &runs[i]
		if world != nil {
			run.sim, err = sim.Resume(world, &run.log.Header)
		} else {
			run.sim, err = sim.Start(&run.log.Header)
		}
		if err != nil {
			return fmt.Errorf("%s cannot replay %s: %w", sim.Name, run.log.Name, err)
		}
		if at := run.sim.Point(); at != rep.From {
			return fmt.Errorf("%s begins at state point %d, expected %d", sim.Name, at, rep.From)
		}
	}
	if world != nil {
		held, err := snapshot.Hold(world)
		if err != nil {
			return err
		}
		if got, want := runs[0].sim.StateHash(), held.Info().Root; got != want {
			return fmt.Errorf("%s loads the state at point %d with hash %s, the snapshot has %s: not this build, or the save forgets something",
				sim.Name, rep.From, got.Short(), want.Short())
		}
	}
	if err := rep.play(runs); err != nil {
		return err
	}
	for _, run := range runs {
		rep.Peers = append(rep.Peers, run.out)
	}
	r.Replay = rep
	r.narrowByReplay()
	return nil
}

// lineUp makes a run for each peer. A peer without a log borrows the orders of
// the first that has one, the lender.
func lineUp(r *Result, peers []*Peer) ([]run, *orderlog.Log, error) {
	var lender *Peer
	for _, p := range peers {
		if p.log != nil && lender == nil {
			lender = p
		}
	}
	if lender == nil {
		r.lose("no replay: no peer has an order log")
		return nil, nil, nil
	}
	runs := make([]run, len(peers))
	for i, p := range peers {
		runs[i] = run{peer: p, log: p.log, out: ReplayedPeer{Name: p.Name}}
		if p.log == nil {
			runs[i].log, runs[i].out.Borrowed = lender.log, lender.Name
		}
	}
	return runs, lender.log, nil
}

// goodWorld loads the state at the good end of the bracket, or at the last
// state point before it of which there is a snapshot. It returns nil if there
// is none: then the replay begins with the session.
func goodWorld(r *Result, peers []*Peer) (*snapshot.World, error) {
	if r.Bracket.Good == nil {
		return nil, nil
	}
	var best *snapshot.Entry
	var from *Peer
	for _, p := range peers {
		for _, e := range slices.Backward(p.set.Entries) {
			if best != nil && e.Point.Compare(best.Point) <= 0 {
				break
			}
			if e.Point.Phase == "" && e.Point.Compare(*r.Bracket.Good) <= 0 && allHave(peers, e.Point) {
				best, from = e, p
				break
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	state, err := best.Open()
	if err != nil {
		if state != nil {
			state.Close()
		}
		from.lost = append(from.lost, err.Error())
		return nil, nil
	}
	defer state.Close()
	return snapshot.Load(state)
}

// allHave reports whether every peer that has snapshots has one at a point, and
// their headers, where read, have one root.
func allHave(peers []*Peer, point snapshot.Point) bool {
	var root merkle.Hash
	for _, p := range peers {
		e := p.set.At(point)
		if e == nil {
			if len(p.set.Entries) > 0 {
				return false
			}
			continue
		}
		info, moved, err := p.head(e)
		if err != nil || moved {
			return false
		}
		if !root.IsZero() && info.Root != root {
			return false
		}
		root = info.Root
	}
	return true
}

// play steps all runs from point to point and compares.
func (rep *Replay) play(runs []run) error {
	for point := rep.From; ; point++ {
		for i := range runs {
			runs[i].compare(point)
			if i > 0 && rep.InputsPart == nil && runs[i].sim.SyncHash() != runs[0].sim.SyncHash() {
				at := point
				rep.InputsPart = &at
			}
		}
		if point >= rep.To {
			return nil
		}
		for i := range runs {
			var orders []orderlog.Order
			if t := runs[i].log.Tick(point); t != nil {
				orders = t.Orders
			}
			if err := runs[i].sim.Step(orders); err != nil {
				return fmt.Errorf("%s, tick %d of %s: %w", rep.Sim, point, runs[i].log.Name, err)
			}
		}
	}
}

// compare holds what the peer recorded at a point against the replay.
func (run *run) compare(point uint64) {
	if run.out.Departs != nil {
		return
	}
	got, ok := run.peer.sync(point)
	if !ok {
		e := run.peer.set.At(snapshot.Point{Tick: point})
		if e == nil {
			return
		}
		info, moved, err := run.peer.head(e)
		if err != nil || moved {
			return
		}
		got = info.Root.Short()
	}
	at := point
	run.out.Compared++
	if want := run.sim.SyncHash(); !bytes.Equal(want[:], got[:]) {
		run.out.Departs, run.out.Expected, run.out.Got = &at, want, got
		return
	}
	run.out.LastAgreed = &at
}

// narrowByReplay narrows the bracket: until a peer departs from the replay its
// states are those of the replay, so peers part where the first departs, or
// where the replays of different orders do.
func (r *Result) narrowByReplay() {
	rep := r.Replay
	good, bad := uint64(0), r.Bracket.Bad.Tick
	haveGood := r.Bracket.Good != nil
	if haveGood {
		good = r.Bracket.Good.Tick
	}
	initial := false
	for i := range rep.Peers {
		p := &rep.Peers[i]
		if p.Compared == 0 {
			r.note("%s left no hash in the replayed ticks: whether it departs is not known", p.Name)
			return
		}
		if p.Departs != nil {
			bad = min(bad, *p.Departs)
			initial = initial || *p.Departs == rep.From && !rep.FromState
		}
	}
	if rep.InputsPart != nil {
		bad = min(bad, *rep.InputsPart)
	}
	// All peers are known to be where their replays are up to the last point
	// at which each was seen to agree before it departed.
	agreed := bad
	if agreed > 0 {
		agreed--
	}
	for i := range rep.Peers {
		p := &rep.Peers[i]
		switch {
		case p.Departs == nil:
		case p.LastAgreed == nil:
			agreed = good
		default:
			agreed = min(agreed, *p.LastAgreed)
		}
	}
	if bad < r.Bracket.Bad.Tick || agreed > good || !haveGood && !initial && bad > 0 {
		b := *r.Bracket
		if bad != b.Bad.Tick {
			b.Bad, b.BadFiles = snapshot.Point{Tick: bad}, nil
		}
		if agreed < bad && (agreed > good || !haveGood) && !initial {
			b.Good, b.GoodFiles = &snapshot.Point{Tick: agreed}, nil
		}
		b.By = "replay"
		r.set(b)
	}
	departed := 0
	for i := range rep.Peers {
		if rep.Peers[i].Departs != nil {
			departed++
		}
	}
	switch {
	case rep.InputsPart != nil:
		r.note("the orders in the logs lead to different states from state point %d on: the inputs differ, the simulation need not be at fault", *rep.InputsPart)
	case departed == len(rep.Peers):
		r.note("every peer departs from %s: it is another build or set of data than the game's, or all peers are wrong", rep.Sim)
	}
}

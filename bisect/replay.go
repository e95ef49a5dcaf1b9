package bisect

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Replay is what replaying the orders says.
type Replay struct {
	Sim string

	// From and To are the state points of the replay. FromState says that it
	// was resumed from a snapshot, not from the start of the session.
	From, To  uint64
	FromState bool

	Peers []ReplayedPeer

	// InputsDiffer is the first point at which two peers' replays differ from
	// each other: then their orders do, in the tick before. Nil if they never
	// do.
	InputsDiffer *uint64

	peers  []*peer // of Peers
	lender *peer   // whose orders those without a log borrow
}

// name gives the peers their names.
func (rep *Replay) name() {
	for i, p := range rep.peers {
		rep.Peers[i].Name = p.name
		if p.log == nil || p.log.Open == nil {
			rep.Peers[i].Borrowed = rep.lender.name
		}
	}
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

	// Drilled is the replay system by system of a peer that departs, nil if none
	// was asked for or there is no trace to drill by.
	Drilled *Trial
}

// MatchesReference reports whether the peer's hashes were compared and agree
// with the replay.
func (p *ReplayedPeer) MatchesReference() bool { return p.Compared > 0 && p.Departs == nil }

// run is one peer's replay.
type run struct {
	peer   *peer
	log    *orderlog.Log
	lent   bool // the log is another peer's
	out    ReplayedPeer
	hashes []merkle.Short // of the replay, from Replay.From on
	end    uint64         // the last state point that the orders in the log lead to
	// unsteady says that the simulator does not agree with itself, empty if it does.
	unsteady string
}

// maxGap is how many ticks without a record a log may have in a row. Writers
// may leave ticks without orders out; but a log that skips hours is not a log of
// one game.
const maxGap = 100_000

// ordersFrom returns the orders that a log has from a state point on, by tick, and the
// last point that they lead to.
func ordersFrom(log *orderlog.Log, from uint64) (orders map[uint64][]orderlog.Order, end uint64) {
	orders, end = make(map[uint64][]orderlog.Order), from
	for i := range log.Ticks {
		t := &log.Ticks[i]
		if t.Number < from {
			continue
		}
		if t.Number > end+maxGap {
			break
		}
		orders[t.Number] = t.Orders // those of the last epoch, if it was played again
		end = max(end, t.Number+1)
	}
	if log.Header.FirstPoint > from {
		end = from
	}
	return orders, end
}

// Recorded returns what a log knows of its own peer from its first point on: the orders
// by tick, the sync hashes by state point, and the last point that the orders lead to.
func Recorded(log *orderlog.Log) (orders map[uint64][]orderlog.Order, hashes map[uint64]merkle.Short, end uint64) {
	hashes, _ = recorded(log)
	orders, end = ordersFrom(log, log.Header.FirstPoint)
	return orders, hashes, end
}

// recorded returns the sync hashes that a log has of its own peer, nil if it has none that
// are known to be, and what is wrong with them.
func recorded(log *orderlog.Log) (hashes map[uint64]merkle.Short, lost []string) {
	l := LogOf(log)
	if l.stranger() {
		return nil, l.lost()
	}
	hashes = make(map[uint64]merkle.Short, len(l.Hashes)+1)
	for _, h := range l.Hashes {
		hashes[h.Point] = h.Sum
	}
	return hashes, l.lost()
}

// replay replays the orders over the bracket and narrows it to the tick at
// which the peers part.
func replay(r *Result, peers []*peer, opts Options) error {
	sim, b := opts.Sim, r.Bracket
	if b.Bad.Phase != "" || b.Good != nil && b.Good.Phase != "" {
		r.note("no replay: the states were taken inside a tick, %s starts at whole ones", sim.Name)
		return nil
	}
	runs, lending, err := lineUp(r, peers)
	if runs == nil || err != nil {
		return err
	}
	lender := lending.log
	rep := &Replay{Sim: sim.Name, To: b.Bad.Tick, lender: lending.peer}
	world := goodWorld(r, peers)
	if world != nil {
		rep.From, rep.FromState = world.Point.Tick, true
	} else {
		rep.From = lender.Header.FirstPoint
	}
	err = rep.play(runs, sim, world)
	if world != nil && errors.Is(err, ErrUnsupported) { // it cannot load states
		r.note("%s cannot load the state at point %d: it replays from the start of the session", sim.Name, rep.From)
		world, rep.From, rep.FromState = nil, lender.Header.FirstPoint, false
		err = rep.play(runs, sim, nil)
	}
	if err != nil {
		return err
	}
	if world != nil {
		held, err := snapshot.Hold(world)
		if err != nil {
			return err
		}
		if got, want := runs[0].hashes[0], held.Info().Root.Short(); got != want {
			return fmt.Errorf("%s loads the state at point %d with hash %s, the snapshot has %s: not this build, or the save forgets something",
				sim.Name, rep.From, got, want)
		}
	}
	if opts.Traced != nil {
		if err := rep.drill(r, runs, opts, world); err != nil {
			return err
		}
	}
	for i := range runs {
		rep.Peers, rep.peers = append(rep.Peers, runs[i].out), append(rep.peers, runs[i].peer)
		if why := runs[i].unsteady; why != "" {
			r.note("%s: %s", runs[i].peer, why)
		}
		if runs[i].end < b.Bad.Tick {
			r.note("the orders in %s are known up to state point %d only", runs[i].log.Name, runs[i].end)
		}
	}
	r.Replay = rep
	r.narrowByReplay()
	return nil
}

// lineUp makes a run for each peer. A peer without a log borrows the orders of
// the first that has one, the lender.
func lineUp(r *Result, peers []*peer) (runs []run, lender *run, err error) {
	runs = make([]run, len(peers))
	for i, p := range peers {
		runs[i].peer = p
		if p.log == nil || p.log.Open == nil {
			continue
		}
		if runs[i].log, err = p.log.Open(); err != nil {
			return nil, nil, err
		}
		if lender == nil {
			lender = &runs[i]
		}
	}
	if lender == nil {
		r.lose("no replay: no peer has an order log")
		return nil, nil, nil
	}
	for i := range runs {
		if runs[i].log == nil {
			runs[i].log, runs[i].lent = lender.log, true
		}
	}
	return runs, lender, nil
}

// goodWorld loads the state at the good end of the bracket, or at the last
// state point before it of which there is a snapshot. It returns nil if there
// is none: then the replay begins with the session.
func goodWorld(r *Result, peers []*peer) *snapshot.World {
	if r.Bracket.Good == nil {
		return nil
	}
	var best *snapshot.Entry
	for _, p := range peers {
		for _, e := range slices.Backward(p.set.Entries) {
			if best != nil && e.Point.Compare(best.Point) <= 0 {
				break
			}
			if e.Point.Phase == "" && e.Point.Compare(*r.Bracket.Good) <= 0 && allHave(peers, e.Point) {
				best = e
				break
			}
		}
	}
	if best == nil {
		return nil
	}
	state, err := best.Open()
	if err != nil {
		if state != nil {
			state.Close()
		}
		r.lose("%v", err)
		return nil
	}
	defer state.Close()
	world, err := snapshot.Load(state)
	if err != nil {
		r.lose("%v", err)
		return nil
	}
	return world
}

// allHave reports whether every peer that has snapshots has one at a point, and
// their headers, where read, have one root.
func allHave(peers []*peer, point snapshot.Point) bool {
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

// play replays every run on its own, all at once, as far as its orders are known and
// the bracket goes, and compares what they come to.
func (rep *Replay) play(runs []run, sim *Sim, world *snapshot.World) error {
	errs := make([]error, len(runs))
	var wait sync.WaitGroup
	for i := range runs {
		run := &runs[i]
		_, run.end = ordersFrom(run.log, rep.From)
		wait.Go(func() { errs[i] = rep.playOne(run, sim, world) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	last := rep.From
	for i := range runs {
		last = max(last, min(rep.To, runs[i].end))
		for at := range runs[i].hashes[:min(len(runs[0].hashes), len(runs[i].hashes))] {
			if runs[0].hashes[at] == runs[i].hashes[at] {
				continue
			}
			if point := rep.From + uint64(at); rep.InputsDiffer == nil || point < *rep.InputsDiffer {
				rep.InputsDiffer = &point
			}
			break
		}
	}
	rep.To = last
	return nil
}

// playOne is a plain replay of a peer's orders, held against its hashes and the roots of
// its snapshots.
func (rep *Replay) playOne(run *run, sim *Sim, world *snapshot.World) error {
	until := min(rep.To, run.end)
	t, err := Try(run.log, sim, TrialOptions{
		Mode: Plain, From: world, Force: true, Until: &until, Expect: run.peer.between(rep.From, rep.To),
		Observe: func(_ uint64, hash merkle.Short) error {
			run.hashes = append(run.hashes, hash)
			return nil
		},
	})
	if err != nil {
		return err
	}
	if t.Unsteady {
		run.unsteady = t.Means
		return nil
	}
	run.out.Compared, run.out.LastAgreed = int(t.Compared), t.Agreed
	if d := t.First; d != nil {
		run.out.Departs, run.out.Expected, run.out.Got = &d.Point, d.Got, d.Expected
	}
	return nil
}

// drill replays the orders of each peer that departs once more, system by system.
func (rep *Replay) drill(r *Result, runs []run, opts Options, world *snapshot.World) error {
	departed := false
	for i := range runs {
		run := &runs[i]
		if run.out.Departs == nil {
			continue
		}
		departed = true
		if run.lent {
			r.note("%s is not drilled into: it left no orders of its own", run.peer)
			continue
		}
		if run.peer.ownSums {
			r.note("%s is not drilled into: its trace is of checksums of the game's own", run.peer)
			continue
		}
		traced, err := opts.Traced(run.peer.Peer)
		if err != nil {
			r.lose("%v", err)
			continue
		}
		if traced == nil {
			r.note("%s is not drilled into: it left no trace of systems", run.peer)
			continue
		}
		run.out.Drilled, err = Try(run.log, opts.Sim, TrialOptions{
			Mode: Plain, From: world, Force: true, Until: run.out.Departs, Snapshots: run.peer.set, Drill: true, Traced: traced,
		})
		if err = errors.Join(err, traced.Close()); err != nil { // what the replay found stands
			r.note("%s is not drilled into: %v", run.peer, err)
		}
	}
	if !departed {
		r.note("no peer departs from %s: there is nothing to drill into", rep.Sim)
	}
	return nil
}

// between returns the sync hashes that a peer is known to have had at state points: as
// it recorded them, or else of its snapshots; only of these if what it recorded are not
// roots.
func (p *peer) between(first, last uint64) map[uint64]merkle.Short {
	known := make(map[uint64]merkle.Short)
	for _, e := range slices.Clone(p.set.Entries) { // opening a misnamed one moves it
		if e.Point.Phase != "" || e.Point.Tick < first || e.Point.Tick > last {
			continue
		}
		if info, moved, err := p.head(e); err == nil && !moved {
			known[e.Point.Tick] = info.Root.Short()
		}
	}
	if p.ownSums {
		return known
	}
	for _, h := range p.log.from(first) {
		if h.Point > last {
			break
		}
		known[h.Point] = h.Sum
	}
	return known
}

// narrowByReplay narrows the bracket: until a peer departs from the replay its
// states are those of the replay, so peers part where the first departs, or
// where the replays of different orders do. It never leaves the bracket.
func (r *Result) narrowByReplay() {
	rep, b := r.Replay, *r.Bracket
	inside := func(point uint64) bool {
		return point <= b.Bad.Tick && (b.Good == nil || point > b.Good.Tick)
	}
	departed := 0
	bad, agreed, known := b.Bad.Tick, b.Bad.Tick, true
	for i := range rep.Peers {
		p := &rep.Peers[i]
		if p.Compared == 0 {
			r.note("%s left no hash in the replayed ticks: whether it departs is not known", rep.peers[i])
		}
		if p.LastAgreed == nil {
			known = false
		} else {
			agreed = min(agreed, *p.LastAgreed)
		}
		if p.Departs == nil {
			continue
		}
		departed++
		if !inside(*p.Departs) {
			r.note("%s departs from %s at state point %d, before the peers part: %s is another build or has other data than the game", rep.peers[i], rep.Sim, *p.Departs, rep.Sim)
			return
		}
		bad = min(bad, *p.Departs)
	}
	if rep.InputsDiffer != nil {
		if !inside(*rep.InputsDiffer) {
			r.contradict("the orders in the logs lead to different states at state point %d, where the peers are known to be equal", *rep.InputsDiffer)
			return
		}
		bad = min(bad, *rep.InputsDiffer)
		agreed = min(agreed, *rep.InputsDiffer-1)
	}
	if bad < b.Bad.Tick {
		b.Bad, b.BadFiles, b.By = snapshot.Point{Tick: bad}, nil, ByReplay
	}
	// Peers that agree with one replay agree with each other.
	if known && agreed < bad && (b.Good == nil || agreed > b.Good.Tick) {
		b.Good, b.GoodFiles, b.By = &snapshot.Point{Tick: agreed}, nil, ByReplay
	}
	r.set(b)
	switch {
	case rep.InputsDiffer != nil:
		r.note("the orders in the logs lead to different states from state point %d on: the inputs differ, the simulation need not be at fault", *rep.InputsDiffer)
	case departed == len(rep.Peers):
		r.note("every peer departs from %s: it is another build or set of data than the game's, or all peers are wrong", rep.Sim)
	}
}

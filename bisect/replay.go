package bisect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Replay is the outcome of replaying the orders.
type Replay struct {
	Sim string

	// From and To are the state points of the replay. FromState reports whether it was resumed from a snapshot, not
	// from the start of the session.
	From, To  uint64
	FromState bool

	Peers []ReplayedPeer

	// InputsDiffer is the first point at which two peers' replays differ from each other: then their orders do, in
	// the tick before. Nil if they never do.
	InputsDiffer *uint64

	// Unsteady reports whether the simulator is not deterministic; then nothing follows from the replay.
	Unsteady bool

	peers  []*peer // of Peers
	lender *peer   // peers without a log borrow its orders
	runs   []run   // of Peers
	known  [][]expectation
	ref    *reference

	progress func(done, total int64)
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

// ReplayedPeer is how one peer's evidence compares with the replay of the orders in its own log.
type ReplayedPeer struct {
	Name string

	// Compared counts the hashes of the peer that were compared with the replay.
	Compared int

	// Departs is the first point at which the peer's hash is not the replay's, nil if they agree throughout.
	// LastAgreed is the last point before it at which they were seen to agree.
	Departs, LastAgreed *uint64

	// Expected is the replay's hash at Departs, Got the peer's.
	Expected, Got merkle.Short

	// Borrowed names the peer that the replayed orders come from, because this one has no log.
	Borrowed string

	// Drilled is the replay system by system of a peer that departs, nil if drilling was not requested or there is no
	// trace for it.
	Drilled *Trial
}

// MatchesReference reports whether the peer's hashes were compared and agree with the replay.
func (p *ReplayedPeer) MatchesReference() bool { return p.Compared > 0 && p.Departs == nil }

// Recorded returns the data of a log's own peer in the first stretch of the log: the orders by tick, the sync hashes by
// state point, and the stretch.
func Recorded(log *orderlog.Log) (orders map[uint64][]orderlog.Order, hashes map[uint64]merkle.Short, first Stretch) {
	list, _ := playedOf(log, false)
	return list[0].orders, list[0].hashes, list[0].Stretch
}

// replay replays the orders over the bracket and narrows it to the tick at which the peers diverge.
func replay(r *Result, peers []*peer, opts Options) error {
	sim, b := opts.Sim, r.Bracket
	if b.Bad.Phase != "" || b.Good != nil && b.Good.Phase != "" {
		r.note("no replay: the states were taken inside a tick, %s starts at whole ones", sim.Name)
		return nil
	}
	runs, err := lineUp(peers)
	if err != nil {
		return err
	}
	rep := &Replay{Sim: sim.Name, To: b.Bad.Tick, progress: opts.Progress}
	world := goodWorld(r, peers)
	ref := refer(runs, world, b.Bad.Tick)
	if ref == nil && world != nil {
		world = nil
		ref = refer(runs, nil, b.Bad.Tick)
	}
	if ref == nil {
		r.lose("no replay: no peer has an order log of the ticks from %s on", beginning(b.Good))
		return nil
	}
	err = rep.play(runs, ref, sim)
	again := "" // why it replays from the start
	switch {
	case world == nil:
	case errors.Is(err, ErrUnsupported):
		again = fmt.Sprintf("%s cannot load the state at point %d", sim.Name, ref.From)
	case err == nil:
		held, err := snapshot.Hold(world)
		if err != nil {
			return err
		}
		if got, want := ref.hashes[0], held.Info().Root.Short(); got != want {
			again = fmt.Sprintf("%s loads the state at point %d with hash %s, the snapshot has %s: not this build, or the save forgets something", sim.Name, rep.From, got, want)
		}
	}
	if again != "" {
		r.note("%s; it replays from the start of the session", again)
		if ref = refer(runs, nil, b.Bad.Tick); ref == nil {
			r.lose("no replay: no peer has an order log from the start on")
			return nil
		}
		rep.To = b.Bad.Tick
		err = rep.play(runs, ref, sim)
	}
	if err == nil && ref.from.world != nil && rep.departsFromAll(runs) {
		ref, err = rep.fromStart(r, runs, ref, sim)
	}
	if err != nil {
		r.SimFailed = err.Error()
		return nil
	}
	if rep.Unsteady {
		r.note("%s is not deterministic: replays of the same orders differ, so nothing follows from them", sim.Name)
	} else if err := rep.drill(r, runs, opts); err != nil {
		r.SimFailed = err.Error()
	}
	for i := range runs {
		rep.Peers, rep.peers = append(rep.Peers, runs[i].out), append(rep.peers, runs[i].peer)
		runs[i].say(r, b.Bad.Tick)
	}
	rep.runs, rep.ref = runs, ref
	r.Replay = rep
	r.narrowByReplay(runs)
	return nil
}

// departsFromAll reports whether the replay departs from every peer.
func (rep *Replay) departsFromAll(runs []run) bool {
	return !rep.Unsteady && !slices.ContainsFunc(runs, func(run run) bool { return run.out.Departs == nil })
}

// fromStart replays from the start of the session after a replay from a state departed from every peer. The state may
// lack what later ticks read; then the replay from the start agrees with a peer. Otherwise the first replay counts.
func (rep *Replay) fromStart(r *Result, runs []run, ref *reference, sim *Sim) (*reference, error) {
	first, firstRuns := *rep, slices.Clone(runs)
	start := refer(runs, nil, r.Bracket.Bad.Tick)
	if start == nil {
		return ref, nil
	}
	rep.To = r.Bracket.Bad.Tick
	err := rep.play(runs, start, sim)
	var agree []string
	for i := range runs {
		if out := &runs[i].out; err == nil && !rep.Unsteady && out.MatchesReference() {
			agree = append(agree, runs[i].peer.String())
		}
	}
	if len(agree) == 0 {
		*rep = first
		copy(runs, firstRuns)
		return ref, nil
	}
	r.note("from the state at point %d the replay departs from every peer, from the start of the session it agrees with %s: the snapshots lack state that later ticks read", first.From, strings.Join(agree, ", "))
	return start, nil
}

func beginning(good *snapshot.Point) string {
	if good == nil {
		return "the start"
	}
	return fmt.Sprintf("state point %s", good)
}

// goodWorld loads the state at the good end of the bracket, or at the last state point before it with a snapshot. It
// returns nil if there is none: then the replay begins with the session.
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
	if state != nil {
		defer state.Close()
	}
	var world *snapshot.World
	if err == nil {
		world, err = snapshot.Load(state)
	}
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
		if err != nil || moved || !root.IsZero() && info.Root != root {
			return false
		}
		root = info.Root
	}
	return true
}

// drill replays the orders of each peer that departs again, system by system. For a peer that departs by loading, it
// shows what was lost.
func (rep *Replay) drill(r *Result, runs []run, opts Options) error {
	departed := false
	for i := range runs {
		run := &runs[i]
		if run.out.Departs == nil {
			continue
		}
		if departed = true; run.loaded {
			if err := run.lost(opts.Sim); err != nil {
				return err
			}
			continue
		}
		if opts.Traced == nil {
			continue
		}
		if run.lent {
			r.note("%s is not drilled into: it left no orders", run.peer)
			continue
		}
		if run.peer.ownSums {
			r.note("%s is not drilled into: its trace has checksums of the game's own", run.peer)
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
		p := run.player(opts.Sim, run.where, *run.out.Departs)
		p.recorded = run.where.hashes
		p.opts.Drill, p.opts.Traced, p.opts.Snapshots = true, traced, run.peer.set
		if err = errors.Join(p.replay(), traced.Close()); err != nil { // the replay's finding is valid anyway
			r.note("%s is not drilled into: %v", run.peer, err)
			continue
		}
		run.out.Drilled = p.out
	}
	if !departed && opts.Traced != nil {
		r.note("no peer departs from %s: there is nothing to drill into", rep.Sim)
	}
	return nil
}

// roots returns the sync hashes of a peer's snapshots of whole state points.
func (p *peer) roots(first, last uint64) map[uint64]merkle.Short {
	known := make(map[uint64]merkle.Short)
	for _, e := range slices.Clone(p.set.Entries) { // opening a misnamed one moves it
		if e.Point.Phase != "" || e.Point.Tick < first || e.Point.Tick > last {
			continue
		}
		if info, moved, err := p.head(e); err == nil && !moved {
			known[e.Point.Tick] = info.Root.Short()
		}
	}
	return known
}

// narrowByReplay narrows the bracket: until a peer departs from the replay its states equal the replay's, so peers
// diverge where the first one departs, or where the replays of different orders diverge. It never leaves the bracket.
func (r *Result) narrowByReplay(runs []run) {
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
		early := p.Departs != nil && !inside(*p.Departs)
		if early && rep.agreesElsewhere(i) {
			r.note("%s departs at state point %d from what its own log gives, where the replay of others gives its states: its log is not all that it was given, and %s is not at fault",
				rep.peers[i], *p.Departs, rep.Sim)
			known = false
			continue
		}
		switch {
		case runs[i].away(b.Bad.Tick):
			// it shows nothing about the tick
		case p.LastAgreed == nil:
			known = false
		default:
			agreed = min(agreed, *p.LastAgreed)
		}
		if p.Departs == nil {
			continue
		}
		departed++
		if early {
			if j := slices.IndexFunc(runs, func(other run) bool { return other.loadedSince(*p.Departs, b.Good) }); j >= 0 && j != i {
				r.note("%s departs from %s at state point %d, when %s was not there; it loaded a state after that, so that nothing follows for the bracket", rep.peers[i], rep.Sim, *p.Departs, rep.peers[j])
				return
			}
			r.note("%s departs from %s at state point %d, before the peers diverge: %s is another build or has other data than the game", rep.peers[i], rep.Sim, *p.Departs, rep.Sim)
			return
		}
		bad = min(bad, *p.Departs)
	}
	if rep.InputsDiffer != nil {
		if !inside(*rep.InputsDiffer) {
			if slices.ContainsFunc(runs, func(run run) bool { return run.loadedSince(*rep.InputsDiffer, b.Good) }) {
				r.note("the orders in the logs lead to different states at state point %d, before a peer loaded a state", *rep.InputsDiffer)
				return
			}
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

// agreesElsewhere reports whether a peer's departure, before the peers diverge, is not the simulator's fault: another
// peer, which has the same states there, is as its orders give.
func (rep *Replay) agreesElsewhere(i int) bool {
	return slices.ContainsFunc(rep.Peers, func(q ReplayedPeer) bool {
		return q.LastAgreed != nil && *q.LastAgreed >= *rep.Peers[i].Departs && (q.Departs == nil || *q.Departs > *rep.Peers[i].Departs)
	})
}

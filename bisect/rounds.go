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

// run is one peer's part in a replay over the bracket.
type run struct {
	peer *peer
	log  *orderlog.Log // nil if it left none
	lent bool          // the orders are another peer's
	list []*played     // of its log
	out  ReplayedPeer
	// where is the part in which it departs. Loaded reports whether it does so by loading.
	where  *part
	loaded bool
	// taken is where it loaded the state of another peer that had departed before.
	taken *uint64
	// unsteady describes how the simulator does not agree with itself, empty if it does.
	unsteady string
}

// lineUp makes a run for each peer.
func lineUp(peers []*peer) ([]run, error) {
	runs := make([]run, len(peers))
	for i, p := range peers {
		runs[i].peer, runs[i].lent = p, true
		if p.log == nil || p.log.Open == nil {
			continue
		}
		log, err := p.log.Open()
		if err != nil {
			return nil, err
		}
		runs[i].log, runs[i].lent = log, false
		runs[i].list, _ = playedOf(log, false)
		if p.ownSums || p.logsSums() {
			for _, s := range runs[i].list {
				clear(s.hashes)
			}
		}
	}
	return runs, nil
}

// reference is the replay that continues where peers were away: its orders come from peers that were present.
type reference struct {
	part
	lender *peer          // its orders come first
	hashes []merkle.Short // of each point from its first on
	done   chan struct{}  // closed when hashes are known
}

// refer chooses the peer that gives the reference orders: they lead from a state, or from the start of the session if
// it is nil, up to a point. It returns nil if no peer's orders do that.
func refer(runs []run, world *snapshot.World, to uint64) *reference {
	var from uint64
	if world != nil {
		from = world.Point.Tick
	} else {
		first := true
		for i := range runs {
			if l := runs[i].list; len(l) > 0 && (first || l[0].From < from) {
				from, first = l[0].From, false
			}
		}
	}
	ref := &reference{part: part{begin: from, from: origin{world: world}}, done: make(chan struct{})}
	ref.played = &played{Stretch: Stretch{From: from, To: from, Began: BeganStart}, orders: map[uint64][]orderlog.Order{}}
	for {
		var best *played
		var of *run
		for i := range runs {
			for _, s := range runs[i].list {
				covers := s.From <= ref.To && ref.To <= s.To && (s.To > ref.To || ref.log == nil) && (s.From < ref.To || ref.log == nil)
				if covers && (best == nil || s.To > best.To && best.To < to) {
					best, of = s, &runs[i]
				}
			}
		}
		if best == nil {
			break
		}
		if ref.log == nil {
			ref.log, ref.lender = best.log, of.peer
		}
		for tick := ref.To; tick < best.To; tick++ {
			if orders := best.orders[tick]; len(orders) > 0 {
				ref.orders[tick] = renumber(orders, &best.log.Header, &ref.log.Header)
			}
		}
		grown := best.To > ref.To
		if ref.To = best.To; ref.To >= to || !grown {
			break
		}
	}
	if ref.log == nil {
		return nil
	}
	ref.To = min(ref.To, to)
	return ref
}

// renumber returns orders with the numbers that their kinds have in another header; orders of a kind that it lacks keep
// a number that it also lacks.
func renumber(orders []orderlog.Order, from, to *orderlog.Header) []orderlog.Order {
	if slices.Equal(from.Kinds, to.Kinds) {
		return orders
	}
	orders = slices.Clone(orders)
	for i := range orders {
		n := -1
		if int(orders[i].Kind) < len(from.Kinds) {
			name := from.Kinds[orders[i].Kind].Name
			n = slices.IndexFunc(to.Kinds, func(k orderlog.OrderKind) bool { return k.Name == name })
		}
		if n < 0 {
			n = len(to.Kinds)
		}
		orders[i].Kind = uint32(n)
	}
	return orders
}

// play replays the orders of the bracket, and compares every peer with the replay of its own orders.
func (rep *Replay) play(runs []run, ref *reference, sim *Sim) error {
	rep.From, rep.FromState, rep.lender = ref.begin, ref.from.world != nil, ref.lender
	rep.InputsDiffer, rep.Unsteady = nil, false
	known := make([][]expectation, len(runs))
	for i := range runs {
		known[i] = runs[i].expect(ref, rep.To)
		runs[i].out, runs[i].where, runs[i].loaded, runs[i].taken, runs[i].unsteady = ReplayedPeer{}, nil, false, nil, ""
	}
	errs := make([]error, len(runs)+1)
	inputs := make([]*uint64, len(runs))
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(ref.done)
		whole := run{peer: ref.lender, log: ref.log}
		p := whole.player(sim, &ref.part, ref.To)
		p.opts.Progress, p.all = rep.progress, p.length()
		var err error
		ref.hashes, err = p.hashes(nil)
		errs[len(runs)] = errors.Join(err, p.close())
	})
	for i := range runs {
		wait.Go(func() { inputs[i], errs[i] = rep.playOne(&runs[i], known, i, ref, sim) })
	}
	wait.Wait()
	rep.known = known
	for _, err := range errs {
		if err != nil {
			return err // the others' are the same
		}
	}
	rep.inputs(runs, inputs)
	last := rep.From
	for i := range runs {
		for _, s := range runs[i].list {
			if s.From <= rep.To {
				last = max(last, min(rep.To, s.To))
			}
		}
	}
	rep.To = min(rep.To, max(last, ref.To))
	return nil
}

// expectation is what a peer is known to have had in a stretch.
type expectation struct {
	*played
	hashes map[uint64]merkle.Short
}

// expect returns what the peer is known to have had at state points, stretch by stretch: as
// it recorded them, or else of its snapshots.
func (run *run) expect(ref *reference, last uint64) (list []expectation) {
	roots := run.peer.roots(ref.begin, last)
	if run.lent {
		for _, h := range run.peer.log.from(ref.begin) {
			if h.Point <= last && !run.peer.ownSums {
				roots[h.Point] = h.Sum
			}
		}
		return []expectation{{ref.played, roots}}
	}
	for _, s := range run.list {
		if s.To < ref.begin || s.From > last {
			continue
		}
		x := expectation{s, map[uint64]merkle.Short{}}
		for point, root := range roots {
			others := func(other *played) bool { return other != s && other.covers(point) }
			if s.covers(point) && !slices.ContainsFunc(run.list, others) {
				x.hashes[point] = root
			}
		}
		for point, hash := range s.hashes {
			if point >= ref.begin && point <= last {
				x.hashes[point] = hash
			}
		}
		list = append(list, x)
	}
	return list
}

// playOne compares a peer with the replay of its own orders, stretch by stretch. If the peer joined after the
// beginning, the replay begins with the reference's state at that point. Inputs is the first point at which its replay
// differs from the reference.
func (rep *Replay) playOne(run *run, known [][]expectation, me int, ref *reference, sim *Sim) (inputs *uint64, err error) {
	for _, x := range known[me] {
		begin, end := max(x.From, ref.begin), min(x.To, rep.To)
		if begin > end || begin > ref.To {
			continue
		}
		hashes, where, err := rep.hashesOf(run, x.played, begin, end, ref, sim)
		if err != nil {
			return nil, err
		}
		if hashes == nil {
			return inputs, nil // the reference shows why
		}
		if inputs == nil {
			if inputs = ref.parts(begin, hashes); inputs != nil && ref.same(x.played, begin, *inputs) {
				run.unsteady = fmt.Sprintf("%s itself is not deterministic: two replays of the same orders differ at point %d; nothing follows for the peer", sim.Name, *inputs)
				return nil, nil
			}
		}
		for i, got := range hashes {
			point := begin + uint64(i)
			want, ok := x.hashes[point]
			if !ok {
				continue
			}
			loaded := i == 0 && x.Loaded() && begin == x.From && begin > ref.begin
			if loaded && want != got && takenOver(known, me, point, want) {
				run.taken = &point
				return inputs, nil
			}
			run.out.Compared++
			if want == got {
				run.out.LastAgreed = &point
				continue
			}
			run.where, run.loaded = where, loaded
			run.out.Departs, run.out.Expected, run.out.Got = &point, got, want
			return inputs, run.confirm(sim)
		}
	}
	return inputs, nil
}

// takenOver reports whether another peer had what one loaded.
func takenOver(known [][]expectation, me int, point uint64, hash merkle.Short) bool {
	for i, list := range known {
		for _, x := range list {
			if have, ok := x.hashes[point]; ok && i != me && have == hash {
				return true
			}
		}
	}
	return false
}

// parts returns the first point at which other hashes than the reference's are, from a
// point on, nil if there is none.
func (ref *reference) parts(begin uint64, hashes []merkle.Short) *uint64 {
	<-ref.done
	for i, h := range hashes {
		at := begin - ref.begin + uint64(i)
		if at >= uint64(len(ref.hashes)) {
			return nil
		}
		if ref.hashes[at] != h {
			point := begin + uint64(i)
			return &point
		}
	}
	return nil
}

// hashesOf returns the hashes that the orders of a stretch lead to at each point, and where their replay begins. It
// does not play the reference's orders again. It returns nothing where the reference could not be played.
func (rep *Replay) hashesOf(run *run, s *played, begin, end uint64, ref *reference, sim *Sim) ([]merkle.Short, *part, error) {
	where := &part{s, ref.from, begin}
	if begin > ref.begin {
		lead := ref.part
		if !run.lent && run.log != ref.log {
			own := *ref.played
			own.orders = make(map[uint64][]orderlog.Order, len(ref.orders))
			for tick, orders := range ref.orders {
				own.orders[tick] = renumber(orders, &ref.log.Header, &run.log.Header)
			}
			header := ref.log.Header // it begins as the lender's does
			header.Kinds = run.log.Header.Kinds
			lead.played, lead.from.header = &own, &header
		}
		where.from = origin{lead: &lead, until: begin}
	}
	if end <= ref.To && ref.same(s, begin, end) {
		<-ref.done
		if ref.hashes == nil {
			return nil, nil, nil
		}
		return ref.hashes[begin-ref.begin : end-ref.begin+1], where, nil
	}
	p := run.player(sim, where, end)
	hashes, err := p.hashes(nil)
	return hashes, where, errors.Join(err, p.close())
}

// same reports whether a stretch has the orders of the reference in ticks begin to end - 1.
func (ref *reference) same(s *played, begin, end uint64) bool {
	if s == ref.played {
		return true
	}
	for tick := begin; tick < end; tick++ {
		a, b := ref.orders[tick], s.orders[tick]
		if len(a) == 0 && len(b) == 0 {
			continue
		}
		if !slices.EqualFunc(a, renumber(b, &s.log.Header, &ref.log.Header), func(a, b orderlog.Order) bool {
			return a.Compare(&b) == 0 && a.Kind == b.Kind && string(a.Payload) == string(b.Payload)
		}) {
			return false
		}
	}
	return true
}

// player returns a player for a part of the peer's log.
func (run *run) player(sim *Sim, where *part, to uint64) *player {
	log := run.log
	if log == nil {
		log = where.log
	}
	return &player{
		log: log, sim: sim, opts: TrialOptions{Mode: Plain, Force: true}, orders: where.orders, from: where.from,
		mine: func(*snapshot.Info) bool { return true },
		out:  &Trial{Mode: Plain, Sim: sim.Name, From: where.begin, To: to, Stretches: 1},
	}
}

// confirm replays up to where the peer departs a second time: before it is blamed, the
// simulator must agree with itself.
func (run *run) confirm(sim *Sim) error {
	p := run.player(sim, run.where, *run.out.Departs)
	s, err := p.playedTo(sim, *run.out.Departs)
	if err != nil {
		return errors.Join(err, p.close())
	}
	if again := s.SyncHash(); again != run.out.Expected {
		run.unsteady = fmt.Sprintf("%s itself is not deterministic: a second replay has %s at that point; nothing follows for the peer", sim.Name, again)
		run.out, run.where, run.loaded = ReplayedPeer{}, nil, false
	}
	return p.close()
}

// lost shows what a peer that departs by loading has otherwise than the replay.
func (run *run) lost(sim *Sim) error {
	p := run.player(sim, run.where, *run.out.Departs)
	p.opts.Snapshots = run.peer.set
	d := &Departure{Point: *run.out.Departs, A: p.source(), B: sim.Name, Expected: run.out.Got, Got: run.out.Expected, Loaded: true}
	p.out.Agreed, p.out.Compared = run.out.LastAgreed, 1
	if err := p.afterLoading(d); err != nil {
		return err
	}
	run.out.Drilled = p.out
	return nil
}

// away reports whether the peer did not play the tick before a state point.
func (run *run) away(point uint64) bool {
	return !run.lent && point > 0 && !slices.ContainsFunc(run.list, func(s *played) bool { return s.From < point && point <= s.To || s.From == point })
}

// loadedSince reports whether the peer loaded a state after a point, and not after another.
func (run run) loadedSince(point uint64, until *snapshot.Point) bool {
	return until != nil && slices.ContainsFunc(run.list, func(s *played) bool { return s.Loaded() && s.From >= point && s.From <= until.Tick })
}

// say notes the limits of the evidence about the peer.
func (run *run) say(r *Result, bad uint64) {
	if run.unsteady != "" {
		r.note("%s: %s", run.peer, run.unsteady)
	}
	if run.taken != nil {
		r.note("%s loaded a state at point %d that is not the replay's, but another peer's: its states from there on are not judged", run.peer, *run.taken)
	}
	if n := len(run.list); n > 0 && run.list[n-1].To < bad {
		r.note("the orders in %s are known up to state point %d only", run.log.Name, run.list[n-1].To)
	}
}

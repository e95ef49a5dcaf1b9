package bisect

import (
	"errors"
	"io"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// inputs finds where the replays of two peers' own orders differ from each other. Where the
// orders are the same it is the simulator that is not deterministic. Where a peer had other
// states than its own orders give before that, its log is not what it was given, and shows
// nothing of its inputs.
func (rep *Replay) inputs(runs []run) {
	for i := range runs[1:] {
		a, b := &runs[0], &runs[1+i]
		point, ok := rep.parting(a, b)
		if !ok {
			continue
		}
		if a.lent && b.log == a.log || b.lent && a.log == b.log || !ordersPart(a.log, b.log, rep.From, point) {
			rep.Unsteady = true
			continue
		}
		if a.departsBy(point) || b.departsBy(point) {
			continue
		}
		if rep.InputsDiffer == nil || point < *rep.InputsDiffer {
			rep.InputsDiffer = &point
		}
	}
	if rep.To = rep.end; !rep.Unsteady {
		return
	}
	rep.InputsDiffer = nil
	for i := range runs {
		runs[i].out = ReplayedPeer{}
	}
}

// parting returns the first point at which two replays differ, false if they never do.
func (rep *Replay) parting(a, b *run) (point uint64, ok bool) {
	for at := range min(len(a.hashes), len(b.hashes)) {
		if a.hashes[at] != b.hashes[at] {
			return rep.From + uint64(at), true
		}
	}
	return 0, false
}

// departsBy reports whether the peer is known to have had another state than its orders give,
// at a point or before it.
func (r *run) departsBy(point uint64) bool { return r.out.Departs != nil && *r.out.Departs <= point }

// ordersPart reports whether the orders of two logs differ in ticks from one to before another,
// but for local ones.
func ordersPart(a, b *orderlog.Log, from, to uint64) bool {
	x, _ := ordersFrom(a, from)
	y, _ := ordersFrom(b, from)
	for tick := from; tick < to; tick++ {
		if inputHash(a, x[tick]) != inputHash(b, y[tick]) {
			return true
		}
	}
	return false
}

func inputHash(log *orderlog.Log, orders []orderlog.Order) merkle.Short {
	return orderlog.InputHash(log.Header.Kinds, orders)
}

// unused says why there is no replay, after the simulator has been started once: one that
// cannot replay the session is a failure though nobody needs it.
func (r *Result) unused(sim *Sim, peers []*peer, why string) {
	if sim == nil {
		return
	}
	r.note("no replay: %s", why)
	i := slices.IndexFunc(peers, func(p *peer) bool { return p.log != nil && p.log.Open != nil })
	if i < 0 {
		return
	}
	s, err := sim.Start(&peers[i].log.Header)
	if closer, ok := s.(io.Closer); ok && err == nil {
		err = errors.Join(err, closer.Close())
	}
	if err != nil {
		r.SimFailed = sim.Name + " cannot replay " + peers[i].log.Name + ": " + err.Error()
	}
}

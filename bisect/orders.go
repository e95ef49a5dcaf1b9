package bisect

import (
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// RunLogs finds when peers that left only order logs of engines diverged, by the hashes in these logs.
func RunLogs(c *orderlog.Comparison) *Result {
	r := &Result{Warnings: c.Warnings, Headers: c.Headers}
	r.Peers = lists.Map(c.Peers, func(p orderlog.PeerRange) PeerInfo { return PeerInfo{Name: p.Name, Log: true} })
	for _, h := range c.State.Hashes {
		r.Recorded += int(h.Equal + h.Differ)
	}
	r.Agreed = c.State.Agreed
	first := c.State.First
	if first == nil {
		return r
	}
	r.Kind = StateDiffers
	b := &Bracket{Bad: snapshot.Point{Tick: first.Point}.Named(first.Native), By: ByHashes, A: first.Values[0].Peer, B: first.Values[1].Peer}
	if g := c.State.Good; g != nil {
		b.Good = &snapshot.Point{Tick: *g}
		r.Exact, r.Tick = *g+1 == first.Point, *g
	}
	r.Bracket, r.InitialState = b, first.Point == 0
	r.Groups = [][]string{{b.A}, {b.B}}
	return r
}

// noPair is the text for peers with nothing that can be compared.
const noPair = "no state point at which two peers have a snapshot or a recorded hash"

// ByLogs finds when two peers diverged from the hashes in order logs of engines. If the peers left states, but none of
// the same state point, or only equal states of earlier points, the hashes decide. If their states differ, the hashes
// narrow the bracket. Results of more than two peers stay as they are if two of the peers left states.
func (r *Result) ByLogs(c *orderlog.Comparison) {
	logs := RunLogs(c)
	b := logs.Bracket
	switch r.Agreed = logs.Agreed; {
	case b == nil:
	case r.Bracket != nil:
		if nearer := r.Bracket.within(b); nearer != nil && len(r.Peers) == 2 {
			r.Nearer(*nearer)
		}
	case r.Kind != "" || r.Pairs > 0 && !r.before(b):
	default:
		if at, ok := r.lastPair(); ok && (b.Good == nil || at.Compare(*b.Good) > 0) {
			narrowed := *b
			narrowed.Good = &at
			b = &narrowed
		}
		r.Kind, r.Recorded = StateDiffers, r.Recorded+logs.Recorded
		r.Lost = slices.DeleteFunc(r.Lost, func(text string) bool { return text == noPair })
		r.Groups = logs.Groups
		r.Nearer(*b)
	}
}

// lastPair returns the last state point at which both peers left a state, false if there is none.
func (r *Result) lastPair() (last snapshot.Point, ok bool) {
	if len(r.Peers) != 2 || r.Peers[0].States == nil || r.Peers[1].States == nil {
		return last, false
	}
	for _, e := range r.Peers[0].States.Entries {
		if r.Peers[1].States.At(e.Point) != nil && (!ok || e.Point.Compare(last) > 0) {
			last, ok = e.Point, true
		}
	}
	return last, ok
}

// before reports whether all pairs of states of two peers are of points before the end of a bracket.
func (r *Result) before(b *Bracket) bool {
	last, ok := r.lastPair()
	return ok && last.Compare(b.Bad) < 0
}

// within returns a bracket of states narrowed by one of hashes, nil if that narrows nothing.
func (b *Bracket) within(hashes *Bracket) *Bracket {
	out := *b
	if hashes.Bad.Compare(b.Bad) < 0 {
		out.Bad, out.BadFiles = hashes.Bad, nil
	}
	if g := hashes.Good; g != nil && g.Compare(out.Bad) < 0 && (b.Good == nil || g.Compare(*b.Good) > 0) {
		out.Good, out.GoodFiles = g, nil
	}
	if out.Same(b) || out.Good != nil && out.Good.Compare(out.Bad) >= 0 {
		return nil
	}
	out.By = ByHashesAndSnapshots
	return &out
}

package bisect

import (
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// RunLogs finds when the peers parted of whom nothing is left but order logs of engines, by
// the hashes in these.
func RunLogs(c *orderlog.Comparison) *Result {
	r := &Result{Warnings: c.Warnings, Headers: c.Headers}
	for _, p := range c.Peers {
		r.Peers = append(r.Peers, PeerInfo{Name: p.Name, Log: true})
	}
	for _, h := range c.State.Hashes {
		r.Recorded += int(h.Equal + h.Differ)
	}
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

package verdict

import (
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// crossCheck compares pieces of evidence of one moment with each other.
func (c *Conclusion) crossCheck(e Evidence) {
	for _, text := range append(append([]string{}, e.Bisect.Contradictions...), e.Contradictions...) {
		c.Contradictions = append(c.Contradictions, Contradiction{Kind: Told, Text: text})
	}
	c.Held.Checked, c.Held.Chains = len(e.Checked), e.Chains
	c.traceEnds(e)
	c.twins(e)
	if o := e.Orders; o != nil && o.InputHashCount > 0 {
		h := o.InputHashes[0]
		c.Contradictions = append(c.Contradictions, Contradiction{Kind: InputHash, Peers: [2]string{h.Peer}, At: Moment{Number: h.Tick}, Count: o.InputHashCount})
	}
}

// traceEnds compares the sums in the peers' traces at the end of the divergent tick with the states that they left
// there. If no sum of two traces is the hash of its state, the game's traces have sums of another kind.
func (c *Conclusion) traceEnds(e Evidence) {
	p := e.Parted
	if p == nil || c.within == nil {
		return
	}
	var wrong []Contradiction
	checked := 0
	for i, info := range []*snapshot.Info{p.Diff.A, p.Diff.B} {
		end, ok := c.within.Ends[p.Paths[i]]
		if !ok || info.Point.Phase != "" || info.Point.Tick != c.within.Tick+1 {
			continue
		}
		checked++
		if end == info.Root.Short() {
			c.Held.Checked++
			continue
		}
		wrong = append(wrong, Contradiction{
			Kind: TraceEnd, Peers: [2]string{p.Names[i]}, At: Moment{Number: c.within.Tick}, Sums: [2]merkle.Short{end, info.Root.Short()},
		})
	}
	if len(wrong) < 2 || checked > len(wrong) {
		c.Contradictions = append(c.Contradictions, wrong...)
	}
}

// twins finds states that differ though their sync hashes are the same: the first 8 bytes of two roots that are not.
func (c *Conclusion) twins(e Evidence) {
	p := e.Parted
	if p == nil {
		return
	}
	if a, b := p.Diff.A.Root, p.Diff.B.Root; a != b && a.Short() == b.Short() {
		c.Contradictions = append(c.Contradictions, Contradiction{Kind: Collision, Peers: p.Names, At: MomentOf(p.Diff.A.Point)})
	}
}

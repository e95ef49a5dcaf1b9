package merkle

import (
	"errors"
	"fmt"
)

// Proof shows that one leaf belongs to a state: the root follows
// from the leaf's hash and the siblings on its way up.
type Proof struct {
	Root     Hash   `json:"root"`
	Tick     uint64 `json:"point"`           // the state point, and
	Phase    string `json:"phase,omitempty"` // its phase
	Label    string `json:"label"`           // bound to the root by the leaf's preimage only
	Leaf     Hash   `json:"leaf"`
	Index    int    `json:"leaf_index"`
	Count    int    `json:"leaf_count"`
	Siblings []Hash `json:"siblings"` // from the leaf upwards; levels where the node is promoted have none
}

// ErrProof is what Verify returns for a proof that is well-formed but wrong.
var ErrProof = errors.New("proof does not lead to its root")

// Prove returns the proof of leaf i. The caller sets Tick and Phase.
func (t *Tree) Prove(i int) Proof {
	p := Proof{Root: t.Root(), Label: t.labels[i], Leaf: t.Leaf(i), Index: i, Count: t.Len(), Siblings: []Hash{}}
	for _, level := range t.levels[:len(t.levels)-1] {
		if i^1 < len(level) {
			p.Siblings = append(p.Siblings, level[i^1])
		}
		i /= 2
	}
	return p
}

// Verify checks that the proof has the shape that its index and count demand
// and leads from its leaf to its root.
func (p *Proof) Verify() error {
	if p.Count <= 0 || p.Index < 0 || p.Index >= p.Count {
		return fmt.Errorf("proof is for leaf %d of %d", p.Index, p.Count)
	}
	h, rest := p.Leaf, p.Siblings
	for i, n := p.Index, p.Count; n > 1; i, n = i/2, n-n/2 {
		if i^1 >= n {
			continue // promoted
		}
		if len(rest) == 0 {
			return fmt.Errorf("proof has %d siblings, too few for leaf %d of %d", len(p.Siblings), p.Index, p.Count)
		}
		if i%2 == 0 {
			h = nodeHash(&h, &rest[0])
		} else {
			h = nodeHash(&rest[0], &h)
		}
		rest = rest[1:]
	}
	if len(rest) != 0 {
		return fmt.Errorf("proof has %d siblings, %d too many for leaf %d of %d", len(p.Siblings), len(rest), p.Index, p.Count)
	}
	if h != p.Root {
		return ErrProof
	}
	return nil
}

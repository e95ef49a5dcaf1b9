package merkle

import (
	"errors"
	"fmt"
)

// Proof shows that one leaf belongs to a state: the leaf's hash and the siblings on its path give the root.
type Proof struct {
	Root     Hash   `json:"root"`
	Tick     uint64 `json:"point"`           // the state point
	Phase    string `json:"phase,omitempty"` // the phase of the state point
	Label    string `json:"label"`           // only the leaf's preimage binds it to the root
	Leaf     Hash   `json:"leaf"`
	Index    int    `json:"leaf_index"`
	Count    int    `json:"leaf_count"`
	Siblings []Hash `json:"siblings"` // from the leaf upwards; there is none on levels where the node is promoted
}

// ErrProof is returned by Verify for a proof that is well-formed but wrong.
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

// Verify checks that the proof has the shape that its index and count require, and that its leaf leads to its root.
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

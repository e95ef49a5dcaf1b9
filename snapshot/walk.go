package snapshot

import (
	"fmt"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Walk is a Merkle descent through two states. It finds what two peers can find by exchanging only hashes.
type Walk struct {
	A, B         *Info
	TreeA, TreeB *merkle.Tree
	Comparison   merkle.Comparison
	// Steps are the steps of Comparison with the hashes that were exchanged.
	Steps []WalkStep
	// Lost is the data that could not be read and might differ. The caller adds to it.
	Lost []string
}

// WalkStep is an interior node that differs, with the hashes of its left and right child in A and B.
type WalkStep struct {
	merkle.Step
	LeftHash, RightHash [2]merkle.Hash
}

// Descend compares two states by their hashes. For tables that differ it also checks the cuts: see CompareCuts. It
// refuses states of different sessions or points unless force is set.
func Descend(a, b State, force bool) (*Walk, error) {
	w := &Walk{A: a.Info(), B: b.Info()}
	if !force {
		if err := Comparable(w.A, w.B); err != nil {
			return nil, err
		}
	}
	var err error
	if w.TreeA, err = merkle.New(w.A.Leaves()); err != nil {
		return nil, fmt.Errorf("first state: %w", err)
	}
	if w.TreeB, err = merkle.New(w.B.Leaves()); err != nil {
		return nil, fmt.Errorf("second state: %w", err)
	}
	w.Comparison = merkle.Compare(w.TreeA, w.TreeB)
	x, y := w.TreeA, w.TreeB
	if len(w.Comparison.OnlyA)+len(w.Comparison.OnlyB) > 0 {
		x, y = common(w.TreeA, w.TreeB), common(w.TreeB, w.TreeA)
	}
	for _, s := range w.Comparison.Steps {
		level, i := s.Level-1, 2*s.Index
		w.Steps = append(w.Steps, WalkStep{s, [2]merkle.Hash{x.Node(level, i), y.Node(level, i)}, [2]merkle.Hash{x.Node(level, i+1), y.Node(level, i+1)}})
	}
	return w, CompareCuts(a, b)
}

// common returns the tree over those leaves of a that b also has. merkle.Compare descends this tree.
func common(a, b *merkle.Tree) *merkle.Tree {
	has := map[string]bool{}
	for i := range b.Len() {
		has[b.Label(i)] = true
	}
	var leaves []merkle.Leaf
	for i := range a.Len() {
		if has[a.Label(i)] {
			leaves = append(leaves, merkle.Leaf{Label: a.Label(i), Hash: a.Leaf(i)})
		}
	}
	t, _ := merkle.New(leaves) // in order, because a's leaves are
	return t
}

// Diverged reports whether the hashes differ.
func (w *Walk) Diverged() bool { return !w.Comparison.Equal() }

// Incomplete reports whether data that might differ could not be read.
func (w *Walk) Incomplete() bool { return len(w.Lost) > 0 }

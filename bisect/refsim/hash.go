package refsim

import (
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// tableDigests is what a table remembers of its last hash.
type tableDigests struct {
	hasher  snapshot.Hasher
	starts  []int // of the blocks
	columns []merkle.Hash
	leaf    merkle.Hash
}

// hash brings the table's leaf up to date. Only what changed since the last call is
// hashed again.
func (t *table) hash() {
	d := &t.digests
	changed := false
	if t.keysDirty {
		d.starts = snapshot.BlockStarts(d.starts[:0], t.keys())
		d.columns[0], _ = d.hasher.Keys(t.keys(), d.starts)
		t.keysDirty = false
		changed = true
	}
	for i := range t.fields {
		f := &t.fields[i]
		if !f.isDirty() {
			continue
		}
		f.view(&f.Column)
		d.columns[1+i], _ = d.hasher.Column(&f.Column, d.starts)
		f.clean()
		changed = true
	}
	if changed {
		d.leaf = merkle.ArchetypeLeaf(t.label, uint64(t.rows()), d.columns)
	}
}

// Leaves returns the leaves of the state's Merkle tree: the RNG, then the
// archetypes. Its cost is that of the columns that changed since the last call.
// It may be called between the systems of a step.
func (s *Sim) Leaves() []merkle.Leaf {
	leaves := make([]merkle.Leaf, 1+archetypes)
	var state [rngSize]byte
	leaves[0].Hash = merkle.RNGLeaf(s.rng.append(state[:0]))
	s.scratch.pool.each(s.scratch.hashSome)
	for a, t := range s.tables {
		leaves[1+a] = merkle.Leaf{Label: t.label, Hash: t.digests.leaf}
	}
	return leaves
}

// StateHash returns the root of the state's Merkle tree.
func (s *Sim) StateHash() merkle.Hash { return merkle.Root(s.Leaves()) }

// hashSome is one goroutine's part of hashing.
func (s *Sim) hashSome(worker int) {
	for a := worker; a < archetypes; a += workers {
		s.tables[a].hash()
	}
}

// SyncHash returns the first 8 bytes of the state hash.
func (s *Sim) SyncHash() merkle.Short { return s.StateHash().Short() }

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

// blindTo are the columns that the game's checksum does not cover with the fault blind-checksum, by its place. Nothing
// reads these columns.
var blindTo = columnsBySystem{sysMovement: "Heading.turn", sysMorale: "Morale.rank", sysFog: "Sweep.angle"}

// uncover leaves a column of all tables out of the checksum.
func (s *Sim) uncover(column string) {
	for _, t := range s.tables {
		for i := range t.fields {
			t.fields[i].uncovered = t.fields[i].own == column
		}
	}
}

// hash brings the table's leaf up to date. Only parts that changed since the last call are hashed again. Restored parts
// are hashed again if they differ from the save before, or have been changed since.
func (t *table) hash() {
	d, b := &t.digests, t.restored
	t.restored = nil
	if b != nil && !b.sameKeys(t.keys()) {
		b = nil
	}
	changed := false
	if t.keysDirty {
		if b != nil && b.known {
			d.starts, d.columns[0] = append(d.starts[:0], b.starts...), b.digest
		} else {
			d.starts = snapshot.BlockStarts(d.starts[:0], t.keys())
			d.columns[0], _ = d.hasher.Keys(t.keys(), d.starts)
		}
		if b != nil && !b.known {
			b.starts, b.digest, b.known = append(b.starts[:0], d.starts...), d.columns[0], true
		}
		t.keysDirty = false
		changed = true
	}
	for i := range t.fields {
		f := &t.fields[i]
		if !f.isDirty() || f.uncovered {
			continue
		}
		var saved *baseColumn
		if b != nil && f.is(b.columns[i].data) {
			saved = &b.columns[i]
		}
		if saved != nil && saved.known {
			d.columns[1+i] = saved.digest
		} else {
			f.view(&f.Column)
			d.columns[1+i], _ = d.hasher.Column(&f.Column, d.starts)
		}
		if saved != nil {
			saved.digest, saved.known = d.columns[1+i], true
		}
		f.clean()
		changed = true
	}
	if changed {
		d.leaf = merkle.ArchetypeLeaf(t.label, uint64(t.rows()), d.columns)
	}
}

// Leaves returns the leaves of the state's Merkle tree: the RNG, then the archetypes. Its cost depends on the columns
// that changed since the last call. It may be called between the systems of a step.
func (s *Sim) Leaves() []merkle.Leaf {
	return s.appendLeaves(make([]merkle.Leaf, 0, 1+archetypes))
}

func (s *Sim) appendLeaves(dst []merkle.Leaf) []merkle.Leaf {
	var state [rngSize]byte
	dst = append(dst, merkle.Leaf{Hash: merkle.RNGLeaf(s.rng.append(state[:0]))})
	s.scratch.hashed.Store(0)
	s.scratch.pool.each(s.scratch.hashSome)
	for _, t := range s.byLabel {
		dst = append(dst, merkle.Leaf{Label: t.label, Hash: t.digests.leaf})
	}
	return dst
}

// hashSome is one goroutine's part of hashing: it takes table after table.
func (s *Sim) hashSome(int) {
	for {
		i := s.scratch.hashed.Add(1)
		if i > archetypes {
			return
		}
		s.tables[i-1].hash()
	}
}

// StateHash returns the root of the state's Merkle tree.
func (s *Sim) StateHash() merkle.Hash {
	var leaves [1 + archetypes]merkle.Leaf
	return merkle.Root(s.appendLeaves(leaves[:0]))
}

// SyncHash returns the first 8 bytes of the state hash.
func (s *Sim) SyncHash() merkle.Short { return s.StateHash().Short() }

// Columns calls visit for each column of each archetype, in order, with its digest and the number of rows. The keys are
// the column with an empty component. It costs as much as Leaves.
func (s *Sim) Columns(visit func(archetype, component, field string, digest merkle.Hash, rows int)) {
	s.Leaves()
	for _, t := range s.byLabel {
		visit(t.label, "", "keys", t.digests.columns[0], t.rows())
		for i := range t.fields {
			c := &t.fields[i].Column
			visit(t.label, c.Component, c.Field, t.digests.columns[1+i], t.rows())
		}
	}
}

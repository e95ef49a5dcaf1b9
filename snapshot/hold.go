package snapshot

import (
	"fmt"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Hold checks w, computes its digests and returns it as a State that stays in
// memory. The World must not change while the State is in use.
func Hold(w *World) (State, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	s := &held{world: w, starts: make([][]int, len(w.Tables)), indexes: make([]Index, len(w.Tables))}
	s.info.Head = w.Head
	s.info.Tables = make([]TableInfo, len(w.Tables))
	var h Hasher
	for i := range w.Tables {
		t := &w.Tables[i]
		s.starts[i] = BlockStarts(nil, t.Keys)
		s.indexes[i] = h.index(t, s.starts[i])
		s.info.Tables[i] = TableInfo{
			Label: t.Label, Class: t.Class, Rows: uint64(t.Rows()), Parts: t.Keys.Parts(),
			Hash: s.indexes[i].leaf(t.Label, uint64(t.Rows())),
		}
	}
	s.info.Root = merkle.Root(s.info.Leaves())
	return s, nil
}

// index computes the index of a table that is cut at starts.
func (h *Hasher) index(t *Table, starts []int) Index {
	keysDigest, blocks := h.Keys(t.Keys, starts)
	ix := Index{KeysDigest: keysDigest, Columns: make([]ColumnInfo, len(t.Columns)), Blocks: make([]BlockInfo, len(starts))}
	for i, start := range starts {
		ix.Blocks[i] = BlockInfo{First: t.Keys.At(start), Rows: blockEnd(starts, i, t.Rows()) - start, Keys: blocks[i]}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		digest, blocks := h.Column(c, starts)
		ix.Columns[i] = ColumnInfo{
			Component: c.Component, Field: c.Field, Type: c.Type, Scale: c.Scale,
			Digest: digest, Blocks: append([]merkle.Hash(nil), blocks...),
		}
	}
	return ix
}

// leaf returns the leaf hash of the table that ix describes.
func (ix *Index) leaf(label string, rows uint64) merkle.Hash {
	digests := make([]merkle.Hash, 0, 1+len(ix.Columns))
	digests = append(digests, ix.KeysDigest)
	for i := range ix.Columns {
		digests = append(digests, ix.Columns[i].Digest)
	}
	return merkle.ArchetypeLeaf(label, rows, digests)
}

// held is a World with its digests.
type held struct {
	world   *World
	info    Info
	starts  [][]int
	indexes []Index
}

func (s *held) Info() *Info { return &s.info }

func (s *held) Index(i int) (*Index, error) { return &s.indexes[i], nil }

func (s *held) Close() error { return nil }

func (s *held) rows(i, block int) (start, end int, err error) {
	if block < 0 || block >= len(s.starts[i]) {
		return 0, 0, fmt.Errorf("table %d has no block %d", i, block)
	}
	return s.starts[i][block], blockEnd(s.starts[i], block, s.world.Tables[i].Rows()), nil
}

func (s *held) LoadKeys(i, block int) (Keys, error) {
	start, end, err := s.rows(i, block)
	if err != nil {
		return Keys{}, err
	}
	keys := s.world.Tables[i].Keys
	part := Keys{A: keys.A[start:end:end]}
	if keys.B != nil {
		part.B = keys.B[start:end:end]
	}
	return part, nil
}

func (s *held) LoadBlock(i, block, column int) (Column, error) {
	start, end, err := s.rows(i, block)
	if err != nil {
		return Column{}, err
	}
	c := &s.world.Tables[i].Columns[column]
	part := NewColumn(c.Component, c.Field, c.Type, c.Scale)
	if w := c.Type.Width(); w > 0 {
		part.Data = c.Data[start*w : end*w : end*w]
	} else {
		first, last := c.valueStart(start), c.valueStart(end)
		part.Data = c.Data[first:last:last]
		part.Ends = make([]uint32, end-start)
		for r := range part.Ends {
			part.Ends[r] = c.Ends[start+r] - first
		}
	}
	if c.absentIn(start, end) {
		part.Present = make([]byte, (end-start+7)/8)
		for r := range end - start {
			if c.Has(start + r) {
				part.Present[r/8] |= 1 << (r % 8)
			}
		}
	}
	return part, nil
}

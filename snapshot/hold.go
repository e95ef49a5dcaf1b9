package snapshot

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Hold checks w and returns it as a State that stays in memory. Digests are computed on first use. The World must not
// change while the State is in use.
func Hold(w *World) (State, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	return &held{world: w, info: Info{Head: w.Head}}, nil
}

// held is a World with its digests.
type held struct {
	world *World
	info  Info // complete after digest; before that only the head is set

	once    sync.Once
	like    *held // state with digests to reuse for equal data; nil for none
	starts  [][]int
	indexes []Index
}

// of returns a copy of the state for another peer.
func (s *held) of(peer string) *held {
	s.digest()
	same := &held{world: s.world, info: s.info, starts: s.starts, indexes: s.indexes}
	same.info.Peer = peer
	same.once.Do(func() {})
	return same
}

// digest computes the digests.
func (s *held) digest() { s.once.Do(s.computeDigests) }

func (s *held) computeDigests() {
	w := s.world
	s.starts, s.indexes = make([][]int, len(w.Tables)), make([]Index, len(w.Tables))
	s.info.Tables = make([]TableInfo, len(w.Tables))
	var h Hasher
	same := -1 // the latest table with many rows; other tables may share its keys, such as maps of the same tiles
	for i := range w.Tables {
		t := &w.Tables[i]
		s.index(i, same, &h)
		if t.Rows() >= manyRows {
			same = i
		}
		s.info.Tables[i] = TableInfo{
			Label: t.Label, Class: t.Class, Rows: uint64(t.Rows()), Placed: t.Placed, Single: t.Single, Parts: t.Keys.Parts(),
			Hash: s.indexes[i].leaf(t.Label, uint64(t.Rows())),
		}
	}
	s.info.Root = merkle.Root(s.info.Leaves())
	s.like = nil
}

// index computes the index of table i. Equal data in s.like is not digested again, nor are equal keys in table same; -1
// means no such table.
func (s *held) index(i, same int, h *Hasher) {
	t := &s.world.Tables[i]
	known, starts, index := s.like.table(t)
	switch {
	case known != nil && known.Keys.equal(t.Keys):
		s.starts[i], s.indexes[i] = starts, Index{KeysDigest: index.KeysDigest, Blocks: index.Blocks}
	case same >= 0 && s.world.Tables[same].Keys.shared(t.Keys):
		known = nil
		s.starts[i], s.indexes[i] = s.starts[same], Index{KeysDigest: s.indexes[same].KeysDigest, Blocks: s.indexes[same].Blocks}
	default:
		known = nil
		s.starts[i] = BlockStarts(nil, t.Keys)
		s.indexes[i] = h.keysIndex(t.Keys, s.starts[i])
	}
	h.addColumns(&s.indexes[i], t, s.starts[i], known, index)
}

// table returns s's table with the label and class of t, and its digests. It returns nil if there is none.
func (s *held) table(t *Table) (*Table, []int, *Index) {
	if s == nil {
		return nil, nil, nil
	}
	i, ok := slices.BinarySearchFunc(s.world.Tables, t, func(a Table, b *Table) int { return a.compare(b) })
	if !ok {
		return nil, nil, nil
	}
	s.digest()
	return &s.world.Tables[i], s.starts[i], &s.indexes[i]
}

// same reports whether two columns are equal byte for byte and thus have the same digest.
func (c *Column) same(d *Column) bool {
	return c.Schema == d.Schema && (c.Present == nil) == (d.Present == nil) && bytes.Equal(c.Present, d.Present) &&
		slices.Equal(c.Ends, d.Ends) && bytes.Equal(c.Data, d.Data)
}

// manyRows is the number of rows from which it pays to look for other tables with the same keys.
const manyRows = 256

// equal reports whether k and l are the same keys.
func (k Keys) equal(l Keys) bool {
	return (k.B == nil) == (l.B == nil) && slices.Equal(k.A, l.A) && slices.Equal(k.B, l.B)
}

// shared reports whether k and l are the same memory.
func (k Keys) shared(l Keys) bool {
	return sameMemory(k.A, l.A) && (k.B == nil) == (l.B == nil) && (k.B == nil || sameMemory(k.B, l.B))
}

func sameMemory(a, b []uint64) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// keysIndex computes the index of keys that are cut at starts, without columns.
func (h *Hasher) keysIndex(keys Keys, starts []int) Index {
	keysDigest, blocks := h.Keys(keys, starts)
	ix := Index{KeysDigest: keysDigest, Blocks: make([]BlockInfo, len(starts))}
	for i, start := range starts {
		ix.Blocks[i] = BlockInfo{First: keys.At(start), Rows: blockEnd(starts, i, len(keys.A)) - start, Keys: blocks[i]}
	}
	return ix
}

// addColumns computes the columns in ix for a table that is cut at starts. Columns that are equal in other, a table
// with the same keys, are taken from its index. other may be nil.
func (h *Hasher) addColumns(ix *Index, t *Table, starts []int, other *Table, known *Index) {
	ix.Columns = make([]ColumnInfo, len(t.Columns))
	var all []merkle.Hash
	next := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		for other != nil && next < len(other.Columns) && other.Columns[next].compareName(&c.Schema) < 0 {
			next++
		}
		if other != nil && next < len(other.Columns) && c.same(&other.Columns[next]) {
			ix.Columns[i] = known.Columns[next]
			continue
		}
		digest, blocks := h.Column(c, starts)
		ix.Columns[i] = ColumnInfo{Schema: c.Schema, Digest: digest}
		if all == nil {
			all = make([]merkle.Hash, 0, len(blocks)*(len(t.Columns)-i))
		}
		if n := len(all); len(blocks) > 0 {
			all = append(all, blocks...)
			ix.Columns[i].Blocks = all[n:len(all):len(all)]
		}
	}
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

func (s *held) Info() *Info {
	s.digest()
	return &s.info
}

func (s *held) Index(i int) (*Index, error) {
	s.digest()
	return &s.indexes[i], nil
}

// headOf returns the head of a state, which the caller may change. It computes no digests.
func headOf(s State) *Head {
	if h := heldOf(s); h != nil {
		return &h.info.Head
	}
	return &s.Info().Head
}

// RenamePeer replaces the name of a state's peer by the result of rename.
func RenamePeer(s State, rename func(peer string) string) {
	head := headOf(s)
	head.Peer = rename(head.Peer)
}

// heldOf returns s as a state in memory, nil if it is another kind.
func heldOf(s State) *held {
	switch s := s.(type) {
	case *held:
		return s
	case *closing:
		return heldOf(s.State)
	case staysOpen:
		return heldOf(s.State)
	}
	return nil
}

func (s *held) Close() error { return nil }

func (s *held) rows(i, block int) (start, end int, err error) {
	s.digest()
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
	return s.world.Tables[i].Keys.slice(start, end), nil
}

func (s *held) LoadBlock(i, block, column int) (Column, error) {
	start, end, err := s.rows(i, block)
	if err != nil {
		return Column{}, err
	}
	c := &s.world.Tables[i].Columns[column]
	part := Column{Schema: c.Schema}
	part.Data = c.values(start, end)
	if c.Type.Width() == 0 {
		part.Ends = make([]uint32, end-start)
		for r := range part.Ends {
			part.Ends[r] = c.Ends[start+r] - c.valueStart(start)
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

// InMemory returns a Format.Open for a format that is always read as a whole.
func InMemory(read func(r io.ReaderAt, size int64, name string) (*World, error)) func(io.ReaderAt, int64, string) (State, error) {
	return func(r io.ReaderAt, size int64, name string) (State, error) {
		w, err := read(r, size, name)
		if err != nil {
			return nil, err
		}
		return Hold(w)
	}
}

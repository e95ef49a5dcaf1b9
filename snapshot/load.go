package snapshot

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Load loads a whole state into memory. For a .snap, the uncompressed size of the cells must not exceed what
// limits.Memory has left. Compare, Check and WriteText read block by block and have no such limit.
func Load(s State) (*World, error) {
	if f, ok := s.(*File); ok {
		total, err := f.ContentSize()
		if err == nil {
			err = f.checkEnd()
		}
		if err != nil {
			return nil, err
		}
		var loading limits.Held
		defer loading.Free()
		if err := loading.Take(f.name, int64(min(total, math.MaxInt64/2))); err != nil {
			return nil, err
		}
	}
	info := s.Info()
	w := &World{Head: info.Head, Tables: make([]Table, len(info.Tables))}
	for i := range info.Tables {
		t, err := LoadTable(s, i)
		if err != nil {
			return nil, err
		}
		w.Tables[i] = *t
	}
	return w, nil
}

// Decode loads a World from the bytes of a .snap. Errors contain name.
func Decode(b []byte, name string) (*World, error) {
	f, err := Open(bytes.NewReader(b), int64(len(b)), name)
	if err != nil {
		return nil, err
	}
	return Load(f)
}

// ContentSize returns the uncompressed size of the cells of all tables in bytes. It reads the indexes.
func (f *File) ContentSize() (uint64, error) {
	total := uint64(0)
	for i := range f.info.Tables {
		t, err := f.table(i)
		if err != nil {
			return 0, err
		}
		for _, n := range t.cells.raw {
			total += uint64(n)
		}
	}
	return total, nil
}

// LoadTable loads table i of a state.
func LoadTable(s State, i int) (*Table, error) {
	t, err := outlineTable(s, i)
	if err != nil {
		return nil, err
	}
	ix, err := s.Index(i)
	if err != nil {
		return nil, err
	}
	rows := int(s.Info().Tables[i].Rows)
	for b := range ix.Blocks {
		keys, err := s.LoadKeys(i, b)
		if err != nil {
			return nil, err
		}
		t.Keys.A = append(reserve(t.Keys.A, len(keys.A), rows), keys.A...)
		t.Keys.B = append(reserve(t.Keys.B, len(keys.B), rows), keys.B...)
		for k := range t.Columns {
			part, err := s.LoadBlock(i, b, k)
			if err != nil {
				return nil, err
			}
			c := &t.Columns[k]
			if uint64(len(c.Data))+uint64(len(part.Data)) > math.MaxUint32 && c.Type.Width() == 0 {
				return nil, fmt.Errorf("%s of %q has more than 4 GiB and cannot be loaded whole", c.Name(), t.Label)
			}
			if c.Type.Width() > 0 {
				c.Data = reserve(c.Data, len(part.Data), rows*c.Type.Width())
			}
			c.appendRange(&part, 0, part.Rows())
		}
	}
	return t, nil
}

// reserve makes room in b for n more elements. It also reserves room for later elements, given the total, but at most
// four times the current number, because the total is only claimed by the file.
func reserve[T any](b []T, n, total int) []T {
	if need := len(b) + n; need > cap(b) {
		b = slices.Grow(b, max(n, min(total, 4*need)-len(b)))
	}
	return b
}

// LoadRows loads all columns of one block of table i.
func LoadRows(s State, i, block int) (*Table, error) {
	t, err := outlineTable(s, i)
	if err != nil {
		return nil, err
	}
	if t.Keys, err = s.LoadKeys(i, block); err != nil {
		return nil, err
	}
	for k := range t.Columns {
		part, err := s.LoadBlock(i, block, k)
		if err != nil {
			return nil, err
		}
		t.Columns[k] = part.Clone()
	}
	return t, nil
}

// outlineTable returns table i without rows.
func outlineTable(s State, i int) (*Table, error) {
	info := &s.Info().Tables[i]
	ix, err := s.Index(i)
	if err != nil {
		return nil, err
	}
	t := &Table{Label: info.Label, Class: info.Class, Columns: make([]Column, len(ix.Columns))}
	if info.Parts == 2 {
		t.Keys.B = []uint64{}
	}
	for k, c := range ix.Columns {
		t.Columns[k].Schema = c.Schema
	}
	return t, nil
}

// Check reads a whole state and recomputes every digest from the content, up to the root. It needs the memory for one
// block and one index.
//
// The error comes from reading, or names the recorded hash that does not match the content.
func Check(s State) error {
	info := s.Info()
	var h Hasher
	for i := range info.Tables {
		if err := checkContent(s, i, &h); err != nil {
			return err
		}
	}
	if f, ok := s.(*File); ok {
		if err := f.checkEnd(); err != nil {
			return err
		}
	}
	if root := merkle.Root(info.Leaves()); root != info.Root {
		return &HashError{What: "root", Recorded: info.Root, Computed: root}
	}
	return nil
}

// checkEnd checks that the end marker follows the last index and ends the file.
func (f *File) checkEnd() error {
	offset, err := f.dataStart(len(f.info.Tables))
	if err != nil {
		return err
	}
	if want := f.size - int64(len(endMarker)); offset != want {
		return corrupt(f.name, offset, fmt.Sprintf("tables end at %d, the end marker is at %d", offset, want))
	}
	end := make([]byte, len(endMarker))
	if err := f.readAt(end, offset); err != nil {
		return err
	}
	if string(end) != endMarker {
		return corrupt(f.name, offset, fmt.Sprintf("end marker is %q, expected %q", end, endMarker))
	}
	return nil
}

// HashError reports a recorded hash that does not match the content.
type HashError struct {
	What               string
	Recorded, Computed merkle.Hash
}

func (e *HashError) Error() string {
	return fmt.Sprintf("%s is recorded as %s, the content gives %s", e.What, e.Recorded, e.Computed)
}

// checkContent recomputes the digests of table i block by block.
func checkContent(s State, i int, h *Hasher) error {
	info := &s.Info().Tables[i]
	ix, err := s.Index(i)
	if err != nil {
		return err
	}
	what := func(column string, block int) string {
		return fmt.Sprintf("digest of %s of %s %q, block %d", column, info.Class, info.Label, block)
	}
	got := Index{Columns: make([]ColumnInfo, len(ix.Columns))}
	keyBlocks := make([]merkle.Hash, len(ix.Blocks))
	columnBlocks := make([][]merkle.Hash, len(ix.Columns))
	for b := range ix.Blocks {
		keys, err := s.LoadKeys(i, b)
		if err != nil {
			return err
		}
		_, digests := h.Keys(keys, []int{0})
		keyBlocks[b] = digests[0]
		if keyBlocks[b] != ix.Blocks[b].Keys {
			return &HashError{what("keys", b), ix.Blocks[b].Keys, keyBlocks[b]}
		}
		for k := range ix.Columns {
			part, err := s.LoadBlock(i, b, k)
			if err != nil {
				return err
			}
			_, digests := h.Column(&part, []int{0})
			if digests[0] != ix.Columns[k].Blocks[b] {
				return &HashError{what(part.Name(), b), ix.Columns[k].Blocks[b], digests[0]}
			}
			columnBlocks[k] = append(columnBlocks[k], digests[0])
		}
	}
	got.KeysDigest = h.keysDigest(info.Parts, keyBlocks)
	for k, c := range ix.Columns {
		got.Columns[k].Digest = h.columnDigest(&c.Schema, columnBlocks[k])
	}
	if leaf := got.leaf(info.Label, info.Rows); leaf != info.Hash {
		return &HashError{fmt.Sprintf("leaf hash of %s %q", info.Class, info.Label), info.Hash, leaf}
	}
	return nil
}

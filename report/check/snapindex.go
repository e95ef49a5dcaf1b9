package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// snapIndex is the index of a table.
type snapIndex struct {
	at      int64 // of the first cell
	columns []snapColumn
	blocks  int
	arrays  [8][]byte
}

func (x *snapIndex) u64(array, i int) uint64 {
	return binary.LittleEndian.Uint64(x.arrays[array][8*i:])
}
func (x *snapIndex) u32(array, i int) uint32 {
	return binary.LittleEndian.Uint32(x.arrays[array][4*i:])
}

func (x *snapIndex) digest(cell int) []byte { return x.arrays[3][hashSize*cell : hashSize*(cell+1)] }

func (s *snapChecker) index(t *snapTable, payload []byte, indexAt, start int64) (*snapIndex, bool) {
	w := s.walker(payload, indexAt, "index of "+t.name)
	x := &snapIndex{}
	w.tuple(4, "the index")
	at := w.at
	first := w.uint(math.MaxUint64, "the offset of the first cell")
	if !w.bad && first != uint64(start) {
		w.fail("snap-gaps", at, "the cells begin at %d, expected %d", first, start)
	}
	x.at = start
	keysAt := w.at
	keysDigest := w.fixed(hashSize, "the digest of the keys")
	at = w.at
	n := w.array("the columns")
	if n > maxList {
		w.fail("snap-limit", at, "%d columns, at most %d are allowed", n, maxList)
	}
	var columnsAt []int
	for i := range n {
		at := w.at
		what := fmt.Sprintf("column %d", i)
		w.tuple(5, what)
		c := snapColumn{component: w.str("the component of " + what), field: w.str("the field of " + what)}
		typeAt := w.at
		c.typ = w.uint(math.MaxUint64, "the type of "+what)
		scaleAt := w.at
		c.scale = uint32(w.uint(math.MaxUint32, "the scale of "+what))
		c.digest = w.fixed(hashSize, "the digest of "+what)
		if w.bad {
			return nil, false
		}
		name := c.component + "." + c.field
		if c.component == "" || c.field == "" {
			w.note("snap-name", at, "%s is named %s, expected a component and a field", what, quoted(name))
		}
		if columnTypes[c.typ].name == "" {
			w.fail("snap-column-type", typeAt, "%s has type %d, expected 1 to 15", quoted(name), c.typ)
			return nil, false
		}
		if (c.typ == typeFixed) != (c.scale != 0) {
			w.note("snap-scale", scaleAt, "%s of type %s has scale %d", quoted(name), columnTypes[c.typ].name, c.scale)
		}
		if i > 0 {
			p := &x.columns[i-1]
			if o := strings.Compare(p.component, c.component); o > 0 || o == 0 && p.field >= c.field {
				w.note("snap-columns-order", at, "%s follows %s", quoted(name), quoted(p.component+"."+p.field))
			}
		}
		x.columns = append(x.columns, c)
		columnsAt = append(columnsAt, at)
	}
	blocksAt := w.at
	w.tuple(8, "the blocks")
	for k := range x.arrays {
		x.arrays[k] = w.bin(fmt.Sprintf("bin %d of the blocks", k))
	}
	w.finish()
	if w.bad {
		return nil, false
	}
	x.blocks = len(x.arrays[0]) / 8
	cells := x.blocks * (1 + len(x.columns))
	second := 0
	if t.parts == 2 {
		second = 8 * x.blocks
	}
	for k, want := range [8]int{8 * x.blocks, second, 4 * x.blocks, hashSize * cells, 4 * cells, 4 * cells, cells, 4 * cells} {
		if len(x.arrays[k]) != want {
			w.fail("snap-bins", blocksAt, "bin %d has %d bytes, expected %d for %d blocks of %d columns", k, len(x.arrays[k]), want, x.blocks, len(x.columns))
			return nil, false
		}
	}
	total := uint64(0)
	for b := range x.blocks {
		total += uint64(x.u32(2, b))
	}
	if total != t.rows {
		w.note("snap-rows", blocksAt, "the blocks have %d rows, the header has %d", total, t.rows)
	}
	// Digests of blocks up to the leaf.
	var list []byte
	for b := range x.blocks {
		list = append(list, x.digest(b*(1+len(x.columns)))...)
	}
	head := append(binary.LittleEndian.AppendUint32([]byte{0x05, byte(t.parts), 0, 0}, uint32(x.blocks)), list...)
	if got := sha256.Sum256(head); !bytes.Equal(got[:], keysDigest) {
		w.note("snap-keys-digest", keysAt, "the digest of the keys is %x, the blocks give %x", keysDigest, got)
	}
	digests := slices.Clone(keysDigest)
	for k := range x.columns {
		c := &x.columns[k]
		le := binary.LittleEndian
		head := le.AppendUint32([]byte{0x06, byte(c.typ), 0, 0}, c.scale)
		head = le.AppendUint32(head, uint32(len(c.component)))
		head = le.AppendUint32(head, uint32(len(c.field)))
		head = le.AppendUint32(head, uint32(x.blocks))
		head = append(append(head, c.component...), c.field...)
		for b := range x.blocks {
			head = append(head, x.digest(b*(1+len(x.columns))+1+k)...)
		}
		if got := sha256.Sum256(head); !bytes.Equal(got[:], c.digest) {
			w.note("snap-column-digest", columnsAt[k], "the digest of %s is %x, the blocks give %x", quoted(c.component+"."+c.field), c.digest, got)
		}
		digests = append(digests, c.digest...)
	}
	if got := archetypeLeaf(t.label, t.rows, digests); !bytes.Equal(got, t.leaf) {
		s.c.add("snap-leaf", s.place(indexAt, "index of "+t.name), "the leaf hash in the header is %x, the digests give %x", t.leaf, got)
	}
	return x, true
}

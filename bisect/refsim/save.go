package refsim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// A save is the state in the sim's own format, without caches, in little-endian:
//
//	u64 seed, u64 names, u32 entities, u32 players   the game's identity
//	u64 state point, 16 bytes RNG
//	for each archetype, in the order of its number:
//	  u32 rows, 8 bytes for each part of each row's key
//	  for each column: u8 1, u32 length, its bytes; or u8 0 if the save leaves it out
const saveHead = 8 + 8 + 4 + 4 + 8 + rngSize

// unsaved are the columns that the fault save-omits-field leaves out of a save, by its place. A World is a dump and has
// these columns; a game that is loaded from it does not.
var unsaved = columnsBySystem{sysMovement: "Fatigue.level", sysCombat: "Weapon.ready", sysProduction: "Production.ready"}

// Save returns the state at the state point in the format that Restore takes.
func (s *Sim) Save() ([]byte, error) {
	if s.running != numSystems {
		return nil, s.unfinished()
	}
	dst := make([]byte, 0, s.saveSize()+1024)
	dst = binary.LittleEndian.AppendUint64(dst, s.config.Seed)
	dst = binary.LittleEndian.AppendUint64(dst, s.config.Names)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.config.Entities))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.config.Players))
	dst = binary.LittleEndian.AppendUint64(dst, s.tick)
	dst = s.rng.append(dst)
	omitted := s.faulty(saveOmitsField, &unsaved)
	for _, t := range s.tables {
		dst = t.save(dst, omitted)
	}
	return dst, nil
}

// saveSize returns at least the length in bytes of a save without texts.
func (s *Sim) saveSize() int {
	n := saveHead
	for _, t := range s.tables {
		row := 8 * t.keys().Parts()
		for i := range t.fields {
			row += t.fields[i].Type.Width()
		}
		n += 4 + 5*len(t.fields) + t.rows()*row
	}
	return n
}

func (t *table) save(dst []byte, omitted []string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.rows()))
	dst = append(dst, snapshot.LittleEndianBytes(t.id)...)
	dst = append(dst, snapshot.LittleEndianBytes(t.index)...)
	for i := range t.fields {
		f := &t.fields[i]
		if slices.Contains(omitted, f.own) {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1, 0, 0, 0, 0)
		begin := len(dst)
		dst = f.save(dst)
		binary.LittleEndian.PutUint32(dst[begin-4:], uint32(len(dst)-begin))
	}
	return dst
}

// savedTable is one archetype's part of a save.
type savedTable struct {
	rows    int
	keys    []byte
	columns [][]byte // nil for the column that the save leaves out
}

// saved is a save, taken apart.
type saved struct {
	point  uint64
	rng    []byte
	tables [archetypes]savedTable
}

// cut takes n bytes off the front of a save.
func cut(save *[]byte, n uint64) ([]byte, error) {
	if uint64(len(*save)) < n {
		return nil, fmt.Errorf("%d bytes are left of the save where %d are expected", len(*save), n)
	}
	b := (*save)[:n:n]
	*save = (*save)[n:]
	return b, nil
}

// parse parses a save of this game. The result refers to save.
func (s *Sim) parse(save []byte) (*saved, error) {
	head, err := cut(&save, saveHead)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	game := Config{Seed: le.Uint64(head), Names: le.Uint64(head[8:]), Entities: int(le.Uint32(head[16:])), Players: int(le.Uint32(head[20:]))}
	if game != s.config {
		return nil, fmt.Errorf("the save belongs to the game %v, not to %v", game, s.config)
	}
	out := &saved{point: le.Uint64(head[24:]), rng: head[32:]}
	for a, t := range s.tables {
		if err := t.parse(&save, &out.tables[a]); err != nil {
			return nil, fmt.Errorf("archetype %s: %w", t.label, err)
		}
	}
	if len(save) > 0 {
		return nil, fmt.Errorf("%d bytes after the last archetype", len(save))
	}
	return out, nil
}

func (t *table) parse(save *[]byte, out *savedTable) error {
	b, err := cut(save, 4)
	if err != nil {
		return err
	}
	rows := binary.LittleEndian.Uint32(b)
	out.rows = int(rows)
	if out.keys, err = cut(save, 8*uint64(rows)*uint64(t.keys().Parts())); err != nil {
		return err
	}
	out.columns = make([][]byte, len(t.fields))
	for i := range t.fields {
		has, err := cut(save, 1)
		if err != nil {
			return err
		}
		if has[0] == 0 {
			continue
		}
		if b, err = cut(save, 4); err == nil {
			out.columns[i], err = cut(save, uint64(binary.LittleEndian.Uint32(b)))
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", t.fields[i].Name(), err)
		}
	}
	return nil
}

// base is the last save that was restored, with its known digests, and without anything that was played since. Parts
// that are the same in the next save need not be hashed again.
type base [archetypes]baseTable

type baseTable struct {
	rows    int
	keys    []byte
	known   bool // of the keys, that starts and digest are theirs
	starts  []int
	digest  merkle.Hash
	columns []baseColumn
}

type baseColumn struct {
	data   []byte
	known  bool // digest is known, for data and the table's keys
	digest merkle.Hash
}

// Restore makes s the game that Save saved, from this Sim or another one of the same game with the same mistakes.
// Nothing else of s remains: the result is the same as from Load with a World without caches, except that columns that
// the save leaves out are zero. The result does not depend on the previous state of s; the cost does. After an error s
// cannot be used any more.
func (s *Sim) Restore(save []byte) error {
	src, err := s.parse(save)
	if err != nil {
		return err
	}
	if err := s.begin(src.point); err != nil {
		return err
	}
	s.rng.load(src.rng)
	if s.base == nil {
		s.base = new(base)
	}
	for i, t := range s.tables {
		s.base[i].update(&src.tables[i])
		if err := t.restore(&src.tables[i], &s.base[i]); err != nil {
			return fmt.Errorf("archetype %s: %w", t.label, err)
		}
	}
	if err := s.check(); err != nil {
		return err
	}
	s.computeCaches()
	return nil
}

// update sets b to another save.
func (b *baseTable) update(src *savedTable) {
	if b.columns == nil {
		b.columns = make([]baseColumn, len(src.columns))
	}
	if b.rows != src.rows || !bytes.Equal(b.keys, src.keys) {
		b.rows, b.keys, b.known = src.rows, append(b.keys[:0], src.keys...), false
		for i := range b.columns {
			b.columns[i].known = false
		}
	}
	for i, data := range src.columns {
		if c := &b.columns[i]; !bytes.Equal(c.data, data) {
			c.data, c.known = append(c.data[:0], data...), false
		}
	}
}

// restore sets the rows from src. All digests are out of date then; hash will find the digests of unchanged rows in b.
func (t *table) restore(src *savedTable, b *baseTable) error {
	t.kind = &kinds[t.archetype]
	half := 8 * src.rows
	t.id = resize(t.id, src.rows)
	setLittleEndian(t.id, src.keys[:half])
	if t.index != nil {
		t.index = resize(t.index, src.rows)
		setLittleEndian(t.index, src.keys[half:])
	}
	if i := unordered(t.keys()); i > 0 {
		return fmt.Errorf("the key of row %d does not follow the key of row %d", i, i-1)
	}
	t.keysDirty, t.restored = true, b
	for i := range t.fields {
		if f, data := &t.fields[i], src.columns[i]; data == nil {
			f.omit(src.rows)
		} else if err := f.restore(data, src.rows); err != nil {
			return fmt.Errorf("column %s: %w", f.Name(), err)
		}
	}
	return nil
}

// sameKeys reports whether keys equal the save's.
func (b *baseTable) sameKeys(k snapshot.Keys) bool {
	half := 8 * len(k.A)
	return b.rows == len(k.A) && bytes.Equal(b.keys[:half], snapshot.LittleEndianBytes(k.A)) &&
		bytes.Equal(b.keys[half:], snapshot.LittleEndianBytes(k.B))
}

// unordered returns the first row with a key that does not follow the key before, 0 if there is none.
func unordered(k snapshot.Keys) int {
	for i := 1; i < len(k.A); i++ {
		if k.A[i-1] < k.A[i] || k.B != nil && k.A[i-1] == k.A[i] && k.B[i-1] < k.B[i] {
			continue
		}
		return i
	}
	return 0
}

package snapshot

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// stream walks the rows of consecutive blocks of one table.
type stream struct {
	s         State
	table     int
	next, end int // next blocks
	block     int // the current block
	keys      Keys
	row       int // its next row
	columns   map[int]Column
	held      limits.Held
}

// nameOf returns the path of a state that is read from a file, "" for other states.
func nameOf(s State) string {
	if f, ok := s.(*File); ok {
		return f.name
	}
	return ""
}

// size returns a column's size in memory in bytes.
func (c *Column) size() int64 { return int64(len(c.Data) + 4*len(c.Ends) + len(c.Present)) }

func (s *stream) done() bool { return s.row == len(s.keys.A) && s.next == s.end }

// fill loads the next block if the current one has no rows left.
func (s *stream) fill() (err error) {
	if s.row < len(s.keys.A) || s.next == s.end {
		return nil
	}
	s.block, s.row, s.columns = s.next, 0, nil
	s.held.Free()
	s.next++
	s.keys, err = s.s.LoadKeys(s.table, s.block)
	return err
}

// column returns column k of the current block. It is -1 if the state lacks it.
func (s *stream) column(k int, schema *Schema) (*Column, error) {
	if k < 0 {
		c := without(schema, len(s.keys.A))
		return &c, nil
	}
	c, ok := s.columns[k]
	if !ok {
		loaded, err := s.s.LoadBlock(s.table, s.block, k)
		if err != nil {
			return nil, err
		}
		if err := s.held.Take(nameOf(s.s), loaded.size()); err != nil {
			return nil, err
		}
		c = loaded.Clone() // several are in use at a time
		if s.columns == nil {
			s.columns = map[int]Column{}
		}
		s.columns[k] = c
	}
	return &c, nil
}

// span merges the current rows of both sides until one side runs out. It then compares the values of rows that both
// have.
func (c *comparer) span(p *pairing, left, right *stream) error {
	var keys []Key
	var rowsA, rowsB []int32
	for left.row < len(left.keys.A) || right.row < len(right.keys.A) {
		order := 0
		switch {
		case left.row == len(left.keys.A):
			if order = 1; left.next < left.end {
				return c.values(p, left, right, keys, rowsA, rowsB)
			}
		case right.row == len(right.keys.A):
			if order = -1; right.next < right.end {
				return c.values(p, left, right, keys, rowsA, rowsB)
			}
		default:
			order = left.keys.At(left.row).Compare(right.keys.At(right.row))
		}
		switch {
		case order < 0:
			c.only(&p.td, left.keys.At(left.row), true)
			left.row++
		case order > 0:
			c.only(&p.td, right.keys.At(right.row), false)
			right.row++
		default:
			keys = append(keys, left.keys.At(left.row))
			rowsA, rowsB = append(rowsA, int32(left.row)), append(rowsB, int32(right.row))
			left.row++
			right.row++
		}
	}
	return c.values(p, left, right, keys, rowsA, rowsB)
}

// values compares all columns of matched rows.
func (c *comparer) values(p *pairing, left, right *stream, keys []Key, rowsA, rowsB []int32) error {
	if len(keys) == 0 {
		return nil
	}
	var changes []Change
	p.mark(len(keys))
	for k, column := range p.columns {
		// Usually blocks with equal digests are equal row by row, because their keys are equal. Here the keys differ,
		// so equal blocks mean nothing.
		schema := p.schema(column[0], column[1])
		a, err := left.column(column[0], schema)
		if err != nil {
			return err
		}
		b, err := right.column(column[1], schema)
		if err != nil {
			return err
		}
		room := c.room(p, k)
		var at, inA, inB []int32
		for n := range keys {
			i, j := int(rowsA[n]), int(rowsB[n])
			if a.Has(i) == b.Has(j) && bytes.Equal(a.Raw(i), b.Raw(j)) {
				continue
			}
			at, inA, inB = append(at, int32(n)), append(inA, rowsA[n]), append(inB, rowsB[n])
			if room != 0 {
				room--
				p.change(k, &changes, c.change(keys[n], a.Component, a.Field, a.At(i), b.At(j)))
			}
		}
		p.differs(k, at)
		c.tally(&p.tallies[k], a, b, inA, inB)
		changes = c.prune(p, changes)
	}
	c.keep(p, changes)
	return nil
}

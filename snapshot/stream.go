package snapshot

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// stream walks the rows of consecutive blocks of one table.
type stream struct {
	s         State
	table     int
	ix        *Index
	next, end int // blocks to come
	block     int // the block at hand
	keys      Keys
	row       int // the next row of it
	columns   map[int]Column
	held      limits.Held
}

// nameOf returns the path of a state that is read from its file, "" for others.
func nameOf(s State) string {
	if f, ok := s.(*File); ok {
		return f.name
	}
	return ""
}

// size returns how many bytes of memory a column takes.
func (c *Column) size() int64 { return int64(len(c.Data) + 4*len(c.Ends) + len(c.Present)) }

func (s *stream) done() bool { return s.row == len(s.keys.A) && s.next == s.end }

// fill makes sure that there is a row at hand, if any is left.
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

// column returns a column of the block at hand.
func (s *stream) column(k int) (*Column, error) {
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

// span merges the rows at hand of both sides until one side runs out, then
// compares the values of the rows that both have.
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
	for k, column := range p.columns {
		// Blocks of equal digest are equal row by row where their keys are; here
		// keys differ, so equality of the blocks says nothing.
		a, err := left.column(column[0])
		if err != nil {
			return err
		}
		b, err := right.column(column[1])
		if err != nil {
			return err
		}
		room := c.room(p, k)
		for n := range keys {
			i, j := int(rowsA[n]), int(rowsB[n])
			if a.Has(i) == b.Has(j) && bytes.Equal(a.Raw(i), b.Raw(j)) {
				continue
			}
			p.counts[k]++
			if room != 0 {
				room--
				changes = append(changes, c.change(keys[n], a.Component, a.Field, a.At(i), b.At(j)))
			}
		}
		changes = c.prune(p, changes)
	}
	c.keep(p, changes)
	return nil
}

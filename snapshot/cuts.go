package snapshot

import (
	"errors"
	"fmt"
)

// checkCut checks that a block of a .snap begins where the rule cuts: its first key is a cut, or the block before it is
// full. The index does not show places where a block should begin but does not; checkUncut finds them from keys.
func (t *fileTable) checkCut(block int) error {
	if block == 0 {
		return nil
	}
	first, before := t.Blocks[block].First, t.Blocks[block-1].Rows
	if before < maxBlockRows && cutHash(first.A, first.B)%meanBlockRows != 0 {
		return fmt.Errorf("no block begins at key %s, as block %d does after one of %d rows", first, block, before)
	}
	return nil
}

// checkUncut checks that no key inside a block should begin a new block.
func checkUncut(keys Keys) error {
	for i := 1; i < len(keys.A); i++ {
		if keys.cutBefore(i) {
			return fmt.Errorf("a block begins inside, at key %s", keys.At(i))
		}
	}
	return nil
}

// CompareCuts checks that tables with different hashes are cut into blocks according to the rule. A table with other
// cuts has a different leaf hash for the same rows, so a comparison of hashes alone would report damage as a
// difference. The error for such a file is a *frame.Error.
//
// For tables that differ, CompareCuts reads the indexes, and the keys of the blocks that the states cut differently. It
// ignores noise.
func CompareCuts(a, b State) error {
	tablesA, tablesB := a.Info().Tables, b.Info().Tables
	for i, j := range pairTables(tablesA, tablesB) {
		if i < 0 || j < 0 {
			continue
		}
		if ta, tb := &tablesA[i], &tablesB[j]; ta.Hash != tb.Hash && ta.Parts == tb.Parts && ta.Class != Noise {
			if err := compareCuts(a, b, i, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareCuts checks table i of a and table j of b. It skips blocks that have the same bounds in both states: if both
// cut them wrongly, their rows differ.
func compareCuts(a, b State, i, j int) error {
	ia, err := a.Index(i)
	if err != nil {
		return err
	}
	ib, err := b.Index(j)
	if err != nil {
		return err
	}
	for _, r := range regions(ia, ib) {
		if r.a[1]-r.a[0] == 1 && r.b[1]-r.b[0] == 1 {
			continue
		}
		for block := r.a[0]; block < r.a[1]; block++ {
			if _, err := a.LoadKeys(i, block); err != nil { // this checks the cuts
				return err
			}
		}
		for block := r.b[0]; block < r.b[1]; block++ {
			if _, err := b.LoadKeys(j, block); err != nil {
				return err
			}
		}
	}
	return nil
}

// contradiction returns the error for two tables with different digests and equal rows: one of the states records a
// digest that its content does not give.
func (c *comparer) contradiction(p *pairing) error {
	for _, side := range []struct {
		s State
		i int
	}{{c.a, p.i}, {c.b, p.j}} {
		err := checkContent(side.s, side.i, &Hasher{})
		var wrong *HashError
		if f, ok := side.s.(*File); ok && errors.As(err, &wrong) {
			return corrupt(f.name, int64(f.places[side.i].offset), wrong.Error())
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%s %q: the recorded digests differ, the rows do not", p.td.Class, p.td.Label)
}

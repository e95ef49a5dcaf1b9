package snapshot

import (
	"errors"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// units returns a table with keys and values from 0 to n - 1.
func units(n int) Table {
	t := Table{Label: "Units", Columns: []Column{NewColumn("A", "x", U32, 0)}}
	for i := range n {
		t.Keys.A = append(t.Keys.A, uint64(i))
		t.Columns[0].AppendUint(uint64(i))
	}
	return t
}

// cutAt returns a .snap of a table that is cut into blocks before these rows, wherever
// the rule wants it cut. Spoil, if not nil, changes the index before it is written.
func cutAt(t *testing.T, table Table, starts []int, spoil func(w *Writer)) []byte {
	t.Helper()
	var m memory
	w, err := NewWriter(&m, Head{Seed: 1, RNG: []byte{1}}, []Table{table}, WriteOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	for b := range starts {
		w.block(&table, starts[b], blockEnd(starts, b, table.Rows()))
	}
	if spoil != nil {
		spoil(w)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// TestWrongCutsAreNoDivergence: the same rows in other blocks have another root. That
// is damage, and no difference.
func TestWrongCutsAreNoDivergence(t *testing.T) {
	table := units(40000)
	right := BlockStarts(nil, table.Keys)
	if len(right) < 5 {
		t.Fatalf("%d blocks", len(right))
	}
	for _, c := range []struct {
		what   string
		starts []int
		want   string
	}{
		{"a block too many", append([]int{0, 3}, right[1:]...), `index of archetype "Units": no block begins at key 3`},
		{"a block too few", append([]int{0}, right[2:]...), `keys of archetype "Units", block 0: a block begins inside`},
	} {
		good, bad := cutAt(t, table, right, nil), cutAt(t, table, c.starts, nil)
		for name, find := range map[string]func(a, b State) error{
			"Compare":     func(a, b State) error { _, err := Compare(a, b, DiffOptions{}); return err },
			"CompareCuts": CompareCuts,
			"Check":       func(a, b State) error { return errors.Join(Check(a), Check(b)) },
		} {
			for _, files := range [][2][]byte{{good, bad}, {bad, good}} {
				err := find(open(t, files[0]), open(t, files[1]))
				var e *frame.Error
				if !errors.As(err, &e) || e.Err != frame.ErrCorrupt || e.Name == "" || e.Offset == 0 || !strings.Contains(e.Msg, c.want) {
					t.Errorf("%s, %s: %v, want corrupt: %s", c.what, name, err, c.want)
				}
			}
		}
	}
	// Rows that one state lacks, the one before which a block begins among them.
	lacking := units(right[1])
	a, b := open(t, cutAt(t, table, right, nil)), open(t, cutAt(t, lacking, []int{0}, nil))
	if err := CompareCuts(a, b); err != nil {
		t.Errorf("rows that one state lacks: %v", err)
	}
	if d, err := Compare(a, b, DiffOptions{}); err != nil || !d.Diverged() || d.Tables[0].OnlyACount == 0 {
		t.Errorf("rows that one state lacks: %v, %+v", err, d)
	}
}

// TestCutsReadOnlyWhereTheyDiffer counts the bytes: of tables that are cut alike the
// indexes are read, of the others the keys of blocks that are not.
func TestCutsReadOnlyWhereTheyDiffer(t *testing.T) {
	table := units(400000)
	changed := units(400000)
	changed.Columns[0].Data[4*1234]++
	right := BlockStarts(nil, table.Keys)
	a, b := open(t, cutAt(t, table, right, nil)), open(t, cutAt(t, changed, right, nil))
	if err := CompareCuts(a, b); err != nil {
		t.Fatal(err)
	}
	if got, most := a.BytesRead()+b.BytesRead(), 2*(a.size/100+headSize); got > most {
		t.Errorf("%d of %d bytes read, at most %d expected", got, a.size+b.size, most)
	}
}

// TestWrongDigestsAreNoDivergence: a recorded digest that the content does not give
// makes another root, and no difference.
func TestWrongDigestsAreNoDivergence(t *testing.T) {
	good := cutAt(t, units(3), []int{0}, nil)
	for what, spoil := range map[string]func(w *Writer){
		"of keys":   func(w *Writer) { w.index.Blocks[0].Keys[0] ^= 1; w.cells.digests[0] ^= 1 },
		"of values": func(w *Writer) { w.index.Columns[0].Blocks[0][0] ^= 1; w.cells.digests[merkle.HashSize] ^= 1 },
	} {
		bad := open(t, cutAt(t, units(3), []int{0}, spoil))
		_, err := Compare(open(t, good), bad, DiffOptions{})
		var e *frame.Error
		if !errors.As(err, &e) || e.Err != frame.ErrCorrupt || e.Offset == 0 || !strings.Contains(e.Msg, "the content gives") {
			t.Errorf("digest %s: %v", what, err)
		}
	}
}

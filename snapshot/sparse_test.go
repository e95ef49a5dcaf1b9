package snapshot

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// TestSparse fills a table out of order, and pins what comes out.
func TestSparse(t *testing.T) {
	var s Sparse
	table := func(label string, parts int) *SparseTable {
		t.Helper()
		out, err := s.Table(Archetype, label, parts)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ship := table("ship", 1)
	two, added := ship.Row(2, 9)
	one, _ := ship.Row(1, 0)
	if again, second := ship.Row(2, 0); again != two || !added || second {
		t.Errorf("rows %d and %d of one key", two, again)
	}
	for _, err := range []error{
		ship.SetBits(two, "c", "x", F64, 0x3ff0000000000000),
		ship.SetText(one, "c", "x", "one"),
		ship.SetBits(one, "c", "hp", I64, 1<<64-1),
		ship.SetRaw(two, "c", "raw", []byte{1, 2}),
		ship.SetText(two, "c", "x (string)", "taken"),
		table("ship", 1).SetBits(two, "c", "hp", I64, 7),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := ship.SetText(one, "c", "x", "again"); !errors.Is(err, ErrTwice) {
		t.Errorf("a second value: %v", err)
	}
	if _, err := s.Table(Archetype, "ship", 2); err == nil {
		t.Error("a table with keys of one part and of two")
	}
	gun := table("gun", 2)
	gun.Row(3, 1)
	gun.Row(3, 0)
	if _, err := s.Table(Noise, "ship", 1); err != nil { // another table
		t.Fatal(err)
	}
	tables, err := s.Tables()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i := range tables {
		w := &tables[i]
		fmt.Fprintln(&out, w.Class, w.Label, w.Keys.A, w.Keys.B)
		for k := range w.Columns {
			c := &w.Columns[k]
			fmt.Fprint(&out, " ", c.Name(), " ", c.Type)
			for row := range w.Rows() {
				if c.Has(row) {
					fmt.Fprintf(&out, " %x", c.Raw(row))
				} else {
					fmt.Fprint(&out, " -")
				}
			}
			fmt.Fprintln(&out)
		}
	}
	const want = `archetype gun [3 3] [0 1]
archetype ship [1 2] []
 c.hp i64 ffffffffffffffff 0700000000000000
 c.raw bytes - 0102
 c.x f64 - 000000000000f03f
 c.x (string) string - 74616b656e
 c.x (string)#2 string 6f6e65 -
noise ship [] []
`
	if got := out.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestSparseLimits: what asks for more than there is room for is an error.
func TestSparseLimits(t *testing.T) {
	var s Sparse
	for i := range limits.Archetypes.Max() {
		if _, err := s.Table(Archetype, fmt.Sprint("t", i), 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Table(Archetype, "more", 1); err == nil {
		t.Error("no limit of tables")
	}
	w, _ := s.Table(Archetype, "t0", 1)
	row, _ := w.Row(0, 0)
	var err error
	for i := 0; err == nil && int64(i) <= limits.Columns.Max(); i++ {
		err = w.SetText(row, "c", fmt.Sprint(i), "")
	}
	if err == nil {
		t.Error("no limit of columns")
	}
	var wide Sparse
	w, _ = wide.Table(Archetype, "t", 1)
	for i := range 8000 {
		row, _ := w.Row(uint64(i), 0)
		if err := w.SetText(row, "c", fmt.Sprint(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := wide.Tables(); err == nil {
		t.Error("no limit of values")
	}
	for _, bad := range []string{"", "\xff", strings.Repeat("x", MaxName+1)} {
		if _, err := new(Sparse).Table(Archetype, bad, 1); err == nil {
			t.Errorf("%.10q is a label", bad)
		}
	}
}

package snaptest

import (
	"bytes"
	"fmt"

	"github.com/desynctool/desynctool/snapshot"
)

// Hostile is a kind of state that is expensive to read, compare or show. The states of the two peers differ as much as
// possible.
type Hostile struct {
	Name string
	// World returns the state of peer side, 0 or 1. Its cost is roughly proportional to n, which is at least 1.
	World func(n, side int) *snapshot.World
}

// All returns all kinds.
func All() []Hostile {
	return []Hostile{
		{"bomb", func(n, side int) *snapshot.World { // unpacks to a thousand times its size
			return worldOf(20*n, 12, 1, func(t, c, r int) string { return string(filled(1<<16, side)) })
		}},
		{"long-values", func(n, side int) *snapshot.World { // 64 KiB each, in many rows
			return worldOf(1, 1, 40*n, func(t, c, r int) string { return string(noise(1<<16, side, r)) })
		}},
		{"every-row", func(n, side int) *snapshot.World { // all rows of all columns differ
			return worldOf(1, 8, 5000*n, func(t, c, r int) string { return fmt.Sprint(side, c, r) })
		}},
		{"other-keys", otherKeys}, // the sides have no row in common, and their keys alternate
		{"tables", func(n, side int) *snapshot.World { // thousands of tables with one row
			return worldOf(500*n, 1, 1, func(t, c, r int) string { return fmt.Sprint(side, t) })
		}},
		{"columns", func(n, side int) *snapshot.World {
			return worldOf(1, 500*n, 1, func(t, c, r int) string { return fmt.Sprint(side, c) })
		}},
		{"other-tables", func(n, side int) *snapshot.World { // the sides have no table in common
			w := worldOf(500*n, 1, 1, func(t, c, r int) string { return fmt.Sprint(t) })
			for i := range w.Tables {
				w.Tables[i].Label += fmt.Sprint(".", side)
			}
			w.Sort()
			return w
		}},
		{"other-columns", func(n, side int) *snapshot.World {
			w := worldOf(1, 500*n, 1, func(t, c, r int) string { return fmt.Sprint(c) })
			for i := range w.Tables[0].Columns {
				w.Tables[0].Columns[i].Field += fmt.Sprint(".", side)
			}
			w.Sort()
			return w
		}},
	}
}

// worldOf returns a state with these numbers of tables, text columns and rows.
func worldOf(tables, columns, rows int, value func(table, column, row int) string) *snapshot.World {
	w := &snapshot.World{Head: snapshot.Head{Seed: 7, Point: snapshot.Point{Tick: 100}}}
	for t := range tables {
		table := snapshot.Table{Label: fmt.Sprintf("Table%07d", t)}
		for r := range rows {
			table.Keys.A = append(table.Keys.A, uint64(r))
		}
		for c := range columns {
			column := snapshot.NewColumn("Part", fmt.Sprintf("field%07d", c), snapshot.String, 0)
			for r := range rows {
				column.AppendString(value(t, c, r))
			}
			table.Columns = append(table.Columns, column)
		}
		w.Tables = append(w.Tables, table)
	}
	return w
}

func otherKeys(n, side int) *snapshot.World {
	w := worldOf(1, 4, 5000*n, func(t, c, r int) string { return fmt.Sprint(c, r) })
	for i := range w.Tables[0].Keys.A {
		w.Tables[0].Keys.A[i] = uint64(2*i + side)
	}
	return w
}

// filled returns n equal bytes.
func filled(n, side int) []byte { return bytes.Repeat([]byte{'a' + byte(side)}, n) }

// noise returns n bytes of text that do not compress.
func noise(n, side, row int) []byte {
	b, x := make([]byte, n), uint64(2*row+side+1)*0x9E3779B97F4A7C15
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = ' ' + byte(x>>32)%94
	}
	return b
}

package verdict

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// TestListed: the columns list the first values by key, all of them if there is room for all, at most the bound, and no
// column lacks values while a larger share of another is listed.
func TestListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &document.Compared{Values: 1}
		k.Columns = append(k.Columns, document.LocusColumn{}) // the RNG
		var tables []*snapshot.TableDiff
		want := map[string][]string{}
		for i := range rapid.IntRange(1, 4).Draw(t, "tables") {
			td := &snapshot.TableDiff{Label: fmt.Sprint("T", i)}
			n := rapid.IntRange(1, 3).Draw(t, "columns")
			rows := rapid.IntRange(1, 2000).Draw(t, "rows")
			for j := range n {
				td.Columns = append(td.Columns, snapshot.ColumnDiff{Component: "C", Field: fmt.Sprint("f", j)})
			}
			step := rapid.IntRange(1, 9).Draw(t, "step")
			for row := range rows {
				for j := range n {
					if row%(step*j+1) != 0 {
						continue
					}
					v := snapshot.Value{Type: snapshot.U32, Raw: []byte{byte(row), byte(row >> 8), 0, byte(j)}}
					td.Changes = append(td.Changes, snapshot.Change{Key: snapshot.Key{A: uint64(row)}, Component: "C", Field: fmt.Sprint("f", j), A: v, B: snapshot.Value{Type: snapshot.U32, Raw: []byte{1, 2, 3, 4}}})
					td.Columns[j].Rows++
					k.Values++
					want[td.Label+fmt.Sprint("f", j)] = append(want[td.Label+fmt.Sprint("f", j)], fmt.Sprintf("%d %s %s", row, v, td.Changes[0].B))
				}
			}
			for j := range n {
				k.Columns = append(k.Columns, document.LocusColumn{Archetype: td.Label, ColumnDocument: document.ColumnDocument{Component: "C", Field: fmt.Sprint("f", j), Changed: td.Columns[j].Rows}})
			}
			tables = append(tables, td)
		}
		c := &Conclusion{Compared: k}
		c.list(tables)
		total, least, most := 0, 1<<30, 0 // the least share of a column that lacks values, the largest share
		for i := range k.Columns[1:] {
			col := &k.Columns[1+i]
			var got []string
			for n, key := range col.Listed.Keys {
				got = append(got, fmt.Sprintf("%s %s %s", key, col.Listed.Values[0][n], col.Listed.Values[1][n]))
			}
			all := want[col.Archetype+col.Field]
			if !slices.Equal(got, all[:len(got)]) {
				t.Fatalf("%s.%s lists other values than the first", col.Archetype, col.Field)
			}
			if total += len(got); len(got) < len(all) {
				least = min(least, len(got))
			}
			most = max(most, len(got))
		}
		if total > maxListed || total < maxListed && uint64(total) != k.Values-1 || most > least+1 {
			t.Fatalf("%d of %d values are listed, at most %d; least %d, most %d", total, k.Values-1, maxListed, least, most)
		}
	})
}

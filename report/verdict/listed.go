package verdict

import (
	"cmp"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// maxListed is how many values the columns of a report list, maxListedText how many characters of each.
const (
	maxListed     = 4000
	maxListedText = 120
)

// list lists the values of each column, if the locus lacks some of them. The columns of tables are the last ones.
func (c *Conclusion) list(tables []*snapshot.TableDiff) {
	k := c.Compared
	if k.Values <= uint64(len(c.Locus)) {
		return
	}
	columns := k.Columns[len(k.Columns)-columnsOf(tables):]
	room := shares(columns, maxListed)
	for _, t := range tables {
		index := map[[2]string]int{}
		for i := range t.Columns {
			index[[2]string{t.Columns[i].Component, t.Columns[i].Field}] = i
		}
		for i := range t.Changes {
			ch := &t.Changes[i]
			n := index[[2]string{ch.Component, ch.Field}]
			if room[n] == 0 {
				continue
			}
			room[n]--
			l := &columns[n].Listed
			if *l == nil {
				*l = &document.ListedValues{}
			}
			(*l).Keys = append((*l).Keys, ch.Key.String())
			for side, v := range []snapshot.Value{ch.A, ch.B} {
				(*l).Values[side] = append((*l).Values[side], prose.Shorten(v.String(), maxListedText))
			}
		}
		columns, room = columns[len(t.Columns):], room[len(t.Columns):]
	}
}

func columnsOf(tables []*snapshot.TableDiff) (n int) {
	for _, t := range tables {
		n += len(t.Columns)
	}
	return n
}

// shares divides room for values among columns: what a column does not need is left for larger ones.
func shares(columns []document.LocusColumn, room uint64) []uint64 {
	out, order := make([]uint64, len(columns)), make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	lists.SortStable(order, func(i, j int) int { return cmp.Compare(columns[i].Changed, columns[j].Changed) })
	for n, i := range order {
		out[i] = min(columns[i].Changed, room/uint64(len(order)-n))
		room -= out[i]
	}
	return out
}

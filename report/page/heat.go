package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// heatView shows which row differs at which state point. Rows with the same cells share a lane, and rows that never
// differ are only named.
type heatView struct {
	By       string
	Peers    [2]peer
	Points   string // as distances
	Lanes    []lane
	Rest     []heatRest
	Rows     []heatRow
	Unlisted int // rows that do not have one cell for each state point
}

// heatRest are rows that never differ, and the known facts about them.
type heatRest struct {
	Text  string
	Names []string
}

// heatRow is a row of the table behind the picture.
type heatRow struct {
	Label string
	Cells string
	First string // state point, empty if it never differs
	Count int
	Lost  int // cells that are not known
	Spans string
}

// heatHeight is the height of a lane, minCell the least width of a cell in units, and maxFolded how many rows the name
// of a lane lists.
const (
	heatHeight = 20
	minCell    = 60
	maxFolded  = 3
)

func newHeat(r *document.Report, peers peers, a axis) *heatView {
	h := r.Heat
	if h == nil || len(h.Points) == 0 || len(h.Rows) == 0 || !slices.IsSorted(h.Points) {
		return nil
	}
	v := &heatView{By: h.By, Peers: [2]peer{peers.of(h.Peers[0]), peers.of(h.Peers[1])}, Points: a.deltas(h.Points)}
	for _, row := range rootsFirst(r) {
		if len(row.Differs) != len(h.Points) {
			v.Unlisted++
			continue
		}
		v.Rows = append(v.Rows, newHeatRow(labelName(row.Label), row.Differs, h.Points))
	}
	v.fold(h.Points, a)
	return v
}

// rootsFirst returns the rows of a heat map in the order in which they differ: first the rows of the archetypes that
// diverged first.
func rootsFirst(r *document.Report) []document.HeatRow {
	var roots []string
	if r.FirstDivergence != nil {
		roots = r.FirstDivergence.Archetypes
	}
	rank := func(row document.HeatRow) int {
		first := strings.IndexByte(row.Differs, '1')
		switch {
		case first < 0:
			return len(row.Differs) + 1
		case slices.Contains(roots, row.Label):
			return 0
		}
		return first + 1
	}
	rows := slices.Clone(r.Heat.Rows)
	lists.SortStable(rows, func(x, y document.HeatRow) int { return rank(x) - rank(y) })
	return rows
}

func newHeatRow(label, cells string, points []uint64) heatRow {
	row := heatRow{Label: label, Cells: cells, Count: strings.Count(cells, "1")}
	row.Lost = len(cells) - row.Count - strings.Count(cells, "0")
	var spans []string
	for _, s := range stretches(cells) {
		if s.cell == '1' {
			spans = append(spans, span(points[s.from], points[s.to-1]))
		}
	}
	if len(spans) > 0 {
		row.First, row.Spans = strconv.FormatUint(points[strings.IndexByte(cells, '1')], 10), strings.Join(spans, ", ")
	}
	return row
}

// fold makes lanes of rows: rows with the same cells become one lane, at the place of the first one.
func (v *heatView) fold(points []uint64, a axis) {
	var cells, equal, lost []string
	names := map[string][]string{}
	for _, row := range v.Rows {
		switch {
		case row.Count == 0 && row.Lost == 0:
			equal = append(equal, row.Label)
			continue
		case row.Count == 0:
			lost = append(lost, row.Label)
			continue
		case names[row.Cells] == nil:
			cells = append(cells, row.Cells)
		}
		names[row.Cells] = append(names[row.Cells], row.Label)
	}
	for _, c := range cells {
		l := namedLane(names[c])
		l.Kind, l.Height, l.Cells, l.Paths = "heat", heatHeight, c, heatPaths(c, points, a)
		v.Lanes = append(v.Lanes, l)
	}
	one, more := "other is", "others are"
	if len(v.Lanes) == 0 {
		one, more = "row is", "rows are"
	}
	for _, rest := range []struct {
		names []string
		text  string
	}{{equal, "equal throughout"}, {lost, "equal where that is known"}} {
		if n := len(rest.names); n > 0 {
			v.Rest = append(v.Rest, heatRest{prose.Count(n, one, more) + " " + rest.text, rest.names})
		}
	}
}

// namedLane returns a lane that combines the rows of one or more names.
func namedLane(names []string) lane {
	l := lane{Label: names[0], Who: names[0]}
	if n := len(names); n > 1 {
		l.Folded = names
		l.Label = fmt.Sprintf("%d rows: %s", n, strings.Join(names[:min(n, maxFolded)], ", "))
		if n > maxFolded {
			l.Label += "…"
		}
		l.Who = fmt.Sprintf("%s and %s", names[0], prose.Count(n-1, "other row", "other rows"))
	}
	return l
}

// stretch are neighbouring cells that are the same.
type stretch struct {
	cell     byte
	from, to int
}

func stretches(cells string) (list []stretch) {
	for i := 0; i < len(cells); {
		end := i + 1
		for end < len(cells) && cells[end] == cells[i] {
			end++
		}
		list = append(list, stretch{cells[i], i, end})
		i = end
	}
	return list
}

// heatPaths draws cells at the places of their state points. A cell is as wide as a tick, and wide enough to be seen if
// the next one leaves enough room; no gap narrower than that remains. Between state points with equal cells the lane is
// faint.
func heatPaths(cells string, points []uint64, a axis) []path {
	var solid, faint, lost, equal, stays strings.Builder
	ends := make([]int, len(points))
	for i, p := range points {
		ends[i] = a.unit(p) + minCell
		if p < a.To {
			ends[i] = max(ends[i], a.unit(p+1))
		}
		if i+1 < len(points) {
			if next := a.unit(points[i+1]); next-ends[i] < minCell {
				ends[i] = next
			}
		}
	}
	for _, r := range stretches(cells) {
		out, between := &lost, (*strings.Builder)(nil)
		switch r.cell {
		case '1':
			out, between = &solid, &faint
		case '0':
			out, between = &equal, &stays
		}
		for i := r.from; i < r.to; {
			x, j := a.unit(points[i]), i
			for j+1 < r.to && ends[j] >= a.unit(points[j+1]) {
				j++
			}
			w := ends[j] - x
			if between == nil {
				fmt.Fprintf(out, "M%d 10h%d", x, w)
			} else if w > 0 {
				fmt.Fprintf(out, "M%d 1h%dv18h-%dz", x, w, w)
			}
			if between != nil && j+1 < r.to {
				gap := a.unit(points[j+1]) - ends[j]
				fmt.Fprintf(between, "M%d 1h%dv18h-%dz", ends[j], gap, gap)
			}
			i = j + 1
		}
	}
	var out []path
	for _, p := range []path{{"equal between", stays.String()}, {"differs between", faint.String()}, {"equal", equal.String()}, {"differs", solid.String()}, {"lost", lost.String()}} {
		if p.D != "" {
			out = append(out, p)
		}
	}
	return out
}

func span(from, to uint64) string {
	if from == to {
		return strconv.FormatUint(from, 10)
	}
	return fmt.Sprintf("%d to %d", from, to)
}

// labelName returns the label of a leaf; the RNG has none.
func labelName(label string) string {
	if label == "" {
		return snapshot.RNG
	}
	return label
}

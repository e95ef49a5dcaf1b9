package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/snapshot"
)

// heatView shows which row differs at which state point. Its cells are two paths over a grid
// of one unit a cell, stretched to the width that there is, so that hundreds of columns stay
// small; the script reads the cells from Points and the rows.
type heatView struct {
	picture
	By       string
	Peers    [2]peer
	Points   string
	Columns  int
	Rows     []heatRow
	LabelW   float64
	Height   int
	Differs  string // paths
	Unknown  string
	Dashes   string // in the middle of what is not known
	Bracket  string // where the line of the bracket is, in columns; empty if it is not there
	Axis     []axisTick
	Unlisted int // rows whose cells are not those of the points
}

type heatRow struct {
	Label string
	Short string
	Y     int
	Cells string
	First string // state points in words, empty if it never differs
	Count int
	Lost  int // cells that are not known
	Spans string
}

// heatHeight is that of a row in pixels.
const heatHeight = 20

func newHeat(r *report.Report, peers peers) *heatView {
	h := r.Heat
	if h == nil || len(h.Points) == 0 || len(h.Rows) == 0 {
		return nil
	}
	v := &heatView{
		picture: picture{"heat-picture", fmt.Sprintf("Heat map of %s at %s", prose.Count(len(h.Rows), "row", "rows"), prose.Count(len(h.Points), "state point", "state points"))},
		By:      h.By, Peers: [2]peer{peers.of(h.Peers[0]), peers.of(h.Peers[1])}, Points: numbers(h.Points), Columns: len(h.Points),
	}
	var differs, unknown, dashes strings.Builder
	for _, row := range h.Rows {
		if len(row.Differs) != len(h.Points) {
			v.Unlisted++
			continue
		}
		label, n := labelName(row.Label), len(v.Rows)
		one := heatRow{Label: label, Short: prose.Shorten(label, labelWidth), Y: n*heatHeight + 14, Cells: row.Differs}
		v.LabelW = max(v.LabelW, 0.6*float64(prose.Columns(one.Short))+1)
		var spans []string
		for i := 0; i < len(row.Differs); {
			end := i + 1
			for end < len(row.Differs) && row.Differs[end] == row.Differs[i] {
				end++
			}
			switch row.Differs[i] {
			case '1':
				if one.First == "" {
					one.First = strconv.FormatUint(h.Points[i], 10)
				}
				one.Count += end - i
				spans = append(spans, span(h.Points[i], h.Points[end-1]))
				fmt.Fprintf(&differs, "M%d %d.06h%dv.88h-%dz", i, n, end-i, end-i)
			case '0':
			default:
				one.Lost += end - i
				fmt.Fprintf(&unknown, "M%d %dh%dv1h-%dz", i, n, end-i, end-i)
				for c := i; c < end; c++ {
					fmt.Fprintf(&dashes, "M%d.25 %d.46h.5v.08h-.5z", c, n)
				}
			}
			i = end
		}
		one.Spans = strings.Join(spans, ", ")
		v.Rows = append(v.Rows, one)
	}
	v.Differs, v.Unknown, v.Dashes, v.Height = differs.String(), unknown.String(), dashes.String(), len(v.Rows)*heatHeight
	if first := r.FirstDivergence; first != nil && first.Bracket != nil {
		for i, p := range h.Points {
			if p >= first.Bracket.Bad {
				v.Bracket = strconv.Itoa(i)
				break
			}
		}
	}
	step := max(int(niceStep(float64(len(h.Points)), 12)), 1)
	for i := 0; i < len(h.Points); i += step {
		x := 100 * (float64(i) + 0.5) / float64(len(h.Points))
		v.Axis = append(v.Axis, axisTick{num(x), strconv.FormatUint(h.Points[i], 10), anchor(x)})
	}
	return v
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

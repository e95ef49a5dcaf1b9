package web

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
)

// trend is a chart of how many matches were played when.
type trend struct {
	Width int
	End   int    // of the last day, where the axis ends
	Path  string // of the bars
	Label string
	Large bool
}

// dayCount is how many matches were played on a day, in days since 1970.
type dayCount struct{ Day, Reports int64 }

// newTrend draws the days from first to last in at most this many bars. It returns nil if no day is known. days must be
// sorted.
func newTrend(days []dayCount, first, last int64, bars int64) *trend {
	if len(days) == 0 || first == 0 || last < first {
		return nil
	}
	each := (last - first + bars) / bars // days in a bar
	n := (last-first)/each + 1
	counts := make([]int64, n)
	var most, all int64
	for _, d := range days {
		if d.Day < first || d.Day > last {
			continue
		}
		i := (d.Day - first) / each
		counts[i] += d.Reports
		most, all = max(most, counts[i]), all+d.Reports
	}
	if all == 0 {
		return nil
	}
	t := &trend{Width: int(max(n, 60) * 4), End: int(n * 4)}
	t.bars(counts, most)
	stretch := "on " + desk.Day(first)
	if last > first {
		stretch = fmt.Sprintf("from %s to %s", desk.Day(first), desk.Day(last))
	}
	a := "a day"
	if each > 1 {
		a = "in " + prose.Count(each, "day", "days")
	}
	t.Label = fmt.Sprintf("%s %s, at most %d %s", prose.Count(all, "match", "matches"), stretch, most, a)
	return t
}

// weeks draws a trend of weeks, nil if nothing was played in them.
func weeks(t *desk.Trend) *trend {
	var most, all int64
	for _, n := range t.Weeks {
		most, all = max(most, n), all+n
	}
	if t.Until == "" || all == 0 {
		return nil
	}
	p := &trend{Width: desk.TrendWeeks * 4, End: desk.TrendWeeks * 4}
	p.bars(t.Weeks[:], most)
	p.Label = fmt.Sprintf("%s in the %d weeks to %s, %d of them in the last week", prose.Count(all, "match", "matches"), desk.TrendWeeks, t.Until, t.Last7)
	return p
}

// bars draws a bar for each count that is not 0.
func (t *trend) bars(counts []int64, most int64) {
	var b strings.Builder
	for i, c := range counts {
		if c > 0 {
			height := max(1, float64(c)*22/float64(most))
			fmt.Fprintf(&b, "M%d 23v-%.4gh3v%.4gz", i*4, height, height)
		}
	}
	t.Path = b.String()
}

package page

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
)

// maxCascade is how many lines the picture of a cascade has; the table has all.
const maxCascade = 60

// newCascade draws from when to when each part of the state differed.
func newCascade(r *report.Report) *strip {
	if len(r.Cascade) == 0 {
		return nil
	}
	const height = 20
	s := &strip{picture: picture{"cascade-picture", "When each part of the state differed"}}
	shown := r.Cascade[:min(len(r.Cascade), maxCascade)]
	from, to := shown[0].Tick, shown[0].Tick
	for _, c := range shown {
		from, to = min(from, c.Tick), max(to, c.Last, c.Tick)
	}
	if to == from {
		to++
	}
	for i, c := range shown {
		x, end := place(c.Tick, from, to), place(max(c.Last, c.Tick), from, to)
		s.label(i*height+14, scopeName(c), "")
		s.Rows = append(s.Rows, []bar{{num(x), num(max(end-x, 0.4)) + "%", i*height + 4, height - 8, "spread",
			fmt.Sprintf("%s: from tick %d in %s; %s, the last in tick %d", scopeName(c), c.Tick, systemName(c.System), prose.Count(c.Count, "difference", "differences"), max(c.Last, c.Tick))}})
	}
	s.AxisY = len(shown)*height + 4
	s.Height = s.AxisY + 22
	s.Axis = tickAxis(from, to)
	return s
}

func scopeName(c report.CascadeDocument) string {
	if c.Scope == "" {
		return systemName(c.System)
	}
	return c.Scope
}

func systemName(name string) string {
	if name == "" {
		return "an unnamed system"
	}
	return name
}

package page

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// cascadeView is from when to when each part of the state differed.
type cascadeView struct {
	Lanes []lane
	Rows  []cascadeRow
}

// cascadeRow is a row of the table behind the picture.
type cascadeRow struct {
	document.Wave
	First, End string // names of the ticks
}

// maxCascade is how many lanes the picture of a cascade has; the table has all.
const maxCascade = 60

func newCascade(r *document.Report, a axis) *cascadeView {
	if len(r.Cascade) == 0 {
		return nil
	}
	v := &cascadeView{}
	for i, c := range document.Waves(r.Cascade) {
		last := max(c.Last, c.Tick)
		first, end := document.BothNames(c.Native, c.Tick), a.tick(last)
		v.Rows = append(v.Rows, cascadeRow{c, first, end})
		if i < maxCascade {
			l := namedLane(c.Parts)
			l.Height = heatHeight
			l.Tip = fmt.Sprintf("%s: from %s on; %s, the last at %s", c.Text(maxFolded), document.InTick(first), prose.Count(c.Count, "difference", "differences"), end)
			v.Lanes = append(v.Lanes, spanLane(a, c.Tick, last, l, "spread", 4, heatHeight-8))
		}
	}
	return v
}

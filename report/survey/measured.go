package survey

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
)

// A table of measurements, such as the time of each frame, looks like a log of values. All of its columns differ between any
// two machines from the first row on, whether the game is in sync or not, and now one machine has the larger value, now the
// other one. Values of games that diverged before their first row change together, and one of them stays larger for long.

// fewestMeasured is the number of rows by which measurements are recognised.
const fewestMeasured = 8

// largestMeasured is the largest measurement that has no name for one: states of random number generators and checksums jump
// about as well.
const largestMeasured = 1 << 30

// measured takes tables of measurements out of the groups, if there is other evidence.
func (s *Survey) measured() {
	kinds := map[string][]*group{}
	for _, g := range s.order {
		if kind := g.kindOfRows(); kind != "" {
			kinds[kind] = append(kinds[kind], g)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		of := kinds[kind]
		isOf := func(g *group) bool { return slices.Contains(of, g) }
		others := lists.Where(s.order, func(g *group) bool { return !isOf(g) && g.timed() })
		logs := lists.Where(s.found, func(l log) bool { return l.trace != nil })
		if len(others)+len(logs) < 2 || !areMeasured(of) {
			continue
		}
		s.order = slices.DeleteFunc(s.order, isOf)
		for _, g := range of {
			s.notes = append(s.notes, fmt.Sprintf("%s: all columns differ between the peers from the first row on, and neither peer's values stay larger: "+
				"taken for measurements of the machine, and not compared", filepath.Join(g.dir, g.bases[0])))
		}
	}
}

// metrics takes files out of the groups that have nothing but values with names of measurements, next to places in time, if there
// is other evidence.
func (s *Survey) metrics() {
	isOf := map[*group]bool{}
	for _, g := range s.order {
		isOf[g] = g.page == nil && g.kind == description.Undescribed && g.areMetrics()
	}
	others := lists.Count(s.order, func(g *group) bool { return !isOf[g] })
	if others+len(s.found) < 2 {
		return
	}
	s.order = slices.DeleteFunc(s.order, func(g *group) bool {
		if isOf[g] {
			s.notes = append(s.notes, filepath.Join(g.dir, g.bases[0])+": all values have names of measurements of the machine: not compared")
		}
		return isOf[g]
	})
}

// areMetrics reports whether the first file that was read has several rows, and all columns of them but a tick are measurements.
func (g *group) areMetrics() bool {
	schema := &states.Schema{}
	_ = schema.Learn(g.notation, g.samples[0].text)
	worlds, err := schema.Decode(g.notation, g.samples[0].text)
	rows, measures := 0, 0
	for _, w := range worlds {
		for i := range w.Tables {
			t := &w.Tables[i]
			rows += t.Rows()
			for _, c := range t.Columns {
				switch word := states.Words(c.Field); {
				case metricNames.MatchString(word):
					measures++
				case !strings.Contains(" t n i idx index sample row ", " "+word+" ") && vocabulary.Of(c.Field) != vocabulary.Tick:
					return false
				}
			}
		}
	}
	return (err == nil || g.samples[0].cut) && rows >= fewestMeasured && measures > 0
}

// metricNames are of measurements that no simulation has, as whole names.
var metricNames = lazyregexp.New(`^((avg|min|max|mean)_?)?(ms|fps|ping|latency|rtt|jitter|heap|rss|vram|draw_?calls|(mem|memory|heap|ram|vram)_?(kb|mb|bytes|used)|` +
	`(cpu|gpu)_?(time|load|usage|percent|pct)|(real|wall|render|draw|frame|cpu|gpu)_?(time|ms|us|ns)|frame_?time_?(ms|us|ns))(_?(ms|avg|min|max))?$`)

// kindOfRows returns the columns of states that have nothing but numbers which belong to no entity, empty for others.
func (g *group) kindOfRows() (kind string) {
	for i := range g.samples {
		for _, w := range g.samples[i].worlds {
			if w.RNG != nil || len(w.Tables) != 1 || w.Tables[0].Label != states.GlobalLabel || w.Tables[0].Rows() != 1 {
				return ""
			}
			var names []string
			for _, c := range w.Tables[0].Columns {
				names = append(names, c.Component+"."+c.Field)
			}
			if one := strings.Join(names, "\n"); kind != "" && one != kind {
				return ""
			} else {
				kind = one
			}
		}
	}
	return kind
}

// areMeasured reports whether the states of some groups, which have the same columns, are measurements.
func areMeasured(of []*group) bool {
	rows := map[uint64][]seen{}
	for _, g := range of {
		for i := range g.samples {
			for _, w := range g.samples[i].worlds {
				tick, ok := g.tickOf(g.samples[i].base)
				if w.Point.Known() {
					tick, ok = w.Point.Tick, true
				}
				if ok {
					rows[tick] = append(rows[tick], seen{peer: g.dir + "\x00" + cmp.Or(w.Peer, g.peerOf(g.samples[i].base)), world: w})
				}
			}
		}
	}
	pairs := map[[2]string]*jumps{}
	for _, tick := range slices.Sorted(maps.Keys(rows)) {
		list := rows[tick]
		for i := range list[1:] {
			a, b := list[0], list[i+1]
			if a.peer == b.peer {
				return false
			}
			of := pairs[[2]string{a.peer, b.peer}]
			if of == nil {
				of = &jumps{}
				pairs[[2]string{a.peer, b.peer}] = of
			}
			if !of.add(&a.world.Tables[0], &b.world.Tables[0]) {
				return false
			}
		}
	}
	return len(pairs) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(pairs)), func(j *jumps) bool { return !j.measured() })
}

// jumps shows which of two peers has the larger values, row by row.
type jumps struct {
	rows, equal int // and those in which all is equal
	columns     []jump
}

// jump is what is known of a column.
type jump struct {
	named  bool // its name is one of a measurement
	differ int  // rows
	turns  int  // how often the other peer has the larger value
	above  float64
}

// add adds a row, and reports whether all its values may be measurements.
func (j *jumps) add(a, b *snapshot.Table) bool {
	if j.columns == nil {
		j.columns = make([]jump, len(a.Columns))
	}
	differ := 0
	for i := range a.Columns {
		x, y, one := &a.Columns[i], &b.Columns[i], &j.columns[i]
		if vocabulary.Of(x.Field) == vocabulary.Sum || !x.Has(0) || !y.Has(0) {
			return false
		}
		one.named = noisyNames.MatchString(states.Words(x.Field)) || vocabulary.Of(x.Field) == vocabulary.Measure
		m, errM := strconv.ParseFloat(x.At(0).String(), 64)
		n, errN := strconv.ParseFloat(y.At(0).String(), 64)
		if errM != nil || errN != nil || !one.named && max(math.Abs(m), math.Abs(n)) >= largestMeasured {
			return false
		}
		if m == n {
			continue
		}
		differ++
		one.differ++
		if one.above*(m-n) < 0 {
			one.turns++
		}
		one.above = m - n
	}
	if j.rows++; differ == 0 {
		j.equal++
	}
	return j.rows > 1 || 2*differ > len(a.Columns)
}

// measured reports whether all columns nearly always differ, and in each of them either peer has the larger value by turns.
func (j *jumps) measured() bool {
	return j.rows >= fewestMeasured && 20*j.equal <= j.rows && !slices.ContainsFunc(j.columns, func(c jump) bool {
		return 4*c.differ < 3*j.rows || 5*c.turns < j.rows
	})
}

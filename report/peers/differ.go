package peers

import (
	"encoding/hex"
	"slices"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// differ compares what reports include, each group with the first.
type differ struct {
	*merger
	pairs   map[[2]int]*snapshot.Diff
	order   [][2]int
	lacking []string // archetypes that no two groups include
}

// compare compares an archetype of the first report of each group that includes it.
func (d *differ) compare(label string, byLeaf [][]int) error {
	base, compared := -1, false
	for _, group := range byLeaf {
		i := slices.IndexFunc(group, func(i int) bool {
			if label == "" {
				return d.reports[i].RNGState != ""
			}
			return d.reports[i].worlds[label].good
		})
		switch {
		case i < 0:
		case base < 0:
			base = group[i]
		default:
			if err := d.pair(label, base, group[i]); err != nil {
				return err
			}
			compared = true
		}
	}
	if !compared && len(byLeaf) > 1 {
		d.lacking = append(d.lacking, label)
	}
	return nil
}

// pair compares an archetype of two reports.
func (d *differ) pair(label string, a, b int) error {
	x, err := d.state(label, a)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := d.state(label, b)
	if err != nil {
		return err
	}
	defer y.Close()
	found, err := snapshot.Compare(x, y, snapshot.DiffOptions{Limit: mergedValues, Force: true})
	if err != nil {
		return err
	}
	sum := d.pairs[[2]int{a, b}]
	if sum == nil {
		sum = &snapshot.Diff{A: found.A, B: found.B}
		d.pairs[[2]int{a, b}] = sum
		d.order = append(d.order, [2]int{a, b})
	}
	if label == "" {
		sum.RNG = found.RNG
	}
	sum.Tables = append(sum.Tables, found.Tables...)
	return nil
}

// state returns the content of an archetype that a report includes; of the RNG under "".
func (d *differ) state(label string, i int) (snapshot.State, error) {
	if label != "" {
		return d.reports[i].World(label)
	}
	rng, err := hex.DecodeString(d.reports[i].RNGState)
	if err != nil {
		return nil, err
	}
	return snapshot.Hold(&snapshot.World{Head: snapshot.Head{RNG: rng}})
}

func (d *differ) documents() []Difference {
	out := []Difference{}
	for _, pair := range d.order {
		names := [2]string{d.names[pair[0]], d.names[pair[1]]}
		out = append(out, Difference{names, document.Tables(d.pairs[pair], names)})
	}
	return out
}

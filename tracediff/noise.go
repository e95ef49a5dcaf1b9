package tracediff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
)

// Noise is a value that differs, but that the engine's developers know to differ between peers in sync. It is not a
// difference.
type Noise struct {
	Sum   string
	Count int64 // checkpoints in which it differs
	// The first place where it differs.
	Tick          Tick
	System, Scope string
}

// noiseOf returns a function that reports which sums are noise, or nil if none are.
func noiseOf(list []*Trace) func(sum string) bool {
	if len(list) == 0 {
		return nil
	}
	return list[0].Dialect.Noise
}

// noted counts the noise in c.cells, the checkpoints of one place in the current tick.
func (c *comparer) noted(k *keyInfo) {
	var first *Checkpoint
	var seen []string // in this place
	for i := range c.cells {
		x := c.cells[i].c
		if x == nil || first == nil {
			first = cmp.Or(first, x)
			continue
		}
		for _, s := range first.Sums {
			t := find(x.Sums, s.Name)
			if t == nil || equalSum(s.Value, t.Value) || !c.noise(s.Name) || slices.Contains(seen, s.Name) {
				continue
			}
			seen = append(seen, s.Name)
			n := c.noises[s.Name]
			if n == nil {
				n = &Noise{Sum: s.Name, Tick: c.tick, System: k.system, Scope: k.scope}
				if c.noises == nil {
					c.noises = map[string]*Noise{}
				}
				c.noises[s.Name] = n
			}
			n.Count++
		}
	}
}

// noiseFound returns the noise, sorted by the names of the sums.
func (c *comparer) noiseFound() []Noise {
	return lists.Map(slices.Sorted(maps.Keys(c.noises)), func(name string) Noise { return *c.noises[name] })
}

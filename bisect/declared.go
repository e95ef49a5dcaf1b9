package bisect

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// NoiseSplit is noise that differs, as both peers' files declare it: no root covers it, so it proves nothing, and
// anything that is wrongly declared noise is hidden.
type NoiseSplit struct {
	Label string
	// Good is the last point before Bad at which it is known to be equal, nil if there is none; Bad the first point at
	// which it differs, Points the number of points at which it differs.
	Good   *snapshot.Point
	Bad    snapshot.Point
	Points int
	A, B   string // the two peers
}

// maxDeclared is how many labels are reported.
const maxDeclared = 16

// earlyCaches notes that caches differ though the states do not, where something else is the first finding.
func (r *Result) earlyCaches() {
	if c := r.Caches; c != nil && r.Kind != StaleCache {
		r.note("caches of %s and %s differ %s, where the states are equal: %q", c.A, c.B, c.Bad.When(), c.Labels)
	}
}

// declared finds, in all opened pairs of our own snapshots, the parts that both declare to be noise and that differ,
// and the parts that only one of them counts as state.
func (r *Result) declared(p *pair) {
	first := map[string]*NoiseSplit{}
	var list []*NoiseSplit
	changed := map[snapshot.ClassChange]int{}
	var changes []snapshot.ClassChange
	var at []int // the pair of each of changes
	left := 0
	var before *snapshot.Point
	for i := range p.pairs {
		if !p.pairs[i].ok || !p.checksummed(i) {
			continue
		}
		noisy, classes := snapshot.CompareClasses(p.pairs[i].a, p.pairs[i].b)
		for _, label := range noisy {
			n := first[label]
			switch {
			case n == nil && len(list) == maxDeclared:
				left++
				continue
			case n == nil:
				n = &NoiseSplit{Label: label, Good: before, Bad: p.points[i], A: p.a.name, B: p.b.name}
				first[label], list = n, append(list, n)
			}
			n.Points++
		}
		for _, c := range classes {
			if changed[c] == 0 && len(changes) < maxDeclared {
				changes, at = append(changes, c), append(at, i)
			}
			changed[c]++
		}
		before = &p.points[i]
	}
	for _, n := range list {
		r.Noise = append(r.Noise, *n)
		since := fmt.Sprintf("from state point %s on, the first that was compared", n.Bad)
		if n.Good != nil {
			since = fmt.Sprintf("from state point %s on, and not %s", n.Bad, n.Good.When())
		}
		r.note("%q of %s and %s differs %s, %s in all: their files declare it noise, so no state hash covers it", n.Label, p.a, p.b, since, prose.Count(n.Points, "state point", "state points"))
	}
	if left > 0 {
		r.note("more than %d kinds of noise of %s and %s differ; the first are listed", maxDeclared, p.a, p.b)
	}
	for k, c := range changes {
		files := p.files(at[k])
		also := ""
		if n := changed[c] - 1; n > 0 {
			also = fmt.Sprintf(", so at %s more", prose.Count(n, "state point", "state points"))
		}
		r.contradict("state point %s: %q is declared %s in %s and %s in %s%s: the two do not mean the same state", p.points[at[k]], c.Label, c.A, files[0], c.B, files[1], also)
	}
}

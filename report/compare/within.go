package compare

import (
	"errors"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/parallel"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// within finds the first of some ticks that the first trace which has it and another peer's end differently, and the
// system after which they began to differ. Of several peers the earliest system counts.
func (g *gatherer) within(from, to uint64) (found *verdict.Within, err error) {
	var traces []bisect.Traced
	var folders []string
	defer func() {
		for _, t := range traces {
			err = errors.Join(err, t.Close())
		}
	}()
	for _, o := range g.s.OwnTraces() {
		if t, err := formats.OpenTraced(g.s.Tree(), o.Trace); err == nil { // what cannot be read has been said
			traces, folders = append(traces, t), append(folders, o.Path)
		}
	}
	systems := make([][]bisect.TracedSystem, len(traces))
	errs := make([]error, len(traces))
	for tick := from; tick < to && found == nil; tick++ {
		var wait parallel.Group
		for i, t := range traces { // each reads its way to the first tick
			wait.Go(func() { systems[i], errs[i] = t.Tick(tick) })
		}
		wait.Wait()
		at, base := 0, slices.IndexFunc(systems, func(list []bisect.TracedSystem) bool { return len(list) > 0 })
		for i := base + 1; base >= 0 && i < len(traces); i++ {
			if errs[base] != nil || errs[i] != nil {
				continue
			}
			first := systems[base]
			if outside := agree(first, systems[i]); outside != "" && to == from+1 && found == nil {
				found, at = &verdict.Within{Tick: tick, System: outside, Index: len(first), Outside: true}, len(first)
			}
			if k := parts(first, systems[i]); k >= 0 && (found == nil || k < at) {
				found, at = &verdict.Within{Tick: tick, System: systems[i][k].System, Index: k, Scopes: differing(first[k].Sums, systems[i][k].Sums)}, k
			}
		}
	}
	if found != nil {
		found.Ends = map[string]merkle.Short{}
		for i, list := range systems {
			if len(list) == 0 || errs[i] != nil {
				continue
			}
			if sum, ok := list[len(list)-1].Sums[""]; ok {
				found.Ends[folders[i]] = sum
			}
		}
	}
	return found, nil
}

// parts returns the index of the system from which on the whole states differ until the
// end of the tick, below 0 if they do not, or are not traced after the same systems.
func parts(a, b []bisect.TracedSystem) int {
	if len(a) != len(b) {
		return -1
	}
	at := -1
	for i := len(a) - 1; i >= 0; i-- {
		x, ok1 := a[i].Sums[""]
		y, ok2 := b[i].Sums[""]
		if a[i].System != b[i].System || !ok1 || !ok2 {
			return -1
		}
		if x == y {
			return at
		}
		at = i
	}
	return at
}

// agree returns the last system of a tick if the whole states are equal after each, "" if not.
func agree(a, b []bisect.TracedSystem) string {
	same := slices.EqualFunc(a, b, func(a, b bisect.TracedSystem) bool {
		x, ok1 := a.Sums[""]
		y, ok2 := b.Sums[""]
		return a.System == b.System && ok1 && ok2 && x == y
	})
	if !same || len(a) == 0 {
		return ""
	}
	return a[len(a)-1].System
}

// differing returns the scopes with different sums, in order.
func differing(a, b map[string]merkle.Short) (scopes []string) {
	for _, scope := range slices.Sorted(maps.Keys(a)) {
		if sum, ok := b[scope]; ok && scope != "" && sum != a[scope] {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

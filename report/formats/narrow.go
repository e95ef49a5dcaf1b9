package formats

import (
	"errors"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report/playbook"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Narrow looks at all that the peers below some paths left, and narrows a desync as far
// as that goes. With a simulator it says who is wrong.
func Narrow(tree files.Tree, paths []string, sim *bisect.Sim) (*playbook.Verdict, error) {
	g := &gatherer{tree: tree, paths: paths, sim: sim}
	defer g.Close()
	if err := g.compare(); err != nil {
		return nil, err
	}
	return playbook.Conclude(g.e)
}

// within finds the first of some ticks at whose end the first peer's trace and another
// peer's differ, and the system behind which they began to; of several peers the earliest
// system counts.
func within(tree files.Tree, paths []string, from, to uint64) (found *playbook.Within, err error) {
	var traces []bisect.Traced
	defer func() {
		for _, t := range traces {
			err = errors.Join(err, t.Close())
		}
	}()
	for _, path := range paths {
		sets, err := snapshot.Find(tree, path, Snapshots())
		if err != nil {
			return nil, err
		}
		for _, set := range sets {
			if t, err := tracedAmong(tree, set.Others); t != nil && err == nil { // what cannot be read has been told
				traces = append(traces, t)
			}
		}
	}
	for tick := from; tick < to && found == nil; tick++ {
		var first []bisect.TracedSystem
		at := 0
		for i, t := range traces {
			systems, err := t.Tick(tick)
			if err != nil {
				continue
			}
			if i == 0 {
				first = clone(systems)
				continue
			}
			if k := parts(first, systems); k >= 0 && (found == nil || k < at) {
				found, at = &playbook.Within{Tick: tick, System: systems[k].System, Index: k, Scopes: differing(first[k].Sums, systems[k].Sums)}, k
			}
		}
	}
	return found, nil
}

// clone copies what a trace has of a tick, which is good until the next one is read.
func clone(list []bisect.TracedSystem) []bisect.TracedSystem {
	list = slices.Clone(list)
	for i := range list {
		list[i].Sums = maps.Clone(list[i].Sums)
	}
	return list
}

// parts returns the index of the system from which on the whole states differ until the
// end of the tick, below 0 if they do not, or are not traced behind the same systems.
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

// differing returns the scopes whose sums differ, in order.
func differing(a, b map[string]merkle.Short) (scopes []string) {
	for _, scope := range slices.Sorted(maps.Keys(a)) {
		if sum, ok := b[scope]; ok && scope != "" && sum != a[scope] {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

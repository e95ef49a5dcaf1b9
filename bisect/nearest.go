package bisect

import "github.com/desynctool/desynctool/snapshot"

// Nearest returns the snapshots of two peers of one state point, the nearest to a given one. It returns nil if there is
// no such pair.
func Nearest(a, b *snapshot.Set, at snapshot.Point) *[2]*snapshot.Entry {
	var best *snapshot.Point
	distance := func(p snapshot.Point) uint64 { return max(p.Tick, at.Tick) - min(p.Tick, at.Tick) }
	for _, p := range commonOf(a, b) {
		if best == nil || distance(p) < distance(*best) {
			best = &p
		}
	}
	if best == nil {
		return nil
	}
	return &[2]*snapshot.Entry{a.At(*best), b.At(*best)}
}

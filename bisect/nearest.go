package bisect

import (
	"path/filepath"

	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/snapshot"
)

// Nearest returns the snapshots of two peers of one state point, as near to a
// given one as there are, from the folders of files a and b. It returns nil if
// there is no such pair.
func Nearest(tree files.Tree, a, b string, at snapshot.Point, formats []snapshot.Format) *[2]string {
	var sets [2]*snapshot.Set
	for i, path := range []string{a, b} {
		found, err := snapshot.Find(tree, filepath.Dir(path), formats)
		if err != nil || len(found) != 1 {
			return nil
		}
		sets[i] = found[0]
	}
	if sets[0].Path == sets[1].Path {
		return nil
	}
	var best *snapshot.Point
	distance := func(p snapshot.Point) uint64 { return max(p.Tick, at.Tick) - min(p.Tick, at.Tick) }
	for _, p := range common(sets[0], sets[1]) {
		if best == nil || distance(p) < distance(*best) {
			best = &p
		}
	}
	if best == nil {
		return nil
	}
	return &[2]string{sets[0].At(*best).Path(), sets[1].At(*best).Path()}
}

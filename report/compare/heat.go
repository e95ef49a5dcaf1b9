package compare

import (
	"cmp"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// maxHeat is how many state points a heat map has. maxHeatForeign is how many it has for a format with hashes that need
// a whole file to be read.
const (
	maxHeat        = 160
	maxHeatForeign = 8
)

// heat compares the leaves of the two peers that diverged at all state points where both left states, or at the points
// around the bracket if there are very many.
func (g *gatherer) heat() {
	p := g.e.Parted
	if p == nil || g.e.Bisect.Bracket == nil {
		return
	}
	a, b := g.of(p.Names[0]), g.of(p.Names[1])
	var points []snapshot.Point
	most := maxHeat
	for _, e := range a.Entries {
		if b.At(e.Point) != nil {
			points = append(points, e.Point)
		}
		if e.Format != nil && !e.Format.Checksummed {
			most = maxHeatForeign
		}
	}
	h := &document.Heat{By: "snapshots", Peers: p.Names, Points: []uint64{}}
	differs := map[string][]byte{}
	for _, at := range nearest(points, g.e.Bisect.Bracket.Bad, most) {
		compared := leavesDiffer(a.At(at), b.At(at))
		n := len(h.Points)
		h.Points = append(h.Points, at.Tick)
		for label := range compared {
			if differs[label] == nil {
				differs[label] = slices.Repeat([]byte("-"), n)
			}
		}
		for label, digits := range differs {
			digit, known := compared[label]
			if !known {
				digit = '-'
			}
			differs[label] = append(digits, digit)
		}
	}
	for label, digits := range differs {
		h.Rows = append(h.Rows, document.HeatRow{Label: label, Differs: string(digits)})
	}
	lists.SortStable(h.Rows, func(x, y document.HeatRow) int { return cmp.Compare(x.Label, y.Label) })
	if len(h.Points) > 1 {
		g.e.Heat = h
	}
}

// nearest returns at most so many of some points in order: those around one of them where
// there are more.
func nearest(points []snapshot.Point, at snapshot.Point, most int) []snapshot.Point {
	lists.SortStable(points, snapshot.Point.Compare)
	if len(points) <= most {
		return points
	}
	i, _ := slices.BinarySearchFunc(points, at, snapshot.Point.Compare)
	from := max(0, min(i-most/4, len(points)-most))
	return points[from : from+most]
}

// leavesDiffer returns 1 for the labels of leaves that differ between two states, 0 for those
// that are equal; nothing if a state cannot be read.
func leavesDiffer(a, b *snapshot.Entry) map[string]byte {
	x, y := leavesOf(a), leavesOf(b)
	if x == nil || y == nil {
		return nil
	}
	out := map[string]byte{}
	for label, hash := range x {
		out[label] = '1'
		if other, ok := y[label]; ok && other == hash {
			out[label] = '0'
		}
	}
	for label := range y {
		if _, ok := x[label]; !ok {
			out[label] = '1'
		}
	}
	return out
}

func leavesOf(e *snapshot.Entry) map[string]merkle.Hash {
	info, err := e.Info() // of those that the search opened, it is kept
	if err != nil {
		return nil
	}
	out := map[string]merkle.Hash{}
	for _, leaf := range info.Leaves() {
		out[leaf.Label] = leaf.Hash
	}
	return out
}

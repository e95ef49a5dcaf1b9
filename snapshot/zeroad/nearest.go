package zeroad

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// Nearest returns the dumps of the same turn of two peers that are nearest to
// a and b, which are dumps of two peers, of different turns as oos_dump.txt
// often is. It looks at the files beside a and b and in the folders beside
// them, such as ooslog. It returns nil where the peers have no turn in common
// or share one folder.
func Nearest(a, b string) (pair *[2]*snapshot.Entry, err error) {
	sameDir, err := sameFolder(filepath.Dir(a), filepath.Dir(b))
	if err != nil || sameDir {
		return nil, err
	}
	pointA, err := pointOf(a)
	if err != nil {
		return nil, err
	}
	pointB, err := pointOf(b)
	if err != nil {
		return nil, err
	}
	entriesA, err := beside(a)
	if err != nil {
		return nil, err
	}
	entriesB, err := beside(b)
	if err != nil {
		return nil, err
	}
	best := uint64(0)
	for i, j := 0, 0; i < len(entriesA) && j < len(entriesB); {
		ea, eb := entriesA[i], entriesB[j]
		order := ea.Point.Compare(eb.Point)
		if order == 0 {
			d := distance(ea.Point.Tick, pointA.Tick) + distance(ea.Point.Tick, pointB.Tick)
			if pair == nil || d < best {
				pair, best = &[2]*snapshot.Entry{ea, eb}, d
			}
		}
		if order <= 0 {
			i++
		}
		if order >= 0 {
			j++
		}
	}
	return pair, nil
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

func sameFolder(a, b string) (bool, error) {
	statA, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	statB, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	return os.SameFile(statA, statB), nil
}

func pointOf(path string) (snapshot.Point, error) {
	if file, ok := ParseName(filepath.Base(path)); ok {
		return file.Point, nil
	}
	format := Format()
	s, err := snapshot.OpenPath(path, &format)
	if err != nil {
		return snapshot.Point{}, err
	}
	defer s.Close()
	return s.Info().Point, nil
}

// beside returns the dumps beside a file and in the folders beside it,
// ascending by point, one for each.
func beside(path string) ([]*snapshot.Entry, error) {
	dir := filepath.Dir(path)
	formats := []snapshot.Format{Format()}
	set, folders, err := snapshot.ReadDir(dir, formats)
	if err != nil {
		return nil, err
	}
	entries := set.Entries
	slices.Sort(folders)
	for _, folder := range folders {
		sub, _, err := snapshot.ReadDir(filepath.Join(dir, folder), formats)
		if err != nil {
			return nil, err
		}
		entries = append(entries, sub.Entries...)
	}
	slices.SortStableFunc(entries, func(a, b *snapshot.Entry) int { return a.Point.Compare(b.Point) })
	return slices.CompactFunc(entries, func(a, b *snapshot.Entry) bool { return a.Point.Same(b.Point) }), nil
}

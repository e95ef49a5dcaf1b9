package snapshot

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Name returns the file name of a snapshot: desync_<seed>_<tick>.snap, the seed
// in 16 hex digits and the tick in 10 decimal ones.
func Name(seed, tick uint64) string { return fmt.Sprintf("desync_%016x_%010d.snap", seed, tick) }

// ParseName reads what Name returns. Missing and additional leading zeros are
// accepted.
func ParseName(base string) (FileName, bool) {
	rest, ok := strings.CutPrefix(base, "desync_")
	if !ok {
		return FileName{}, false
	}
	if rest, ok = strings.CutSuffix(rest, ".snap"); !ok {
		return FileName{}, false
	}
	seed, tick, ok := strings.Cut(rest, "_")
	if !ok {
		return FileName{}, false
	}
	s, err := strconv.ParseUint(seed, 16, 64)
	if err != nil {
		return FileName{}, false
	}
	t, err := strconv.ParseUint(tick, 10, 64)
	if err != nil {
		return FileName{}, false
	}
	return FileName{Seed: s, Point: Point{Tick: t}}, true
}

// SnapFormat is the format of .snap files.
func SnapFormat() Format {
	return Format{
		Name:        "snap",
		Title:       "desynctool snapshot",
		ParseName:   ParseName,
		Sniff:       IsSnap,
		Open:        func(r io.ReaderAt, size int64, name string) (State, error) { return Open(r, size, name) },
		Checksummed: true,
		Light:       true,
	}
}

// PeerNames returns a distinct name for each of some peers: what its files say,
// said, where that is not empty; else the shortest end of its path that sets
// it apart from the others, after the ends that all paths share (such as the name of
// a file that each peer has) are cut off. A name that is taken gets #2, #3, ….
func PeerNames(said, paths []string) []string {
	parts := make([][]string, len(paths))
	for i, path := range paths {
		parts[i] = strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	}
	parts = cutSharedEnd(parts)
	names := make([]string, len(paths))
	taken := map[string]bool{}
	last := map[string]int{} // number after a name, up to which all are taken
	ends := ends{paths: parts}
	for i := range names {
		if names[i] = said[i]; names[i] == "" {
			names[i] = ends.distinct(i)
		}
		base := names[i]
		for n := max(last[base], 1) + 1; taken[names[i]]; n++ {
			names[i] = fmt.Sprintf("%s#%d", base, n)
			last[base] = n
		}
		taken[names[i]] = true
	}
	return names
}

// cutSharedEnd removes the last parts that all paths have in common, as long as
// each has another before it.
func cutSharedEnd(paths [][]string) [][]string {
	for len(paths) > 1 {
		last := paths[0][len(paths[0])-1]
		for _, p := range paths {
			if len(p) < 2 || p[len(p)-1] != last {
				return paths
			}
		}
		for i := range paths {
			paths[i] = paths[i][:len(paths[i])-1]
		}
	}
	return paths
}

// ends counts the ends that paths have in common.
type ends struct {
	paths [][]string
	count []map[string]int // by the number of parts, from 1; filled as far as one was asked for
}

// distinct returns the shortest end of path i that no other path ends in.
func (e *ends) distinct(i int) string {
	p := e.paths[i]
	for n := 1; n < len(p); n++ {
		if len(e.count) < n {
			count := make(map[string]int, len(e.paths))
			for _, q := range e.paths {
				if len(q) >= n {
					count[lastOf(q, n)]++
				}
			}
			e.count = append(e.count, count)
		}
		if end := lastOf(p, n); e.count[n-1][end] == 1 {
			return end
		}
	}
	return strings.Join(p, "/")
}

// lastOf returns the last n parts of a path.
func lastOf(path []string, n int) string { return strings.Join(path[len(path)-n:], "/") }

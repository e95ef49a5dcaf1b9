package snapshot

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Name returns the file name of a snapshot: desync_<seed>_<tick>.snap, with the seed as 16 hex digits and the tick as
// 10 decimal digits.
func Name(seed, tick uint64) string { return fmt.Sprintf("desync_%016x_%010d.snap", seed, tick) }

// ParseName parses the result of Name. It accepts missing and additional leading zeros.
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

// PeerNames returns a unique name for each peer. A peer's name is the name in its files, said, if that is neither
// empty nor the name of another peer's folder.
// Otherwise it is the shortest end of its path that differs from all other paths. Ends that all paths share are removed
// first, such as the name of a file that each peer has. So are the names of files if no two are in one folder. A
// name that is taken gets #2, #3, ….
func PeerNames(said, paths []string) []string {
	parts := make([][]string, len(paths))
	for i, path := range paths {
		parts[i] = strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	}
	parts = cutOwnFolders(cutSharedEnd(parts))
	names := make([]string, len(paths))
	taken := map[string]bool{}
	last := map[string]int{} // the last number used after a name
	ends := ends{paths: parts}
	folders := map[string]bool{}
	for _, p := range parts {
		folders[p[len(p)-1]] = true
	}
	for i, p := range parts {
		if names[i] = said[i]; names[i] == "" || folders[names[i]] && p[len(p)-1] != names[i] {
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

// cutSharedEnd removes the last parts that all paths have in common, as long as each path keeps at least one.
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

// cutOwnFolders removes the names of files with one extension, if each file is in another folder, all at the same depth:
// Ann/host.log and Bob/client.log belong to Ann and Bob.
func cutOwnFolders(paths [][]string) [][]string {
	folders := map[string]bool{}
	for _, p := range paths {
		n := len(p) - 1
		if len(paths) < 2 || n < 1 || n != len(paths[0])-1 || p[n-1] == ".." || folders[p[n-1]] || filepath.Ext(p[n]) == "" || filepath.Ext(p[n]) != filepath.Ext(paths[0][n]) {
			return paths
		}
		folders[p[n-1]] = true
	}
	for i, p := range paths {
		paths[i] = p[:len(p)-1]
	}
	return paths
}

// ends counts the ends that paths have in common.
type ends struct {
	paths [][]string
	count []map[string]int // by the number of parts, from 1; filled on demand
}

// distinct returns the shortest end of path i that no other path has.
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

package verdicts

import (
	"cmp"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// Nearest returns, for each report of a view, how many groups of the complete evidence are nearer than the main group
// of its bug: 0 if that group comes first, -1 if they have nothing in common. Groups are ranked by the finest common
// fingerprint, then by the number of common fingerprints, then by size. Groups without a common fingerprint are not
// ranked.
func Nearest(list []Grouped, view View) (ranks []int) {
	type group struct {
		size    int
		digests map[string]bool
	}
	groups, home := map[string]*group{}, map[string]map[string]int{}
	for i := range list {
		g := &list[i]
		if g.View != Complete || g.Key == "" {
			continue
		}
		if groups[g.Key] == nil {
			groups[g.Key] = &group{digests: map[string]bool{}}
		}
		groups[g.Key].size++
		for _, f := range g.Found {
			groups[g.Key].digests[f.Digest] = true
		}
		count(home, g.Bug, g.Key)
	}
	for i := range list {
		g := &list[i]
		if g.View != view || g.Key == "" || home[g.Bug] == nil {
			continue
		}
		near := func(key string) (finest, common int) {
			for n, level := range document.Levels() {
				for _, f := range g.Found {
					if f.Level == level && groups[key].digests[f.Digest] {
						finest, common = n+1, common+1
					}
				}
			}
			return finest, common
		}
		right, most := "", 0
		for key, n := range home[g.Bug] {
			if n > most || n == most && key < right {
				right, most = key, n
			}
		}
		finest, common := near(right)
		rank := 0
		if finest == 0 {
			rank = -1
		}
		for key := range groups {
			if f, c := near(key); rank >= 0 && key != right && cmp.Or(cmp.Compare(f, finest), cmp.Compare(c, common), cmp.Compare(groups[key].size, groups[right].size), strings.Compare(right, key)) > 0 {
				rank++
			}
		}
		ranks = append(ranks, rank)
	}
	return ranks
}

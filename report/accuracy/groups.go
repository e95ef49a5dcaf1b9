package accuracy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/report"
)

// Grouped is how a report was put together with others.
type Grouped struct {
	Bug   string
	View  View
	Key   string // "" if it has no key
	Weak  bool
	Found []report.Fingerprint
}

// Triaged triages what peers left in some folders.
type Triaged func(dirs []string) (*report.Report, error)

// Keyed returns the key by which a report is grouped, whether that is a weak one, and false if it
// has none.
type Keyed func(*report.Report) (key string, weak, ok bool)

// Group plays sessions, two at once, triages what each view leaves of them, and returns the keys. An
// error of a triage counts as a report without a key. Dir returns a folder that is not there for
// the session of a number; progress is called after each. All views but the first are
// measured of the first session of each bug and of every third from there.
func Group(strikes []Strike, views []View, dir func(int) string, triage Triaged, key Keyed, progress func(done int)) ([]Grouped, error) {
	var (
		all    = make([][]Grouped, len(strikes))
		lock   sync.Mutex
		wait   sync.WaitGroup
		turns  = make(chan struct{}, 2)
		failed error
		done   int
	)
	for i, s := range strikes {
		turns <- struct{}{}
		wait.Go(func() {
			defer func() { <-turns }()
			own := views
			if s.Number%3 > 0 {
				own = views[:1]
			}
			_, err := s.Leave(filepath.Join(dir(i), "s"), own, func(v View, dirs []string) error {
				g := Grouped{Bug: s.Bug.Name, View: v}
				if r, err := triage(dirs); err == nil {
					if k, weak, ok := key(r); ok {
						g.Key, g.Weak, g.Found = k, weak, r.Fingerprints
					}
				}
				all[i] = append(all[i], g)
				return nil
			})
			lock.Lock()
			defer lock.Unlock()
			if failed = errors.Join(failed, err); progress != nil {
				done++
				progress(done)
			}
		})
	}
	wait.Wait()
	return slices.Concat(all...), failed
}

// Agreement is how groups agree with bugs. Reports without a key are in none of its numbers but
// Unkeyed.
type Agreement struct {
	Reports, Unkeyed, Weak int
	Bugs, Groups           int
	// Purity is the share of reports that are of the bug that most of their group are of,
	// Completeness that of reports that are in the group which most of their bug are in.
	Purity, Completeness float64
	// Homogeneity and Conformity are the two halves of the V-measure: 1 less the entropy of bugs given
	// groups, and of groups given bugs, by that of the bugs, and of the groups.
	Homogeneity, Conformity float64
	// Mixed are the groups with more than one bug, Split the bugs with more than one group.
	Mixed, Split int
}

// Agree compares groups with bugs.
func Agree(list []Grouped) (a Agreement) {
	of, in := map[string]map[string]int{}, map[string]map[string]int{}
	for i := range list {
		g := &list[i]
		if g.Key == "" {
			a.Unkeyed++
			continue
		}
		a.Reports++
		if g.Weak {
			a.Weak++
		}
		count(of, g.Key, g.Bug)
		count(in, g.Bug, g.Key)
	}
	a.Groups, a.Bugs = len(of), len(in)
	if a.Reports == 0 {
		return a
	}
	a.Purity, a.Homogeneity, a.Mixed = halves(of, in, a.Reports)
	a.Completeness, a.Conformity, a.Split = halves(in, of, a.Reports)
	return a
}

func count(table map[string]map[string]int, a, b string) {
	if table[a] == nil {
		table[a] = map[string]int{}
	}
	table[a][b]++
}

// halves returns how much the parts of a partition are of one part of another: by the largest
// share, by entropy, and how many are not of one alone.
func halves(of, in map[string]map[string]int, n int) (share, entropy float64, several int) {
	most, given, whole := 0, 0.0, 0.0
	for _, parts := range of {
		sum, best := 0, 0
		for _, c := range parts {
			sum, best = sum+c, max(best, c)
		}
		for _, c := range parts {
			given -= float64(c) / float64(n) * math.Log(float64(c)/float64(sum))
		}
		if most += best; len(parts) > 1 {
			several++
		}
	}
	for _, parts := range in {
		sum := 0
		for _, c := range parts {
			sum += c
		}
		whole -= float64(sum) / float64(n) * math.Log(float64(sum)/float64(n))
	}
	entropy = 1
	if whole > 0 {
		entropy -= given / whole
	}
	return float64(most) / float64(n), entropy, several
}

// Nearest returns for each report of a view how many groups of the complete evidence are nearer
// than the one that has most of its bug: 0 if that is offered first, -1 if it shares nothing with
// it. Groups are ranked by the finest fingerprint in common, then by how many, then by size, as far as
// something is in common.
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
			for n, level := range report.Levels() {
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

// GroupTable writes how groups agree with bugs in each view, as Markdown.
func GroupTable(w io.Writer, list []Grouped) error {
	var b strings.Builder
	b.WriteString("| Evidence | reports | without a key | weak | bugs | groups | purity | completeness | homogeneity | V-completeness | right group nearest | in the first three |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, v := range Views() {
		a := Agree(only(list, func(g *Grouped) bool { return g.View == v }))
		if a.Reports+a.Unkeyed == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |", v, a.Reports+a.Unkeyed, a.Unkeyed, a.Weak)
		if a.Reports == 0 {
			b.WriteString(" – | – | – | – | – | – | – | – |\n")
			continue
		}
		fmt.Fprintf(&b, " %d | %d | %.3f | %.3f | %.3f | %.3f |", a.Bugs, a.Groups, a.Purity, a.Completeness, a.Homogeneity, a.Conformity)
		ranks := Nearest(list, v)
		if v == Complete || len(ranks) == 0 {
			b.WriteString(" – | – |\n")
			continue
		}
		first, three := 0, 0
		for _, r := range ranks {
			if r == 0 {
				first++
			}
			if r >= 0 && r < 3 {
				three++
			}
		}
		fmt.Fprintf(&b, " %d of %d | %d of %d |\n", first, len(ranks), three, len(ranks))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Together lists the groups of several bugs, and the bugs of several groups, of complete evidence.
func Together(list []Grouped) (lines []string) {
	of, in := map[string]map[string]int{}, map[string]map[string]int{}
	for _, g := range only(list, func(g *Grouped) bool { return g.View == Complete && g.Key != "" }) {
		count(of, g.Key, g.Bug)
		count(in, g.Bug, g.Key)
	}
	for _, parts := range of {
		if len(parts) > 1 {
			lines = append(lines, "one group: "+counts(parts))
		}
	}
	for bug, parts := range in {
		if len(parts) > 1 {
			lines = append(lines, fmt.Sprintf("%d groups: %s", len(parts), bug))
		}
	}
	slices.Sort(lines)
	return lines
}

func counts(parts map[string]int) string {
	var list []string
	for name, n := range parts {
		list = append(list, fmt.Sprintf("%s (%d)", name, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func only(list []Grouped, keep func(*Grouped) bool) (kept []Grouped) {
	for i := range list {
		if keep(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept
}

package verdicts

import "math"

// Agreement measures how groups agree with bugs. Reports without a key are counted only in Unkeyed.
type Agreement struct {
	Reports, Unkeyed, Weak int
	Bugs, Groups           int
	// Purity is the share of reports with the most frequent bug in their group. Completeness is the share of reports in
	// the most frequent group of their bug.
	Purity, Completeness float64
	// Homogeneity and Conformity are the two halves of the V-measure. Homogeneity is 1 - H/B, where H is the entropy of
	// bugs given groups and B the entropy of bugs. Conformity is the same with groups and bugs exchanged.
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

// halves compares each part of a partition with the parts of another: the largest share, the entropy, and the number of
// parts that belong to several.
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

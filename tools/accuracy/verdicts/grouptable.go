package verdicts

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// GroupTable writes a Markdown table of how groups agree with bugs in each view.
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

// Together lists the groups with several bugs, and the bugs with several groups, for complete evidence.
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

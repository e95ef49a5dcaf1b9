package bisect

import (
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// grouping puts the names of peers with the same value into groups, in the order in which they come.
type grouping[V comparable] struct {
	groups [][]string
	of     map[V]int
}

func (g *grouping[V]) add(value V, name string) {
	i, known := g.of[value]
	if !known {
		if g.of == nil {
			g.of = map[V]int{}
		}
		i = len(g.groups)
		g.of[value], g.groups = i, append(g.groups, nil)
	}
	g.groups[i] = append(g.groups[i], name)
}

// namedGroups returns groups of traces by the traces' names.
func namedGroups(t *tracediff.Result, groups [][]int) [][]string {
	named := make([][]string, len(groups))
	for i, group := range groups {
		named[i] = append(named[i], lists.Map(group, func(n int) string { return t.Traces[n].Name })...)
	}
	return named
}

package gitbisect

import "slices"

// Node is a commit of a graph.
type Node struct {
	ID string // its hash
	// Parents are the parents in the graph, by their index, each lower than the node's own.
	Parents []int
	// Before reports whether the node is a good end or an ancestor of one: it is not searched.
	Before bool
}

// Graph is the search space: the ancestors of Bad that are not ancestors of a good end and, as nodes that are Before,
// the good ends and the parents of the searched nodes.
type Graph struct {
	Nodes []Node
	Good  []int // the good ends, one at least
	Bad   int
}

// Candidates returns the nodes to search, including Bad.
func (g *Graph) Candidates() []int { return g.between(g.Bad, nil) }

// ancestors marks a node and all its ancestors.
func (g *Graph) ancestors(of int) []bool {
	marked := make([]bool, len(g.Nodes))
	g.mark(of, marked)
	return marked
}

func (g *Graph) mark(of int, marked []bool) {
	for todo := []int{of}; len(todo) > 0; {
		n := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; marked[n] {
			continue
		}
		marked[n] = true
		todo = append(todo, g.Nodes[n].Parents...)
	}
}

// between returns the ancestors of a bad node, itself included, that are neither Before nor ancestors of a good one.
// Good nodes that descend from the bad one show nothing about its ancestors.
func (g *Graph) between(bad int, good []int) (list []int) {
	outside := make([]bool, len(g.Nodes))
	for _, n := range good {
		if !g.ancestors(n)[bad] {
			g.mark(n, outside)
		}
	}
	for n, is := range g.ancestors(bad) {
		if is && !outside[n] && !g.Nodes[n].Before {
			list = append(list, n)
		}
	}
	return list
}

// weights returns, for each of some nodes in ascending order, how many of them are its ancestors, including itself.
func (g *Graph) weights(list []int) []int {
	at := make(map[int]int, len(list))
	for i, n := range list {
		at[n] = i
	}
	weights := make([]int, len(list))
	var seen []int // by which node each was counted last
	for i, n := range list {
		var parents []int
		for _, p := range g.Nodes[n].Parents {
			if j, ok := at[p]; ok {
				parents = append(parents, j)
			}
		}
		switch len(parents) {
		case 0:
			weights[i] = 1
			continue
		case 1:
			weights[i] = weights[parents[0]] + 1
			continue
		}
		if seen == nil {
			seen = make([]int, len(list))
		}
		for todo := []int{i}; len(todo) > 0; {
			k := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; seen[k] == i+1 {
				continue
			}
			seen[k] = i + 1
			weights[i]++
			for _, p := range g.Nodes[list[k]].Parents {
				if j, ok := at[p]; ok {
					todo = append(todo, j)
				}
			}
		}
	}
	return weights
}

// edge returns the parents of some nodes that are not among them.
func (g *Graph) edge(list []int) (parents []int) {
	for _, n := range list {
		for _, p := range g.Nodes[n].Parents {
			if _, among := slices.BinarySearch(list, p); !among {
				parents = append(parents, p)
			}
		}
	}
	slices.Sort(parents)
	return slices.Compact(parents)
}

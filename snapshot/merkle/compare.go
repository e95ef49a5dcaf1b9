package merkle

import "fmt"

// Comparison is the result of a descent through two trees.
type Comparison struct {
	// OnlyA and OnlyB are labels that only one tree has. If there are any, the descent covered only the leaves that
	// both trees have, and the roots of these leaves.
	OnlyA, OnlyB []string

	// Diverged are the labels of the common leaves with different hashes, in order.
	Diverged []string

	// Hashes is the number of child hashes that one peer sends so that the other finds all diverged leaves, without the
	// root. Bytes is their size.
	Hashes int
	Bytes  int

	// Steps are the diverged interior nodes in the order of the descent: depth first, left before right.
	Steps []Step

	// Contradictions are nodes that differ although all their children agree. Full trees have none. In a truncated tree
	// they are collisions or false hashes.
	Contradictions []Step
}

// Equal reports whether the trees have the same labels and leaves.
func (c *Comparison) Equal() bool {
	return len(c.OnlyA)+len(c.OnlyB)+len(c.Diverged)+len(c.Contradictions) == 0
}

// Step is one diverged interior node.
type Step struct {
	Level int // 0 for the leaves
	Index int // from the left
	Left  bool
	Right bool // whether that child differs; never set for a promoted child
}

// Compare descends from the roots of two trees to all leaves that differ. It reads two child hashes for each diverged
// node. If the trees have different labels, it compares the labels first and then descends over the common leaves.
func Compare(a, b *Tree) Comparison {
	var c Comparison
	common := func(t *Tree, has map[string]bool, only *[]string) *Tree {
		var leaves []Leaf
		for i, label := range t.labels {
			if has[label] {
				leaves = append(leaves, Leaf{label, t.Leaf(i)})
			} else {
				*only = append(*only, label)
			}
		}
		if len(leaves) == len(t.labels) {
			return t
		}
		sub, _ := New(leaves) // the labels are already in order
		return sub
	}
	a, b = common(a, labelSet(b.labels), &c.OnlyA), common(b, labelSet(a.labels), &c.OnlyB)
	c.descend(a.labels, len(a.levels), HashSize, func(level, i int) bool {
		return a.levels[level][i] == b.levels[level][i]
	})
	return c
}

func labelSet(labels []string) map[string]bool {
	set := make(map[string]bool, len(labels))
	for _, l := range labels {
		set[l] = true
	}
	return set
}

// descend walks a tree over labels with this number of levels. same reports whether a node is equal in both trees.
func (c *Comparison) descend(labels []string, levels, size int, same func(level, i int) bool) {
	if levels == 0 || same(levels-1, 0) {
		return
	}
	width := make([]int, levels)
	for level, n := 0, len(labels); level < levels; level, n = level+1, (n+1)/2 {
		width[level] = n
	}
	var visit func(level, i int)
	visit = func(level, i int) {
		if level == 0 {
			c.Diverged = append(c.Diverged, labels[i])
			return
		}
		if 2*i+1 == width[level-1] { // promoted: the child is the node
			visit(level-1, 2*i)
			return
		}
		c.Hashes += 2
		c.Bytes += 2 * size
		step := Step{level, i, !same(level-1, 2*i), !same(level-1, 2*i+1)}
		c.Steps = append(c.Steps, step)
		if !step.Left && !step.Right {
			c.Contradictions = append(c.Contradictions, step)
		}
		if step.Left {
			visit(level-1, 2*i)
		}
		if step.Right {
			visit(level-1, 2*i+1)
		}
	}
	visit(levels-1, 0)
}

// Truncated is a tree with only the first 8 bytes of each node, as in the messages of live sync checks. It can be
// compared but not recomputed.
type Truncated struct {
	Labels []string
	Levels [][]Short // Levels[0] are the leaves, the last level the root
}

// Truncate returns the truncated form of t.
func (t *Tree) Truncate() *Truncated {
	s := &Truncated{Labels: t.labels, Levels: make([][]Short, len(t.levels))}
	for i, level := range t.levels {
		s.Levels[i] = make([]Short, len(level))
		for j := range level {
			s.Levels[i][j] = level[j].Short()
		}
	}
	return s
}

// check returns an error for a shape that no tree has.
func (t *Truncated) check() error {
	n := len(t.Labels)
	levels := 0
	if n > 0 {
		levels = Depth(n) + 1
	}
	if len(t.Levels) != levels {
		return fmt.Errorf("truncated tree over %d leaves has %d levels, expected %d", n, len(t.Levels), levels)
	}
	for i, level := range t.Levels {
		if len(level) != n {
			return fmt.Errorf("level %d of truncated tree has %d nodes, expected %d", i, len(level), n)
		}
		n = (n + 1) / 2
	}
	return nil
}

// CompareTruncated compares two truncated trees. If the labels differ, nodes above the leaves cannot be compared, so
// the common leaves are compared one by one. The error reports a tree with an impossible shape.
func CompareTruncated(a, b *Truncated) (Comparison, error) {
	var c Comparison
	if err := a.check(); err != nil {
		return c, err
	}
	if err := b.check(); err != nil {
		return c, err
	}
	inA, inB := labelIndex(a.Labels), labelIndex(b.Labels)
	for _, l := range a.Labels {
		if _, ok := inB[l]; !ok {
			c.OnlyA = append(c.OnlyA, l)
		}
	}
	for _, l := range b.Labels {
		if _, ok := inA[l]; !ok {
			c.OnlyB = append(c.OnlyB, l)
		}
	}
	if len(c.OnlyA)+len(c.OnlyB) == 0 {
		c.descend(a.Labels, len(a.Levels), ShortSize, func(level, i int) bool {
			return a.Levels[level][i] == b.Levels[level][i]
		})
		return c, nil
	}
	for i, l := range a.Labels {
		j, ok := inB[l]
		if !ok {
			continue
		}
		c.Hashes++
		c.Bytes += ShortSize
		if a.Levels[0][i] != b.Levels[0][j] {
			c.Diverged = append(c.Diverged, l)
		}
	}
	return c, nil
}

func labelIndex(labels []string) map[string]int {
	index := make(map[string]int, len(labels))
	for i, l := range labels {
		index[l] = i
	}
	return index
}

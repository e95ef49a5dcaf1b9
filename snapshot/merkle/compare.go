package merkle

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
}

// Equal reports whether the trees have the same labels and leaves.
func (c *Comparison) Equal() bool {
	return len(c.OnlyA)+len(c.OnlyB)+len(c.Diverged) == 0
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
	c.descend(a.labels, len(a.levels), func(level, i int) bool {
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
func (c *Comparison) descend(labels []string, levels int, same func(level, i int) bool) {
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
		c.Bytes += 2 * HashSize
		step := Step{level, i, !same(level-1, 2*i), !same(level-1, 2*i+1)}
		c.Steps = append(c.Steps, step)
		if step.Left {
			visit(level-1, 2*i)
		}
		if step.Right {
			visit(level-1, 2*i+1)
		}
	}
	visit(levels-1, 0)
}

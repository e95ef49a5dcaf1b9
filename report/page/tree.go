package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// treeView is the hash tree of two states, its root at the left, with the way to the differences lit. Subtrees that are
// equal are one mark each.
type treeView struct {
	picture
	Peers   [2]peer
	Point   uint64
	Width   int
	Height  int
	Edges   []treeEdge
	Nodes   []treeNode
	Leaves  []treeRow
	Inner   []innerRow
	Roots   [2]string
	Why     string // there is no picture
	Differ  int
	Notes   []string
	Checked bool // both roots follow from the leaves
}

type treeEdge struct {
	Path  string
	Class string
}

type treeNode struct {
	X, Y  int
	Path  string
	Class string
	Label string
	Short string // the label on a narrow screen
	Sub   string
	Tip   string
}

type treeRow struct {
	document.TreeLeaf
	Name     string
	RowsText string
	Equal    bool
	Lost     bool // one peer lacks it
}

type innerRow struct {
	Level, Index int
	Hashes       [2]string
}

// Sizes of the picture, and how many lines it has at most before subtrees with some differing parts are also drawn as
// one mark.
const (
	treeStep = 56  // of a level, at most
	treeWide = 144 // of all levels, if that leaves enough for a curve
	treeLine = 24
	treeRows = 72

	treeShort = 18 // columns of a label on a narrow screen

	treeLetter, treeSmall = 8.0, 6.6 // of a bold letter of a label, and of a letter of the text after it
)

func newTree(r *document.Report, peers peers) *treeView {
	t := r.Tree
	if t == nil || len(t.Leaves) == 0 {
		return nil
	}
	v := &treeView{Peers: [2]peer{peers.of(t.Peers[0]), peers.of(t.Peers[1])}, Point: t.Point, Roots: t.Roots}
	v.picture = picture{"tree-picture", "Hash tree of " + prose.Count(len(t.Leaves), "leaf", "leaves")}
	var common []document.TreeLeaf
	for _, leaf := range t.Leaves {
		row := treeRow{leaf, labelName(leaf.Label), rowsText(leaf), leaf.Hashes[0] == leaf.Hashes[1], leaf.Hashes[0] == "" || leaf.Hashes[1] == ""}
		if !row.Equal {
			v.Differ++
		}
		v.Leaves = append(v.Leaves, row)
		if !row.Lost {
			common = append(common, leaf)
		}
	}
	var trees [2]*merkle.Tree
	for side := range trees {
		tree, err := sideTree(common, side)
		if err != nil {
			v.Why = fmt.Sprintf("The tree cannot be drawn from these leaves (%v); the table has them.", err)
			return v
		}
		trees[side] = tree
	}
	if len(common) == 0 {
		v.Why = "The two states have no leaf in common; the table has the leaves of each."
		return v
	}
	if len(common) < len(t.Leaves) {
		v.Notes = append(v.Notes, fmt.Sprintf("%s on one peer only: the tree contains the leaves that both have, as a descent compares them.", prose.Count(len(t.Leaves)-len(common), "leaf is", "leaves are")))
	} else {
		v.Checked = true
		for side, tree := range trees {
			if root := t.Roots[side]; root != "" && root != tree.Root().String() {
				v.Checked = false
				v.Notes = append(v.Notes, fmt.Sprintf("The root of %s does not follow from these leaves, which give %s.", t.Peers[side], tree.Root()))
			}
		}
	}
	v.draw(r, trees, common)
	return v
}

func sideTree(leaves []document.TreeLeaf, side int) (*merkle.Tree, error) {
	out := make([]merkle.Leaf, len(leaves))
	for i, leaf := range leaves {
		h, err := merkle.ParseHash(leaf.Hashes[side])
		if err != nil {
			return nil, err
		}
		out[i] = merkle.Leaf{Label: leaf.Label, Hash: h}
	}
	return merkle.New(out)
}

// drawing is a tree while it is drawn.
type drawing struct {
	v      *treeView
	step   int // pixels of a level
	trees  [2]*merkle.Tree
	leaves []document.TreeLeaf
	sizes  []int // of the levels
	roots  []string
	fold   int // subtrees up to this level are one mark even if parts differ
	line   int
}

func (v *treeView) draw(r *document.Report, trees [2]*merkle.Tree, leaves []document.TreeLeaf) {
	d := drawing{v: v, trees: trees, leaves: leaves}
	for n := len(leaves); ; n = (n + 1) / 2 {
		d.sizes = append(d.sizes, n)
		if n == 1 {
			break
		}
	}
	if first := r.FirstDivergence; first != nil && len(first.Archetypes) <= 8 {
		d.roots = first.Archetypes
	}
	top := len(d.sizes) - 1
	d.step = max(12, min(treeStep, treeWide/max(top, 1)))
	for ; d.fold < top && d.lines(top, 0) > treeRows; d.fold++ {
	}
	d.node(top, 0)
	right := 0.0
	for _, n := range v.Nodes {
		if n.Label != "" {
			right = max(right, float64(n.X)+16+treeLetter*float64(prose.Columns(n.Label))+treeSmall*float64(prose.Columns(n.Sub)+1))
		}
	}
	v.Width, v.Height = int(right)+8, d.line*treeLine+8
	for level := top; level > 0; level-- {
		for i := range d.sizes[level] {
			if a, b := d.hashes(level, i); a != b && !d.promoted(level, i) {
				v.Inner = append(v.Inner, innerRow{level, i, [2]string{a.String(), b.String()}})
			}
		}
	}
}

func (d *drawing) hashes(level, i int) (a, b merkle.Hash) {
	return d.trees[0].Node(level, i), d.trees[1].Node(level, i)
}

// promoted reports whether a node is its only child.
func (d *drawing) promoted(level, i int) bool { return level > 0 && 2*i+1 == d.sizes[level-1] }

// below returns the leaves of a subtree.
func (d *drawing) below(level, i int) []document.TreeLeaf {
	return d.leaves[i<<level : min((i+1)<<level, len(d.leaves))]
}

// folded reports whether a subtree is drawn as one mark.
func (d *drawing) folded(level, i int) bool {
	if a, b := d.hashes(level, i); level == 0 || a == b {
		return true
	}
	return level <= d.fold && !slices.ContainsFunc(d.below(level, i), func(l document.TreeLeaf) bool { return slices.Contains(d.roots, l.Label) })
}

// lines returns how many lines a subtree takes.
func (d *drawing) lines(level, i int) int {
	switch {
	case d.folded(level, i):
		return 1
	case d.promoted(level, i):
		return d.lines(level-1, 2*i)
	}
	return d.lines(level-1, 2*i) + d.lines(level-1, 2*i+1)
}

// node draws a subtree from the next free line on and returns where its mark is.
func (d *drawing) node(level, i int) (x, y int) {
	if !d.folded(level, i) && d.promoted(level, i) {
		return d.node(level-1, 2*i)
	}
	a, b := d.hashes(level, i)
	n := treeNode{X: 16 + (len(d.sizes)-1-level)*d.step, Class: "same"}
	if a != b {
		n.Class = "diff"
	}
	hashes := fmt.Sprintf("%s on both", a)
	if a != b {
		hashes = fmt.Sprintf("%s %s…; %s %s…", d.v.Peers[0].Name, a.String()[:16], d.v.Peers[1].Name, b.String()[:16])
	}
	under := d.below(level, i)
	if !d.folded(level, i) {
		x1, y1 := d.node(level-1, 2*i)
		x2, y2 := d.node(level-1, 2*i+1)
		n.Y = (y1 + y2) / 2
		d.edge(n, x1, y1, level-1, 2*i)
		d.edge(n, x2, y2, level-1, 2*i+1)
		n.Path = shape(0, float64(n.X), float64(n.Y), 6)
		n.Tip = fmt.Sprintf("node %d of level %d, over %d leaves: %s", i, level, len(under), hashes)
		if level == len(d.sizes)-1 {
			n.Tip = "root: " + hashes
		}
		d.v.Nodes = append(d.v.Nodes, n)
		return n.X, n.Y
	}
	n.Y = d.line*treeLine + treeLine/2 + 4
	d.line++
	if len(under) == 1 {
		leaf := under[0]
		n.Label, n.Sub = prose.Shorten(labelName(leaf.Label), 36), rowsText(leaf)
		if slices.Contains(d.roots, leaf.Label) && a != b {
			n.Class += " first"
		}
		n.Path = shape(2, float64(n.X), float64(n.Y), 6)
		n.Tip = strings.TrimSuffix(labelName(leaf.Label)+", "+n.Sub, ", ") + ": " + hashes
	} else {
		differ := lists.Count(under, func(leaf document.TreeLeaf) bool { return leaf.Hashes[0] != leaf.Hashes[1] })
		n.Label = fmt.Sprintf("%d leaves, equal", len(under))
		if differ > 0 {
			n.Label = fmt.Sprintf("%d leaves, %d differ", len(under), differ)
		}
		n.Sub = prose.Shorten(labelName(under[0].Label), 14) + " … " + prose.Shorten(labelName(under[len(under)-1].Label), 14)
		n.Path = fmt.Sprintf("M%d %dl12-7v14z", n.X-4, n.Y)
		n.Tip = fmt.Sprintf("%s (%s to %s): %s", n.Label, labelName(under[0].Label), labelName(under[len(under)-1].Label), hashes)
	}
	n.Short = prose.Shorten(n.Label, treeShort)
	d.v.Nodes = append(d.v.Nodes, n)
	return n.X, n.Y
}

func (d *drawing) edge(from treeNode, x, y, level, i int) {
	class := "same"
	if a, b := d.hashes(level, i); a != b {
		class = "diff"
	}
	middle := from.X + d.step/2
	d.v.Edges = append(d.v.Edges, treeEdge{fmt.Sprintf("M%d %dC%d %d %d %d %d %dH%d", from.X, from.Y, middle, from.Y, middle-8, y, from.X+d.step-8, y, x), class})
}

// rowsText describes how many rows a leaf has; the RNG has none to count.
func rowsText(leaf document.TreeLeaf) string {
	if leaf.Label == "" {
		return ""
	}
	if leaf.Rows[0] == leaf.Rows[1] {
		return prose.Count(leaf.Rows[0], "row", "rows")
	}
	return fmt.Sprintf("%d | %d rows", leaf.Rows[0], leaf.Rows[1])
}

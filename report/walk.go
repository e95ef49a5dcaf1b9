package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Walk is a Merkle descent through two states.
type Walk struct {
	Names      [2]string // of the peers
	Paths      [2]string
	Info       [2]*snapshot.Info
	Trees      [2]*merkle.Tree
	Comparison merkle.Comparison
	Warnings   []string
	Lost       []string // what could not be read and might differ
}

// NewWalk compares two states by their hashes, and the cuts of tables that differ by
// them: see snapshot.CompareCuts. It refuses states of different sessions or points
// unless force is set.
func NewWalk(names, paths [2]string, a, b snapshot.State, force bool) (*Walk, error) {
	w := &Walk{Names: names, Paths: paths, Info: [2]*snapshot.Info{a.Info(), b.Info()}}
	if !force {
		if err := snapshot.Comparable(w.Info[0], w.Info[1]); err != nil {
			return nil, err
		}
	}
	for i, info := range w.Info {
		tree, err := merkle.New(info.Leaves())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", paths[i], err)
		}
		w.Trees[i] = tree
	}
	w.Comparison = merkle.Compare(w.Trees[0], w.Trees[1])
	if err := snapshot.CompareCuts(a, b); err != nil {
		return nil, err
	}
	return w, nil
}

// WalkDocument is desynctool.walk/1.
type WalkDocument struct {
	Head
	Point    uint64              `json:"point"`
	Phase    string              `json:"phase,omitempty"`
	Native   *Native             `json:"native,omitempty"`
	Root     map[string]string   `json:"root"`
	Exchange int                 `json:"hashes_exchanged"`
	Bytes    int                 `json:"bytes_exchanged"`
	Leaves   []string            `json:"leaves"`
	Only     map[string][]string `json:"only"`
	Count    int                 `json:"leaf_count"`
	Path     []WalkStep          `json:"path"`
}

// WalkStep is one diverged interior node and its two children.
type WalkStep struct {
	Level int       `json:"level"`
	Index int       `json:"index"`
	Left  WalkChild `json:"left"`
	Right WalkChild `json:"right"`
}

// WalkChild is one exchanged hash.
type WalkChild struct {
	Differs bool              `json:"differs"`
	Hash    map[string]string `json:"hash"`
}

// Status returns the outcome of the walk.
func (w *Walk) Status() Status {
	switch {
	case !w.Comparison.Equal():
		return Diverged
	case len(w.Lost) > 0:
		return Inconclusive
	}
	return InSync
}

// descended returns the trees that the descent ran over: those of the common
// leaves.
func (w *Walk) descended() [2]*merkle.Tree {
	if len(w.Comparison.OnlyA)+len(w.Comparison.OnlyB) == 0 {
		return w.Trees
	}
	var out [2]*merkle.Tree
	for i, t := range w.Trees {
		other := w.Trees[1-i]
		has := map[string]bool{}
		for k := range other.Len() {
			has[other.Label(k)] = true
		}
		var leaves []merkle.Leaf
		for k := range t.Len() {
			if has[t.Label(k)] {
				leaves = append(leaves, merkle.Leaf{Label: t.Label(k), Hash: t.Leaf(k)})
			}
		}
		out[i], _ = merkle.New(leaves) // in order, since t's leaves are
	}
	return out
}

func (w *Walk) steps() []WalkStep {
	trees := w.descended()
	child := func(level, i int, differs bool) WalkChild {
		return WalkChild{differs, map[string]string{
			w.Names[0]: trees[0].Node(level, i).String(),
			w.Names[1]: trees[1].Node(level, i).String(),
		}}
	}
	steps := make([]WalkStep, 0, len(w.Comparison.Steps))
	for _, s := range w.Comparison.Steps {
		steps = append(steps, WalkStep{s.Level, s.Index, child(s.Level-1, 2*s.Index, s.Left), child(s.Level-1, 2*s.Index+1, s.Right)})
	}
	return steps
}

// Document returns the JSON document of the walk.
func (w *Walk) Document() *WalkDocument {
	p := w.Info[0].Point
	return &WalkDocument{
		Head: head("walk", w.Status(), w.Warnings), Point: p.Tick, Phase: p.Phase, Native: native(p),
		Root:     map[string]string{w.Names[0]: w.Info[0].Root.String(), w.Names[1]: w.Info[1].Root.String()},
		Exchange: w.Comparison.Hashes, Bytes: w.Comparison.Bytes, Leaves: list(w.Comparison.Diverged),
		Only:  map[string][]string{w.Names[0]: list(w.Comparison.OnlyA), w.Names[1]: list(w.Comparison.OnlyB)},
		Count: w.Trees[0].Len(), Path: w.steps(),
	}
}

// Text writes the walk for a person, with every hash if all is set.
func (w *Walk) Text(to io.Writer, s Style, all bool) error {
	out := lines{w: to}
	c := &w.Comparison
	point := w.Info[0].Point
	out.put(s.verdict(w.Status()), fmt.Sprintf("  at state point %s: %d of %s", bothNames(point), len(c.Diverged)+len(c.OnlyA)+len(c.OnlyB),
		plural(uint64(w.Trees[0].Len()), "leaf", "leaves")))
	wide := max(columns(w.Names[0]), columns(w.Names[1]))
	for i := range 2 {
		out.put("  root  ", s.name.Sprint(pad(Safe(w.Names[i]), columns(Safe(w.Names[i])), wide)), "  ", w.Info[i].Root.String())
	}
	const shown = 20
	for i, label := range c.Diverged {
		if i == shown && !all {
			out.put("  leaf  … and ", plural(uint64(len(c.Diverged)-shown), "more leaf", "more leaves"), s.faint.Sprint("  (--all)"))
			break
		}
		out.put("  leaf  ", s.bad.Sprint(LabelName(label)))
	}
	for i, only := range [][]string{c.OnlyA, c.OnlyB} {
		for _, label := range only {
			out.put("  leaf  ", s.bad.Sprint(LabelName(label)), " only on ", s.name.Sprint(Safe(w.Names[i])))
		}
	}
	out.put(fmt.Sprintf("  exchanged %s, %d bytes", plural(uint64(c.Hashes), "hash", "hashes"), c.Bytes))
	for i, step := range w.steps() {
		if i == shown && !all {
			out.put("  … and ", plural(uint64(len(c.Steps)-shown), "more node", "more nodes"), s.faint.Sprint("  (--all)"))
			break
		}
		indent := strings.Repeat("  ", c.Steps[0].Level-step.Level)
		out.put("  ", indent, s.faint.Sprintf("level %d node %d", step.Level, step.Index), "  left ", w.child(step.Left, s), "  right ", w.child(step.Right, s))
	}
	return out.err
}

func (w *Walk) child(c WalkChild, s Style) string {
	a, b := c.Hash[w.Names[0]][:16], c.Hash[w.Names[1]][:16]
	if !c.Differs {
		return s.faint.Sprint(a + " same")
	}
	return s.bad.Sprint(a + " ≠ " + b)
}

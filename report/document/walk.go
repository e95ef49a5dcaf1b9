package document

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// walkDocument is desynctool.walk/1.
type walkDocument struct {
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
	Path     []walkStep          `json:"path"`
}

// walkStep is one diverged interior node and its two children.
type walkStep struct {
	Level int       `json:"level"`
	Index int       `json:"index"`
	Left  walkChild `json:"left"`
	Right walkChild `json:"right"`
}

// walkChild is one exchanged hash.
type walkChild struct {
	Differs bool              `json:"differs"`
	Hash    map[string]string `json:"hash"`
}

// Walk returns the document of a walk; names are the peers' names.
func Walk(w *snapshot.Walk, names [2]string, warnings []string) Document {
	return Document{
		StatusOf(w),
		func() any { return walkJSON(w, names, warnings) },
		func(out *Text, all bool) { walkText(out, w, names, all) },
	}
}

func walkJSON(w *snapshot.Walk, names [2]string, warnings []string) *walkDocument {
	p, c := w.A.Point, &w.Comparison
	doc := &walkDocument{
		Head: head("walk", StatusOf(w), warnings), Point: p.Tick, Phase: p.Phase, Native: native(p),
		Root:     map[string]string{names[0]: w.A.Root.String(), names[1]: w.B.Root.String()},
		Exchange: c.Hashes, Bytes: c.Bytes, Leaves: c.Diverged,
		Only:  map[string][]string{names[0]: list(c.OnlyA), names[1]: list(c.OnlyB)},
		Count: w.TreeA.Len(),
	}
	child := func(differs bool, hash [2]merkle.Hash) walkChild {
		return walkChild{differs, map[string]string{names[0]: hash[0].String(), names[1]: hash[1].String()}}
	}
	for _, s := range w.Steps {
		doc.Path = append(doc.Path, walkStep{s.Level, s.Index, child(s.Left, s.LeftHash), child(s.Right, s.RightHash)})
	}
	return doc
}

func walkText(out *Text, w *snapshot.Walk, names [2]string, all bool) {
	c := &w.Comparison
	out.put(out.Verdict(StatusOf(w)), fmt.Sprintf("  at state point %s: %d of %s", bothNames(w.A.Point), len(c.Diverged)+len(c.OnlyA)+len(c.OnlyB),
		prose.Count(w.TreeA.Len(), "leaf", "leaves")))
	wide := max(prose.Columns(names[0]), prose.Columns(names[1]))
	for i, info := range []*snapshot.Info{w.A, w.B} {
		out.put("  root  ", out.name.Sprint(pad(prose.Name(names[i]), prose.Columns(prose.Name(names[i])), wide)), "  ", info.Root.String())
	}
	const shown = 20
	for i, label := range c.Diverged {
		if i == shown && !all {
			out.put("  leaf  … and ", prose.Count(len(c.Diverged)-shown, "more leaf", "more leaves"), out.faint.Sprint("  (--all)"))
			break
		}
		out.put("  leaf  ", out.bad.Sprint(LabelName(label)))
	}
	for i, only := range [][]string{c.OnlyA, c.OnlyB} {
		for _, label := range only {
			out.put("  leaf  ", out.bad.Sprint(LabelName(label)), " only on ", out.name.Sprint(prose.Name(names[i])))
		}
	}
	out.put(fmt.Sprintf("  exchanged %s, %d bytes", prose.Count(c.Hashes, "hash", "hashes"), c.Bytes))
	child := func(differs bool, hash [2]merkle.Hash) string {
		a, b := hash[0].String()[:16], hash[1].String()[:16]
		if !differs {
			return out.faint.Sprint(a + " same")
		}
		return out.bad.Sprint(a + " ≠ " + b)
	}
	for i, s := range w.Steps {
		if i == shown && !all {
			out.put("  … and ", prose.Count(len(c.Steps)-shown, "more node", "more nodes"), out.faint.Sprint("  (--all)"))
			break
		}
		indent := strings.Repeat("  ", c.Steps[0].Level-s.Level)
		out.put("  ", indent, out.faint.Sprintf("level %d node %d", s.Level, s.Index), "  left ", child(s.Left, s.LeftHash), "  right ", child(s.Right, s.RightHash))
	}
}

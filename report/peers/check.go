package peers

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// open opens the included archetypes and checks the report against itself.
func (r *Report) open(name string) error {
	if r.worlds != nil {
		return nil
	}
	worlds := make(map[string]includedWorld, len(r.Archetypes))
	var wrong []string
	size := uint64(0)
	for i, a := range r.Archetypes {
		what := fmt.Sprintf("%s: diverged_archetypes[%d]", name, i)
		if _, twice := worlds[a.Label]; twice {
			return fmt.Errorf("%s: %q is given twice", what, a.Label)
		}
		b, err := base64.StdEncoding.DecodeString(a.World)
		if err != nil {
			return fmt.Errorf("%s.world: expected base64: %w", what, err)
		}
		world, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), what+".world")
		if err != nil {
			return err
		}
		if info := world.Info(); !holdsOnly(info, a.Label) {
			return fmt.Errorf("%s.world: expected a snapshot that holds only the archetype %q", what, a.Label)
		}
		n, err := world.ContentSize()
		if err != nil {
			return err
		}
		if size += n; size > maxReportWorlds {
			return fmt.Errorf("%s.world: the archetypes have more than %d MiB when they are not compressed", what, maxReportWorlds>>20)
		}
		var mismatch *snapshot.HashError
		err = errors.Join(snapshot.Check(world), world.Close())
		switch {
		case errors.As(err, &mismatch):
			wrong = append(wrong, fmt.Sprintf("world of %s: %v", a.Label, mismatch))
		case err != nil:
			return err
		}
		worlds[a.Label] = includedWorld{b, world.Info(), err == nil}
	}
	r.worlds = worlds
	late := r.checkExcerpt()
	r.contradictions = slices.Concat(texts(r.checkTree()), texts(late[:min(1, len(late))]), wrong)
	for _, a := range r.Archetypes {
		r.contradictions = append(r.contradictions, texts(r.checkWorld(a.Label))...)
	}
	return nil
}

// contradiction is what in a report does not agree with the rest of it.
type contradiction struct {
	rule, path string // as a *frame.Error has them
	text       string
}

func texts(list []contradiction) []string {
	return lists.Map(list, func(c contradiction) string { return c.text })
}

// holdsOnly reports whether a state consists of one archetype.
func holdsOnly(info *snapshot.Info, label string) bool {
	return len(info.Tables) == 1 && info.Tables[0].Class == snapshot.Archetype && info.Tables[0].Label == label
}

// includedWorld is the content of one archetype. It is opened when it is needed: an open
// one takes more memory.
type includedWorld struct {
	snap []byte
	info *snapshot.Info
	good bool // its hashes match its content
}

// checkExcerpt finds orders that the peer cannot have applied before the report's state.
func (r *Report) checkExcerpt() (out []contradiction) {
	last := r.Tick // of ticks before the state point; it saves after the orders of its tick if it states that
	if r.Phase == snapshot.AfterOrders {
		last++
	}
	for i, o := range r.Excerpt {
		if o.Tick >= last {
			text := fmt.Sprintf("%s is an order of tick %d, which is not before the report's state point %s", orderPath(i), o.Tick, r.Point())
			out = append(out, contradiction{"report-order-late", orderPath(i), text})
		}
	}
	return out
}

func orderPath(i int) string { return fmt.Sprintf("order_log_excerpt[%d]", i) }

// World returns the content of an archetype that a report which was read includes, with the state of the RNG; nil if it
// does not include it, or if the content does not match its hashes.
func (r *Report) World(label string) (snapshot.State, error) {
	w := r.worlds[label]
	if !w.good {
		return nil, nil
	}
	return snapshot.Open(bytes.NewReader(w.snap), int64(len(w.snap)), "world of "+label)
}

// Point returns the state point of the hashes.
func (r *Report) Point() snapshot.Point {
	p := snapshot.Point{Tick: r.Tick, Phase: r.Phase}
	if r.Native != nil {
		p.Native = r.Native.State
	}
	return p
}

// Contradictions lists what in a report that was read does not agree with the rest of it: the state hash with the
// nodes, nodes with the RNG state and with the included archetypes.
func (r *Report) Contradictions() []string { return r.contradictions }

// node returns the hash of a leaf as hex digits.
func (r *Report) node(label string) (hash string, ok bool) {
	i, ok := slices.BinarySearchFunc(r.Nodes, label, func(n [2]string, label string) int { return strings.Compare(n[0], label) })
	if !ok {
		return "", false
	}
	return r.Nodes[i][1], true
}

// sameHash reports whether two hashes in lower-case hex are equal as far as both go: the
// sync hash is the beginning of the state hash.
func sameHash(a, b string) bool {
	n := min(len(a), len(b))
	return a[:n] == b[:n]
}

// checkTree compares the hashes with each other.
func (r *Report) checkTree() (out []contradiction) {
	add := func(rule, path, format string, args ...any) {
		out = append(out, contradiction{rule, path, fmt.Sprintf(format, args...)})
	}
	if len(r.Nodes) > 0 && len(r.Nodes[0][1]) == 2*merkle.HashSize {
		leaves := make([]merkle.Leaf, len(r.Nodes))
		for i, n := range r.Nodes {
			leaves[i].Label = n[0]
			if err := leaves[i].Hash.UnmarshalText([]byte(n[1])); err != nil {
				add("report-hash", "merkle_nodes", "node %q: %v", n[0], err)
				return out
			}
		}
		if root := merkle.Root(leaves).String(); !sameHash(root, r.StateHash) {
			add("report-root", "state_hash", "the state hash is %s, the nodes give %s", r.StateHash, root)
		}
	}
	if r.RNGState == "" || len(r.Nodes) == 0 {
		return out
	}
	state, err := hex.DecodeString(r.RNGState)
	node, ok := r.node("")
	leaf := merkle.RNGLeaf(state).String()
	switch {
	case err != nil:
		add("report-hex", "rng_state", "the RNG state is %q", r.RNGState)
	case !ok:
		add("report-rng", "merkle_nodes", "there is an RNG state, and no node of it")
	case !sameHash(leaf, node):
		add("report-rng", "rng_state", "the node of the RNG is %s, its state gives %s", node, leaf)
	}
	return out
}

// checkWorld compares an included archetype with the rest of the report.
func (r *Report) checkWorld(label string) (out []contradiction) {
	info := r.worlds[label].info
	add := func(rule, format string, args ...any) {
		out = append(out, contradiction{rule: rule, text: fmt.Sprintf(format, args...)})
	}
	name := "the world of " + label
	if seed := fmt.Sprintf("%016x", info.Seed); seed != r.Seed {
		add("report-world-header", "%s has seed %s, the report has %s", name, seed, r.Seed)
	}
	if !info.Point.Same(r.Point()) {
		add("report-world-header", "%s has state point %s, the report has %s", name, info.Point, r.Point())
	}
	if rng := hex.EncodeToString(info.RNG); rng != "" && r.RNGState != "" && rng != r.RNGState {
		add("report-world-header", "%s has another RNG state than the report", name)
	}
	if len(r.Nodes) == 0 {
		return out
	}
	node, ok := r.node(label)
	leaf := info.Tables[0].Hash.String()
	switch {
	case !ok:
		add("report-node-content", "there is a world of %s, and no node of it", label)
	case !sameHash(node, leaf):
		add("report-node-content", "the node of %s is %s, its world gives %s", label, node, leaf)
	}
	return out
}

// Check compares a report with a snapshot of the same peer and returns the contradictions.
func (r *Report) Check(info *snapshot.Info) []string {
	if seed := fmt.Sprintf("%016x", info.Seed); seed != r.Seed {
		return []string{fmt.Sprintf("the report has seed %s, the snapshot has %s", r.Seed, seed)}
	}
	if !info.Point.Same(r.Point()) {
		return []string{fmt.Sprintf("the report has state point %s, the snapshot has %s", r.Point(), info.Point)}
	}
	var out []string
	if root := info.Root.String(); !sameHash(root, r.StateHash) {
		out = append(out, fmt.Sprintf("the report has state hash %s, the snapshot %s", r.StateHash, root))
	}
	if rng := hex.EncodeToString(info.RNG); info.RNG != nil && r.RNGState != "" && rng != r.RNGState {
		out = append(out, fmt.Sprintf("the report has RNG state %s, the snapshot %s", r.RNGState, rng))
	}
	if len(r.Nodes) == 0 {
		return out
	}
	has := map[string]bool{}
	for _, leaf := range info.Leaves() {
		has[leaf.Label] = true
		node, ok := r.node(leaf.Label)
		switch hash := leaf.Hash.String(); {
		case !ok:
			out = append(out, fmt.Sprintf("the report has no node of %s, the snapshot has", leafName(leaf.Label)))
		case !sameHash(hash, node):
			out = append(out, fmt.Sprintf("the report's node of %s is %s, the snapshot's %s", leafName(leaf.Label), node, hash))
		}
	}
	for _, n := range r.Nodes {
		if !has[n[0]] {
			out = append(out, fmt.Sprintf("the report has a node of %s, the snapshot has none", leafName(n[0])))
		}
	}
	return out
}

// leafName names a leaf in a text that is escaped later.
func leafName(label string) string {
	if label == "" {
		return "the RNG"
	}
	return label
}

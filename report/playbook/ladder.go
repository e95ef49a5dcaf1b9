package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
)

// Steps of the narrowing, in order.
const (
	StepPreflight = "preflight"
	StepInputs    = "inputs"
	StepInitial   = "initial-state"
	StepBracket   = "bracket"
	StepTick      = "tick"
	StepSystem    = "system"
	StepArchetype = "archetype"
	StepComponent = "component"
	StepEntity    = "entity"
	StepField     = "field"
	StepPeers     = "peers"
	StepCause     = "cause"
)

// climber writes the steps of a ladder.
type climber struct {
	e     Evidence
	v     *Verdict
	r     *report.Report
	rungs []report.Rung
}

// ladder tells the narrowing step by step. Behind a step at which nothing differs, the steps
// that would narrow it are left out.
func ladder(e Evidence, v *Verdict, r *report.Report) []report.Rung {
	c := &climber{e: e, v: v, r: r}
	c.preflight()
	c.inputs()
	if v.Bracket == nil {
		if r.Kind == "" {
			c.put(StepBracket, report.RungEqual, "no difference found", c.compared())
		} else {
			c.put(StepBracket, report.RungOpen, "no state is known to differ", c.compared())
		}
		return c.rungs
	}
	c.initial()
	c.bracket()
	c.where()
	c.values()
	c.peers()
	c.cause()
	return c.rungs
}

func (c *climber) put(step string, state report.RungState, found, evidence string) {
	c.rungs = append(c.rungs, report.Rung{Step: step, State: state, Found: found, Evidence: evidence})
}

// open puts a step that the evidence does not tell, with what would tell it.
func (c *climber) open(step, found, prefix string) {
	for _, text := range c.v.Open {
		if what, would, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(what, prefix) {
			c.put(step, report.RungOpen, found, would)
			return
		}
	}
	c.put(step, report.RungOpen, found, "")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (c *climber) preflight() {
	found := []string{count(len(c.r.Peers), "peer", "peers")}
	state := report.RungFound
	var facts []string
	for _, f := range c.r.Facts {
		facts = append(facts, f.Name)
		if f.Must {
			state = report.RungTrouble
		}
	}
	if len(facts) > 0 {
		found = append(found, "differing in "+strings.Join(facts, ", "))
	}
	if n := len(c.r.Missing); n > 0 {
		found = append(found, count(n, "piece", "pieces")+" of evidence lost or lacking")
		state = report.RungTrouble
	}
	if n := len(c.r.Contradictions); n > 0 {
		found = append(found, count(n, "contradiction", "contradictions"))
		state = report.RungTrouble
	}
	c.put(StepPreflight, state, strings.Join(found, ", "), c.what())
}

// what says what there is of the peers.
func (c *climber) what() string {
	var states, logs, traces int
	for _, p := range c.r.Peers {
		states += p.Snapshots
		if p.OrderLog {
			logs++
		}
		if p.Trace {
			traces++
		}
	}
	parts := []string{count(states, "state", "states"), count(logs, "order log", "order logs"), count(traces, "trace", "traces")}
	if n := len(c.e.Checked); n > 0 {
		parts = append(parts, fmt.Sprintf("hashes of %d files computed again from their content", n))
	}
	return strings.Join(parts, ", ")
}

func (c *climber) inputs() {
	o := c.e.Orders
	switch {
	case o == nil:
		c.put(StepInputs, report.RungOpen, "not compared", "order logs of two peers would tell whether they were given the same orders")
	case o.Verdict == orderlog.NetworkLayer:
		c.put(StepInputs, report.RungFound, fmt.Sprintf("%s of orders", count(o.DifferenceCount, "difference", "differences")), o.Line())
	case o.Verdict == orderlog.NoOverlap:
		c.put(StepInputs, report.RungOpen, "not compared", o.Line())
	case o.DifferenceCount > 0:
		c.put(StepInputs, report.RungTrouble, fmt.Sprintf("%s, none before the states parted", count(o.DifferenceCount, "difference", "differences")), o.Line())
	default:
		c.put(StepInputs, report.RungEqual, "equal", c.logs())
	}
}

func (c *climber) logs() string {
	w := c.e.Orders.Window
	if w == nil {
		return ""
	}
	return fmt.Sprintf("%d orders in ticks %d to %d of %d logs", w.Orders, w.From, w.To, len(c.e.Orders.Peers))
}

// compared says what of the states was compared.
func (c *climber) compared() string {
	b := c.e.Bisect
	var parts []string
	if b.Snapshots > 0 {
		parts = append(parts, fmt.Sprintf("%s of %d state points opened", count(b.Probes, "pair", "pairs"), b.Snapshots))
	}
	if b.Recorded > 0 {
		parts = append(parts, fmt.Sprintf("%d recorded hashes", b.Recorded))
	}
	for _, t := range b.Traces {
		if len(t.Traces) > 1 {
			parts = append(parts, fmt.Sprintf("checksums of %d traces", len(t.Traces)))
		}
	}
	return strings.Join(parts, ", ")
}

func (c *climber) initial() {
	switch {
	case c.v.InitialState:
		c.put(StepInitial, report.RungFound, "differs before any tick", c.compared())
	case c.v.Bracket.Good != nil:
		c.put(StepInitial, report.RungEqual, "equal", fmt.Sprintf("the states agree up to %s", c.v.Bracket.Good))
	default:
		c.put(StepInitial, report.RungOpen, "not known", "a state, or a hash of one, from before the peers parted")
	}
}

func (c *climber) bracket() {
	b := c.v.Bracket
	good := "…"
	if b.Good != nil {
		good = b.Good.String()
	}
	c.put(StepBracket, report.RungFound, fmt.Sprintf("(%s, %s]", good, b.Bad), strings.Join(slices.DeleteFunc([]string{"by " + b.By, c.compared()}, func(s string) bool { return s == "" }), "; "))
}

// where tells the tick, the system, the archetype and the component.
func (c *climber) where() {
	v := c.v
	if v.InitialState {
		c.archetype()
		return
	}
	if v.Tick != nil {
		by := "the bracket is one tick wide"
		if !c.e.Bisect.Exact {
			by = "the traces part there, within the bracket"
		}
		c.put(StepTick, report.RungFound, fmt.Sprint(*v.Tick), by)
	} else {
		c.open(StepTick, "within the bracket", "the tick")
	}
	if v.System != "" {
		by := "the first behind which the traces of two peers part until the end of the tick"
		if v.within != nil && v.within.Index < 0 {
			by = "the first behind which the replay departs from the peer's trace"
		}
		if v.Passing != "" {
			by += "; " + v.Passing
		}
		c.put(StepSystem, report.RungFound, v.System, by)
	} else {
		c.open(StepSystem, "not known", "the system")
	}
	c.archetype()
}

func label(name string) string { return cmp.Or(name, RNG) }

func (c *climber) archetype() {
	v := c.v
	if root, known := v.Root(); known {
		by := "the only one that differs"
		if n := len(v.Archetypes); n > 1 {
			by = fmt.Sprintf("the first of %d that differ behind the system", n)
		}
		if v.InitialState && len(v.Archetypes) > 1 {
			by = fmt.Sprintf("the first of %d that differ", len(v.Archetypes))
		}
		c.put(StepArchetype, report.RungFound, label(root), by)
		if v.Component != "" && root != "" {
			c.put(StepComponent, report.RungFound, v.Component, "column digests")
		} else if root != "" {
			c.open(StepComponent, "not known", "the component")
		}
		return
	}
	found := "not known"
	if n := len(v.Archetypes); n > 1 {
		var labels []string
		for _, l := range v.Archetypes[:min(n, 4)] {
			labels = append(labels, label(l))
		}
		found = fmt.Sprintf("one of %d: %s", n, strings.Join(labels, ", "))
		if n > 4 {
			found += ", …"
		}
	}
	if len(v.Archetypes) > 1 {
		c.open(StepArchetype, found, "which of")
	} else {
		c.open(StepArchetype, found, "the archetype")
	}
}

// values tells the entities and fields.
func (c *climber) values() {
	k := c.r.Compared
	if k == nil {
		c.put(StepField, report.RungOpen, "not known", fmt.Sprintf("the states of two peers at state point %s would tell it", c.v.Bracket.Bad))
		return
	}
	root, known := c.v.Root()
	keys, fields, kinds := []string{}, []string{}, []string{}
	for i := range c.r.Locus {
		f := &c.r.Locus[i]
		if f.Cache || known && f.Archetype != root || f.Archetype == "" {
			continue
		}
		if !slices.Contains(keys, f.Key) {
			keys = append(keys, f.Key)
		}
		if name := f.Component + "." + f.Field; !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
		if kind := string(f.Kind); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, rows := range k.Rows {
		if !known || rows.Archetype == root {
			keys = append(keys, rows.Keys...)
		}
	}
	when := fmt.Sprintf("state point %d, %s compared", k.Point, strings.Join(k.Peers[:], " and "))
	if k.Point != c.v.Bracket.Bad.Tick {
		when += "; later than where they parted, so what followed is in it"
	}
	if len(keys) > 0 {
		found := count(len(keys), "entity", "entities") + ": " + strings.Join(keys[:min(len(keys), 4)], ", ")
		if len(keys) > 4 {
			found += ", …"
		}
		c.put(StepEntity, report.RungFound, found, when)
	}
	switch {
	case len(fields) > 0:
		found := strings.Join(fields[:min(len(fields), 3)], ", ")
		if n := len(fields) - 3; n > 0 {
			found += fmt.Sprintf(" and %d more", n)
		}
		c.put(StepField, report.RungFound, found, strings.Join(kinds, ", "))
	case known && root == "":
		c.put(StepField, report.RungFound, "RNG.state", when)
	}
}

func (c *climber) peers() {
	v, d := c.v, c.r.FirstDivergence
	groups := groupsText(c.e.Bisect.Groups)
	switch {
	case len(v.Guilty) > 0:
		c.put(StepPeers, report.RungFound, strings.Join(v.Guilty, ", ")+" departed", "from the replay of the orders; "+groups)
	case v.Inputs:
		c.put(StepPeers, report.RungFound, "given different orders", groups)
	case d.Majority > 0 && len(c.e.Bisect.Groups) > 1:
		c.put(StepPeers, report.RungOpen, fmt.Sprintf("%s: group %d is the majority, which is not known to be right", groups, d.Majority), "a replay by a simulator would tell it (--sim)")
	default:
		c.put(StepPeers, report.RungOpen, groups, "a replay by a simulator would tell who is wrong (--sim)")
	}
}

func groupsText(groups [][]string) string {
	var parts []string
	for _, g := range groups {
		parts = append(parts, strings.Join(g, " = "))
	}
	return strings.Join(parts, " ≠ ")
}

func (c *climber) cause() {
	if len(c.r.Causes) == 0 {
		c.put(StepCause, report.RungOpen, "not known", "the states at the end of the divergent tick, or a replay, would tell more")
		return
	}
	var first []string
	for _, cause := range c.r.Causes {
		if cause.Group == 1 {
			first = append(first, cause.Class)
		}
	}
	c.put(StepCause, report.RungFound, strings.Join(first, " or "), strings.Join(c.r.Causes[0].Evidence, "; "))
}

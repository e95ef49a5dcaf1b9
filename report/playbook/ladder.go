package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/tracediff"
)

// Steps of the narrowing, in order.
const (
	StepPreflight = "preflight"
	StepInputs    = "inputs"
	StepInitial   = "initial-state"
	StepBracket   = "bracket"
	StepChecksums = "checksums"
	StepTick      = "tick"
	StepSystem    = "system"
	StepArchetype = "archetype"
	StepComponent = "component"
	StepEntity    = "entity"
	StepField     = "field"
	StepPeers     = "peers"
	StepCause     = "cause"
	StepClaims    = "claims"
)

// climber writes the steps of a ladder.
type climber struct {
	e     Evidence
	v     *Verdict
	r     *report.Report
	rec   recorded
	rungs []report.Rung
}

// ladder tells the narrowing step by step. Behind a step at which nothing differs, the steps
// that would narrow it are left out.
func ladder(e Evidence, v *Verdict, r *report.Report, rec recorded) []report.Rung {
	c := &climber{e: e, v: v, r: r, rec: rec}
	c.preflight()
	c.inputs()
	if v.Bracket == nil {
		c.equal()
		c.checksums()
		if r.Status == report.Diverged {
			c.cause()
		}
		c.claims()
		return c.rungs
	}
	c.initial()
	c.bracket()
	c.checksums()
	c.where()
	c.values()
	c.peers()
	c.cause()
	c.claims()
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

// join joins words by commas, and the last two by another word.
func join(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	n := len(list) - 1
	return strings.Join(list[:n], ", ") + " " + last + " " + list[n]
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
	if o := c.e.Orders; o != nil {
		logs = max(logs, len(o.Peers))
	}
	for _, t := range slices.Concat(c.e.Bisect.Traces, c.e.Traces) {
		traces = max(traces, len(t.Traces))
	}
	parts := []string{count(states, "state", "states"), count(logs, "order log", "order logs"), count(traces, "trace", "traces")}
	if n := len(c.e.Checked); n > 0 {
		parts = append(parts, fmt.Sprintf("hashes of %s computed again from the content", count(n, "file", "files")))
	}
	return strings.Join(parts, ", ")
}

func (c *climber) inputs() {
	o := c.e.Orders
	switch {
	case o == nil:
		c.put(StepInputs, report.RungOpen, "not compared", "order logs of two peers would tell whether they were given the same orders")
	case o.Verdict == orderlog.InputsDiffer:
		c.put(StepInputs, report.RungFound, count(o.DifferenceCount, "order differs", "orders differ"), basis(o))
	case o.Verdict == orderlog.NoOverlap:
		c.put(StepInputs, report.RungOpen, "not compared", basis(o))
	case len(unheard(c.e, c.v)) > 0:
		c.put(StepInputs, report.RungOpen, "equal as far as they are there",
			fmt.Sprintf("the whole order logs of %s; %s were compared", strings.Join(unheard(c.e, c.v), ", "), c.logs()))
	case o.DifferenceCount > 0:
		c.put(StepInputs, report.RungEqual, "equal until the states parted",
			fmt.Sprintf("%s; behind it %s, the first: %s", c.logs(), count(o.DifferenceCount, "order differs", "orders differ"), o.Differences[0].String()))
	default:
		c.put(StepInputs, report.RungEqual, "equal", c.logs())
	}
}

// basis is what the verdict over the orders rests on, with our number of the tick.
func basis(o *orderlog.Comparison) string {
	if o.DifferenceCount > 0 && o.Verdict == orderlog.InputsDiffer {
		return difference(&o.Differences[0])
	}
	return o.Basis
}

// difference tells one difference of orders, its tick by both names.
func difference(d *orderlog.Difference) string {
	text := d.String()
	if d.Native == "" {
		return "tick " + strings.Replace(text, " ", ": ", 1)
	}
	return strings.Replace(text, d.Native, report.BothNames(d.Native, d.Tick), 1)
}

func (c *climber) logs() string {
	w := c.e.Orders.Window
	if w == nil {
		return ""
	}
	ticks := fmt.Sprintf("%d to %d", w.From, w.To)
	if w.NativeFrom != "" {
		ticks = fmt.Sprintf("%s to %s (%s)", w.NativeFrom, w.NativeTo, ticks)
	}
	return fmt.Sprintf("%s in ticks %s of %d logs", count(int(w.Orders), "order", "orders"), ticks, len(c.e.Orders.Peers))
}

// compared says what of the states was compared.
func (c *climber) compared() string {
	b := c.e.Bisect
	var parts []string
	if b.Snapshots > 0 {
		if len(b.Peers) == 2 {
			parts = append(parts, fmt.Sprintf("%d of %s of states opened", b.Probes, count(b.Snapshots, "pair", "pairs")))
		} else {
			parts = append(parts, fmt.Sprintf("%s of states opened at %s", count(b.Probes, "pair", "pairs"), count(b.Snapshots, "state point", "state points")))
		}
	}
	if b.Recorded > 0 {
		parts = append(parts, count(b.Recorded, "recorded hash", "recorded hashes"))
	} else if n := hashesCompared(c.e); n > 0 {
		parts = append(parts, count(int(n), "pair", "pairs")+" of recorded hashes")
	}
	var kinds []string
	peers := 0
	for _, t := range b.Traces {
		if len(t.Traces) > 1 {
			peers = max(peers, len(t.Traces))
			if kind := t.Traces[0].Kind(); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	if len(kinds) > 0 {
		parts = append(parts, fmt.Sprintf("checksums of %d peers (%s)", peers, strings.Join(kinds, ", ")))
	}
	return strings.Join(parts, ", ")
}

// equal tells of the states of peers that are not known to differ.
func (c *climber) equal() {
	switch {
	case !statesCompared(c.e):
		c.put(StepBracket, report.RungOpen, "no state was compared", "states of two peers, or hashes of them, would tell whether they differ")
	case c.r.Kind == bisect.ChecksumOnly:
		c.put(StepBracket, report.RungEqual, "no state differs", c.compared())
	default:
		c.put(StepBracket, report.RungEqual, "no difference found", c.compared())
	}
}

func (c *climber) initial() {
	switch {
	case c.v.InitialState:
		c.put(StepInitial, report.RungFound, "differs before any tick", c.compared())
	case c.v.Bracket.Good != nil:
		c.put(StepInitial, report.RungEqual, "equal", "the states agree "+report.AtPoint(*c.v.Bracket.Good))
	default:
		c.put(StepInitial, report.RungOpen, "not known", "a state, or a hash of one, from before the peers parted")
	}
}

func (c *climber) bracket() {
	b := c.v.Bracket
	good, numbers := "…", fmt.Sprintf("at or before %d", b.Bad.Tick)
	if b.Good != nil {
		good, numbers = b.Good.String(), fmt.Sprintf("%d to %d", b.Good.Tick, b.Bad.Tick)
	}
	parts := []string{"by " + string(b.By)}
	if b.Bad.Native != "" {
		parts = []string{"state points " + numbers, "by " + string(b.By)}
	}
	if s := c.compared(); s != "" {
		parts = append(parts, s)
	}
	c.put(StepBracket, report.RungFound, fmt.Sprintf("(%s, %s]", good, b.Bad), strings.Join(parts, "; "))
}

// checksums tells what the games' own checksums say beside the states.
func (c *climber) checksums() {
	if p := c.rec.parting; p != nil && c.v.Tick == nil {
		t := c.rec.checksums
		evidence := groupsText(traceGroups(t)) + ", by the " + p.By
		if p.Good != nil {
			evidence += fmt.Sprintf("; they agree in tick %s", t.TickName(tracediff.Tick{Number: *p.Good}))
		}
		c.put(StepChecksums, report.RungFound, "differ from tick "+report.BothNames(p.Native, p.Bad)+" on", evidence)
		return
	}
	switch c.v.Kind {
	case bisect.BlindChecksum:
		for _, t := range c.e.Bisect.Traces {
			if len(t.Traces) > 1 && t.First == nil {
				c.put(StepChecksums, report.RungTrouble, "agree, though the states differ",
					fmt.Sprintf("up to tick %s, by the %s: they do not cover what differs", t.TickName(t.LastCompared), t.Traces[0].Kind()))
				return
			}
		}
	case bisect.ChecksumOnly:
		if t := c.differing(); t != nil {
			found, evidence := c.span(t), groupsText(traceGroups(t))+", by the "+t.Traces[0].Kind()
			c.put(StepChecksums, report.RungFound, found, evidence)
		} else if s := c.e.Bisect.Sums; s != nil {
			c.put(StepChecksums, report.RungFound, fmt.Sprintf("differ from state point %d on", s.Bad), groupsText(s.Groups)+", by the recorded hashes")
		}
	default:
		if text := hashesOfLogs(c.e); text != "" && c.v.Bracket != nil && c.e.Orders.State.First.Point > c.v.Bracket.Bad.Tick {
			c.put(StepChecksums, report.RungFound, "differ later", text+"; the states part before")
		}
	}
}

// differing returns the traces of checksums that differ, nil if there are none.
func (c *climber) differing() *tracediff.Result {
	for _, t := range c.e.Bisect.Traces {
		if t.First != nil && t.Bracket != nil {
			return t
		}
	}
	return nil
}

// span says in which ticks checksums differ.
func (c *climber) span(t *tracediff.Result) string {
	text := "differ from tick " + report.BothNames(t.NativeName(tracediff.Tick{Number: t.Bracket.Bad.Number}), t.Bracket.Bad.Number)
	if t.EqualFrom.Number > t.LastDiffering.Number {
		return text + fmt.Sprintf(" to %s and agree again from %s on", t.TickName(t.LastDiffering), t.TickName(t.EqualFrom))
	}
	return text + " on"
}

// tickText names the divergent tick. Of an engine that names state points only, it lies
// between two of these.
func tickText(e Evidence, v *Verdict) string {
	if g := v.Bracket.Good; e.Bisect.Exact && g != nil && g.Native != "" && strings.Trim(g.Words()+v.Bracket.Bad.Words(), "0123456789") == "" {
		return fmt.Sprintf("%s to %s (%d)", g.Words(), v.Bracket.Bad.Words(), *v.Tick)
	}
	return report.BothNames(nameOf(e.TickName, *v.Tick), *v.Tick)
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
		c.put(StepTick, report.RungFound, tickText(c.e, v), by)
	} else if cp := c.rec.checkpoint; cp != nil && c.rec.sure {
		c.put(StepTick, report.RungFound, report.BothNames(cp.Native, cp.Tick), "the first value that differs in the traces is of that tick")
	} else {
		c.open(StepTick, "within the bracket", "the tick")
	}
	switch cp := c.rec.checkpoint; {
	case v.System != "":
		by := "the first behind which the traces of two peers part until the end of the tick"
		if v.within != nil && v.within.Index < 0 {
			by = "the first behind which the replay departs from the peer's trace"
		}
		if v.Passing != "" {
			by += "; " + v.Passing
		}
		c.put(StepSystem, report.RungFound, v.System, by)
	case cp != nil:
		found := strings.Trim(cp.System+", "+cp.Scope, ", ")
		c.put(StepSystem, report.RungFound, found, fmt.Sprintf("the first that differs in the traces, in tick %s: %s", report.BothNames(cp.Native, cp.Tick), strings.Join(c.rec.values, ", ")))
	default:
		c.open(StepSystem, "not known", "the system")
	}
	c.archetype()
}

func label(name string) string { return cmp.Or(name, RNG) }

func labels(list []string, most int) string {
	var out []string
	for _, l := range list[:min(len(list), most)] {
		out = append(out, label(l))
	}
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), len(list)-most)
	}
	return join(out, "and")
}

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
	list := suspects(c.e, v)
	switch {
	case len(v.Archetypes) > 1:
		c.open(StepArchetype, "one of "+labels(list, 4), "which of")
	case len(list) == 1:
		c.put(StepArchetype, report.RungFound, label(list[0]), "the only one that differs "+report.AtPoint(v.Bracket.Bad))
	case len(list) > 0 && !valuesDiffer(c.r):
		c.put(StepArchetype, report.RungOpen, "not known", "states with the same columns: these have not, and no value differs")
	case len(list) > 1:
		c.put(StepArchetype, report.RungOpen, labels(list, 4), fmt.Sprintf("all differ %s; states nearer to the divergence, or traces, would tell which was first", report.AtPoint(v.Bracket.Bad)))
	default:
		c.open(StepArchetype, "not known", "the archetype")
	}
}

// values tells the entities and fields.
func (c *climber) values() {
	k := c.r.Compared
	if k == nil {
		if c.rec.checkpoint == nil {
			c.put(StepField, report.RungOpen, "not known", fmt.Sprintf("the states of two peers at %s would tell it", report.PointName(c.v.Bracket.Bad)))
		}
		return
	}
	root, known := c.v.Root()
	keys, fields, kinds := []string{}, []string{}, []string{}
	for i := range c.r.Locus {
		f := &c.r.Locus[i]
		if f.Cache || known && f.Archetype != root || f.Archetype == "" {
			continue
		}
		if key := f.Archetype + " " + f.Key; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		if name := fieldName(f.Archetype, f.Component, f.Field); !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
		if kind := string(f.Kind); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, rows := range k.Rows {
		if !rows.Cache && (!known || rows.Archetype == root) {
			for _, key := range rows.Keys {
				keys = append(keys, fmt.Sprintf("%s %s (only on %s)", rows.Archetype, key, rows.Peer))
			}
		}
	}
	when := fmt.Sprintf("%s of %s and %s compared", report.PointName(report.PointOf(k.Native, k.Point)), k.Peers[0], k.Peers[1])
	if k.Point != c.v.Bracket.Bad.Tick {
		when += "; later than where they parted, so what followed is in it"
	}
	if len(keys) > 0 {
		found := strings.Join(keys[:min(len(keys), 3)], ", ")
		if n := len(keys) - 3; n > 0 {
			found += fmt.Sprintf(" and %d more", n)
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

// valuesDiffer reports whether the states that were compared differ in more than which
// columns their files have.
func valuesDiffer(r *report.Report) bool {
	return r.Compared != nil && r.Compared.Values+uint64(len(r.Compared.Rows)) > 0
}

// fieldName names a column of an archetype, whose only component may have its name.
func fieldName(archetype, component, field string) string {
	if component == archetype || strings.HasSuffix(archetype, "."+component) {
		return archetype + "." + field
	}
	return component + "." + field
}

func (c *climber) peers() {
	v, d := c.v, c.r.FirstDivergence
	groups := groupsText(c.e.Bisect.Groups)
	switch {
	case len(v.Guilty) > 0:
		c.put(StepPeers, report.RungFound, strings.Join(v.Guilty, ", ")+" departed", "from the replay of the orders; "+groups)
	case v.Inputs:
		c.put(StepPeers, report.RungFound, "given different orders", groups)
	case len(c.e.Bisect.Groups) < 2:
		c.put(StepPeers, report.RungOpen, "not known", "states of more peers, or hashes of them, would tell who agrees")
	case c.e.Bisect.Replay != nil:
		c.put(StepPeers, report.RungOpen, groups, "the replay departs from no peer there, or from every one")
	case d.Majority > 0:
		c.put(StepPeers, report.RungOpen, groups, "the majority is not known to be right; a replay by a simulator would tell (--sim)")
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

// firstCauses returns the classes of the first group.
func firstCauses(r *report.Report) (classes []string) {
	for _, cause := range r.Causes {
		if cause.Group == 1 {
			classes = append(classes, cause.Class)
		}
	}
	return classes
}

// founded reports whether the causes rest on more than what differs some time after the
// peers parted.
func founded(v *Verdict, r *report.Report) bool {
	return v.Tick != nil || v.InitialState || v.Inputs || r.Kind != bisect.StateDiffers
}

func (c *climber) cause() {
	switch first := join(firstCauses(c.r), "or"); {
	case first == "":
		c.put(StepCause, report.RungOpen, "not known", "the states at the end of the divergent tick, or a replay, would tell more")
	case !founded(c.v, c.r):
		c.put(StepCause, report.RungOpen, "perhaps "+first, "states nearer to the divergence would tell more")
	default:
		c.put(StepCause, report.RungFound, first, strings.Join(c.r.Causes[0].Evidence, "; "))
	}
}

// claims holds the first word of the engine against the evidence.
func (c *climber) claims() {
	var first *report.ClaimDocument
	wrong := 0
	for i := range c.r.Claims {
		d := &c.r.Claims[i]
		if first == nil || d.Tick != nil && (first.Tick == nil || d.Standing == tracediff.Contradicted && first.Standing != tracediff.Contradicted) {
			first = d
		}
		wrong += min(1, len(d.Contradictions))
	}
	if first == nil || c.r.Kind == bisect.StaleCache {
		return
	}
	text := "“" + first.Text + "”"
	when := ""
	if first.Tick != nil {
		when = report.BothNames(first.Native, *first.Tick)
	}
	switch {
	case first.Standing == tracediff.Contradicted:
		c.put(StepClaims, report.RungTrouble, "the engine is wrong", strings.Join(append([]string{text}, first.Contradictions...), "; "))
	case first.Standing == tracediff.Late:
		c.put(StepClaims, report.RungTrouble, "the engine noticed later", text+": tick "+when+" is an upper bound, the peers had parted before")
	case wrong > 0:
		c.put(StepClaims, report.RungTrouble, "the engine is partly wrong", fmt.Sprintf("of %s the evidence contradicts %d; the first is %s", count(len(c.r.Claims), "claim", "claims"), wrong, text))
	case first.Standing == tracediff.Borne:
		c.put(StepClaims, report.RungFound, "the engine says the same", text)
	default:
		c.put(StepClaims, report.RungOpen, "not checked", text)
	}
}

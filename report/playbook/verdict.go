package playbook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// verdict says what happened in at most three sentences.
func verdict(e Evidence, v *Verdict, r *report.Report, rec recorded) []string {
	c := &climber{e: e, v: v, r: r, rec: rec}
	switch {
	case v.Bracket == nil && r.Status == report.Diverged:
		return withoutBracket(c)
	case v.Bracket == nil:
		return equal(c)
	}
	out := []string{place1(c)}
	if s := why(v, r); s != "" {
		out = append(out, s)
	}
	return append(out, who(e, v, r))
}

// equal tells that nothing is known to differ.
func equal(c *climber) []string {
	text := "No difference was found"
	if len(c.r.Missing) > 0 {
		text += " in what could be read"
	}
	if !statesCompared(c.e) {
		text = "No state was compared"
	} else if s := c.compared(); s != "" {
		text += ": " + s
	}
	if o := c.e.Orders; o != nil {
		if o.DifferenceCount == 0 && o.Window != nil {
			text += fmt.Sprintf("; the inputs are equal (%s)", count(int(o.Window.Orders), "order", "orders"))
		} else {
			text += "; " + o.Line()
		}
	}
	out := []string{text + "."}
	for i := range c.r.Claims {
		if d := &c.r.Claims[i]; d.Standing != tracediff.Borne {
			out = append(out, fmt.Sprintf("Yet the game says “%s”, which nothing here bears out.", d.Text))
			break
		}
	}
	if n := len(c.r.Missing); n > 0 {
		out = append(out, fmt.Sprintf("%s lost or lacking, which may hide a difference.", count(n, "piece of evidence is", "pieces of evidence are")))
	}
	return out
}

// withoutBracket tells of a divergence that is not one of states.
func withoutBracket(c *climber) []string {
	e, r := c.e, c.r
	switch {
	case r.Kind == bisect.ChecksumOnly:
		text := "Only checksums differ, the states are equal"
		if e.Bisect.Snapshots > 0 {
			text += fmt.Sprintf(" at all %s", count(e.Bisect.Snapshots, "common state point", "common state points"))
		}
		out := []string{text + "."}
		if t := c.differing(); t != nil {
			out = append(out, fmt.Sprintf("The checksums %s: %s.", c.span(t), groupsText(traceGroups(t))))
		} else if s := e.Bisect.Sums; s != nil {
			out = append(out, fmt.Sprintf("The recorded hashes differ from state point %d on: %s.", s.Bad, groupsText(s.Groups)))
		}
		return append(out, why(c.v, r))
	case r.Kind == bisect.InputsDiffer:
		text := "The peers were given different orders"
		if !statesCompared(e) {
			text += "; no state was compared"
		} else {
			text += "; no state is known to differ"
		}
		return []string{text + ".", fmt.Sprintf("The network layer is to blame: %s.", difference(&e.Orders.Differences[0])), why(c.v, r)}
	case r.Kind == bisect.StaleCache:
		cache := staleCache(e)
		text := fmt.Sprintf("Data that %s derives from its state was stale: its game says “%s” after tick %s", cache.Peer, cache.Text, report.BothNames(cache.NativeAfter, cache.After))
		if cache.Before != nil {
			text += fmt.Sprintf(", before %s", report.BothNames(cache.NativeBefore, *cache.Before))
		}
		out := []string{text + "."}
		if statesCompared(e) {
			out = append(out, "The states are equal: "+c.compared()+".")
		} else {
			out = append(out, "The orders are equal, and no state was compared.")
		}
		return append(out, why(c.v, r))
	case e.Orders != nil && e.Orders.Diverged():
		return []string{fmt.Sprintf("The order logs tell that the states differ: %s.", e.Orders.Basis)}
	}
	for i := range r.Claims {
		return []string{fmt.Sprintf("The engine says that the peers parted: “%s”.", r.Claims[i].Text)}
	}
	return []string{"The checksums of the peers differ."}
}

// place1 says where the peers parted, and what differs there.
func place1(c *climber) string {
	v, r := c.v, c.r
	b := v.Bracket
	var text strings.Builder
	who := "The peers"
	if b.A != "" && len(r.Peers) == 2 {
		who = b.A + " and " + b.B
	}
	switch {
	case v.InitialState:
		fmt.Fprintf(&text, "%s differ from the start, before any tick", who)
	case v.Tick != nil:
		name := tickText(c.e, v)
		fmt.Fprintf(&text, "%s parted in tick %s", who, name)
		if b.Good != nil && b.Good.Native != "" && c.e.Bisect.Exact && !strings.HasPrefix(name, b.Good.Words()) {
			fmt.Fprintf(&text, " (equal %s, different %s)", report.AtPoint(*b.Good), report.AtPoint(b.Bad))
		}
	case b.Good != nil && b.Good.Relation == snapshot.After && b.Bad.Relation == snapshot.After:
		fmt.Fprintf(&text, "%s parted after %s, in %s at the latest", who, b.Good.Native, b.Bad.Native)
	case b.Good != nil && report.PointName(*b.Good) == "state point "+report.BothNames(b.Good.Words(), b.Good.Tick):
		fmt.Fprintf(&text, "%s parted between state points %s and %s", who, report.BothNames(b.Good.Words(), b.Good.Tick), report.BothNames(b.Bad.Words(), b.Bad.Tick))
	case b.Good != nil:
		fmt.Fprintf(&text, "%s parted between %s and %s", who, report.BothNames(b.Good.Words(), b.Good.Tick), report.BothNames(b.Bad.Words(), b.Bad.Tick))
	default:
		fmt.Fprintf(&text, "%s differ %s", who, report.AtPoint(b.Bad))
	}
	if v.System != "" {
		fmt.Fprintf(&text, ", in %s", v.System)
	} else if cp := c.rec.checkpoint; cp != nil {
		fmt.Fprintf(&text, ", in %s", strings.Trim(cp.System+", "+cp.Scope, ", "))
	}
	if b.Good == nil && !v.InitialState {
		text.WriteString(", and nothing before is known to be equal")
	}
	switch what := where(c.e, v, r); {
	case what != "":
		text.WriteString(": " + what)
	case c.rec.checkpoint != nil:
		text.WriteString(": " + strings.Join(c.rec.values, ", "))
	}
	switch p := c.rec.parting; {
	case v.Kind == bisect.BlindChecksum:
		text.WriteString("; every checksum agrees, so it does not cover that")
	case p != nil && v.Tick == nil:
		fmt.Fprintf(&text, "; checksums differ from tick %s on", report.BothNames(p.Native, p.Bad))
	}
	if h := r.FirstDivergence.Healed; h != nil {
		fmt.Fprintf(&text, "; the states are equal again at %s", report.PointName(report.PointOf(nameOf(c.e.PointName, *h), *h)))
	}
	return text.String() + "."
}

// where names what differs.
func where(e Evidence, v *Verdict, r *report.Report) string {
	root, known := v.Root()
	if list := suspects(e, v); !known {
		switch {
		case r.Compared == nil || len(list) == 0:
			return ""
		case !valuesDiffer(r):
			return "the files of the states do not have the same columns, and no value differs"
		case len(list) > 1:
			return several(r, list) + " differ"
		}
		root = list[0]
	}
	if root == "" {
		return "the RNG"
	}
	var fields, keys []string
	var values string
	for i := range r.Locus {
		f := &r.Locus[i]
		if f.Archetype != root || f.Cache || v.Component != "" && f.Component != v.Component {
			continue
		}
		if name := fieldName(f.Archetype, f.Component, f.Field); !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
		if !slices.Contains(keys, f.Key) {
			keys = append(keys, f.Key)
		}
		a, b := r.Compared.Peers[0], r.Compared.Peers[1]
		values = fmt.Sprintf(" (%s on %s, %s on %s)", f.Values[a], a, f.Values[b], b)
	}
	var only []string
	if r.Compared != nil {
		for _, rows := range r.Compared.Rows {
			if rows.Archetype == root && !rows.Cache {
				exist := "exist"
				if rows.Count == 1 {
					exist = "exists"
				}
				only = append(only, fmt.Sprintf("%s %s only on %s", entities(root, rows.Keys, rows.Count), exist, rows.Peer))
			}
		}
	}
	switch {
	case len(keys) == 0 && len(only) > 0:
		return join(only, "and")
	case len(keys) == 0 && v.Component != "" && v.Component != root:
		return v.Component + " of " + root
	case len(keys) == 0:
		return root
	case len(fields) == 1 && len(keys) == 1 && len(values) < 80:
		return fields[0] + " of " + entities(root, keys, 1) + values
	case len(fields) == 1:
		return fields[0] + " of " + entities(root, keys, uint64(len(keys)))
	}
	text := entities(root, keys, uint64(len(keys)))
	if v.Component != "" && v.Component != root {
		return v.Component + " of " + text
	}
	return text
}

// several names archetypes, by their entity where only one differs.
func several(r *report.Report, list []string) string {
	const most = 3
	var names []string
	for _, l := range list[:min(len(list), most)] {
		var keys []string
		for i := range r.Locus {
			if f := &r.Locus[i]; f.Archetype == l && l != "" && !f.Cache && !slices.Contains(keys, f.Key) {
				keys = append(keys, f.Key)
			}
		}
		for _, rows := range r.Compared.Rows {
			if rows.Archetype == l && !rows.Cache {
				keys = append(keys, rows.Keys...)
			}
		}
		name := label(l)
		if len(keys) == 1 {
			name += " " + keys[0]
		}
		names = append(names, name)
	}
	if n := len(list) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), n)
	}
	return join(names, "and")
}

// entities names the only entity of an archetype, or says how many there are.
func entities(archetype string, keys []string, n uint64) string {
	if n == 1 && len(keys) == 1 {
		return archetype + " " + keys[0]
	}
	return count(int(n), "entity", "entities") + " of " + archetype
}

func why(v *Verdict, r *report.Report) string {
	first := firstCauses(r)
	switch {
	case len(first) == 0:
		return "The cause is not known."
	case !founded(v, r):
		return fmt.Sprintf("The cause is not known; what differs by then looks like %s.", join(first, "or"))
	case len(first) == 1:
		return fmt.Sprintf("Likely cause: %s (%s).", lower(r.Causes[0].Title), first[0])
	}
	return fmt.Sprintf("Likely cause: %s, which this evidence does not tell apart.", join(first, "or"))
}

// lower begins a title with a small letter.
func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func who(e Evidence, v *Verdict, r *report.Report) string {
	switch {
	case v.Inputs && len(v.Guilty) == 0:
		if r.Inputs != nil && len(r.Inputs.Differences) > 0 {
			return fmt.Sprintf("The network layer is to blame: %s.", difference(&r.Inputs.Differences[0]))
		}
		return "The peers were given different orders."
	case len(v.Guilty) > 0:
		return fmt.Sprintf("Wrong: %s, by a replay of the orders%s.", strings.Join(v.Guilty, ", "), borrowed(e, v))
	case e.Bisect.Replay != nil:
		return "Who is wrong is not known: the replay departs from no peer there, or from every one."
	case len(e.Bisect.Groups) > 1 && len(r.Peers) > 2:
		return fmt.Sprintf("Who is wrong is not known: %s; a replay would tell (--sim).", groupsText(e.Bisect.Groups))
	}
	return "Who is wrong is not known: a replay would tell (--sim)."
}

// borrowed says that a peer's own orders are not there, so that it may have been given others
// than those that were replayed.
func borrowed(e Evidence, v *Verdict) string {
	for i := range e.Bisect.Replay.Peers {
		if p := &e.Bisect.Replay.Peers[i]; p.Borrowed != "" && slices.Contains(v.Guilty, p.Name) {
			return fmt.Sprintf(" of %s; the log of %s is not there, so it may have been given others", p.Borrowed, p.Name)
		}
	}
	return ""
}

// next says what to do, the most useful first.
func next(e Evidence, v *Verdict, r *report.Report) []string {
	out := []string{}
	if r.Status != report.Diverged {
		if len(r.Missing) > 0 {
			out = append(out, "ask for what is missing: desynctool doctor PATH writes the text")
		}
		return out
	}
	logs := 0
	for _, p := range r.Peers {
		if p.OrderLog {
			logs++
		}
	}
	native := e.Session.Game == "refsim"
	switch {
	case v.Bracket == nil:
	case v.Inputs:
		out = append(out, "desynctool orders PATH… --all lists every order that differs")
	case e.Bisect.Replay == nil && logs > 0 && native:
		out = append(out, "desynctool triage PATH… --sim builtin replays the orders, and tells who is wrong")
	case e.Bisect.Replay == nil && logs > 0:
		out = append(out, "desynctool triage PATH… --sim exec:GAME replays the orders in the game, and tells who is wrong (docs/extsim.md)")
	}
	for _, c := range r.Causes {
		if c.Group == 1 && c.Separate != "" {
			out = append(out, fmt.Sprintf("%s would show by: %s", c.Class, c.Separate))
		}
	}
	if len(r.Causes) > 0 && r.Causes[0].Separate == "" {
		out = append(out, fmt.Sprintf("confirm %s by: %s", r.Causes[0].Class, classOf(r.Causes[0].Class).confirm))
	}
	if k := r.Compared; k != nil && k.Values > uint64(len(r.Locus)) {
		out = append(out, fmt.Sprintf("desynctool diff A@%d B@%d --all lists all %d values that differ", k.Point, k.Point, k.Values))
	}
	for _, g := range r.Ladder {
		if g.State == report.RungOpen && slices.Contains([]string{StepInputs, StepInitial, StepTick, StepSystem, StepArchetype, StepComponent}, g.Step) && g.Evidence != "" {
			out = append(out, fmt.Sprintf("to learn the %s: %s", strings.ReplaceAll(g.Step, "-", " "), g.Evidence))
		}
	}
	return out
}

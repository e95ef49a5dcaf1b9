package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// parted describes where the peers diverged, and what differs there.
func parted(c *verdict.Conclusion) string {
	b := c.Bracket
	bad := verdict.MomentOf(b.Bad)
	var text strings.Builder
	who := "The peers"
	if c.Runs != verdict.RunsOfPeers {
		who = "The two runs"
	}
	if b.A != "" && len(c.Peers) == 2 {
		who = b.A + " and " + b.B
	}
	text.WriteString(who)
	when := divergence(c).When()
	switch when.Kind {
	case document.WhenStart:
		text.WriteString(" differ from the start, before any tick")
	case document.WhenLoad:
		text.Reset()
		fmt.Fprintf(&text, "%s diverged by loading: it has another state than the others %s", c.Loaded.Peer, at(bad))
		if c.Loaded.After != nil {
			fmt.Fprintf(&text, ", where it came back after it had been away from %s on", point(verdict.Moment{Number: *c.Loaded.After}))
		}
	case document.WhenTick:
		if ofPoints(c) {
			text.WriteString(" diverged between " + b.Good.Native + " and " + b.Bad.Native)
			break
		}
		text.WriteString(" diverged in " + document.InTick(divergentTick(c)))
		if b.Good != nil && c.Exact && c.Tick.Native == "" && !coded(bad) {
			equal := "equal"
			if b.By == bisect.ByChecksums || b.By == bisect.ByClaim {
				equal = "checksums equal"
			}
			fmt.Fprintf(&text, " (%s %s, different %s)", equal, at(verdict.MomentOf(*b.Good)), at(bad))
		}
	case document.WhenBetween:
		text.WriteString(" diverged " + between(verdict.MomentOf(*b.Good), bad))
	default:
		text.WriteString(" differ " + at(bad))
	}
	what := where(c)
	alone := false // the values follow the name of the checkpoint
	if cp := c.Checkpoint; cp != nil && c.SystemBy == verdict.SystemByCheckpoint {
		alone = what == "" && len(cp.Values) == 1 && !cp.Nearby
		if !alone && (what != "" || !strings.HasPrefix(atCheckpoint(c), checkpoint(cp))) { // else the values begin with it
			text.WriteString(", in " + checkpoint(cp))
		}
	} else if c.SystemBy == verdict.SystemByRestore {
		text.WriteString(", by a rollback: " + restored(c))
	} else if c.SystemBy == verdict.SystemByOutside {
		text.WriteString(", after its last system")
	} else if c.System != "" {
		text.WriteString(", in " + c.System)
	}
	if c.Began && b.Good == nil {
		text.WriteString(", after a tick that they began with the same state")
	} else if b.Good == nil && when.Kind != document.WhenStart && when.Kind != document.WhenLoad {
		text.WriteString(", and nothing before is known to be equal")
	}
	switch {
	case what != "":
		text.WriteString(": " + what)
		if c.Compared != nil && len(c.Compared.Reordered) > 0 {
			fmt.Fprintf(&text, "; of %s both have the same rows, which have no ids, in another order", upTo(c.Compared.Reordered, 3))
		}
	case c.Checkpoint != nil && c.Checkpoint.Nearby:
		text.WriteString(": " + nearby(c))
	case alone:
		text.WriteString(": " + checkpoint(c.Checkpoint) + " " + atCheckpoint(c))
	case c.Checkpoint != nil:
		text.WriteString(": " + atCheckpoint(c))
	default:
		if what := seen(c); what != "" {
			text.WriteString("; " + what)
		}
	}
	switch p := c.Parting; {
	case c.Kind == bisect.BlindChecksum:
		text.WriteString("; every checksum agrees, so none of them covers that")
	case p != nil && c.Tick == nil:
		fmt.Fprintf(&text, "; checksums differ from %s on", tick(verdict.Moment{Number: p.Bad, Native: p.Native}))
	}
	switch n := len(c.Splits) - 1; {
	case c.Within:
		text.WriteString("; the traces agree again at its end")
	case c.Healed != nil && n > 0:
		fmt.Fprintf(&text, "; the %s are equal again %s, and diverge again %s", healedBy(c), at(*c.Healed), again(&c.Splits[1]))
		if n > 1 {
			fmt.Fprintf(&text, " and %s", prose.Count(n-1, "more time", "more times"))
		}
	case c.Healed != nil:
		fmt.Fprintf(&text, "; the %s are equal again %s", healedBy(c), at(*c.Healed))
	}
	return text.String() + "."
}

// again describes when peers diverged again.
func again(s *bisect.Split) string {
	if s.Good == nil {
		return "at or before " + point(verdict.MomentOf(s.Bad))
	}
	return between(verdict.MomentOf(*s.Good), verdict.MomentOf(s.Bad))
}

// between names the two state points that something lies between.
func between(good, bad verdict.Moment) string {
	switch {
	case good.Native != "" && bad.Native != "" && good.Relation == snapshot.After && bad.Relation == snapshot.After:
		return fmt.Sprintf("after %s, in %s at the latest", good.Native, bad.Native)
	case coded(good) && coded(bad):
		return fmt.Sprintf("between state points %s and %s", both(good), both(bad))
	}
	return fmt.Sprintf("between %s and %s", point(good), point(bad))
}

// checkpoint names the place of a checkpoint inside its tick.
func checkpoint(cp *verdict.Checkpoint) string {
	parts := lists.Where([]string{cp.System, cp.Scope}, func(part string) bool { return part != "" })
	return strings.Join(parts, ", ")
}

// atCheckpoint describes what peers have at the first checkpoint that differs: the place that its details lead to, else
// the values, and where call stacks diverge.
func atCheckpoint(c *verdict.Conclusion) string {
	values := strings.Join(c.Checkpoint.Values, ", ")
	order := lists.Map(c.Peers, func(x document.TriagedPeer) string { return x.Name })
	d := c.Checkpoint.Details(order...)
	switch {
	case d == nil:
		return values
	case d.Kind == tracediff.Path && len(d.Peers) > 0:
		path := lists.Map(d.Same, func(line document.DetailDocument) string { return line.Text })
		if len(path) == 0 {
			return eachFirst(d)
		}
		return strings.Join(path, " / ") + ": " + eachFirst(d)
	case d.Kind == tracediff.Stack && len(d.Peers) > 0 && len(d.Same) == 0:
		return values + "; " + eachFirst(d)
	case d.Kind == tracediff.Stack && len(d.Peers) > 0:
		return fmt.Sprintf("%s; the call stacks differ from frame %d: %s", values, len(d.Same), eachFirst(d))
	case d.Kind == tracediff.Stack && len(d.Same) > 1:
		return values + "; the call stacks are the same"
	}
	return values
}

// nearby describes the first value near the checksums that differ, and counts the others.
func nearby(c *verdict.Conclusion) string {
	name, values, others := nearbyValues(c)
	text := name + " is " + values
	if since := c.Checkpoint.Details().Same[0].Aside; since != "" {
		text += " " + since
	}
	if n := len(others); n > 0 {
		text += fmt.Sprintf(", and %s", prose.Count(n, "more value differs", "more values differ"))
	}
	return text
}

// nearbyValues returns the name of the first value near the checksums that differ, with each peer's value, and the names of
// the other values.
func nearbyValues(c *verdict.Conclusion) (name, values string, others []string) {
	d := c.Checkpoint.Details(lists.Map(c.Peers, func(x document.TriagedPeer) string { return x.Name })...)
	for _, line := range d.Peers[0].Rest[1:] {
		others = append(others, line.Text[:max(0, strings.LastIndexByte(line.Text, ' '))])
	}
	list := lists.Map(d.Peers, func(p document.PeerDetails) string { return p.Rest[0].Text + " on " + p.Peer })
	return d.Same[0].Text, join(list, "and"), others
}

// eachFirst quotes each peer's first line in which details differ.
func eachFirst(d *document.Details) string {
	var parts []string
	for _, p := range d.Peers {
		text := "nothing more"
		if len(p.Rest) > 0 {
			text = p.Rest[0].Text
			if d.Kind == tracediff.Stack { // the place in a method, not in a file
				text = strings.TrimSpace(text + " " + p.Rest[0].Aside)
			}
		}
		parts = append(parts, text+" on "+p.Peer)
	}
	return strings.Join(parts, ", ")
}

// where names what differs.
func where(c *verdict.Conclusion) string {
	root, known := c.Root()
	if list := c.MayBeFirst(); !known {
		switch {
		case c.Compared == nil || len(list) == 0:
			return ""
		case len(c.Schema()) > 0:
			return schema(c)
		case c.Compared.Values+uint64(len(c.Compared.Rows)) == 0:
			return "the files of the states do not have the same columns, and no value differs"
		case len(list) > 1:
			return several(c, list)
		}
		root = list[0]
	}
	return within(c, root)
}

// leading describes the field of some archetypes that has most values that differ, and counts what else differs. It is
// empty if no value differs, or if the values have only other places.
func leading(c *verdict.Conclusion, archetypes []string) string {
	fields := c.Fields(archetypes)
	if len(fields) == 0 {
		return ""
	}
	if slices.ContainsFunc(c.Compared.Reordered, func(l string) bool { return slices.Contains(fields[0].Archetypes, l) }) {
		return "" // the values have only other places
	}
	var kinds []string
	var one *document.LocusField
	for i := range c.Locus {
		if f := &c.Locus[i]; f.Component == prose.Name(fields[0].Component) && f.Field == prose.Name(fields[0].Field) && slices.Contains(archetypes, f.Archetype) {
			kinds, one = add(kinds, entityOf(c, f).Kind), f
		}
	}
	kind := ""
	if len(kinds) == 1 {
		kind = kinds[0]
	}
	text := fields[0].Clause(c.Compared.Peers, kind)
	if fields[0].Values == 1 && one != nil {
		text = single(c, one)
	}
	switch n := len(fields) - 1; {
	case n == 1:
		text += ", and 1 more field differs"
	case n > 1:
		text += fmt.Sprintf(", and %d more fields differ", n)
	}
	if slices.Contains(archetypes, "") { // all that is random follows
		rng := "the RNG differs"
		if d := c.Compared.Drawn; d != nil {
			rng = drawn(d)
		}
		if constant(&fields[0]) {
			text += "; " + rng
		} else {
			text = rng + "; " + text
		}
	}
	var rows uint64
	var entities int
	whole := true
	for i := range c.Compared.Rows {
		if r := &c.Compared.Rows[i]; !r.Cache && slices.Contains(archetypes, r.Archetype) {
			list, all := absent(c, r)
			whole = whole && all && !slices.ContainsFunc(list, func(e *document.Entity) bool { return e.OnlyOn != r.Peer })
			rows, entities = rows+r.Count, entities+len(list)
		}
	}
	switch {
	case rows > 0 && whole:
		text += "; " + prose.Count(entities, "entity is", "entities are") + " on one side only"
	case rows > 0:
		text += "; " + prose.Count(rows, "row is", "rows are") + " on one side only"
	}
	return text
}

// single describes a value that differs: "Health.hp of Tank 5 is 7 on client and 9 on host".
func single(c *verdict.Conclusion, f *document.LocusField) string {
	text := fieldName(f)
	if e := entityOf(c, f); e.Kind != states.GlobalLabel || e.Key != "0" { // not the values that belong to no entity
		text += " of " + e.Short()
	}
	a, b := c.Compared.Peers[0], c.Compared.Peers[1]
	if values := fmt.Sprintf(" is %s on %s and %s on %s", f.Values[a], a, f.Values[b], b); len(values) < 96 {
		return text + values
	}
	return text + " differs"
}

// seen names what differs in the states that were compared, and how many ticks they were saved after the first moment
// that is known to differ. It is empty if where names it, or if there are no such states.
func seen(c *verdict.Conclusion) string {
	if c.Compared == nil || len(c.MayBeFirst()) > 0 {
		return ""
	}
	first := c.Bracket.Bad.Tick
	if c.Tick != nil {
		first = min(first, c.Tick.Number+1)
	}
	if c.Compared.Point <= first {
		return ""
	}
	var list []string
	for i := range c.Compared.Columns {
		if col := &c.Compared.Columns[i]; !col.Cache {
			list = add(list, col.Archetype)
		}
	}
	for i := range c.Compared.Rows {
		if rows := &c.Compared.Rows[i]; !rows.Cache {
			list = add(list, rows.Archetype)
		}
	}
	slices.Sort(list)
	later := "what differs " + prose.Count(c.Compared.Point-first, "tick", "ticks") + " later: "
	switch len(list) {
	case 0:
		return ""
	case 1:
		return later + within(c, list[0])
	}
	return later + several(c, list)
}

// within names what differs within an archetype, the RNG if it is empty.
func within(c *verdict.Conclusion, root string) string {
	if root == "" && c.Compared != nil && c.Compared.Drawn != nil {
		return drawn(c.Compared.Drawn)
	} else if root == "" {
		return "the RNG"
	}
	if len(c.Schema()) > 0 {
		return schema(c)
	}
	if list := c.Fields([]string{root}); len(list) > 1 || len(list) == 1 && list[0].Values > 1 {
		if text := leading(c, []string{root}); text != "" {
			return text
		}
	}
	var fields, missing []string
	var of []*document.Entity
	var values string
	var one bool
	for i := range c.Locus {
		f := &c.Locus[i]
		if f.Archetype != root || f.Cache || c.Component != "" && f.Component != c.Component {
			continue
		}
		fields, of = add(fields, fieldName(f)), addEntity(of, entityOf(c, f))
		a, b := c.Compared.Peers[0], c.Compared.Peers[1]
		one = f.Bits == 1 && (f.Kind == snapshot.KindInteger || f.Kind == snapshot.KindFixed) && (f.Units > 1 || len(f.Difference) > 2) ||
			f.Kind == snapshot.KindFloat && len(c.Likenesses) > 0 && c.Likenesses[0].Sign.Kind == verdict.OneBit // not by rounding
		values = fmt.Sprintf(" %s on %s and %s on %s", f.Values[a], a, f.Values[b], b)
	}
	if c.Compared != nil {
		for i := range c.Compared.Rows {
			if rows := &c.Compared.Rows[i]; rows.Archetype == root && !rows.Cache {
				missing = append(missing, only(c, rows))
			}
		}
	}
	switch {
	case len(of) == 0 && len(missing) > 0:
		return join(missing, "and")
	case len(of) == 0 && c.Component != "" && c.Component != root:
		return c.Component + " of " + root
	case len(of) == 0:
		return root
	case len(fields) == 1 && len(of) == 1 && len(values) < 90:
		text := fields[0]
		if of[0].Kind != states.GlobalLabel || of[0].Key != "0" { // not the values that belong to no entity
			text += " of " + of[0].Title()
		}
		if one {
			return "one bit of " + text + " differs, which is" + values
		}
		return text + " is" + values
	case len(fields) == 1:
		return fields[0] + " of " + entities(root, of)
	case len(of) == 1 && of[0].Kind == states.GlobalLabel && of[0].Key == "0":
		return upTo(fields, 3)
	}
	text := entities(root, of)
	if c.Component != "" && c.Component != root {
		return c.Component + " of " + text
	}
	return text
}

// schema names columns that are not the same on both sides.
func schema(c *verdict.Conclusion) string {
	var parts []string
	for _, s := range c.Schema() {
		parts = append(parts, fmt.Sprintf("column %s.%s of %s is %s", s.Component, s.Field, label(s.Archetype), s.Text()))
	}
	return upTo(parts, 3) + ", and no value differs"
}

// several describes the leading field of archetypes, or names the archetypes, with their entity where only one differs.
func several(c *verdict.Conclusion, list []string) string {
	if text := leading(c, list); text != "" {
		return text
	}
	const most = 3
	type named struct {
		archetypes []string
		of         string // empty if it is not one entity
	}
	var all []named
	for _, l := range list[:min(len(list), most)] {
		name, of := label(l), ""
		if e := onlyEntity(c, l); e != nil {
			of = e.Short()
		}
		i := slices.IndexFunc(all, func(n named) bool { return n.of == of && of != "" })
		if i < 0 {
			i = len(all)
			all = append(all, named{of: of})
		}
		all[i].archetypes = append(all[i].archetypes, name)
	}
	var names []string
	for _, n := range all {
		switch text := join(n.archetypes, "and"); {
		case n.of == "":
			names = append(names, text)
		case strings.HasPrefix(n.of, text+" "): // it is called after the archetype
			names = append(names, n.of)
		default:
			names = append(names, text+" of "+n.of)
		}
	}
	if n := len(list) - most; n > 0 {
		return fmt.Sprintf("%s and %d more differ", strings.Join(names, ", "), n)
	}
	return join(names, "and") + " differ"
}

// healedBy names the things that are equal again: states, or hashes alone.
func healedBy(c *verdict.Conclusion) string {
	if c.Compared == nil && (len(c.Splits) == 0 || len(c.Splits[0].HealedFiles) == 0) {
		return "hashes"
	}
	return "states"
}

package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Verdict describes what happened in at most four sentences: differences in the game itself if there are any, what is
// known, then what is not.
func Verdict(c *verdict.Conclusion) []string {
	if text := otherGame(c); text != "" {
		return append([]string{text}, verdictLines(c)...)
	}
	return verdictLines(c)
}

// otherGame describes what about the game differs between peers, "" if no difference is known: another build, data or
// tick rate explains a desync better than everything else.
func otherGame(c *verdict.Conclusion) string {
	var parts []string
	for _, f := range c.Facts {
		if !f.Must {
			continue
		}
		var values []string
		for _, peer := range slices.Sorted(maps.Keys(f.Values)) {
			values = append(values, prose.Name(f.Values[peer])+" on "+peer)
		}
		parts = append(parts, f.Name+" "+strings.Join(values, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("The peers do not play the same game: %s.", strings.Join(parts, "; "))
}

func verdictLines(c *verdict.Conclusion) []string {
	switch {
	case c.Word != nil:
		return told(c)
	case c.Alone:
		return append([]string{alone(c)}, says(c)...)
	case !c.Diverged():
		return failed(c, undiverged(c))
	case c.Bracket == nil:
		return failed(c, withoutBracket(c))
	}
	if c.Runs != verdict.RunsOfPeers {
		return failed(c, []string{parted(c), why(c), twice(c)})
	}
	if c.OnlyHistories {
		return failed(c, onlyHistories(c))
	}
	sentences := []string{parted(c), why(c), who(c)}
	if unreplayed(c) { // the source
		return sentences
	}
	return failed(c, sentences)
}

// onlyHistories reports that only the peers' history hashes differ.
func onlyHistories(c *verdict.Conclusion) []string {
	b := c.Bracket
	text := fmt.Sprintf("The history hashes of %s and %s differ %s", b.A, b.B, at(verdict.MomentOf(b.Bad)))
	since := "before it"
	if b.Good != nil {
		text += fmt.Sprintf(" and are equal %s", at(verdict.MomentOf(*b.Good)))
		since = "in between"
	}
	return []string{
		text + "; every state that both left is equal.",
		fmt.Sprintf("Either they diverged %s and came back, or one of them recorded another past than it had.", since),
		"Each history is the word of its peer alone: hashes or states of every tick would show which.",
	}
}

// failed adds after the first sentence that the simulator failed, if it did.
func failed(c *verdict.Conclusion, sentences []string) []string {
	if c.SimFailed == "" {
		return sentences
	}
	return slices.Insert(sentences, 1, "The simulator failed: "+c.SimFailed+".")
}

// unreplayed reports whether it is not known who is wrong since the simulator failed.
func unreplayed(c *verdict.Conclusion) bool {
	return c.SimFailed != "" && !c.OwnFailed && len(c.Guilty) == 0 && !c.Inputs.Differ()
}

func alone(c *verdict.Conclusion) string {
	switch n := len(c.Covers); n {
	case 0:
		return "Nothing can be compared: there is evidence of one peer only."
	case 1:
		return fmt.Sprintf("Nothing can be compared: there is evidence of one peer only, %s.", c.Covers[0].Name)
	default:
		return fmt.Sprintf("Nothing can be compared: the evidence of %d peers has nothing in common.", n)
	}
}

// says quotes a game's message about a desync that nothing confirms.
func says(c *verdict.Conclusion) []string {
	for i := range c.Statements {
		if s := &c.Statements[i]; s.Standing != tracediff.Borne {
			return []string{fmt.Sprintf("Yet the game reports %s, and nothing here confirms that.", prose.Quote(s.Text))}
		}
	}
	return nil
}

// undiverged reports that nothing is known to differ.
func undiverged(c *verdict.Conclusion) []string {
	text := "No difference was found"
	if r := c.OwnReplay; r != nil {
		text += fmt.Sprintf(" between what %s recorded and a replay of its own %s", prose.Name(r.Peer), prose.Count(r.Orders, "order", "orders"))
	}
	if len(c.Noise) > 0 {
		text += " in what the files count as state"
	}
	lost := len(c.Lost) + len(c.Lacking)
	if lost > 0 || c.LogsUnsure && len(c.Statements) == 0 && c.Inputs.State != verdict.InputsLogs {
		text += " in what could be read"
	}
	if !c.Search.Compares() {
		text = "No state was compared"
	} else if s := searched(c); s != "" {
		text += ": " + s
	}
	switch in := &c.Inputs; {
	case in.Line == "":
	case in.Count == 0 && in.Window != nil:
		text += fmt.Sprintf("; the orders are equal (%d)", in.Window.Orders)
	case in.State == verdict.InputsLogs:
		text += "; the order logs differ"
	default:
		text += "; " + in.Line
	}
	out := []string{text + "."}
	if r := c.OwnReplay; r != nil {
		out = append(out, fmt.Sprintf("This does not show whether other peers had the same orders: one that was lost, changed or late on its way is replayed as %s had it.", prose.Name(r.Peer)))
	}
	if list := c.Noise; len(list) > 0 {
		differs := "differs"
		if len(list) > 1 {
			differs = "differ"
		}
		out = append(out, fmt.Sprintf("%s %s, which the files declare to be noise: no state hash covers it.", upTo(list, maxTold), differs))
	}
	if in := &c.Inputs; in.State == verdict.InputsLogs {
		out = append(out, fmt.Sprintf("Nothing shows that the peers were given different orders: %s; %s. A log may lack what its peer applied.", Difference(in.Parting), unborne(in)))
	}
	out = append(out, says(c)...)
	if text := departsAlone(c); text != "" {
		out = append(out, text)
	}
	if lost > 0 {
		out = append(out, fmt.Sprintf("%s lost or lacking, which may hide a difference.", prose.Count(lost, "piece of evidence is", "pieces of evidence are")))
	} else if n := len(c.Contradictions); n > 0 {
		out = append(out, fmt.Sprintf("%s, so that this is not certain.", prose.Count(n, "piece of evidence contradicts another", "pieces of evidence contradict others")))
	}
	return out
}

// withoutBracket describes a divergence that is not a divergence of states.
func withoutBracket(c *verdict.Conclusion) []string {
	switch {
	case c.Kind == bisect.ChecksumOnly:
		text := "Only checksums differ, the states are equal"
		if n := c.Search.Points; n > 0 {
			text += fmt.Sprintf(" at all %s", prose.Count(n, "common state point", "common state points"))
		}
		out := []string{text + "."}
		if s := c.Checksums; s != nil {
			what := "checksums"
			if s.By == "" {
				what = "recorded hashes"
			}
			out = append(out, fmt.Sprintf("The %s %s: %s.", what, span(s), groups(s.Groups)))
		}
		return append(out, why(c))
	case c.Kind == bisect.InputsDiffer:
		text := "The peers were given different orders"
		if in := &c.Inputs; in.By == verdict.BorneByGame {
			text += ", and a game reports that they diverged"
		} else if in.By == verdict.BorneByHash {
			text += ", and recorded hashes differ after that"
		} else if !c.Search.Compares() {
			text += "; no state was compared"
		} else {
			text += "; no state is known to differ"
		}
		out := []string{text + "."}
		if s := blamed(c); s != "" {
			out = append(out, s)
		}
		return append(out, why(c))
	case c.Kind == bisect.StaleCache && c.Cache == nil:
		return staleCaches(c)
	case c.Kind == bisect.StaleCache:
		k := c.Cache
		text := fmt.Sprintf("Data that %s derives from its state was stale: its game reports %s after %s", k.Peer, prose.Quote(k.Text),
			tick(verdict.Moment{Number: k.After, Native: k.NativeAfter}))
		if k.Before != nil {
			text += fmt.Sprintf(", before %s", both(verdict.Moment{Number: *k.Before, Native: k.NativeBefore}))
		}
		out := []string{text + "."}
		if c.Search.Compares() {
			out = append(out, "The states are equal: "+searched(c)+".")
		} else {
			out = append(out, "The orders are equal, and no state was compared.")
		}
		return append(out, why(c))
	case c.Inputs.Line != "" && c.Inputs.Hashes != nil:
		return []string{fmt.Sprintf("The order logs show that the states differ: %s.", c.Inputs.Basis)}
	case len(c.Statements) > 0:
		return []string{fmt.Sprintf("The engine reports that the peers diverged: %s.", prose.Quote(c.Statements[0].Text))}
	case c.Inputs.Line != "" && c.Inputs.State != verdict.InputsUnknown && c.Inputs.State != verdict.InputsApart:
		return []string{fmt.Sprintf("The order logs show that the states differ: %s.", c.Inputs.Basis)}
	}
	return []string{"The checksums of the peers differ."}
}

// staleCaches reports that only caches differ.
func staleCaches(c *verdict.Conclusion) []string {
	k := c.Caches
	text := fmt.Sprintf("Data that %s and %s derive from their states differs %s: %s", k.A, k.B, at(verdict.MomentOf(k.Bad)), join(k.Labels, "and"))
	if k.Good != nil {
		text += fmt.Sprintf("; it was equal %s", at(verdict.MomentOf(*k.Good)))
	}
	if k.Again != nil {
		text += fmt.Sprintf("; it is equal again %s", at(verdict.MomentOf(*k.Again)))
	}
	return []string{text + ".", "The states themselves are equal: " + searched(c) + ".", why(c)}
}

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
			fmt.Fprintf(&text, " (equal %s, different %s)", at(verdict.MomentOf(*b.Good)), at(bad))
		}
	case document.WhenBetween:
		text.WriteString(" diverged " + between(verdict.MomentOf(*b.Good), bad))
	default:
		text.WriteString(" differ " + at(bad))
	}
	if cp := c.Checkpoint; cp != nil && c.SystemBy == verdict.SystemByCheckpoint {
		text.WriteString(", in " + checkpoint(cp))
	} else if c.SystemBy == verdict.SystemByRestore {
		text.WriteString(", by a rollback: " + restored(c))
	} else if c.SystemBy == verdict.SystemByOutside {
		text.WriteString(", after its last system")
	} else if c.System != "" {
		text.WriteString(", in " + c.System)
	}
	if b.Good == nil && when.Kind != document.WhenStart && when.Kind != document.WhenLoad {
		text.WriteString(", and nothing before is known to be equal")
	}
	switch what := where(c); {
	case what != "":
		text.WriteString(": " + what)
		if c.Compared != nil && len(c.Compared.Reordered) > 0 {
			fmt.Fprintf(&text, "; of %s both have the same rows, which have no ids, in another order", upTo(c.Compared.Reordered, 3))
		}
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
	var parts []string
	for _, part := range []string{cp.System, cp.Scope} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// atCheckpoint describes what peers have at the first checkpoint that differs: the place that its details lead to, else
// the values, and where call stacks diverge.
func atCheckpoint(c *verdict.Conclusion) string {
	values := strings.Join(c.Checkpoint.Values, ", ")
	var order []string
	for i := range c.Peers {
		order = append(order, c.Peers[i].Name)
	}
	d := c.Checkpoint.Details(order...)
	switch {
	case d == nil:
		return values
	case d.Kind == tracediff.Path && len(d.Peers) > 0:
		var path []string
		for _, line := range d.Same {
			path = append(path, line.Text)
		}
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
			return several(c, list) + " differ"
		}
		root = list[0]
	}
	return within(c, root)
}

// seen names what differs in the states that were compared, and how many ticks they were saved after the first moment
// that is known to differ. It is empty if where names it, or if there are no such states.
func seen(c *verdict.Conclusion) string {
	if c.Compared == nil || c.Compared.Point <= c.Bracket.Bad.Tick || len(c.MayBeFirst()) > 0 {
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
	later := "what differs " + prose.Count(c.Compared.Point-c.Bracket.Bad.Tick, "tick", "ticks") + " later: "
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
	if root == "" {
		return "the RNG"
	}
	if len(c.Schema()) > 0 {
		return schema(c)
	}
	var fields, missing []string
	var of []*document.Entity
	var values string
	for i := range c.Locus {
		f := &c.Locus[i]
		if f.Archetype != root || f.Cache || c.Component != "" && f.Component != c.Component {
			continue
		}
		fields, of = add(fields, fieldName(f)), addEntity(of, entityOf(c, f))
		a, b := c.Compared.Peers[0], c.Compared.Peers[1]
		values = fmt.Sprintf("%s on %s, %s on %s", f.Values[a], a, f.Values[b], b)
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
	case len(fields) == 1 && len(of) == 1 && len(values) < 76:
		if of[0].Title() == of[0].Short() {
			values = " (" + values + ")"
		} else { // which already has parentheses
			values = ", " + values
		}
		return fields[0] + " of " + of[0].Title() + values
	case len(fields) == 1:
		return fields[0] + " of " + entities(root, of)
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

// several names archetypes, with their entity where only one differs.
func several(c *verdict.Conclusion, list []string) string {
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
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), n)
	}
	return join(names, "and")
}

// healedBy names the things that are equal again: states, or hashes alone.
func healedBy(c *verdict.Conclusion) string {
	if c.Compared == nil && (len(c.Splits) == 0 || len(c.Splits[0].HealedFiles) == 0) {
		return "hashes"
	}
	return "states"
}

// why names the cause, or what the divergence looks like, or explains why no cause is known.
func why(c *verdict.Conclusion) string {
	names := likeliest(c)
	if len(names) == 0 {
		return "The cause is not known: " + unfit(c) + "."
	}
	first := &c.Causes[0]
	text := join(names, map[bool]string{false: "or", true: "and"}[first.Together])
	if len(names) == 1 {
		text = fmt.Sprintf("%s (%s)", lower(title(names[0])), names[0])
	}
	switch first.Standing {
	case verdict.Shown:
		text = "Cause, by experiment: " + text
	case verdict.NotExcluded:
		return "No experiment shows the cause. Not excluded: " + text + "."
	case verdict.Seen:
		text = "Cause: " + text
	default:
		text = "It looks like this: " + text
		if r := first.Rate; r != nil {
			text += fmt.Sprintf("; of %d measured sessions with such evidence that was right in %d", r.Of, r.Right)
		}
	}
	switch {
	case len(names) > 1 && first.Together:
		text += ", which hold together"
	case len(names) > 1:
		text += "; this evidence does not separate them"
	}
	return text + "."
}

// unfit explains why no cause is known.
func unfit(c *verdict.Conclusion) string {
	switch {
	case slices.ContainsFunc(c.Experiments, func(x verdict.Experiment) bool { return x.Result == verdict.NotMade }):
		return "not all experiments that may show it were made"
	case c.Compared == nil:
		return "no states of the moment at which the peers diverged were compared"
	case c.Later == 0:
		return "what differs does not look enough like any class of mistakes"
	case c.Tick != nil:
		return fmt.Sprintf("the nearest states that differ were saved %s later", prose.Count(c.Later, "tick", "ticks"))
	case c.Bracket != nil && c.Bracket.Good == nil:
		return "the peers may have diverged long before these states were saved"
	}
	return fmt.Sprintf("the states that differ were saved up to %s after the divergence", prose.Count(c.Later, "tick", "ticks"))
}

// likeliest returns the classes of the causes.
func likeliest(c *verdict.Conclusion) (classes []string) {
	for i := range c.Causes {
		classes = append(classes, c.Causes[i].Class)
	}
	return classes
}

// who names the peer that is wrong, as far as that is known.
func who(c *verdict.Conclusion) string {
	if c.Witnessed != nil && !c.Inputs.Differ() {
		return whoWitnessed(c)
	}
	switch {
	case len(c.Guilty) > 0:
		verb := "departs"
		if len(c.Guilty) > 1 {
			verb = "depart"
		}
		by, of := "Wrong", ""
		if b := c.Borrowed; b != nil {
			by += ", by the word of " + b.From + " alone"
			of = fmt.Sprintf(" of %s; the log of %s is not there, so it may have been given others", b.From, b.Peer)
		}
		if c.OwnReplay != nil {
			of = " in its own log"
		}
		return fmt.Sprintf("%s: %s, which %s from a replay of the orders%s.", by, join(c.Guilty, "and"), verb, of)
	case c.Inputs.Differ():
		if s := blamed(c); s != "" {
			return s
		}
		return "The peers were given different orders."
	case unreplayed(c):
		return "Which peer is wrong is not known: the simulator failed: " + c.SimFailed + "."
	case c.Unsteady:
		return "Which peer is wrong is not known: the simulator does not agree with itself, replays of the same orders differ."
	case c.Replayed:
		return "Which peer is wrong is not known: the replay departs from none there, or from every one."
	}
	if r := c.Restored; r != nil {
		return fmt.Sprintf("%s departs from the state that it had saved itself; a replay of the orders would show whether the others are right (%s).", prose.Name(r.Peer), sim(c))
	}
	would := "a replay of the orders would show it (" + sim(c) + ")"
	switch {
	case c.Held.Logs > 0:
	case slices.ContainsFunc(c.Answers, unlogged):
		would = "only a replay of the orders would show it, and no order logs of " + c.Engine.Name() + " are read"
	default:
		would = "an order log and a replay of it would show it (" + sim(c) + ")"
	}
	if len(c.Groups) > 1 && len(c.Peers) > 2 {
		would = groups(c.Groups) + "; " + would
	}
	return "Which peer is wrong is not known: " + would + "."
}

// sim is the flag that has the orders replayed.
func sim(c *verdict.Conclusion) string {
	if c.Replayer != nil {
		return "--sim " + c.Replayer.Name
	}
	return "--sim"
}

// unlogged reports whether a step needs an order log, and none of the game is read.
func unlogged(a verdict.Answer) bool {
	return slices.ContainsFunc(a.Unmade, func(n verdict.Need) bool { return n.What == verdict.SimulatorOrders })
}

// blamed describes how the orders differ, "" if that is not known.
func blamed(c *verdict.Conclusion) string {
	if c.Inputs.Parting == nil {
		return ""
	}
	return fmt.Sprintf("The network layer is to blame: %s.", partingOrder(&c.Inputs))
}

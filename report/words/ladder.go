package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// Ladder writes the narrowing step by step.
func Ladder(c *verdict.Conclusion) []document.Rung {
	rungs := []document.Rung{}
	for _, a := range c.Answers {
		found, evidence := answer(c, a)
		if a.State == document.RungOpen {
			switch {
			case len(a.Needs) > 0:
				evidence = clauses("; ", "needs "+Needs(a.Needs), evidence)
			case len(a.Unmade) > 0:
				evidence = clauses("; ", "no file of "+c.Engine.Name()+" shows it", evidence)
			}
		}
		switch word := oneWord(a.RestsOn); {
		case word == "":
		case evidence == "":
			evidence = word
		case a.Step == verdict.StepClaims: // its quotation comes first
			evidence += "; " + word
		default:
			evidence = word + "; " + evidence
		}
		rung := document.Rung{Step: string(a.Step), State: a.State, Found: found, Evidence: evidence, RestsOn: a.RestsOn}
		rung.Needs = lists.Map(a.Needs, Need)
		rungs = append(rungs, rung)
	}
	return rungs
}

// oneWord names the peers that a finding depends on alone, "" if there is other evidence.
func oneWord(peers []string) string {
	switch len(peers) {
	case 0:
		return ""
	case 1:
		return "by the files of " + peers[0] + " alone"
	}
	return "by the files of " + upTo(peers, maxTold) + ", each peer alone"
}

// answer describes a step's finding and its evidence; the needs of an open step are described elsewhere.
func answer(c *verdict.Conclusion, a verdict.Answer) (found, evidence string) {
	open := a.State == document.RungOpen
	switch a.Step {
	case verdict.StepPreflight:
		return preflight(c)
	case verdict.StepInputs:
		return inputs(c)
	case verdict.StepInitial:
		switch {
		case open:
			return "not known", ""
		case c.InitialState:
			return "differs before any tick", searched(c)
		}
		if c.Bracket.Good == nil {
			return "equal", "both runs began the tick with the same state"
		}
		return "equal", foundBy(c.Bracket) + " agree " + at(verdict.MomentOf(*c.Bracket.Good))
	case verdict.StepBracket:
		return bracket(c, open)
	case verdict.StepChecksums:
		return checksums(c.Checksums)
	case verdict.StepTick:
		if open && c.Bracket == nil {
			return "not known", ""
		} else if open {
			return "within the bracket", ""
		}
		return divergentTick(c), [...]string{
			verdict.TickByBracket:    "the bracket is one tick wide",
			verdict.TickByTraces:     "the traces diverge there, within the bracket",
			verdict.TickByCheckpoint: "the first value that differs in the traces is in that tick",
			verdict.TickByWord:       "the first that the game's own test names",
		}[c.TickBy]
	case verdict.StepSystem:
		if open {
			return "not known", ""
		}
		return system(c)
	case verdict.StepArchetype:
		return archetype(c, open)
	case verdict.StepComponent:
		if open {
			return "not known", ""
		}
		return c.Component, "column digests"
	case verdict.StepEntity:
		return entityList(c)
	case verdict.StepField:
		if open {
			return "not known", ""
		}
		if c.Compared == nil && c.Checkpoint != nil {
			name, values, others := nearbyValues(c)
			return listed(append([]string{name}, others...)), "near the checksums: " + values
		}
		return fieldList(c)
	case verdict.StepPeers:
		if c.Word != nil {
			if open {
				return "not known", ""
			}
			return tellPeers(c)
		}
		return peers(c)
	case verdict.StepCode:
		return code(c)
	case verdict.StepCause:
		switch {
		case !open:
			return join(likeliest(c), map[bool]string{false: "or", true: "and"}[c.Causes[0].Together]), strings.Join(signs(c.Causes[0].Signs), "; ")
		case c.Compared != nil:
			return "not known", unfit(c)
		}
		return "not known", ""
	case verdict.StepClaims:
		if c.Word != nil {
			return tellClaims(c)
		}
		return claims(c)
	}
	return "", ""
}

func preflight(c *verdict.Conclusion) (found, evidence string) {
	parts := []string{prose.Count(len(c.Peers), "peer", "peers")}
	if c.Word != nil || c.Runs != verdict.RunsOfPeers || slices.ContainsFunc(c.Peers, func(p document.TriagedPeer) bool { return p.Mentioned }) {
		parts[0] = tellPreflight(c)
	}
	if c.OwnReplay != nil {
		parts[0] = "1 peer and a replay of its log"
	}
	names := lists.Map(c.Facts, func(f document.Fact) string { return f.Name })
	if len(names) > 0 {
		parts = append(parts, "differing in "+strings.Join(names, ", "))
	}
	if n := len(c.Lost) + len(c.Lacking); n > 0 {
		parts = append(parts, prose.Count(n, "piece", "pieces")+" of evidence lost or lacking")
	}
	if n := len(c.Contradictions); n > 0 {
		parts = append(parts, prose.Count(n, "contradiction", "contradictions"))
	}
	h := c.Held
	have := []string{prose.Count(h.States, "state", "states"), prose.Count(h.Logs, "order log", "order logs"), prose.Count(h.Traces, "trace", "traces")}
	if h.Checked > 0 {
		have = append(have, fmt.Sprintf("hashes of %s computed again from the content", prose.Count(h.Checked, "file", "files")))
	}
	if h.Chains > 0 {
		have = append(have, prose.Count(h.Chains, "chain of signatures verified", "chains of signatures verified"))
	}
	evidence = strings.Join(have, ", ") + readBy(c)
	if text := lackedData(c); text != "" {
		evidence += "; " + text
	}
	return strings.Join(parts, ", "), evidence
}

// readBy describes how the formats of the evidence are known, "" if the program knows them all.
func readBy(c *verdict.Conclusion) string {
	page, itself := slices.Contains(c.Session.KnownBy, document.KnownByPage), slices.Contains(c.Session.KnownBy, document.KnownByItself)
	switch {
	case page && itself:
		return "; read by a page, and as the files themselves show"
	case page:
		return "; read by a page"
	case itself:
		return "; read as the files themselves show"
	}
	return ""
}

// lackedData reports that a peer could not load something that the others could, "" if no log shows that.
func lackedData(c *verdict.Conclusion) string {
	l := c.LackedData()
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%s alone has in its log: %s (%s)", l.Have[0].Peer, prose.Quote(l.Text), l.Where())
}

// searched describes which parts of the states were compared.
func searched(c *verdict.Conclusion) string {
	s := &c.Search
	var parts []string
	if s.Points > 0 {
		how, whole := compared(s)
		if s.Peers == 2 {
			parts = append(parts, fmt.Sprintf("%d of %s of states %s", s.Opened, prose.Count(s.Pairs, "pair", "pairs"), how)+whole)
		} else {
			parts = append(parts, fmt.Sprintf("%s of states %s at %s", prose.Count(s.Opened, "pair", "pairs"), how, prose.Count(s.Points, "state point", "state points"))+whole)
		}
	}
	if s.Recorded > 0 {
		parts = append(parts, prose.Count(s.Recorded, "recorded hash", "recorded hashes"))
	} else if s.Hashes > 0 {
		parts = append(parts, prose.Count(s.Hashes, "pair", "pairs")+" of recorded hashes")
	}
	if len(s.Kinds) > 0 {
		parts = append(parts, fmt.Sprintf("checksums of %d peers (%s)", s.TracePeers, strings.Join(s.Kinds, ", ")))
	}
	return strings.Join(parts, ", ")
}

// compared returns how states were compared, and the state points at which more was compared than the hashes in the
// states' headers.
func compared(s *verdict.Search) (how, whole string) {
	switch len(s.Content) {
	case 0:
		return "opened", ""
	case s.Points:
		return "read whole", ""
	}
	return "compared by hash", ", read whole at " + upTo(lists.Map(s.Content, short), 4)
}

func bracket(c *verdict.Conclusion, open bool) (found, evidence string) {
	b := c.Bracket
	switch {
	case open:
		return "no state was compared", ""
	case b == nil && c.Kind == bisect.ChecksumOnly:
		return "no state differs", searched(c)
	case b == nil:
		return "no difference found", searched(c)
	}
	good, numbers := "…", fmt.Sprintf("at or before %d", b.Bad.Tick)
	bad := verdict.MomentOf(b.Bad)
	if b.Good != nil {
		good, numbers = short(verdict.MomentOf(*b.Good)), fmt.Sprintf("%d to %d", b.Good.Tick, b.Bad.Tick)
	}
	parts := []string{fmt.Sprintf("by %v", b.By)}
	if bad.Native != "" && b.Bad.Known() {
		parts = []string{"state points " + numbers, parts[0]}
	}
	if s := searched(c); s != "" {
		parts = append(parts, s)
	}
	return fmt.Sprintf("(%s, %s]", good, short(bad)), strings.Join(parts, "; ")
}

// checksums describes the evidence of the games' own checksums next to the states.
func checksums(s *verdict.Checksums) (found, evidence string) {
	by := cmp.Or(s.By, "recorded hashes")
	switch s.State {
	case verdict.SumsPart:
		evidence = groups(s.Groups) + ", by the " + by
		if s.Good != nil {
			evidence += fmt.Sprintf("; they agree in %s", tick(*s.Good))
		}
		return span(s), evidence
	case verdict.SumsBlind:
		return "agree, though the states differ", fmt.Sprintf("up to %s, by the %s: they do not cover what differs", tick(*s.To), by)
	case verdict.SumsLater:
		return "differ later", fmt.Sprintf("%s hashes in the order logs differ from %s on; the states diverge before", s.Hash, from(s))
	}
	return span(s), groups(s.Groups) + ", by the " + by
}

// span describes in which ticks checksums differ.
func span(s *verdict.Checksums) string {
	if s.Point {
		return "differ from " + from(s) + " on"
	}
	if s.To != nil && s.Again != nil {
		return fmt.Sprintf("differ from %s to %s and agree again from %s on", tick(*s.From), both(*s.To), both(*s.Again))
	}
	return "differ from " + tick(*s.From) + " on"
}

// from names the first moment at which checksums differ.
func from(s *verdict.Checksums) string {
	switch {
	case !s.Point:
		return tick(*s.From)
	case s.From.Native != "":
		return both(*s.From)
	}
	return point(*s.From)
}

// restored describes the result of a restore.
func restored(c *verdict.Conclusion) string {
	r := c.Restored
	return fmt.Sprintf("the state that %s restored before %s is not the state that it had saved there (expected %s, got %s)", prose.Name(r.Peer), tick(*c.Tick), prose.Name(r.Expected), prose.Name(r.Got))
}

func system(c *verdict.Conclusion) (found, evidence string) {
	if c.SystemBy == verdict.SystemByCheckpoint {
		cp := c.Checkpoint
		return checkpoint(cp), fmt.Sprintf("the first that differs in the traces, in %s: %s", tick(cp.At), strings.Join(cp.Values, ", "))
	}
	if c.SystemBy == verdict.SystemByPassing {
		return c.System, "the first after which the traces of two peers differ; they agree again at the end of the tick"
	}
	if c.SystemBy == verdict.SystemByParts {
		return c.System, "the parts of the game with checksums that differ at the end of the tick"
	}
	if c.SystemBy == verdict.SystemByRestore {
		return "none", restored(c)
	}
	if c.SystemBy == verdict.SystemByOutside {
		return "none", fmt.Sprintf("the traces of two peers agree after %s, the last system of the tick, and differ at its end: what made them differ is outside of all systems", c.LastSystem)
	}
	evidence = "the first after which the traces of two peers differ, to the end of the tick"
	if c.SystemBy == verdict.SystemByReplay {
		evidence = "the first after which the replay departs from the peer's trace"
	}
	if p := c.Passing; p != nil {
		evidence += fmt.Sprintf("; in %s the peers differed after %s, and no longer at its end", tick(p.Tick), p.System)
	}
	return c.System, evidence
}

func archetype(c *verdict.Conclusion, open bool) (found, evidence string) {
	root, known := c.Root()
	list := c.MayBeFirst()
	switch n := len(c.Archetypes); {
	case known && n > 1 && c.InitialState:
		return label(root), fmt.Sprintf("the first of %d that differ", n)
	case known && n > 1:
		return label(root), fmt.Sprintf("the first of %d that the system left different", n)
	case known && c.Written && !c.InitialState:
		return label(root), "the only one that the system left different"
	case known:
		return label(root), "the only one that differs"
	case n > 1:
		return "one of " + labels(list, 4), ""
	case !open:
		return label(list[0]), "the only one that differs " + at(verdict.MomentOf(c.Bracket.Bad))
	case len(list) > 1 && (c.Compared == nil || c.Compared.Values+uint64(len(c.Compared.Rows)) > 0):
		return labels(list, 4), "all of them differ " + at(verdict.MomentOf(c.Bracket.Bad))
	case len(list) > 0:
		return "not known", "no value differs in these"
	}
	return "not known", ""
}

// foundBy names what a bracket was found by: a checksum in a trace may cover a part of the state.
func foundBy(b *bisect.Bracket) string {
	switch b.By {
	case bisect.ByChecksums, bisect.ByClaim: // a claim shows no state that is equal
		return "the checksums"
	case bisect.ByValues:
		return "the recorded values"
	}
	return "the states"
}

// entityList names the entities of the archetype that diverged first.
func entityList(c *verdict.Conclusion) (found, evidence string) {
	root, known := c.Root()
	var names []string
	for i := range c.Locus {
		if f := &c.Locus[i]; !f.Cache && f.Archetype != "" && (!known || f.Archetype == root) {
			names = add(names, entityOf(c, f).Short())
		}
	}
	for i := range c.Compared.Rows {
		rows := &c.Compared.Rows[i]
		if rows.Cache || known && rows.Archetype != root {
			continue
		}
		list, _ := absent(c, rows)
		for _, e := range list {
			name := e.Short()
			if e.OnlyOn != "" {
				name += " (only on " + e.OnlyOn + ")"
			}
			names = add(names, name)
		}
	}
	scope := []string{root}
	if !known {
		scope = nil
		for i := range c.Compared.Columns {
			scope = add(scope, c.Compared.Columns[i].Archetype)
		}
		for i := range c.Compared.Rows {
			scope = add(scope, c.Compared.Rows[i].Archetype)
		}
	}
	n, all := c.Entities(scope)
	if n = max(n, len(names)); n <= mostListed {
		return listed(names), comparedText(c)
	}
	more := fmt.Sprintf(" and %d more", n-mostListed)
	if !all {
		more = fmt.Sprintf(" and at least %d more", n-mostListed)
	}
	return strings.Join(names[:mostListed], ", ") + more, comparedText(c)
}

// fieldList names the fields of the archetype that diverged first.
func fieldList(c *verdict.Conclusion) (found, evidence string) {
	root, known := c.Root()
	var fields, kinds []string
	for i := range c.Locus {
		if f := &c.Locus[i]; !f.Cache && f.Archetype != "" && (!known || f.Archetype == root) {
			fields, kinds = add(fields, fieldName(f)), add(kinds, string(f.Kind))
		}
	}
	for i := range c.Compared.Columns { // the locus lacks some
		if col := &c.Compared.Columns[i]; !col.Cache && col.Archetype != "" && (!known || col.Archetype == root) {
			fields = add(fields, fieldName(&document.LocusField{Archetype: col.Archetype, FieldDocument: document.FieldDocument{Component: col.Component, Field: col.Field}}))
		}
	}
	if list := c.Schema(); len(list) > 0 {
		var texts []string
		for _, s := range list {
			fields, texts = append(fields, s.Component+"."+s.Field), append(texts, s.Text())
		}
		return listed(fields), strings.Join(texts, "; ")
	}
	if len(fields) == 0 {
		return "RNG.state", comparedText(c)
	}
	return listed(fields), strings.Join(kinds, ", ")
}

// mostListed is how many names a rung lists.
const mostListed = 3

func listed(names []string) string { return prose.FirstOf(names, mostListed) }

// comparedText names the states that were compared.
func comparedText(c *verdict.Conclusion) string {
	k := c.Compared
	text := fmt.Sprintf("%s of %s and %s compared", point(c.ComparedAt), k.Peers[0], k.Peers[1])
	if k.Point != c.Bracket.Bad.Tick {
		text += fmt.Sprintf(", %s after the first point that is known to differ: what followed is in it", prose.Count(k.Point-c.Bracket.Bad.Tick, "tick", "ticks"))
	}
	return text
}

func peers(c *verdict.Conclusion) (found, evidence string) {
	list := groups(c.Groups)
	switch {
	case c.Witnessed != nil && !c.Inputs.Differ():
		if len(c.Guilty) > 0 {
			return join(c.Guilty, "and") + " departed", witnessedLine(c) + "; " + list
		}
		return list, witnessedLine(c)
	case len(c.Guilty) > 0:
		return join(c.Guilty, "and") + " departed", "from the replay of the orders; " + list
	case c.Inputs.Differ():
		return "given different orders", list
	case len(c.Groups) < 2:
		return "not known", ""
	case unreplayed(c):
		return list, "the simulator failed"
	case c.Unsteady:
		return list, "the simulator does not agree with itself"
	case c.Replayed:
		return list, "the replay departs from no peer there, or from every one"
	case c.Majority > 0:
		return list, "the majority may be wrong"
	}
	return list, ""
}

// firstContradicted quotes the first claim that the evidence contradicts, with why.
func firstContradicted(c *verdict.Conclusion) string {
	for i := range c.Statements {
		if s := &c.Statements[i]; s.Wrong() {
			return strings.Join(append([]string{prose.Quote(s.Text)}, contradictionsOf(s)...), "; ")
		}
	}
	return ""
}

// claims compares the first word of the engine with the evidence.
func claims(c *verdict.Conclusion) (found, evidence string) {
	first, wrong := c.FirstStatement()
	text := prose.Quote(first.Text)
	switch {
	case first.Contradicted() && wrong == len(c.Statements):
		return "the engine is wrong", strings.Join(append([]string{text}, contradictionsOf(first)...), "; ")
	case wrong > 0:
		return "the engine is partly wrong", fmt.Sprintf("the evidence contradicts %d of %s: %s", wrong, prose.Count(len(c.Statements), "claim", "claims"), firstContradicted(c))
	case first.Late():
		when := ""
		if first.Tick != nil {
			when = tick(verdict.Moment{Number: *first.Tick, Native: first.Native})
		}
		return "the engine noticed later", text + ": " + when + " is an upper bound, the peers had diverged before"
	case first.Borne():
		return "the engine reports the same", text
	case first.Fits():
		return "the engine may be right", text + ": that tick lies where the peers diverged"
	}
	return "not checked", text
}

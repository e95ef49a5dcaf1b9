package bisect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Kind is the kind of a divergence.
type Kind string

// Kinds of divergences.
const (
	// StateDiffers: states differ, and so do the checksums, as far as there are any of these states.
	StateDiffers Kind = "state"
	// BlindChecksum: states differ while every checksum agrees: the game did not notice, since its checksum does not
	// cover the difference.
	BlindChecksum Kind = "blind-checksum"
	// ChecksumOnly: checksums differ while every state is equal: the hashed data came in another order, or the states
	// do not contain the difference.
	ChecksumOnly Kind = "checksum-only"
	// InputsDiffer: the peers were given different orders; no state is known to differ. Only order logs show it.
	InputsDiffer Kind = "inputs"
	// StaleCache: data that a game derives from the state differs, or a game found it wrong and recorded that in its
	// order log; the states agree.
	StaleCache Kind = "stale-cache"
	// Claimed: a game itself reports two results, and there is nothing else to compare.
	Claimed Kind = "claim"
)

// weigh compares the engines' checksums with the states.
func (r *Result) weigh(given []*tracediff.Result, peers []*peer) {
	traces := slices.Clone(given)
	for i, t := range traces {
		own := *t // its claims are judged
		own.Claims = slices.Clone(t.Claims)
		traces[i] = &own
	}
	r.Traces = traces
	var differ, agree *tracediff.Result
	b, runs := r.Bracket, slices.ContainsFunc(peers, func(p *peer) bool { return snapshot.IsRun(p.name) })
	for _, t := range traces {
		switch {
		case t.OfRuns() && b != nil && !runs: // they show nothing about the peers
		case t.Diverged() && differ == nil:
			differ = t
		case b != nil && !compares(t, b.A, b.B, len(peers)):
		case !t.Diverged() && len(t.Traces) > 1 && len(t.Uncompared) < len(t.Traces) && agree == nil:
			agree = t
		}
	}
	r.findings(traces)
	before, meanwhile := r.around(differ, peers)
	switch {
	case b == nil && differ != nil && r.Snapshots > 0 && len(r.stateless(differ, peers)) > 0:
		r.byTraces(differ)
		r.lose("no states of %s; the states of %s, which agree in their checksums too, are equal", strings.Join(r.stateless(differ, peers), ", "), strings.Join(names(peers), ", "))
	case b == nil && differ != nil && r.Snapshots > 0 && differ.OfRuns() == runs && !meanwhile:
		if r.byTraces(differ); len(r.Splits) > 0 {
			r.Healed = r.Splits[0].Healed
		}
		if b := *r.Bracket; before != nil && (b.Good == nil || b.Good.Tick < *before) {
			b.Good, b.By = &snapshot.Point{Tick: *before}, BySnapshotsAndSums
			r.set(b)
		}
	case b == nil && differ != nil && r.Snapshots > 0 && differ.OfRuns() == runs && !r.unlike:
		r.Kind = ChecksumOnly
		r.note("the states are equal at all %d state points: a difference that is not in them, or writes in another order", r.Snapshots)
	case b == nil && differ != nil:
		r.byTraces(differ)
	case b == nil:
	case differ == nil && agree != nil && b.Bad.Tick < agree.LastCompared.Number:
		r.Kind = BlindChecksum
		r.blind("every recorded checksum agrees, up to %s", agree.TickText(agree.LastCompared))
	case differ == nil && agree != nil:
		r.note("the recorded checksums agree, but end with %s, before they could show it", agree.TickText(agree.LastCompared))
	case differ != nil && b.Good != nil && differAt(differ, b.Good.Tick):
		what := "checksums differ from %s on, the states are still equal %s"
		if d := differ.Dialect(); d.Cumulative || d.Reset > 0 {
			// One difference taints what follows: the states may have healed.
			r.note(what+": a divergence that healed, or writes in another order", differ.TickText(differ.First.Tick), b.Good.When())
		} else {
			r.contradict(what, differ.TickText(differ.First.Tick), b.Good.When())
		}
	}
	if b != nil && differ != nil {
		r.narrowBySums(differ, len(peers))
	}
	if b != nil && r.Kind == "" {
		r.Kind = StateDiffers
	}
	if d := differ; d != nil && d.Dialect().Covers != "" && r.Kind == ChecksumOnly {
		r.note("compared: %s", d.Dialect().Covers)
	}
	for _, t := range traces {
		r.judge(t)
		r.lostTraces(t)
	}
}

// around returns the last state point of two peers before checksums differ, nil if there is none, and whether two peers have a
// state while they do.
func (r *Result) around(t *tracediff.Result, peers []*peer) (before *uint64, meanwhile bool) {
	if t == nil || t.Bracket == nil {
		return nil, true
	}
	from, to := pointOf(t, t.Bracket.Bad).Tick, uint64(math.MaxUint64)
	if t.EqualFrom.Number > 0 {
		to = pointOf(t, t.EqualFrom).Tick
	}
	of := map[uint64]string{}
	for _, p := range peers {
		for i := range p.set.Entries {
			point := p.set.Entries[i].Point.Tick
			switch other, ok := of[point]; {
			case !ok:
				of[point] = p.name
			case other == p.name:
			case point >= from:
				meanwhile = meanwhile || point < to
			case before == nil || *before < point:
				before = &point
			}
		}
	}
	return before, meanwhile
}

// narrowBySums narrows the bracket of the states to the checksums that differ within it. Checksums that cover a part of
// the state, or more than one state, show only when the peers were still equal, and only where no state shows that. The
// same holds where the checksums of other peers differ first.
func (r *Result) narrowBySums(t *tracediff.Result, peers int) {
	if t.Bracket == nil {
		return
	}
	d, b := t.Dialect(), *r.Bracket
	whole := d.Covers == "" && !d.Cumulative && !d.Values && (separates(t, b.A, b.B, peers) || r.others(t, peers))
	good, bad := differsWithin(t, b)
	switch {
	case !t.Bracket.HasGood && (b.Good != nil || !whole):
		return
	case !t.Bracket.HasGood:
	case b.Good == nil && good.Compare(b.Bad) < 0:
		b.Good, b.GoodFiles = &good, nil
	case b.Good == nil || !whole || bad.Compare(*b.Good) <= 0 || bad.Compare(b.Bad) > 0:
		return
	case good.Compare(*b.Good) > 0:
		b.Good, b.GoodFiles = &good, nil
	}
	if whole && bad.Compare(b.Bad) < 0 {
		b.Bad, b.BadFiles = bad, nil
		if b.Good != nil && good.Compare(*b.Good) == 0 && b.Good.Native == "" {
			b.Good = &good // both ends by their names
		}
	}
	if !b.Same(r.Bracket) {
		b.By = BySnapshotsAndSums
		r.set(b)
	}
}

// differsWithin returns between which points traces first differ, within a bracket if they do so there: two traces may differ before
// it and be equal again.
func differsWithin(t *tracediff.Result, b Bracket) (good, bad snapshot.Point) {
	good, bad = pointOf(t, t.Bracket.Good), pointOf(t, t.Bracket.Bad)
	if b.Good == nil || bad.Compare(*b.Good) > 0 || len(t.Traces) != 2 {
		return good, bad
	}
	for i := range t.Partings {
		p := &t.Partings[i]
		from, to := pointOf(t, p.Good), pointOf(t, p.First)
		if p.HasGood && from.Compare(*b.Good) >= 0 && to.Compare(b.Bad) <= 0 {
			return from, to
		}
	}
	return good, bad
}

// separates reports whether two of so many peers are in different groups where traces first differ. Two traces of two
// peers may have other names.
func separates(t *tracediff.Result, a, b string, peers int) bool {
	if len(t.Groups) == 0 {
		return false
	}
	group := func(name string) int {
		return slices.IndexFunc(t.Groups[0].Groups, func(g []int) bool {
			return slices.ContainsFunc(g, func(i int) bool { return t.Traces[i].Name == name })
		})
	}
	at, other := group(a), group(b)
	return compares(t, a, b, peers) && (at < 0 && other < 0 && len(t.Traces) == 2 || at >= 0 && other >= 0 && at != other)
}

// others reports whether traces separate two peers with different states, though not the two of the bracket: perhaps one of the two
// was away.
func (r *Result) others(t *tracediff.Result, peers int) bool {
	for i, group := range r.Groups {
		for _, other := range r.Groups[:i] {
			for _, a := range group {
				if slices.ContainsFunc(other, func(b string) bool { return separates(t, a, b, peers) }) {
					return true
				}
			}
		}
	}
	return false
}

// compares reports whether traces compare two of so many peers. Two traces of two peers may have other names.
func compares(t *tracediff.Result, a, b string, peers int) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Traces, func(t tracediff.TraceInfo) bool { return t.Name == name })
	}
	return has(a) && has(b) || !has(a) && !has(b) && len(t.Traces) == 2 && peers == 2
}

// stateless returns the peers with checksums that differ from the checksums of all peers that left states. It returns
// nil if the latter differ from each other or are not among the traces.
func (r *Result) stateless(t *tracediff.Result, peers []*peer) []string {
	if len(t.Groups) == 0 {
		return nil
	}
	with := -1 // the group of all that left states
	var without []string
	for i, group := range t.Groups[0].Groups {
		for _, n := range group {
			if name := t.Traces[n].Name; !slices.Contains(names(peers), name) {
				without = append(without, name)
				continue
			}
			if with >= 0 && with != i {
				return nil
			}
			with = i
		}
	}
	if with < 0 {
		return nil
	}
	return without
}

func names(peers []*peer) []string {
	return lists.Map(peers, func(p *peer) string { return p.name })
}

// lostTraces notes which traces could not be used to their end.
func (r *Result) lostTraces(t *tracediff.Result) {
	for i := range t.Traces {
		info := &t.Traces[i]
		switch {
		case info.Trouble != "":
			r.lose("%s: %s", info.File, strings.TrimPrefix(info.Trouble, info.File+": "))
		case info.Torn:
			r.lose("%s: breaks off", info.File)
		case len(t.Traces) > 1 && slices.Contains(t.Uncompared, i):
			r.lose("%s: no checksum in it has a counterpart in another file", info.File)
		}
		r.lostGaps(t, info)
	}
}

// lostGaps notes the ticks for which a trace has nothing, if its peer is not known to have been away.
func (r *Result) lostGaps(t *tracediff.Result, info *tracediff.TraceInfo) {
	for i := range info.Gaps {
		if g := &info.Gaps[i]; g.Guessed && !g.Away {
			r.lose("%s: the differences in %s may be guesses, which no rollback could replace", info.File, spanOf(t, g))
			break
		}
	}
	if info.Ahead.Ticks > 0 && t.First == nil {
		r.note("%s: only predicted, and not compared: %s", info.File, spanOf(t, &info.Ahead))
	}
	for _, brief := range []bool{false, true} {
		gaps := slices.DeleteFunc(slices.Clone(info.Gaps), func(g tracediff.Gap) bool { return g.Away || g.Guessed || g.Brief() != brief })
		if len(gaps) == 0 {
			continue
		}
		more := ""
		if n := len(gaps) - 1; n > 0 {
			more = ", and of " + prose.Count(n, "more span of ticks", "more spans of ticks")
		}
		text := fmt.Sprintf("nothing of %s%s", spanOf(t, &gaps[0]), more)
		if brief {
			r.note("%s: %s; the checksums around them were compared", info.File, text)
		} else {
			r.lose("%s: %s; whether %s was there is not known", info.File, text, info.Name)
		}
	}
}

// spanOf names the ticks of a gap.
func spanOf(t *tracediff.Result, g *tracediff.Gap) string {
	if g.First == g.Last {
		return t.TickText(g.First)
	}
	return t.TickText(g.First) + " to " + strings.TrimPrefix(t.TickText(g.Last), "tick ")
}

// differAt reports whether traces differ in the ticks on both sides of a state point, from before it on.
func differAt(t *tracediff.Result, point uint64) bool {
	return t.First != nil && t.First.Tick.Number+1 < point && (t.EqualFrom.Number == 0 || t.EqualFrom.Number > point)
}

// pointOf returns the state point that a checkpoint is of.
func pointOf(t *tracediff.Result, tick tracediff.Tick) snapshot.Point {
	if t.Dialect().AtPoint {
		return snapshot.Point{Tick: tick.Number, Native: t.TickName(tick)}
	}
	return snapshot.Point{Tick: tick.Number + 1, Native: t.TickText(tick), Relation: snapshot.After}
}

// byTraces takes the bracket from traces where there are no states: they diverge after a checkpoint of tick Good, and
// have diverged by one of tick Bad.
func (r *Result) byTraces(t *tracediff.Result) {
	b := Bracket{By: ByChecksums}
	if len(t.Traces) > 0 && t.Traces[0].Dialect.Values {
		b.By = ByValues
	}
	switch {
	case t.Bracket != nil:
		at := *t.Bracket
		if p := firstLasting(t); p != nil { // what passes inside a tick before it counts for less
			at = tracediff.Bracket{Good: p.Good, HasGood: p.HasGood, Bad: p.First}
		}
		b.Bad = pointOf(t, at.Bad)
		if at.HasGood && inMatch(t, at.Good, at.Bad) {
			good := pointOf(t, at.Good)
			b.Good = &good
		}
	default:
		found := false
		for i := range t.Claims {
			if c := &t.Claims[i]; c.Proves() && c.HasTick {
				b.Bad = pointOf(t, tracediff.Tick{Number: c.Tick})
				b.By, found = ByClaim, true
				if compared := len(t.Traces) > 1 && len(t.Uncompared) < len(t.Traces); compared && t.LastCompared.Before(tracediff.Tick{Number: c.Tick}) {
					good := pointOf(t, t.LastCompared)
					b.Good = &good
				}
				break
			}
		}
		if !found {
			r.Kind = Claimed // in no tick
			return
		}
	}
	r.set(b)
	r.Kind = StateDiffers
	r.Splits = tracedSplits(t)
	if len(t.Groups) > 0 {
		r.Groups = append(r.Groups, namedGroups(t, t.Groups[0].Groups)...)
	}
	if c := t.Dialect().Covers; c != "" {
		r.note("compared: %s", c)
	}
}

// judge compares claims about ticks that no trace has with the states.
func (r *Result) judge(t *tracediff.Result) {
	b := r.Bracket
	if b == nil || len(b.BadFiles) == 0 {
		return
	}
	for i := range t.Claims {
		c := &t.Claims[i]
		if c.Standing != tracediff.Unchecked || !c.HasTick {
			continue
		}
		switch {
		case c.Tick >= b.Bad.Tick:
			c.Standing = tracediff.Late // an upper bound, which is true
		case b.Good != nil && c.Tick < b.Good.Tick:
			c.Standing = tracediff.Contradicted
			c.Contradictions = append(slices.Clip(c.Contradictions), fmt.Sprintf("the states are equal %s, after that tick", b.Good.When()))
		}
	}
}

// findings reports what traces show in addition to checksums, where no checksum differs: peers that ran the same
// systems in another order, or a trace that contradicts itself.
func (r *Result) findings(traces []*tracediff.Result) {
	for _, t := range traces {
		if t.Diverged() || len(t.Findings) == 0 {
			continue
		}
		f := &t.Findings[0]
		r.contradict("no checksum differs, but in %s of %s: %s (desynctool tracediff shows %s)",
			t.TickText(f.Tick), prose.Name(t.Traces[f.Trace].Name), f.Kind.Words(), prose.Count(t.FindingCount, "finding", "findings"))
	}
}

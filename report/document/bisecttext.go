package document

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

func bisectText(out *Text, r *bisect.Result, all bool) {
	s := out.Style
	out.put(s.Verdict(StatusOf(r)), bisectHeadline(r))
	row := out.Row
	if r.SimFailed != "" {
		row("sim", s.bad.Sprint("failed: "), Safe(r.SimFailed))
	}
	for i := range r.Headers {
		row("header", s.bad.Sprint(Safe(r.Headers[i].String())))
	}
	if b := r.Bracket; b != nil {
		width := prose.Columns(bothNames(b.Bad))
		if b.Good != nil {
			width = max(width, prose.Columns(bothNames(*b.Good)))
			end(row, "good", s.good, *b.Good, width, "equal", b.GoodFiles)
		} else if !r.InitialState {
			row("good", "no pair before is known to be equal")
		}
		end(row, "bad", s.bad, b.Bad, width, "differ", b.BadFiles)
		row("by", string(b.By))
	}
	if c := r.Caches; c != nil && r.Kind == bisect.StaleCache {
		width := prose.Columns(bothNames(c.Bad))
		if c.Good != nil {
			width = max(width, prose.Columns(bothNames(*c.Good)))
			end(row, "good", s.good, *c.Good, width, "equal", nil)
		}
		end(row, "bad", s.bad, c.Bad, width, "caches differ", c.Files[:])
		row("caches", strings.Join(prose.Names(c.Labels), ", "), " of ", s.name.Sprint(prose.Name(c.A)), "  ≠  ", s.name.Sprint(prose.Name(c.B)))
		if c.Again != nil {
			row("healed", "the caches are equal again ", atNames(*c.Again))
		}
	}
	if len(r.Groups) > 0 {
		row("groups", groupsText(r.Groups, s.name))
	}
	if r.Healed != nil {
		row("healed", "the states are equal again ", atNames(*r.Healed))
	}
	splitRows(row, Splits(r.Splits))
	if p := r.Prefix; p != nil {
		row("search", fmt.Sprintf("%s tested, of state points %d to %d", prose.Count(r.Probes, "prefix", "prefixes"), p.From, p.To))
		row("test", Safe(p.Test))
	}
	if r.Snapshots > 0 {
		row("search", pairsText(r))
	}
	for _, t := range r.Traces {
		if len(t.Traces) > 1 {
			row("checksum", checksumText(t, s))
			persistence(row, t)
		}
	}
	if m := r.Sums; m != nil {
		row("checksum", sumsText(m, s))
	}
	if len(r.Traces) > 0 {
		claimsText(row, r.Traces[0], s, "--format json", false)
	}
	replayText(row, r.Replay, s)
	witnessRows(out, r.Witnessed)
	drillText(out, r.Replay)
	var written []string // with different states
	for i := range r.Computed {
		c := &r.Computed[i]
		row("computed", prose.Path(c.File), "  ", Safe(c.String()))
		if i == 0 || len(written) == 1 && c.Hash != r.Computed[0].Hash {
			written = append(written, c.File)
		}
	}
	for _, part := range []struct {
		name  string
		texts []string
		color printer
	}{{"conflict", r.Contradictions, s.bad}, {"lost", r.Lost, s.warn}, {"note", r.Notes, nil}} {
		for i, text := range part.texts {
			if i == shownTexts {
				row(part.name, fmt.Sprintf("… and %d more  (--format json)", len(part.texts)-i))
				break
			}
			text = Safe(text)
			if part.color != nil {
				text = part.color.Sprint(text)
			}
			row(part.name, text)
		}
	}
	if len(written) == 2 {
		out.next(diffOf(written))
	} else if b := r.Bracket; b != nil && len(b.BadFiles) == 2 {
		out.next(diffOf(b.BadFiles))
	} else if c := r.Caches; c != nil && r.Kind == bisect.StaleCache {
		out.next(diffOf(c.Files[:]))
	}
}

// pairsText counts the pairs of states that were opened: where no states differ, it counts all pairs with compared
// roots, and those that were both read whole.
func pairsText(r *bisect.Result) string {
	opened := r.Probes
	if r.Bracket == nil {
		opened += r.Surveyed
	}
	n, how := len(r.Content), "opened"
	switch {
	case r.Bracket != nil || n == 0:
	case n == r.Snapshots:
		n, how = 0, "read whole"
	default:
		how = "compared by hash"
	}
	text := fmt.Sprintf("%s %s of %d", prose.Count(opened, "pair", "pairs"), how, r.Pairs)
	if len(r.Peers) > 2 {
		text = fmt.Sprintf("%s %s at %s", prose.Count(opened, "pair", "pairs"), how, prose.Count(r.Snapshots, "state point", "state points"))
	}
	if n > 0 && r.Bracket == nil {
		names := make([]string, n)
		for i, at := range r.Content {
			names[i] = pointName(at)
		}
		text += "; read whole at " + strings.Join(names, ", ")
	}
	return text
}

// diffOf shows what differs between two states.
func diffOf(files []string) Step {
	return Step{Command: []string{"diff", PathArgument(files[0]), PathArgument(files[1])}}
}

// recordedSums is the name of the hashes in order logs among checksums.
const recordedSums = "recorded sync hashes"

func sumsText(m *bisect.Sums, s Style) string {
	text := recordedSums + ": "
	if m.Good != nil {
		text += fmt.Sprintf("agree at state point %d, ", *m.Good)
	}
	return text + "differ at " + s.bad.Sprint(m.Bad) + ": " + groupsText(m.Groups, s.name)
}

// groupsText shows which peers agree, with their names in a colour or, for nil, in none.
func groupsText(list [][]string, color printer) string {
	var groups []string
	for _, g := range list {
		names := prose.Names(g)
		for i, name := range names {
			if color != nil {
				names[i] = color.Sprint(name)
			}
		}
		groups = append(groups, strings.Join(names, " = "))
	}
	return strings.Join(groups, "  ≠  ")
}

// checksumText describes the evidence of the checksums that engines recorded.
func checksumText(t *tracediff.Result, s Style) string {
	what := Safe(t.Traces[0].Kind())
	switch b := t.Bracket; {
	case b == nil:
		return fmt.Sprintf("%s: no difference up to %s", what, t.TickText(t.LastCompared))
	case t.Traces[0].Dialect.Values:
		text := fmt.Sprintf("%s: %s", what, s.bad.Sprint(placeName(t, t.First)))
		for i := range t.First.Values {
			text += "  " + s.name.Sprint(prose.Name(t.Traces[i].Name)) + " " + traceValue(t, t.First, i, false)
		}
		return text
	case !b.HasGood:
		return fmt.Sprintf("%s: differs in %s, the first that was compared", what, s.bad.Sprint(t.TickText(b.Bad)))
	default:
		text := fmt.Sprintf("%s: agrees in %s, differs in %s", what, t.TickText(b.Good), s.bad.Sprint(t.TickText(b.Bad)))
		if len(t.Groups) > 0 {
			text += ": " + groupsText(traceGroups(t, t.Groups[0]), nil)
		}
		return text
	}
}

// shownTexts is how many conflicts, losses and notes each a bisection shows.
const shownTexts = 8

func bisectHeadline(r *bisect.Result) string {
	switch b := r.Bracket; {
	case r.Kind == bisect.ChecksumOnly:
		return fmt.Sprintf("  checksum only: checksums differ, the states are equal at all %s", prose.Count(r.Snapshots, "state point", "state points"))
	case r.Kind == bisect.StaleCache && r.Caches != nil:
		return fmt.Sprintf("  stale cache, from state point %s on: %s; the states are equal at all %s", pointName(r.Caches.Bad),
			strings.Join(prose.Names(r.Caches.Labels), ", "), prose.Count(r.Snapshots, "state point", "state points"))
	case r.Kind == bisect.BlindChecksum && b.Good != nil:
		return fmt.Sprintf("  in (%s, %s], with a blind checksum", pointName(*b.Good), pointName(b.Bad))
	case r.Snapshots+r.Recorded == 0 && len(r.Traces) > 0:
		return traceHeadline(r.Traces[0])
	case b == nil && r.Prefix != nil && len(r.Contradictions)+len(r.Lost) > 0:
		return "  nothing found"
	case b == nil && r.Prefix != nil:
		return fmt.Sprintf("  no difference up to state point %d", r.Prefix.To)
	case b == nil && r.Snapshots+r.Recorded == 0:
		return "  nothing to compare"
	case b == nil && r.Snapshots == 0:
		return fmt.Sprintf("  no difference in %s", prose.Count(r.Recorded, "recorded hash", "recorded hashes"))
	case b == nil && r.Recorded == 0:
		return fmt.Sprintf("  no difference at %s", prose.Count(r.Snapshots, "common state point", "common state points"))
	case b == nil:
		return fmt.Sprintf("  no difference at %s, nor in %s", prose.Count(r.Snapshots, "common state point", "common state points"),
			prose.Count(r.Recorded, "recorded hash", "recorded hashes"))
	case r.OnlyHistories:
		return fmt.Sprintf("  by the history hashes alone, at state point %s; every common state is equal", pointName(b.Bad))
	case r.InitialState:
		return "  in the initial state, before any tick"
	case r.Exact && b.Good != nil && b.Good.Native != "" && strings.Trim(b.Good.Words()+b.Bad.Words(), "0123456789") == "":
		return fmt.Sprintf("  in the tick from %s to %s", pointName(*b.Good), pointName(b.Bad))
	case r.Exact:
		return fmt.Sprintf("  in tick %d", r.Tick)
	case b.Good == nil && !b.Bad.Known():
		return "  " + AtPoint(b.Bad)
	case b.Good == nil:
		return fmt.Sprintf("  at or before state point %s", pointName(b.Bad))
	default:
		return fmt.Sprintf("  in (%s, %s]", pointName(*b.Good), pointName(b.Bad))
	}
}

// departed describes where a peer departs: at a point if the one before was compared, else in a span.
func departed(p *bisect.ReplayedPeer) string {
	switch d := *p.Departs; {
	case p.LastAgreed != nil && d > *p.LastAgreed+1:
		return fmt.Sprintf("in (%d, %d]", *p.LastAgreed, d)
	case p.LastAgreed == nil && d > 0:
		return fmt.Sprintf("at or before state point %d", d)
	default:
		return fmt.Sprintf("at state point %d", d)
	}
}

func end(row func(string, ...string), name string, color printer, p snapshot.Point, width int, what string, files []string) {
	at := bothNames(p)
	line := []string{color.Sprint(pad(at, prose.Columns(at), width)), "  ", what}
	for _, f := range files {
		line = append(line, "  ", Safe(f))
	}
	row(name, line...)
}

func replayText(row func(string, ...string), rep *bisect.Replay, s Style) {
	if rep == nil {
		return
	}
	from := "the start"
	if rep.FromState {
		from = fmt.Sprintf("the snapshots at %d", rep.From)
	}
	row("replay", fmt.Sprintf("%s, from %s to state point %d", rep.Sim, from, rep.To))
	for i := range rep.Peers {
		p := &rep.Peers[i]
		name := s.name.Sprint(prose.Name(p.Name))
		switch {
		case p.Compared == 0:
			row("", name, " left nothing to compare")
		case p.Departs == nil:
			row("", name, fmt.Sprintf(" agrees at every point compared (%d)", p.Compared))
		default:
			row("", name, " ", s.bad.Sprint("departs"), " ", departed(p), fmt.Sprintf(": expected %s, got %s", p.Expected, p.Got))
		}
	}
}

// drillText describes in which system each peer departs, and what that system wrote.
func drillText(out *Text, rep *bisect.Replay) {
	s := out.Style
	if rep == nil {
		return
	}
	for i := range rep.Peers {
		p := &rep.Peers[i]
		if p.Drilled == nil {
			continue
		}
		name := s.name.Sprint(prose.Name(p.Name))
		d := p.Drilled.First
		if d == nil {
			out.Row("drill", name, " does not depart from its own trace")
			continue
		}
		what := fmt.Sprintf(", state point %d", d.Point)
		if tick, ok := p.Drilled.Tick(); ok {
			what = fmt.Sprintf(", tick %d", tick)
		}
		out.Row("drill", name, what)
		drilledText(out, d, false)
		for _, lost := range p.Drilled.Lost {
			out.Row("lost", s.warn.Sprint(Safe(lost)))
		}
	}
}

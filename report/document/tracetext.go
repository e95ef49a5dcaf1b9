package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/tracediff"
)

func traceText(out *Text, t *tracediff.Set, all bool) {
	s := out.Style
	for i, r := range t.Results {
		if i == 0 {
			traceResult(out, r, s.Verdict(StatusOf(t)), t.Missing, true, all)
			continue
		}
		out.put("")
		out.put(s.faint.Sprint("another kind of files of the same peers:"))
		traceResult(out, r, s.Verdict(alone(r)), nil, false, all)
	}
	for i := range out.upTo(shownTexts, len(t.Notes), all) {
		out.Row("note", Safe(t.Notes[i]))
	}
	if n := len(t.Copies); n > 0 && !all {
		out.Row("note", fmt.Sprintf("%s left out, since others show the same", prose.Count(n, "file is", "files are")), s.faint.Sprint("  (--all)"))
	} else {
		for _, c := range t.Copies {
			out.Row("note", Safe(c))
		}
	}
}

// gapsText names the gaps of traces, first those that may be lost evidence.
func gapsText(row func(string, ...string), r *tracediff.Result, s Style) {
	const unknown, guessed, away, brief = 0, 1, 2, 3
	for kind := range 4 {
		for i := range r.Traces {
			var spans []string
			for _, g := range r.Traces[i].Gaps {
				own := unknown
				switch {
				case g.Away:
					own = away
				case g.Guessed:
					own = guessed
				case g.Brief():
					own = brief
				}
				if own != kind {
					continue
				}
				if len(spans) == shownTexts {
					spans = append(spans, "…")
					break
				}
				spans = append(spans, r.TickText(g.First)+" to "+r.TickName(g.Last))
			}
			text := prose.Name(r.Traces[i].Name) + " has nothing from " + strings.Join(spans, ", ")
			switch {
			case spans == nil:
			case kind == guessed:
				row("lost", s.warn.Sprintf("%s differs from %s, in what may be guesses that no rollback could replace", prose.Name(r.Traces[i].Name), strings.Join(spans, ", ")))
			case kind == brief:
				row("note", text+": the checksums around them were compared")
			case kind == away:
				row("note", text+": it was not there, as its order log shows")
			default:
				row("lost", s.warn.Sprint(text+": whether it was there is not known"))
			}
		}
	}
}

// traceResult writes one comparison; it writes less for comparisons other than the main one.
func traceResult(out *Text, r *tracediff.Result, verdict string, missing []string, main bool, all bool) {
	s, row := out.Style, out.Row
	out.put(verdict, traceHeadline(r))
	wide := 0
	for i := range r.Traces {
		wide = max(wide, prose.Columns(prose.Name(r.Traces[i].Name)))
	}
	peer := func(i int) string {
		name := prose.Name(r.Traces[i].Name)
		return s.name.Sprint(pad(name, prose.Columns(name), wide))
	}
	for i := range r.Traces {
		row("trace", peer(i), "  ", traceInfo(r, &r.Traces[i]))
	}
	for _, i := range r.Uncompared {
		row("lost", s.warn.Sprint(prose.Name(r.Traces[i].Name)+" has no checksum in common with any other trace"))
	}
	if r.Unsure > 0 {
		row("lost", s.warn.Sprintf("%s that a trace lacks: too little is known of it to decide whether it should have them", prose.Count(r.Unsure, "tick", "ticks")))
	}
	gapsText(row, r, s)
	for _, m := range missing {
		row("lost", s.warn.Sprint(Safe(m)))
	}
	for _, start := range r.Start {
		row("start", s.bad.Sprint(prose.Name(start.Name)+" is not the same on all peers:"))
		for _, name := range slices.Sorted(maps.Keys(start.Values)) {
			row("", "  ", s.name.Sprint(prose.Name(name)), "  ", prose.Shorten(Safe(start.Values[name]), valueWidth))
		}
	}
	if d := r.First; d != nil {
		row("first", s.bad.Sprint(placeName(r, d)))
		for i := range d.Values {
			row("", peer(i), "  ", traceValue(r, d, i, true))
		}
		firstDetail(out, r, all)
		if main {
			contextText(out, r)
		}
	}
	if len(r.Traces) > 2 {
		for i := range out.upTo(4, len(r.Groups), all) {
			g := r.Groups[i]
			row("groups", fmt.Sprintf("from %s: ", r.TickText(g.Tick)), groupsText(traceGroups(r, g), nil))
		}
	}
	persistence(row, r)
	if main {
		cascadeText(out, r, all)
		claimsText(row, r, s, "--all", all)
	}
	for i, f := range r.Findings {
		if i == shownTexts && !all {
			row("", s.faint.Sprintf("… and %d more  (--all)", r.FindingCount-int64(i)))
			break
		}
		row("finding", s.bad.Sprint(findingText(r, &f)))
	}
	for i := range r.Noticed {
		row("relay", noticedText(&r.Noticed[i]))
	}
	for i := range out.upTo(shownTexts, len(r.Untraced), all) {
		u := &r.Untraced[i]
		names := lists.Map(u.Traces, func(n int) string { return prose.Name(r.Traces[n].Name) })
		row("note", Safe(strings.TrimSpace(u.System+" "+u.Scope)), " is not traced by ", strings.Join(names, ", "))
	}
	for i := range out.upTo(shownTexts, len(r.Noise), all) {
		row("noise", Safe(NoiseText(&r.Noise[i])))
	}
	if d := r.Dialect(); d.Covers != "" && r.First == nil {
		row("note", Safe(d.Covers))
	}
}

// NoiseText describes a value that differs without counting as a difference.
func NoiseText(n *tracediff.Noise) string {
	return fmt.Sprintf("%s differs in %s, which the game's developers know to happen in sync: not counted as a difference", n.Sum, prose.Count(n.Count, "place", "places"))
}

// firstDetail shows the details of the first difference side by side.
func firstDetail(out *Text, r *tracediff.Result, all bool) {
	order := lists.Map(r.Traces, func(x tracediff.TraceInfo) string { return x.Name })
	doc := checkpoint(r, r.First)
	d := doc.Details(order...)
	if d == nil {
		return
	}
	out.Row(d.Title(), out.Style.faint.Sprint(d.About()))
	detailText(func(parts ...string) { out.Row("", parts...) }, d, out.Style, all)
}

// persistence describes what happened to the first difference later.
func persistence(row func(string, ...string), r *tracediff.Result) {
	if r.First == nil {
		return
	}
	d := r.Dialect()
	last := r.LastDiffering
	switch {
	case !last.Before(r.LastCompared) && d.Cumulative:
		row("lasts", "to the end of what was compared, as it must: each checksum covers all that came before")
	case !last.Before(r.LastCompared):
	case d.Reset > 0 && (last.Number+d.Reset-1)/d.Reset*d.Reset < r.EqualFrom.Number:
		row("lasts", fmt.Sprintf("up to %s; the checksum starts again after every %d ticks: that it is equal from %s on proves nothing of the state",
			r.TickText(last), d.Reset, r.TickName(r.EqualFrom)))
	case d.Values && last == r.First.Tick:
		row("lasts", fmt.Sprintf("in this tick only; the ticks compared after it, up to %s, are equal", r.TickText(r.LastCompared)))
	default:
		row("lasts", fmt.Sprintf("up to %s; equal again from %s to %s", r.TickText(last), r.TickName(r.EqualFrom), r.TickName(r.LastCompared)))
	}
}

func traceHeadline(r *tracediff.Result) string {
	switch b := r.Bracket; {
	case r.First == nil && r.FindingCount > 0:
		return fmt.Sprintf("  %s, no checksum differs", prose.Count(r.FindingCount, "finding", "findings"))
	case r.First == nil && len(r.Start) > 0:
		return "  what the peers started from is not the same"
	case r.First == nil && r.Diverged():
		i := slices.IndexFunc(r.Claims, func(c tracediff.JudgedClaim) bool { return c.Proves() && c.Standing == tracediff.Unchecked })
		if !r.Claims[i].HasTick {
			return "  by an engine's log, which names no tick"
		}
		return fmt.Sprintf("  in %s at the latest, by an engine's log", r.TickText(tracediff.Tick{Number: r.Claims[i].Tick}))
	case r.First == nil && len(r.Traces) < 2 && len(r.Claims) == 0:
		return "  no traces to compare, and no claim of an engine"
	case r.First == nil && len(r.Traces) < 2:
		return fmt.Sprintf("  %s of an engine, and no traces to compare", prose.Count(len(r.Claims), "claim", "claims"))
	case r.First == nil && !compared(r):
		return "  nothing compared: the traces have no checksum of the same tick in common"
	case r.First == nil:
		return fmt.Sprintf("  no difference up to %s", r.TickText(r.LastCompared))
	case b != nil && !b.HasGood:
		return fmt.Sprintf("  at %s, the first that was compared", r.TickText(b.Bad))
	case b != nil && !b.Exact() && !r.Dialect().Values:
		return fmt.Sprintf("  after %s, in %s at the latest", r.TickText(b.Good), r.TickText(b.Bad))
	case r.First.System != "" && r.First.Scope != "":
		return fmt.Sprintf("  in %s, after system %s, in %s", r.TickText(r.First.Tick), prose.Name(r.First.System), prose.Name(r.First.Scope))
	case r.First.System != "":
		return fmt.Sprintf("  in %s, after system %s", r.TickText(r.First.Tick), prose.Name(r.First.System))
	}
	text := fmt.Sprintf("  in %s", r.TickText(r.First.Tick))
	if parts := prose.Names(r.First.Parts()); len(parts) > 0 {
		text += ", in " + strings.Join(parts, " and ")
	}
	return text
}

// compared reports whether two traces have anything in common.
func compared(r *tracediff.Result) bool {
	n := len(r.Traces) - len(r.Uncompared)
	for i := range r.Traces {
		if r.Traces[i].Empty {
			n--
		}
	}
	return n > 1
}

func traceInfo(r *tracediff.Result, t *tracediff.TraceInfo) string {
	text := fmt.Sprintf("%s, %s", prose.Path(t.File), t.Kind())
	if t.Packing != "" {
		text += ", " + t.Packing
	}
	if t.Empty {
		return text + ", empty"
	}
	text += fmt.Sprintf(", from %s", r.TickText(t.First))
	if n := t.Malformed; n > 0 {
		text += fmt.Sprintf(", %s", prose.Count(n, "line is not a record", "lines are not records"))
	}
	if t.Running {
		text += fmt.Sprintf(", of a running game, up to %s", r.TickText(t.Last))
	}
	if breaksOff(t) {
		text += fmt.Sprintf(", breaks off at %s", r.TickText(t.Last))
	}
	if t.Trouble != "" {
		text += ", " + Safe(t.What())
	}
	if b := t.Rollback; b != nil {
		text += fmt.Sprintf(", %s, %s of %d predicted", prose.Count(b.Rollbacks, "rollback", "rollbacks"),
			prose.Count(b.Mispredictions, "misprediction", "mispredictions"), b.Predicted)
	}
	return text
}

// breaksOff reports whether a trace goes no further than it could be read.
func breaksOff(t *tracediff.TraceInfo) bool { return t.Torn || t.Trouble != "" && t.Malformed == 0 }

// absence describes why a trace does not have a checkpoint.
func absence(r *tracediff.Result, i int, why tracediff.Absence) string {
	t := &r.Traces[i]
	switch {
	case t.Empty && (why == tracediff.NotBegun || why == tracediff.Over):
		return "is empty"
	case why == tracediff.NotBegun:
		return "begins at " + r.TickText(t.First)
	case why == tracediff.Over && breaksOff(t):
		return "breaks off at " + r.TickText(t.Last)
	case why == tracediff.Over:
		return "ended at " + r.TickText(t.Last)
	case why == tracediff.Unreadable:
		return "not compared: lines are not records here"
	case why == tracediff.NotTraced:
		return "does not trace it"
	case why == tracediff.NotCompared:
		return "not compared: has no checkpoint here"
	}
	return "has no such checkpoint"
}

// placeName names a checkpoint.
func placeName(r *tracediff.Result, d *tracediff.Difference) string {
	text := r.TickText(d.Tick)
	if d.System != "" {
		text += "  system " + prose.Name(d.System)
	}
	if d.Scope != "" {
		text += "  scope " + prose.Name(d.Scope)
	}
	if d.Phase != tracediff.Confirmed {
		text += "  " + d.Phase.String()
	}
	if d.Occurrence > 0 {
		text += fmt.Sprintf("  occurrence %d", d.Occurrence)
	}
	return text
}

// traceValue returns what a trace has at a checkpoint, and where if that is
// wanted; of an engine's values only those that differ.
func traceValue(r *tracediff.Result, d *tracediff.Difference, i int, place bool) string {
	v := &d.Values[i]
	if !v.Present {
		return absence(r, i, v.Absent)
	}
	values := r.Traces[i].Dialect.Values
	var parts []string
	for _, sum := range v.Sums {
		name := "sum"
		switch {
		case values && len(d.Sums) > 0 && !slices.Contains(d.Sums, sum.Name):
			continue
		case values:
			name = Safe(sum.Name)
		case sum.Name != "":
			name += "." + Safe(sum.Name)
		}
		parts = append(parts, name+" "+prose.Shorten(Safe(string(sum.Value)), valueWidth))
	}
	switch {
	case exists(r, d, i):
		parts = append(parts, [...]string{"does not exist", "exists"}[v.Count])
	case v.HasCount:
		parts = append(parts, fmt.Sprintf("n %d", v.Count))
	}
	if !place {
		return strings.Join(parts, "  ")
	}
	at := fmt.Sprintf("offset %d", v.Pos.Offset)
	if v.Pos.Line > 0 {
		at = fmt.Sprintf("line %d", v.Pos.Line)
	}
	if v.File != "" {
		at = prose.Path(v.File) + " " + at
	}
	return strings.Join(parts, "  ") + "  (" + at + ")"
}

// exists reports whether a count shows if the scope of a checkpoint exists.
func exists(r *tracediff.Result, d *tracediff.Difference, i int) bool {
	v := &d.Values[i]
	return r.Traces[i].Dialect.Exists && v.Present && v.HasCount && len(v.Sums) == 0 && v.Count <= 1
}

// contextText shows the lines around the first difference of two traces.
func contextText(out *Text, r *tracediff.Result) {
	s := out.Style
	a, b, ok := bothSides(r)
	if !ok || len(r.Context) <= b || len(r.Context[a].Lines)+len(r.Context[b].Lines) == 0 {
		return
	}
	out.put("  ", s.faint.Sprint(pad("lines", 5, 9)), s.good.Sprint("- "+prose.Name(r.Traces[a].Name)), "  ", s.bad.Sprint("+ "+prose.Name(r.Traces[b].Name)))
	for _, line := range tracediff.DiffContext(&r.Context[a], &r.Context[b]) {
		number := line.A
		if line.Op == tracediff.Added {
			number = line.B
		}
		label := ""
		if number > 0 {
			label = fmt.Sprint(number)
		}
		plain, mark := s.faint, s.faint
		switch line.Op {
		case tracediff.Removed:
			plain, mark = s.good, s.goodMark
		case tracediff.Added:
			plain, mark = s.bad, s.badMark
		}
		out.put("  ", s.faint.Sprint(pad(label, prose.Columns(label), 9)), plain.Sprint(string(line.Op)+" "), marked(line, plain, mark))
	}
}

// bothSides returns the first two traces that the first difference separates:
// those that have other values, else one that has it and one that should.
func bothSides(r *tracediff.Result) (a, b int, ok bool) {
	values := r.First.Values
	for b := range values {
		for a := range b {
			if values[a].Present && values[b].Present && traceValue(r, r.First, a, false) != traceValue(r, r.First, b, false) {
				return a, b, true
			}
		}
	}
	for b := range values {
		for a := range b {
			x, y := &values[a], &values[b]
			if x.Present && y.Absent == tracediff.Lacking || y.Present && x.Absent == tracediff.Lacking {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// contextWidth is how much of a line of context is shown, in bytes, and contextLead how much of it is before the first
// change.
const (
	contextWidth = 160
	contextLead  = 90
)

// around cuts a long line to the text around its first change.
func around(line tracediff.ContextLine) tracediff.ContextLine {
	if len(line.Text) <= contextWidth {
		return line
	}
	begin := 0
	if len(line.Spans) > 0 {
		begin = max(0, line.Spans[0].Begin-contextLead)
	}
	end := min(len(line.Text), begin+contextWidth)
	for begin > 0 && !utf8.RuneStart(line.Text[begin]) {
		begin--
	}
	for end < len(line.Text) && !utf8.RuneStart(line.Text[end]) {
		end--
	}
	cut := line
	cut.Text, cut.Spans = line.Text[begin:end], nil
	shift := begin
	if begin > 0 {
		cut.Text, shift = "…"+cut.Text, begin-len("…")
	}
	for _, span := range line.Spans {
		if span.Begin < end {
			cut.Spans = append(cut.Spans, tracediff.Span{Begin: span.Begin - shift, End: min(span.End, end) - shift})
		}
	}
	if end < len(line.Text) {
		cut.Text += "…"
	}
	return cut
}

// marked colours a line, its changed parts differently.
func marked(line tracediff.ContextLine, plain, mark printer) string {
	var b strings.Builder
	line = around(line)
	at := 0
	for _, span := range line.Spans {
		b.WriteString(plain.Sprint(Safe(line.Text[at:span.Begin])) + mark.Sprint(Safe(line.Text[span.Begin:span.End])))
		at = span.End
	}
	if at < len(line.Text) {
		b.WriteString(plain.Sprint(Safe(line.Text[at:])))
	}
	return b.String()
}

// cascadeIndent is the indent of the lines that continue a named row.
const cascadeIndent = "           "

func cascadeText(out *Text, r *tracediff.Result, all bool) {
	s := out.Style
	if len(r.Cascade) == 0 {
		return
	}
	out.put("  ", s.faint.Sprint(pad("cascade", 7, 9)), fmt.Sprintf("%s, %d missing", prose.Count(r.Changed, "checkpoint differs", "checkpoints differ"), r.Missing))
	const shown = 16
	rows := [][]string{{"TICK", "SYSTEM", "SCOPE", "DIFFERENCES", "LAST"}}
	for i, c := range r.Cascade {
		if i == shown && !all {
			break
		}
		rows = append(rows, []string{r.TickName(c.Tick), prose.Name(c.System), prose.Name(c.Scope), fmt.Sprint(c.Count), r.TickName(c.Last)})
	}
	out.rows(rows, table{indent: cascadeIndent, heading: s.bold})
	if n := len(r.Cascade) - shown; n > 0 && !all {
		out.put(cascadeIndent, s.faint.Sprintf("… and %d more  (--all)", n))
	}
}

func findingText(r *tracediff.Result, f *tracediff.Finding) string {
	text := fmt.Sprintf("%s, tick %s: %s", prose.Name(r.Traces[f.Trace].Name), f.Tick, f.Kind.Words())
	if f.System != "" || f.Scope != "" {
		text += " (" + Safe(strings.TrimSpace(f.System+" "+f.Scope)) + ")"
	}
	if f.Expected != "" || f.Got != "" {
		text += fmt.Sprintf(": expected %s, got %s", prose.Shorten(Safe(f.Expected), valueWidth), prose.Shorten(Safe(f.Got), valueWidth))
	}
	if f.Pos.Line > 0 {
		text += fmt.Sprintf(", line %d", f.Pos.Line)
	}
	return text
}

func noticedText(n *tracediff.Noticed) string {
	switch {
	case n.Noticed:
		return fmt.Sprintf("%s would have noticed at tick %s, %s late", Safe(n.Schedule.Name), n.Tick, prose.Count(n.Late, "tick", "ticks"))
	case n.Open:
		return fmt.Sprintf("%s would have compared next at tick %s, after the traces' end", Safe(n.Schedule.Name), n.Tick)
	}
	return fmt.Sprintf("%s would not have noticed", Safe(n.Schedule.Name))
}

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// TraceDocument is desynctool.tracediff/1.
type TraceDocument struct {
	Head
	Traces      []TraceInfoDocument  `json:"traces"`
	First       *CheckpointDocument  `json:"first"`
	Bracket     *TraceBracket        `json:"bracket"`
	Exact       bool                 `json:"exact"`
	Cascade     []CascadeDocument    `json:"cascade"`
	Differences []CheckpointDocument `json:"differences"`
	Changed     int64                `json:"changed"` // checkpoints, all of them
	Missing     int64                `json:"missing"`
	Groups      []GroupsDocument     `json:"groups"`
	LastDiffers *uint64              `json:"last_differing_tick"`
	LastTick    *uint64              `json:"last_compared_tick"`
	Findings    []FindingDocument    `json:"findings"`
	Noticed     []NoticedDocument    `json:"noticed"`
	Untraced    []UntracedDocument   `json:"untraced"`
	Lost        []string             `json:"missing_traces"`
	Uncompared  []string             `json:"uncompared"`
	Unsure      int64                `json:"unsure_ticks"`
}

// TraceInfoDocument is one trace.
type TraceInfoDocument struct {
	Name           string `json:"name"`
	File           string `json:"file"`
	Grammar        string `json:"grammar"`
	First          uint64 `json:"first_tick"`
	Last           uint64 `json:"last_tick"`
	Ended          bool   `json:"ended"`
	Torn           bool   `json:"torn"`
	Malformed      int64  `json:"malformed_lines"`
	Trouble        string `json:"trouble,omitempty"`
	Mispredictions *int64 `json:"mispredictions,omitempty"`
}

// CheckpointDocument is a checkpoint at which traces differ.
type CheckpointDocument struct {
	Kind       string                   `json:"kind"`
	Tick       uint64                   `json:"tick"`
	Epoch      uint64                   `json:"epoch,omitempty"`
	System     string                   `json:"system"`
	Scope      string                   `json:"scope"`
	Phase      string                   `json:"phase"`
	Occurrence uint32                   `json:"occurrence"`
	Values     map[string]ValueDocument `json:"values"` // of the peers that have it
}

// ValueDocument is what one peer has at a checkpoint.
type ValueDocument struct {
	Sum    string            `json:"sum,omitempty"` // the main one
	Sums   map[string]string `json:"sums,omitempty"`
	Count  *uint64           `json:"count,omitempty"`
	Line   int64             `json:"line,omitempty"`
	Offset int64             `json:"offset"`
}

// TraceBracket is the span of ticks in which traces parted.
type TraceBracket struct {
	Good *uint64 `json:"good"`
	Bad  uint64  `json:"bad"`
}

// CascadeDocument is where a scope first differed.
type CascadeDocument struct {
	Scope  string `json:"scope"`
	Tick   uint64 `json:"tick"`
	System string `json:"system"`
	Count  int64  `json:"count"`
	Last   uint64 `json:"last_tick"`
}

// GroupsDocument is which peers agree from a tick on.
type GroupsDocument struct {
	Tick   uint64     `json:"tick"`
	Groups [][]string `json:"groups"`
}

// FindingDocument is something wrong within one trace.
type FindingDocument struct {
	Kind     string `json:"kind"`
	Peer     string `json:"peer"`
	Tick     uint64 `json:"tick"`
	System   string `json:"system,omitempty"`
	Scope    string `json:"scope,omitempty"`
	Player   uint32 `json:"player,omitempty"`
	Line     int64  `json:"line,omitempty"`
	Offset   int64  `json:"offset"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
}

// NoticedDocument says when a relay on a schedule would have seen the
// divergence.
type NoticedDocument struct {
	Schedule string  `json:"schedule"`
	Noticed  bool    `json:"noticed"`
	Tick     *uint64 `json:"tick"`
	Late     *uint64 `json:"ticks_late"`
	Open     bool    `json:"open"`
}

// UntracedDocument is a system and scope that some peers do not trace.
type UntracedDocument struct {
	System string   `json:"system"`
	Scope  string   `json:"scope"`
	Peers  []string `json:"peers"`
}

// TraceStatus returns the outcome of a comparison of traces. Missing are peers
// that left none.
func TraceStatus(r *tracediff.Result, missing []string) Status {
	if r.Diverged() || r.FindingCount > 0 {
		return Diverged
	}
	for i := range r.Traces {
		if t := &r.Traces[i]; t.Torn || t.Trouble != "" || t.Empty {
			return Inconclusive
		}
	}
	if len(missing)+len(r.Uncompared) > 0 || r.Unsure > 0 {
		return Inconclusive
	}
	return InSync
}

// Trace returns the JSON document of a comparison of traces.
func Trace(r *tracediff.Result, missing []string) *TraceDocument {
	doc := &TraceDocument{
		Head: head("tracediff", TraceStatus(r, missing), r.Warnings), Traces: []TraceInfoDocument{}, Cascade: []CascadeDocument{},
		Differences: []CheckpointDocument{}, Changed: r.Changed, Missing: r.Missing, Groups: []GroupsDocument{},
		Findings: []FindingDocument{}, Noticed: []NoticedDocument{}, Untraced: []UntracedDocument{}, Lost: list(missing),
	}
	name := func(i int) string { return r.Traces[i].Name }
	for i := range r.Traces {
		t := &r.Traces[i]
		info := TraceInfoDocument{
			Name: t.Name, File: t.File, Grammar: t.Grammar.String(), First: t.First.Number, Last: t.Last.Number,
			Ended: t.Ended, Torn: t.Torn, Malformed: t.Malformed, Trouble: t.Trouble,
		}
		if t.Rollback != nil {
			info.Mispredictions = &t.Rollback.Mispredictions
		}
		doc.Traces = append(doc.Traces, info)
	}
	if r.First != nil {
		first := checkpoint(r, r.First)
		doc.First = &first
		last, compared := r.LastDiffering.Number, r.LastCompared.Number
		doc.LastDiffers, doc.LastTick = &last, &compared
	}
	if b := r.Bracket; b != nil {
		doc.Bracket, doc.Exact = &TraceBracket{Bad: b.Bad.Number}, b.Exact()
		if b.HasGood {
			doc.Bracket.Good = &b.Good.Number
		}
	}
	for _, c := range r.Cascade {
		doc.Cascade = append(doc.Cascade, CascadeDocument{c.Scope, c.Tick.Number, c.System, c.Count, c.Last.Number})
	}
	for i := range r.Differences {
		doc.Differences = append(doc.Differences, checkpoint(r, &r.Differences[i]))
	}
	for _, g := range r.Groups {
		doc.Groups = append(doc.Groups, GroupsDocument{g.Tick.Number, traceGroups(r, g)})
	}
	for _, f := range r.Findings {
		doc.Findings = append(doc.Findings, FindingDocument{
			Kind: string(f.Kind), Peer: name(f.Trace), Tick: f.Tick.Number, System: f.System, Scope: f.Scope, Player: f.Player,
			Line: f.Pos.Line, Offset: f.Pos.Offset, Expected: f.Expected, Got: f.Got,
		})
	}
	for i := range r.Noticed {
		n := &r.Noticed[i]
		d := NoticedDocument{Schedule: n.Schedule.Name, Noticed: n.Noticed, Open: n.Open}
		if n.Noticed || n.Open {
			d.Tick, d.Late = &n.Tick.Number, &n.Late
		}
		doc.Noticed = append(doc.Noticed, d)
	}
	doc.Uncompared, doc.Unsure = []string{}, r.Unsure
	for _, i := range r.Uncompared {
		doc.Uncompared = append(doc.Uncompared, name(i))
	}
	for _, u := range r.Untraced {
		d := UntracedDocument{System: u.System, Scope: u.Scope}
		for _, i := range u.Traces {
			d.Peers = append(d.Peers, name(i))
		}
		doc.Untraced = append(doc.Untraced, d)
	}
	return doc
}

func traceGroups(r *tracediff.Result, g tracediff.Groups) [][]string {
	var out [][]string
	for _, group := range g.Groups {
		var names []string
		for _, i := range group {
			names = append(names, r.Traces[i].Name)
		}
		out = append(out, names)
	}
	return list(out)
}

func checkpoint(r *tracediff.Result, d *tracediff.Difference) CheckpointDocument {
	doc := CheckpointDocument{
		Kind: string(d.Kind), Tick: d.Tick.Number, Epoch: d.Tick.Epoch, System: d.System, Scope: d.Scope, Phase: d.Phase.String(),
		Occurrence: d.Occurrence, Values: map[string]ValueDocument{},
	}
	for i := range d.Values {
		v := &d.Values[i]
		if !v.Present {
			continue
		}
		value := ValueDocument{Sum: v.Sum(""), Line: v.Pos.Line, Offset: v.Pos.Offset}
		for _, s := range v.Sums {
			if s.Name != "" {
				if value.Sums == nil {
					value.Sums = map[string]string{}
				}
				value.Sums[s.Name] = string(s.Value)
			}
		}
		if v.HasCount {
			value.Count = &v.Count
		}
		doc.Values[r.Traces[i].Name] = value
	}
	return doc
}

// TraceText writes a comparison of traces for a person.
func TraceText(w io.Writer, r *tracediff.Result, missing []string, s Style, all bool) error {
	out := lines{w: w}
	out.put(s.verdict(TraceStatus(r, missing)), traceHeadline(r))
	row := func(name string, parts ...string) {
		out.put("  ", s.faint.Sprint(pad(name, len(name), 9)), strings.Join(parts, ""))
	}
	wide := 0
	for i := range r.Traces {
		wide = max(wide, columns(Safe(r.Traces[i].Name)))
	}
	peer := func(i int) string {
		name := Safe(r.Traces[i].Name)
		return s.name.Sprint(pad(name, columns(name), wide))
	}
	for i := range r.Traces {
		row("trace", peer(i), "  ", traceInfo(&r.Traces[i]))
	}
	for _, i := range r.Uncompared {
		row("lost", s.warn.Sprint(Safe(r.Traces[i].Name)+" has no checksum in common with any other trace"))
	}
	if r.Unsure > 0 {
		row("lost", s.warn.Sprintf("%s that a trace lacks: too little is known of it to say whether it should have them", plural(uint64(r.Unsure), "tick", "ticks")))
	}
	for _, m := range missing {
		row("lost", s.warn.Sprint(Safe(m)))
	}
	if d := r.First; d != nil {
		row("first", s.bad.Sprint(placeName(d)))
		for i := range d.Values {
			row("", peer(i), "  ", traceValue(&d.Values[i], true))
		}
		contextText(&out, r, s)
	}
	if len(r.Traces) > 2 {
		for i, g := range r.Groups {
			if i == 4 && !all {
				row("", s.faint.Sprintf("… and %d more  (--all)", len(r.Groups)-i))
				break
			}
			var groups []string
			for _, names := range traceGroups(r, g) {
				groups = append(groups, Safe(strings.Join(names, " = ")))
			}
			row("groups", fmt.Sprintf("from tick %s: ", g.Tick), strings.Join(groups, "  ≠  "))
		}
	}
	cascadeText(&out, r, s, all)
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
	for i, u := range r.Untraced {
		if i == shownTexts && !all {
			row("", s.faint.Sprintf("… and %d more  (--all)", len(r.Untraced)-i))
			break
		}
		var names []string
		for _, n := range u.Traces {
			names = append(names, Safe(r.Traces[n].Name))
		}
		row("note", Safe(strings.TrimSpace(u.System+" "+u.Scope)), " is not traced by ", strings.Join(names, ", "))
	}
	return out.err
}

func traceHeadline(r *tracediff.Result) string {
	switch b := r.Bracket; {
	case r.First == nil && r.FindingCount > 0:
		return fmt.Sprintf("  %s, no checksum differs", plural(uint64(r.FindingCount), "finding", "findings"))
	case r.First == nil && len(r.Uncompared) == len(r.Traces):
		return "  nothing compared: the traces have no checksum in common"
	case r.First == nil:
		return fmt.Sprintf("  no difference up to tick %s", r.LastCompared)
	case b != nil && !b.HasGood:
		return fmt.Sprintf("  at tick %s, the first that was compared", b.Bad)
	case b != nil && !b.Exact():
		return fmt.Sprintf("  after tick %s, in tick %s at the latest", b.Good, b.Bad)
	case r.First.System != "" && r.First.Scope != "":
		return fmt.Sprintf("  in tick %s, after system %s, in %s", r.First.Tick, Safe(r.First.System), Safe(r.First.Scope))
	case r.First.System != "":
		return fmt.Sprintf("  in tick %s, after system %s", r.First.Tick, Safe(r.First.System))
	default:
		return fmt.Sprintf("  in tick %s", r.First.Tick)
	}
}

func traceInfo(t *tracediff.TraceInfo) string {
	text := fmt.Sprintf("%s, %s", Safe(t.File), t.Grammar)
	if t.Packing != "" {
		text += ", " + t.Packing
	}
	if t.Empty {
		return text + ", empty"
	}
	text += fmt.Sprintf(", from tick %s", t.First)
	if n := t.Malformed; n > 0 {
		text += fmt.Sprintf(", %s", plural(uint64(n), "line is no record", "lines are no records"))
	}
	if t.Torn {
		text += fmt.Sprintf(", breaks off at tick %s", t.Last)
	}
	if t.Trouble != "" {
		text += ", " + Safe(t.Trouble)
	}
	if b := t.Rollback; b != nil {
		text += fmt.Sprintf(", %s, %s of %d predicted", plural(uint64(b.Rollbacks), "rollback", "rollbacks"),
			plural(uint64(b.Mispredictions), "misprediction", "mispredictions"), b.Predicted)
	}
	return text
}

// placeName names a checkpoint.
func placeName(d *tracediff.Difference) string {
	text := fmt.Sprintf("tick %s", d.Tick)
	if d.System != "" {
		text += "  system " + Safe(d.System)
	}
	if d.Scope != "" {
		text += "  scope " + Safe(d.Scope)
	}
	if d.Phase != tracediff.Confirmed {
		text += "  " + d.Phase.String()
	}
	if d.Occurrence > 0 {
		text += fmt.Sprintf("  occurrence %d", d.Occurrence)
	}
	return text
}

// traceValue tells what a trace has at a checkpoint, and where if that is
// wanted.
func traceValue(v *tracediff.Value, place bool) string {
	if !v.Present {
		return "has no such checkpoint"
	}
	var parts []string
	for _, sum := range v.Sums {
		name := "sum"
		if sum.Name != "" {
			name += "." + Safe(sum.Name)
		}
		parts = append(parts, name+" "+shorten(Safe(string(sum.Value)), valueWidth))
	}
	if v.HasCount {
		parts = append(parts, fmt.Sprintf("n %d", v.Count))
	}
	if !place {
		return strings.Join(parts, "  ")
	}
	at := fmt.Sprintf("offset %d", v.Pos.Offset)
	if v.Pos.Line > 0 {
		at = fmt.Sprintf("line %d", v.Pos.Line)
	}
	return strings.Join(parts, "  ") + "  (" + at + ")"
}

// contextText shows the lines around the first difference of two traces.
func contextText(out *lines, r *tracediff.Result, s Style) {
	other := otherSide(r)
	if other == 0 || len(r.Context) <= other || len(r.Context[0].Lines)+len(r.Context[other].Lines) == 0 {
		return
	}
	out.put("  ", s.faint.Sprint(pad("lines", 5, 9)), s.good.Sprint("- "+Safe(r.Traces[0].Name)), "  ", s.bad.Sprint("+ "+Safe(r.Traces[other].Name)))
	for _, line := range tracediff.DiffContext(&r.Context[0], &r.Context[other]) {
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
		out.put("  ", s.faint.Sprint(pad(label, columns(label), 9)), plain.Sprint(string(line.Op)+" "), marked(line, plain, mark))
	}
}

// otherSide returns the first trace that has something else than the first one
// at the first difference, 0 if none has.
func otherSide(r *tracediff.Result) int {
	for i := 1; i < len(r.First.Values); i++ {
		if traceValue(&r.First.Values[0], false) != traceValue(&r.First.Values[i], false) {
			return i
		}
	}
	return 0
}

// marked colours a line, its changed parts differently.
func marked(line tracediff.ContextLine, plain, mark printer) string {
	var b strings.Builder
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

func cascadeText(out *lines, r *tracediff.Result, s Style, all bool) {
	if len(r.Cascade) == 0 {
		return
	}
	out.put("  ", s.faint.Sprint(pad("cascade", 7, 9)), fmt.Sprintf("%s, %d missing", plural(uint64(r.Changed), "checkpoint differs", "checkpoints differ"), r.Missing))
	const shown = 16
	rows := [][]string{{"TICK", "SYSTEM", "SCOPE", "DIFFERENCES", "LAST"}}
	for i, c := range r.Cascade {
		if i == shown && !all {
			break
		}
		rows = append(rows, []string{c.Tick.String(), Safe(c.System), Safe(c.Scope), fmt.Sprint(c.Count), c.Last.String()})
	}
	var table strings.Builder
	_ = TableText(&table, rows, s) // a Builder never fails
	for line := range strings.Lines(table.String()) {
		out.put("           ", strings.TrimSuffix(line, "\n"))
	}
	if n := len(r.Cascade) - shown; n > 0 && !all {
		out.put("           ", s.faint.Sprintf("… and %d more  (--all)", n))
	}
}

// findingNames says in words what a finding is.
var findingNames = map[tracediff.FindingKind]string{
	tracediff.ConfirmedChanged:    "a confirmed value changed later",
	tracediff.RestoreMismatch:     "a restore did not restore what was saved",
	tracediff.ResimulationOff:     "the ticks simulated again are not those that were rolled back",
	tracediff.InputAfterConfirmed: "an input was used after another was confirmed",
	tracediff.Reordered:           "the same checkpoints in another order",
}

func findingText(r *tracediff.Result, f *tracediff.Finding) string {
	text := fmt.Sprintf("%s, tick %s: %s", Safe(r.Traces[f.Trace].Name), f.Tick, findingNames[f.Kind])
	if f.System != "" || f.Scope != "" {
		text += " (" + Safe(strings.TrimSpace(f.System+" "+f.Scope)) + ")"
	}
	if f.Expected != "" || f.Got != "" {
		text += fmt.Sprintf(": expected %s, got %s", shorten(Safe(f.Expected), valueWidth), shorten(Safe(f.Got), valueWidth))
	}
	if f.Pos.Line > 0 {
		text += fmt.Sprintf(", line %d", f.Pos.Line)
	}
	return text
}

func noticedText(n *tracediff.Noticed) string {
	switch {
	case n.Noticed:
		return fmt.Sprintf("%s would have noticed at tick %s, %s late", Safe(n.Schedule.Name), n.Tick, plural(n.Late, "tick", "ticks"))
	case n.Open:
		return fmt.Sprintf("%s would have compared next at tick %s, behind the traces' end", Safe(n.Schedule.Name), n.Tick)
	}
	return fmt.Sprintf("%s would not have noticed", Safe(n.Schedule.Name))
}

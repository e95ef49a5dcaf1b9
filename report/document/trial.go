package document

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
)

// replayedDocument is desynctool.replay/1: what the first trial that departs found,
// and all of them.
type replayedDocument struct {
	Head
	trialDocument
	Trials []trialDocument `json:"trials"`
	Code   *Branches       `json:"code,omitempty"`   // where builds go different ways
	Writes *Writes         `json:"writes,omitempty"` // what they write differently
}

// trialDocument is a replay in one mode; of several, the first that departs.
type trialDocument struct {
	Mode          bisect.TrialMode   `json:"mode"`
	Sim           string             `json:"sim"`
	Against       string             `json:"against,omitempty"`
	From          uint64             `json:"from"` // state points
	To            uint64             `json:"to"`
	Ticks         uint64             `json:"ticks"` // simulated, of all instances
	Compared      uint64             `json:"compared"`
	FirstMismatch *departureDocument `json:"first_mismatch"`
	LastAgreed    *uint64            `json:"last_agreed"`
	Tick          *uint64            `json:"tick"` // that departs
	Runs          int                `json:"runs,omitempty"`
	Hits          int                `json:"hits"`
	Rate          []float64          `json:"rate,omitempty"` // bounds, with 95 % confidence
	Snapshots     int                `json:"snapshots,omitempty"`
	Means         string             `json:"means"`
	Missing       []string           `json:"missing"`
	Notes         []string           `json:"notes"`
}

// departureDocument is where something departs.
type departureDocument struct {
	Point    uint64          `json:"point"`
	A        string          `json:"a"`
	B        string          `json:"b"`
	Expected string          `json:"expected,omitempty"`
	Got      string          `json:"got,omitempty"`
	From     *uint64         `json:"from,omitempty"` // the snapshot that was resumed
	Caches   []string        `json:"caches,omitempty"`
	Order    string          `json:"order,omitempty"`  // its test changes the state
	System   string          `json:"system,omitempty"` // after which it departs
	Scopes   []string        `json:"scopes,omitempty"`
	Proof    string          `json:"proof,omitempty"`    // where it ends
	Loaded   bool            `json:"loaded,omitempty"`   // it departs by loading a state
	TickEnd  bool            `json:"tick_end,omitempty"` // archetypes shows the tick's end, not right after System
	Tables   []TableDocument `json:"archetypes,omitempty"`
}

// Trials returns the document of replays.
func Trials(r Replayed) Document {
	return documentOf(r, trialsJSON, trialsText)
}

func trialsJSON(r Replayed) *replayedDocument {
	doc := &replayedDocument{Head: head("replay", StatusOf(r), nil), Code: r.Branches, Writes: r.Writes}
	shown := false
	for i, t := range r.Trials {
		d := trialJSON(t)
		doc.Trials = append(doc.Trials, d)
		if i == 0 || !shown && t.Departed() {
			doc.trialDocument, shown = d, t.Departed()
		}
	}
	return doc
}

func trialJSON(t *bisect.Trial) trialDocument {
	tick, departs := t.Tick()
	d := trialDocument{
		Mode: t.Mode, Sim: t.Sim, Against: t.Against, From: t.From, To: t.To, Ticks: t.Ticks, Compared: t.Compared, LastAgreed: t.Agreed,
		Tick: orNull(departs, tick), Runs: t.Runs, Hits: t.Hits, Snapshots: t.Snapshots, Means: t.Means, Missing: t.Lost, Notes: t.Notes,
	}
	if t.Mode == bisect.Repeat {
		d.Rate = []float64{t.Low, t.High}
	}
	if x := t.First; x != nil {
		m := &departureDocument{Point: x.Point, A: x.A, B: x.B, Caches: x.Caches, Order: x.Order, System: x.System, Scopes: x.Scopes, Proof: x.Proof, TickEnd: x.TickEnd, Loaded: x.Loaded}
		if x.Caches == nil && x.Expected != x.Got {
			m.Expected, m.Got = x.Expected.String(), x.Got.String()
		}
		m.From = orNull(t.Mode == bisect.FromEachSnapshot || t.Mode == bisect.Rollback, x.From)
		if x.Diff != nil {
			m.Tables = Tables(x.Diff, [2]string{x.A, x.B})
		}
		d.FirstMismatch = m
	}
	return d
}

func trialsText(out *Text, r Replayed, all bool) {
	for i, t := range r.Trials {
		if i > 0 {
			out.put("")
		}
		trialText(out, t, all)
	}
	if r.Branches != nil {
		codeText(out, "code", r.Branches.block())
	}
	if r.Writes != nil {
		codeText(out, "writes", r.Writes.block())
	}
}

func trialText(out *Text, t *bisect.Trial, all bool) {
	s := out.Style
	out.put(s.Verdict(StatusOf(t)), trialHeadline(t))
	row := out.Row
	sim := t.Sim
	if t.Against != "" {
		sim += " against " + t.Against
	}
	row("replay", fmt.Sprintf("%s, state points %d to %d, %s simulated, %d compared", Safe(sim), t.From, t.To, prose.Count(t.Ticks, "tick", "ticks"), t.Compared))
	if d := t.First; d != nil && t.Mode == bisect.Rollback {
		row("", fmt.Sprintf("rolled back to state point %d", d.From))
	}
	if t.Snapshots > 0 {
		row("", prose.Count(t.Snapshots, "snapshot", "snapshots"), " resumed")
	}
	if t.Mode == bisect.Repeat {
		row("rate", fmt.Sprintf("%d of %s after the first depart: %.2g to %.2g of all, with 95 %% confidence", t.Hits, prose.Count(t.Runs, "replay", "replays"), t.Low, t.High))
	}
	if d := t.First; d != nil {
		if d.Caches == nil {
			row("first", s.bad.Sprintf("state point %d", d.Point))
			if d.Expected == d.Got { // of games, with hashes of any length
				row("", Safe(d.A), "  ≠  ", Safe(d.B))
			} else {
				row("", Safe(d.A), "  ", d.Expected.String())
				row("", Safe(d.B), "  ", d.Got.String())
			}
		} else {
			row("first", s.bad.Sprintf("state point %d: stale %s", d.Point, strings.Join(prose.Names(d.Caches), ", ")))
		}
		drilledText(out, d, all)
	}
	for _, lost := range t.Lost {
		row("lost", s.warn.Sprint(Safe(lost)))
	}
	for _, note := range t.Notes {
		row("note", Safe(note))
	}
	row("means", Safe(t.Means))
}

func trialHeadline(t *bisect.Trial) string {
	tick, exact := t.Tick()
	switch {
	case t.First == nil && t.Compared == 0:
		return fmt.Sprintf("  %s: nothing compared", t.Mode)
	case t.First == nil:
		return fmt.Sprintf("  %s: no departure up to state point %d", t.Mode, t.To)
	case t.First.Loaded:
		return fmt.Sprintf("  %s: departs at state point %d, where a state was loaded", t.Mode, t.First.Point)
	case exact:
		return fmt.Sprintf("  %s: departs in tick %d", t.Mode, tick)
	case t.Agreed != nil:
		return fmt.Sprintf("  %s: departs in (%d, %d]", t.Mode, *t.Agreed, t.First.Point)
	}
	return fmt.Sprintf("  %s: departs at state point %d, the first that was compared", t.Mode, t.First.Point)
}

// drilledText describes what is known about a departure in addition to its point: the system, what departs after it,
// and where proof ends.
func drilledText(out *Text, d *bisect.Departure, all bool) {
	s := out.Style
	row := out.Row
	if d.Order != "" {
		row("order", s.bad.Sprint(Safe(d.Order)))
	}
	if d.System != "" {
		row("system", s.bad.Sprint(prose.Name(d.System)))
	}
	for i := range out.upTo(shownTexts, len(d.Scopes), all) {
		row("scope", prose.Name(d.Scopes[i]))
	}
	if d.Proof != "" {
		row("proof", Safe(d.Proof))
	}
	if d.TickEnd {
		row("diff", "at the end of the tick, which later systems may have added to")
	}
	if d.Diff != nil {
		var text strings.Builder
		diffText(s.Text(&text), d.Diff, [2]string{d.A, d.B}, all) // a Builder never fails
		for line := range strings.Lines(text.String()) {
			out.put("    ", strings.TrimSuffix(line, "\n"))
		}
	}
}

package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/flow"
	"github.com/desynctool/desynctool/internal/prose"
)

// Replayed are replays, and where in the code the builds go different ways.
type Replayed struct {
	bisect.Trials
	Branches *Branches // nil if nobody asked
	Writes   *Writes   // nil if nobody asked
}

// Branches is the comparison of the branches of two builds.
type Branches struct {
	*flow.Finding
	// Failed is why they could not be compared; the Finding is nil then.
	Failed string
}

// codeDocument is the place in the code at which builds go different ways.
type codeDocument struct {
	Kind        flow.Kind           `json:"kind"`
	Why         string              `json:"why,omitempty"` // it is not known
	Tick        *uint64             `json:"tick,omitempty"`
	Builds      []string            `json:"builds,omitempty"`
	Thread      uint32              `json:"thread"`
	Equal       uint64              `json:"equal"`
	By          string              `json:"by,omitempty"` // branches, lines
	At          []placeDocument     `json:"at,omitempty"`
	Next        *[2][]placeDocument `json:"next,omitempty"`
	Alone       *int                `json:"alone,omitempty"`
	Stack       []placeDocument     `json:"stack,omitempty"`
	System      string              `json:"system,omitempty"`
	StateFirst  string              `json:"state_first,omitempty"`
	Consequence bool                `json:"consequence,omitempty"`
	Notes       []string            `json:"notes,omitempty"`
}

// placeDocument is a place in a program.
type placeDocument struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"`
	Module   string `json:"module,omitempty"`
	Offset   string `json:"offset"`
}

func placesJSON(list []code.Place) []placeDocument {
	out := []placeDocument{}
	for _, p := range list {
		out = append(out, placeDocument{p.Function, p.File, p.Line, p.Text, p.Module, fmt.Sprintf("0x%x", p.Offset)})
	}
	return out
}

func branchesJSON(b *Branches) *codeDocument {
	if b == nil {
		return nil
	}
	f := b.Finding
	if f == nil {
		return &codeDocument{Kind: flow.Unknown, Why: b.Failed}
	}
	doc := &codeDocument{
		Kind: f.Kind, Tick: &f.Tick, Builds: f.Builds[:], Thread: f.Thread, Equal: f.Equal, By: unitOf(f), Alone: f.Alone,
		System: f.System, StateFirst: f.StateFirst, Consequence: f.Consequence, Notes: f.Notes,
	}
	if f.Kind == flow.Branch || f.Kind == flow.Unsteady {
		doc.At, doc.Stack = placesJSON(f.At), placesJSON(f.Stack)
		doc.Next = &[2][]placeDocument{placesJSON(f.Next[0]), placesJSON(f.Next[1])}
	}
	return doc
}

// unitOf returns what a finding counts.
func unitOf(f *flow.Finding) string {
	if f.Lines {
		return "lines"
	}
	return "branches"
}

// branchesText prints where the builds go different ways.
func branchesText(out *Text, b *Branches) {
	if b == nil {
		return
	}
	row := out.Row
	f := b.Finding
	if f == nil {
		row("code", out.Style.warn.Sprint("not known: "+Safe(b.Failed)))
		return
	}
	row("code", branchesSentence(out.Style, f))
	for i, next := range f.Next {
		if f.Kind == flow.Branch && (f.Alone == nil || *f.Alone == i) {
			row("", prose.Name(f.Builds[i]), " goes on at ", placeText(next))
		} else if f.Kind == flow.Unsteady {
			row("", fmt.Sprintf("run %d goes on at ", i+1), placeText(next))
		}
	}
	if len(f.At) > 1 {
		row("", "inlined in ", Safe(code.Stack(f.At[1:]).String()))
	}
	if len(f.Stack) > 0 {
		row("", "called from ", Safe(code.Stack(f.Stack).String()))
	}
	if f.System != "" {
		row("", stateSentence(f))
	}
	for _, note := range f.Notes {
		row("", Safe(note))
	}
}

// branchesSentence returns the first sentence about a finding.
func branchesSentence(s Style, f *flow.Finding) string {
	thread := ""
	if f.Thread > 0 {
		thread = fmt.Sprintf(" of thread %d", f.Thread)
	}
	equal := fmt.Sprintf("%s%s", prose.Count(f.Equal, "equal branch", "equal branches"), thread)
	if f.Lines {
		equal = fmt.Sprintf("%s%s", prose.Count(f.Equal, "equal line", "equal lines"), thread)
	}
	at := "at the first branch"
	if len(f.At) > 0 {
		at = "in " + s.bad.Sprint(Safe(f.At[0].String()))
		if text := f.At[0].Text; text != "" {
			at += "   " + Safe(text)
		}
	}
	switch f.Kind {
	case flow.Branch:
		if f.Alone != nil {
			return fmt.Sprintf("in tick %d, %s alone goes another way, after %s, %s", f.Tick, prose.Name(f.Builds[*f.Alone]), prose.Count(f.Equal, "branch", "branches"), at)
		}
		return fmt.Sprintf("in tick %d, after %s, the builds go different ways %s", f.Tick, equal, at)
	case flow.Unsteady:
		return fmt.Sprintf("in tick %d, %s takes other branches each time: after %s, two runs go different ways %s", f.Tick, prose.Name(f.Builds[0]), equal, at)
	case flow.Data:
		return fmt.Sprintf("in tick %d, both builds take the same %s: they compute other values by the same logic", f.Tick, prose.Count(f.Equal, "branch", "branches"))
	}
	return fmt.Sprintf("not known: in tick %d, the builds agree at all lines that can be compared", f.Tick)
}

// stateSentence tells how a finding relates to the states after the systems.
func stateSentence(f *flow.Finding) string {
	system := prose.Name(f.System)
	switch {
	case f.Consequence:
		return fmt.Sprintf("this is in %s, but the states differ before it, after %s: the values that %s wrote are the reason", system, prose.Name(f.StateFirst), prose.Name(f.StateFirst))
	case f.StateFirst == f.System:
		return fmt.Sprintf("this is in %s, after which the states differ first", system)
	case f.StateFirst != "":
		return fmt.Sprintf("this is in %s; the states differ first after %s", system, prose.Name(f.StateFirst))
	}
	return "this is in " + system
}

// placeText returns a place with its line of source.
func placeText(list []code.Place) string {
	if len(list) == 0 {
		return "the end of its tick"
	}
	text := Safe(list[0].String())
	if list[0].Text != "" {
		text += "   " + Safe(list[0].Text)
	}
	return text
}

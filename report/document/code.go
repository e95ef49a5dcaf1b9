package document

import (
	"fmt"
	"strconv"
	"strings"

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

// CodeDocument is the place in the code at which builds go different ways.
type CodeDocument struct {
	Kind        flow.Kind           `json:"kind"`
	Why         string              `json:"why,omitempty"` // it is not known
	Tick        *uint64             `json:"tick,omitempty"`
	Builds      []string            `json:"builds,omitempty"`
	Thread      uint32              `json:"thread"`
	Equal       uint64              `json:"equal"`
	By          string              `json:"by,omitempty"` // branches, lines
	At          []PlaceDocument     `json:"at,omitempty"`
	Next        *[2][]PlaceDocument `json:"next,omitempty"`
	Alone       *int                `json:"alone,omitempty"`
	Stack       []PlaceDocument     `json:"stack,omitempty"`
	System      string              `json:"system,omitempty"`
	StateFirst  string              `json:"state_first,omitempty"`
	Consequence bool                `json:"consequence,omitempty"`
	Notes       []string            `json:"notes,omitempty"`
}

// PlaceDocument is a place in a program.
type PlaceDocument struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"`
	Module   string `json:"module,omitempty"`
	Offset   string `json:"offset"`
}

func placesJSON(list []code.Place) []PlaceDocument {
	out := []PlaceDocument{}
	for _, p := range list {
		out = append(out, PlaceDocument{p.Function, p.File, p.Line, p.Text, p.Module, fmt.Sprintf("0x%x", p.Offset)})
	}
	return out
}

// Document returns the document of a comparison, nil if nobody asked for it.
func (b *Branches) Document() *CodeDocument {
	if b == nil {
		return nil
	}
	f := b.Finding
	if f == nil {
		return &CodeDocument{Kind: flow.Unknown, Why: b.Failed}
	}
	doc := &CodeDocument{
		Kind: f.Kind, Tick: &f.Tick, Builds: f.Builds[:], Thread: f.Thread, Equal: f.Equal, By: unitOf(f), Alone: f.Alone,
		System: f.System, StateFirst: f.StateFirst, Consequence: f.Consequence, Notes: f.Notes,
	}
	if f.Kind == flow.Branch || f.Kind == flow.Unsteady {
		doc.At, doc.Stack = placesJSON(f.At), placesJSON(f.Stack)
		doc.Next = &[2][]PlaceDocument{placesJSON(f.Next[0]), placesJSON(f.Next[1])}
	}
	return doc
}

// byLines is the unit of a finding of builds that were compiled otherwise.
const byLines = "lines"

// unitOf returns what a finding counts.
func unitOf(f *flow.Finding) string {
	if f.Lines {
		return byLines
	}
	return "branches"
}

// Known reports whether a line is named at which builds go different ways.
func (d *CodeDocument) Known() bool {
	return d != nil && (d.Kind == flow.Branch || d.Kind == flow.Unsteady) && len(d.At) > 0
}

// Lines describes a comparison: a sentence, then more about it.
func (d *CodeDocument) Lines(s Style) []string {
	if d.Tick == nil || len(d.Builds) != 2 {
		return []string{s.warn.Sprint("not known: " + Safe(d.Why))}
	}
	out := []string{d.sentence(s)}
	add := func(parts ...string) { out = append(out, strings.Join(parts, "")) }
	if d.Next != nil {
		for i, next := range d.Next {
			if d.Kind == flow.Branch && (d.Alone == nil || *d.Alone == i) {
				add(prose.Name(d.Builds[i]), " goes on at ", placeText(next))
			} else if d.Kind == flow.Unsteady {
				add(fmt.Sprintf("run %d goes on at ", i+1), placeText(next))
			}
		}
	}
	if len(d.At) > 1 {
		add("inlined in ", Safe(stackOf(d.At[1:]).String()))
	}
	if len(d.Stack) > 0 {
		add("called from ", Safe(stackOf(d.Stack).String()))
	}
	if d.System != "" {
		add(d.state())
	}
	for _, note := range d.Notes {
		add(Safe(note))
	}
	return out
}

// sentence returns the first sentence about a comparison.
func (d *CodeDocument) sentence(s Style) string {
	thread := ""
	if d.Thread > 0 {
		thread = fmt.Sprintf(" of thread %d", d.Thread)
	}
	equal := prose.Count(d.Equal, "equal branch", "equal branches") + thread
	if d.By == byLines {
		equal = prose.Count(d.Equal, "equal line", "equal lines") + thread
	}
	at := "at the first branch"
	if len(d.At) > 0 {
		at = "in " + s.bad.Sprint(Safe(d.At[0].place().String()))
		if text := d.At[0].Text; text != "" {
			at += "   " + Safe(text)
		}
	}
	switch d.Kind {
	case flow.Branch:
		if d.Alone != nil && (*d.Alone == 0 || *d.Alone == 1) {
			return fmt.Sprintf("in tick %d, %s alone goes another way, after %s, %s", *d.Tick, prose.Name(d.Builds[*d.Alone]), prose.Count(d.Equal, "branch", "branches"), at)
		}
		return fmt.Sprintf("in tick %d, after %s, the builds go different ways %s", *d.Tick, equal, at)
	case flow.Unsteady:
		return fmt.Sprintf("in tick %d, %s takes other branches each time: after %s, two runs go different ways %s", *d.Tick, prose.Name(d.Builds[0]), equal, at)
	case flow.Data:
		return fmt.Sprintf("in tick %d, both builds take the same %s: they compute other values by the same logic", *d.Tick, prose.Count(d.Equal, "branch", "branches"))
	}
	return fmt.Sprintf("not known: in tick %d, the builds agree at all lines that can be compared", *d.Tick)
}

// state describes how the branches relate to the states after the systems.
func (d *CodeDocument) state() string {
	system := prose.Name(d.System)
	switch {
	case d.Consequence:
		return fmt.Sprintf("this is in %s, but the states differ before it, after %s: the values that %s wrote are the reason", system, prose.Name(d.StateFirst), prose.Name(d.StateFirst))
	case d.StateFirst == d.System:
		return fmt.Sprintf("this is in %s, after which the states differ first", system)
	case d.StateFirst != "":
		return fmt.Sprintf("this is in %s; the states differ first after %s", system, prose.Name(d.StateFirst))
	}
	return "this is in " + system
}

// place returns the place of a document.
func (p *PlaceDocument) place() code.Place {
	offset, _ := strconv.ParseUint(strings.TrimPrefix(p.Offset, "0x"), 16, 64)
	return code.Place{Function: p.Function, File: p.File, Line: p.Line, Text: p.Text, Module: p.Module, Offset: offset}
}

func stackOf(list []PlaceDocument) code.Stack {
	out := make(code.Stack, len(list))
	for i := range list {
		out[i] = list[i].place()
	}
	return out
}

// placeText returns a place with its line of source.
func placeText(list []PlaceDocument) string {
	if len(list) == 0 {
		return "the end of its tick"
	}
	text := Safe(list[0].place().String())
	if list[0].Text != "" {
		text += "   " + Safe(list[0].Text)
	}
	return text
}

// CodePlaces returns the places in the code at which the builds depart: by their branches, then the first writes.
func (r *Report) CodePlaces() (list []PlaceDocument) {
	if r.Code.Known() && !r.Code.Consequence {
		list = append(list, r.Code.At[0])
	}
	if r.Writes != nil {
		for _, b := range r.Writes.Builds {
			if b.First != nil && b.First.File != "" {
				list = append(list, b.First.PlaceDocument)
			}
		}
	}
	return list
}

// rows prints lines under a title.
func rows(out *Text, title string, lines []string) {
	for i, line := range lines {
		if i > 0 {
			title = ""
		}
		out.Row(title, line)
	}
}

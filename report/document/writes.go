package document

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/gdb"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// Writes is the comparison of what two builds write to the values that differ.
type Writes struct {
	*gdb.Finding
	// Failed is why it could not be made; the Finding is nil then.
	Failed string
}

// WritesDocument is the first write that differs.
type WritesDocument struct {
	Kind   string            `json:"kind"`          // write, unknown
	Why    string            `json:"why,omitempty"` // it is not known
	Tick   *uint64           `json:"tick,omitempty"`
	System string            `json:"system,omitempty"`
	Fields []WatchedDocument `json:"fields,omitempty"` // that were watched
	Equal  int               `json:"equal"`
	Builds []WritingBuild    `json:"builds,omitempty"`
	Notes  []string          `json:"notes,omitempty"`
}

type WatchedDocument struct {
	Archetype string `json:"archetype"`
	Key       string `json:"key"`
	Column    string `json:"column"`
}

type WritingBuild struct {
	Name   string         `json:"name"`
	Writes int            `json:"writes"`
	First  *WriteDocument `json:"first,omitempty"` // that differs
}

type WriteDocument struct {
	PlaceDocument
	Field    int             `json:"field"` // of fields, from 0
	Old      string          `json:"old"`
	New      string          `json:"new"`
	Branches *uint64         `json:"branches,omitempty"`
	Stack    []PlaceDocument `json:"stack"`
}

// Document returns the document of a comparison, nil if nobody asked for it.
func (w *Writes) Document() *WritesDocument {
	if w == nil {
		return nil
	}
	f := w.Finding
	if f == nil {
		return &WritesDocument{Kind: "unknown", Why: w.Failed}
	}
	doc := &WritesDocument{Kind: "write", Tick: &f.Tick, System: f.System, Equal: f.Equal, Notes: f.Notes}
	for _, field := range f.Fields {
		doc.Fields = append(doc.Fields, WatchedDocument{field.Archetype, field.Key.String(), field.Column})
	}
	for _, b := range f.Builds {
		one := WritingBuild{Name: b.Name, Writes: b.Writes}
		if b.First != nil {
			one.First = &WriteDocument{placesJSON([]code.Place{b.First.At})[0], b.First.Field, b.First.Old, b.First.New, b.First.Branches, placesJSON(b.First.Stack)}
		}
		doc.Builds = append(doc.Builds, one)
	}
	return doc
}

// Known reports whether a write is named that differs.
func (d *WritesDocument) Known() bool {
	return d != nil && slices.ContainsFunc(d.Builds, func(b WritingBuild) bool { return b.First != nil })
}

// Lines describes the first write that differs: a sentence, then more about it.
func (d *WritesDocument) Lines(s Style) []string {
	if d.Tick == nil || len(d.Builds) != 2 {
		return []string{s.warn.Sprint("not known: " + Safe(d.Why))}
	}
	where := fmt.Sprintf("in tick %d", *d.Tick)
	if d.System != "" {
		where += ", in " + prose.Name(d.System)
	}
	equal := prose.Count(uint64(d.Equal), "equal write", "equal writes")
	var out []string
	a, b := d.Builds[0].First, d.Builds[1].First
	switch {
	case a == nil && b == nil:
		out = append(out, fmt.Sprintf("%s, no write that differs was seen: %s", where, equal))
	case a != nil && b != nil && a.place().At() == b.place().At() && a.Field == b.Field:
		out = append(out, fmt.Sprintf("%s, after %s, the builds write different values in %s", where, equal, s.bad.Sprint(Safe(a.place().String()))))
	default:
		out = append(out, fmt.Sprintf("%s, after %s, the builds write differently", where, equal))
	}
	for _, build := range d.Builds {
		name, w := prose.Name(build.Name), build.First
		if w == nil {
			out = append(out, name+" writes nothing more")
			continue
		}
		field := ""
		if w.Field >= 0 && w.Field < len(d.Fields) {
			field = d.Fields[w.Field].name()
		}
		out = append(out, fmt.Sprintf("%s: %s from %s to %s in %s", name, Safe(field), Safe(w.Old), Safe(w.New), placeText([]PlaceDocument{w.PlaceDocument})))
		if len(w.Stack) > 1 {
			out = append(out, "called: "+Safe(stackOf(w.Stack).String()))
		}
	}
	for _, note := range d.Notes {
		out = append(out, Safe(note))
	}
	return out
}

// name returns the value that was watched.
func (w *WatchedDocument) name() string {
	if w.Archetype == "" {
		return snapshot.RNG
	}
	return w.Archetype + " " + w.Key + " " + w.Column
}

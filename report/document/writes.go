package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/gdb"
	"github.com/desynctool/desynctool/internal/prose"
)

// Writes is the comparison of what two builds write to the values that differ.
type Writes struct {
	*gdb.Finding
	// Failed is why it could not be made; the Finding is nil then.
	Failed string
}

// writesDocument is the first write that differs.
type writesDocument struct {
	Kind   string          `json:"kind"`          // write, unknown
	Why    string          `json:"why,omitempty"` // it is not known
	Tick   *uint64         `json:"tick,omitempty"`
	System string          `json:"system,omitempty"`
	Fields []fieldDocument `json:"fields,omitempty"` // that were watched
	Equal  int             `json:"equal"`
	Builds []buildDocument `json:"builds,omitempty"`
	Notes  []string        `json:"notes,omitempty"`
}

type fieldDocument struct {
	Archetype string `json:"archetype"`
	Key       string `json:"key"`
	Column    string `json:"column"`
}

type buildDocument struct {
	Name   string         `json:"name"`
	Writes int            `json:"writes"`
	First  *writeDocument `json:"first,omitempty"` // that differs
}

type writeDocument struct {
	placeDocument
	Field    int             `json:"field"` // of fields, from 0
	Old      string          `json:"old"`
	New      string          `json:"new"`
	Branches *uint64         `json:"branches,omitempty"`
	Stack    []placeDocument `json:"stack"`
}

func writesJSON(w *Writes) *writesDocument {
	if w == nil {
		return nil
	}
	f := w.Finding
	if f == nil {
		return &writesDocument{Kind: "unknown", Why: w.Failed}
	}
	doc := &writesDocument{Kind: "write", Tick: &f.Tick, System: f.System, Equal: f.Equal, Notes: f.Notes}
	for _, field := range f.Fields {
		doc.Fields = append(doc.Fields, fieldDocument{field.Archetype, field.Key.String(), field.Column})
	}
	for _, b := range f.Builds {
		one := buildDocument{Name: b.Name, Writes: b.Writes}
		if b.First != nil {
			one.First = &writeDocument{placesJSON([]code.Place{b.First.At})[0], b.First.Field, b.First.Old, b.First.New, b.First.Branches, placesJSON(b.First.Stack)}
		}
		doc.Builds = append(doc.Builds, one)
	}
	return doc
}

// writesText prints the first write that differs.
func writesText(out *Text, w *Writes) {
	if w == nil {
		return
	}
	row := out.Row
	f := w.Finding
	if f == nil {
		row("writes", out.Style.warn.Sprint("not known: "+Safe(w.Failed)))
		return
	}
	where := fmt.Sprintf("in tick %d", f.Tick)
	if f.System != "" {
		where += ", in " + prose.Name(f.System)
	}
	a, b := f.Builds[0].First, f.Builds[1].First
	switch {
	case a == nil && b == nil:
		row("writes", fmt.Sprintf("%s, no write that differs was seen: %s", where, prose.Count(uint64(f.Equal), "equal write", "equal writes")))
	case a != nil && b != nil && a.At.At() == b.At.At() && a.Field == b.Field:
		row("writes", fmt.Sprintf("%s, after %s, the builds write different values in %s", where, prose.Count(uint64(f.Equal), "equal write", "equal writes"), out.Style.bad.Sprint(Safe(a.At.String()))))
	default:
		row("writes", fmt.Sprintf("%s, after %s, the builds write differently", where, prose.Count(uint64(f.Equal), "equal write", "equal writes")))
	}
	for _, build := range f.Builds {
		name := prose.Name(build.Name)
		if build.First == nil {
			row("", name, " writes nothing more")
			continue
		}
		field := f.Fields[build.First.Field]
		row("", fmt.Sprintf("%s: %s from %s to %s in ", name, Safe(field.String()), Safe(build.First.Old), Safe(build.First.New)), placeText([]code.Place{build.First.At}))
		if len(build.First.Stack) > 1 {
			row("", "called: ", Safe(build.First.Stack.String()))
		}
	}
	for _, note := range f.Notes {
		row("", Safe(note))
	}
}

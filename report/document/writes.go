package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/gdb"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// Writes is the first write of a tick that two builds make differently: see [gdb.Finding].
type Writes struct {
	Kind   CodeKind       `json:"kind"`          // write, unknown
	Why    string         `json:"why,omitempty"` // it is not known
	Tick   *uint64        `json:"tick,omitempty"`
	System string         `json:"system,omitempty"`
	Fields []WrittenField `json:"fields,omitempty"` // that were watched
	Equal  int            `json:"equal"`
	Builds []Writing      `json:"builds,omitempty"`
	Notes  []string       `json:"notes,omitempty"`
}

// WrittenField is a value that was watched.
type WrittenField struct {
	Archetype string `json:"archetype"`
	Key       string `json:"key"`
	Column    string `json:"column"`
}

// String returns "Infantry 7 Health.points", or the name of the RNG.
func (f WrittenField) String() string {
	if f.Archetype == "" {
		return gdb.Field{}.String()
	}
	return Safe(fmt.Sprintf("%s %s %s", f.Archetype, f.Key, f.Column))
}

// Writing is what one build writes.
type Writing struct {
	Name   string   `json:"name"`
	Writes int      `json:"writes"`
	First  *Written `json:"first,omitempty"` // that differs
}

// Written is a change of a value.
type Written struct {
	CodePlace
	Field int         `json:"field"` // of Fields, from 0
	Old   string      `json:"old"`
	New   string      `json:"new"`
	Stack []CodePlace `json:"stack"`
}

// NewWrites returns a finding as a document has it, or why there is none.
func NewWrites(f *gdb.Finding, err error) *Writes {
	if err != nil {
		return &Writes{Kind: CodeUnknown, Why: err.Error()}
	}
	doc := &Writes{Kind: CodeWrite, Tick: &f.Tick, System: f.System, Equal: f.Equal, Notes: f.Notes}
	for _, field := range f.Fields {
		doc.Fields = append(doc.Fields, WrittenField{Archetype: field.Archetype, Key: field.Key.String(), Column: field.Column})
	}
	for _, b := range f.Builds {
		one := Writing{Name: b.Name, Writes: b.Writes}
		if w := b.First; w != nil {
			one.First = &Written{newCodePlaces([]code.Place{w.At})[0], w.Field, w.Old, w.New, newCodePlaces(w.Stack)}
		}
		doc.Builds = append(doc.Builds, one)
	}
	return doc
}

// Firsts returns the writes that differ, the one of the sound build first; nil where a build makes none.
func (w *Writes) Firsts() (first [2]*Written) {
	for i := range w.Builds[:min(2, len(w.Builds))] {
		first[i] = w.Builds[i].First
	}
	return first
}

func (w *Writes) block() CodeBlock {
	if w.Tick == nil {
		return CodeBlock{Sentence: "not known: " + Safe(w.Why)}
	}
	out := CodeBlock{Known: true, Sentence: w.sentence()}
	for i := range w.Builds {
		b := &w.Builds[i]
		side := CodeSide{Who: prose.Name(b.Name), Does: "writes nothing more"}
		if b.First == nil {
			out.Sides = append(out.Sides, side)
			continue
		}
		field := WrittenField{}
		if k := b.First.Field; k >= 0 && k < len(w.Fields) {
			field = w.Fields[k]
		}
		side.Does, side.At = fmt.Sprintf("writes %s from %s to %s in", field, Safe(b.First.Old), Safe(b.First.New)), &b.First.CodePlace
		out.Sides = append(out.Sides, side)
		if len(b.First.Stack) > 1 {
			out.More = append(out.More, prose.Name(b.Name)+" calls "+stackText(b.First.Stack))
		}
	}
	out.More = append(out.More, lists.Map(w.Notes, Safe)...)
	return out
}

// sentence describes the finding.
func (w *Writes) sentence() string {
	where := fmt.Sprintf("in tick %d", *w.Tick)
	if w.System != "" {
		where += ", in " + prose.Name(w.System)
	}
	equal := equalText(uint64(max(w.Equal, 0)), "writes")
	first := w.Firsts()
	a, b := first[0], first[1]
	switch {
	case a == nil && b == nil:
		return fmt.Sprintf("%s, no write that differs was seen: %s", where, equal)
	case a != nil && b != nil && a.At() == b.At() && a.Field == b.Field:
		return fmt.Sprintf("%s, after %s, the builds write different values in %s", where, equal, a.String())
	}
	return fmt.Sprintf("%s, after %s, the builds write differently", where, equal)
}

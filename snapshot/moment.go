package snapshot

import "strings"

// Relation is how a state point stands to what the engine names.
type Relation uint8

// Relations.
const (
	At    Relation = iota // the name is that of the point itself
	After                 // the point follows what is named: "after turn 22"
	EndOf                 // the point is the end of what is named: "end of frame 480"
	Some                  // it is not known which of those it is: "some turn". Its tick says nothing
)

// relations are the words before the name. They are part of the formats that hold a
// native name: .snap files, their text twin and reports.
var relations = [...]string{At: "", After: "after ", EndOf: "end of ", Some: "some "}

// unknown begins the name of a moment that is not known.
const unknown = "an unknown "

// Known reports whether it is known which point it is: if not, its tick says nothing.
func (p Point) Known() bool { return p.Relation != Some && !strings.HasPrefix(p.Native, unknown) }

// Words returns the engine's own name of the point with its relation, as files and
// reports have it; "" if it has none.
func (p Point) Words() string {
	if p.Native == "" {
		return ""
	}
	return relations[p.Relation] + p.Native
}

// When says within a sentence when the point is: "at 000ade40", "after turn 22", "at the
// end of frame 480".
func (p Point) When() string {
	switch {
	case p.Native != "" && p.Relation == After:
		return p.Words()
	case p.Native != "" && p.Relation == EndOf:
		return "at the " + p.Words()
	}
	return "at " + p.String()
}

// Named returns p with the name, and the relation to it, that [Point.Words] returned.
func (p Point) Named(words string) Point {
	p.Native, p.Relation = words, At
	for _, r := range []Relation{After, EndOf, Some} {
		if name, ok := strings.CutPrefix(words, relations[r]); ok && name != "" {
			p.Native, p.Relation = name, r
		}
	}
	return p
}

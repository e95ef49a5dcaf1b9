package snapshot

import "strings"

// Relation is the relation of a state point to the engine's own name for it.
type Relation uint8

// Relations.
const (
	At    Relation = iota // the name is the name of the point itself
	After                 // the point follows the named moment: "after turn 22"
	EndOf                 // the point is the end of the named moment: "end of frame 480"
	Some                  // the exact moment is unknown: "some turn"; the tick means nothing
)

// relations are the words before the name. They are part of every format that contains a native name: .snap files,
// their text twin and reports.
var relations = [...]string{At: "", After: "after ", EndOf: "end of ", Some: "some "}

// unknown begins the name of an unknown moment.
const unknown = "an unknown "

// Known reports whether the point is known. If not, its tick means nothing.
func (p Point) Known() bool { return p.Relation != Some && !strings.HasPrefix(p.Native, unknown) }

// Words returns the engine's own name of the point with its relation, as in files and reports. It is "" if there is no
// name.
func (p Point) Words() string {
	if p.Native == "" {
		return ""
	}
	return relations[p.Relation] + p.Native
}

// When returns a phrase for use within a sentence: "at 000ade40", "after turn 22", "at the end of frame 480".
func (p Point) When() string {
	switch {
	case p.Native != "" && p.Relation == After:
		return p.Words()
	case p.Native != "" && p.Relation == EndOf:
		return "at the " + p.Words()
	}
	return "at " + p.String()
}

// Named returns p with the name and relation in words, the result of [Point.Words].
func (p Point) Named(words string) Point {
	p.Native, p.Relation = words, At
	for _, r := range []Relation{After, EndOf, Some} {
		if name, ok := strings.CutPrefix(words, relations[r]); ok && name != "" {
			p.Native, p.Relation = name, r
		}
	}
	return p
}

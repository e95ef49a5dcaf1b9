package verdict

import "github.com/desynctool/desynctool/snapshot"

// Moment is a state point or a tick.
type Moment struct {
	Number   uint64
	Native   string            // the engine's own name, "" if it has none
	Relation snapshot.Relation // of the moment to the engine's point in Native
}

// MomentOf returns a state point as a moment.
func MomentOf(p snapshot.Point) Moment { return Moment{p.Tick, p.Native, p.Relation} }

// Point returns the moment as a state point.
func (m Moment) Point() snapshot.Point {
	return snapshot.Point{Tick: m.Number, Native: m.Native, Relation: m.Relation}
}

// Words returns the engine's own name with its relation, as in documents: "turn 12", "after turn 12", "end of frame
// 600"; "" if it has none.
func (m Moment) Words() string { return m.Point().Words() }

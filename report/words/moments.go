package words

import (
	"fmt"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// both returns the engine's own name of a moment, and the number unless that is part of the name.
func both(m verdict.Moment) string { return document.BothNames(m.Native, m.Number) }

// point names a state point within a sentence.
func point(m verdict.Moment) string { return document.PointName(m.Point()) }

// at describes the time of a state.
func at(m verdict.Moment) string { return document.AtPoint(m.Point()) }

// short names a state point in a table.
func short(m verdict.Moment) string { return m.Point().String() }

// tick names a tick within a sentence.
func tick(m verdict.Moment) string { return document.InTick(both(m)) }

// coded reports whether the engine's name of a moment is a bare code, such as a number.
func coded(m verdict.Moment) bool { return document.InTick(m.Native) != m.Native }

// divergentTick names the tick in which the peers diverged. For an engine that names only state points, it is the tick
// from one of them to the next.
func divergentTick(c *verdict.Conclusion) string {
	if b := c.Bracket; c.Exact && b != nil && b.Good != nil {
		good, bad := verdict.MomentOf(*b.Good), verdict.MomentOf(b.Bad)
		switch {
		case good.Native != "" && bad.Native != "" && coded(good) && (c.Tick.Native == "" || c.Tick.Native == good.Native):
			return fmt.Sprintf("%s to %s (%d)", good.Native, bad.Native, c.Tick.Number)
		case ofPoints(c):
			return good.Native + " to " + bad.Native
		}
	}
	return both(*c.Tick)
}

// ofPoints reports whether the engine's name of the divergent tick is one of a state point: whether its state point comes
// before the tick of that name or after it is not known.
func ofPoints(c *verdict.Conclusion) bool {
	b := c.Bracket
	return c.Exact && b != nil && b.Good != nil && b.Bad.Native != "" && b.Good.Relation == b.Bad.Relation &&
		c.Tick.Native != "" && c.Tick.Native == b.Good.Native && !coded(*c.Tick)
}

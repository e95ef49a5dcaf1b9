package openra

import (
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// places are the traits that contain their actor's place in a report, as CenterPosition: a position in the world; its
// third number is the height (OpenRA/OpenRA, OpenRA.Mods.Common/Traits/Mobile.cs, Air/Aircraft.cs and Husk.cs).
var places = []string{"Mobile", "Aircraft", "Husk"}

// ground returns where actors and effects are. Rows of all traits of an actor have its
// number.
func ground(s snapshot.State) *snapshot.Ground {
	g := &snapshot.Ground{X: "world x", Y: "world y"}
	for _, t := range s.Info().Tables {
		switch effect, ok := strings.CutPrefix(t.Label, "effect "); {
		case t.Class != snapshot.Archetype || t.Parts != 1 || t.Label == "(order)":
		case ok:
			g.Positions = append(g.Positions, snapshot.Position{Kind: t.Label, Archetype: t.Label, X: effect + ".pos"})
		default:
			for _, trait := range places {
				g.Positions = append(g.Positions, snapshot.Position{Kind: t.Label, Archetype: trait, X: trait + ".CenterPosition"})
			}
		}
	}
	return g
}

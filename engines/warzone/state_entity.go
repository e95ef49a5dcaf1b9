package warzone

import (
	"fmt"

	"github.com/desynctool/desynctool/snapshot"
)

// kinds are the game's words for the things that tables are of.
var kinds = map[string]string{
	"Droid": Droid.String(), "Structure": Structure.String(), "Feature": Feature.String(), "Economy": "player", "Count": "player",
}

// homes are the tables that have a row for each thing of a kind.
var homes = map[string]string{Droid.String(): "Droid", Structure.String(): "Structure", Feature.String(): "Feature"}

// types are the columns with the number of a thing's type.
var types = map[string]string{"Structure": "type", "Feature": "subtype"}

// tileUnits is how many units of the world a tile is wide.
const tileUnits = 128

type naming struct{ snapshot.TableNaming }

func newNaming(s snapshot.State) snapshot.Naming { return naming{snapshot.NewTableNaming(s)} }

func (n naming) Entity(label string, key snapshot.Key) snapshot.Entity {
	if kind := kinds[label]; kind != "" {
		return snapshot.Entity{Kind: kind, Key: key}
	}
	return n.TableNaming.Entity(label, key)
}

// Has reports that every player exists: a player without a row has nothing that is counted.
func (n naming) Has(e snapshot.Entity) bool {
	switch label := homes[e.Kind]; {
	case label != "":
		return n.HasRow(label, e.Key)
	case e.Kind == "player":
		return true
	}
	return n.TableNaming.Has(e)
}

// Describe returns the number of the type of a structure or feature, and the tile on which
// an object is.
func (n naming) Describe(e snapshot.Entity) (name, place string) {
	label := homes[e.Kind]
	if label == "" {
		return "", ""
	}
	if field := types[label]; field != "" {
		if number, ok := n.Number(label, e.Kind, field, e.Key); ok {
			name = fmt.Sprintf("%s %d", field, number)
		}
	}
	x, okX := n.Number(label, "pos", "x", e.Key)
	y, okY := n.Number(label, "pos", "y", e.Key)
	if okX && okY {
		place = fmt.Sprintf("tile x %d, y %d", x/tileUnits, y/tileUnits)
	}
	return name, place
}

// ground returns on which tiles objects are: z is the height.
func ground(snapshot.State) *snapshot.Ground {
	g := &snapshot.Ground{X: "tile x", Y: "tile y"}
	for _, object := range []Object{Droid, Structure, Feature} {
		g.Positions = append(g.Positions, snapshot.Position{Kind: object.String(), Archetype: homes[object.String()], X: "pos.x", Y: "pos.y", Unit: tileUnits})
	}
	return g
}

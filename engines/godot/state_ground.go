package godot

import (
	"github.com/desynctool/desynctool/snapshot"
)

// ground returns where nodes are: Vector2 has x and y, of Vector3 y is the height.
func ground(s snapshot.State) *snapshot.Ground {
	flat := &snapshot.Ground{X: "x", Y: "y"}
	deep := &snapshot.Ground{X: "x", Y: "z"}
	for i, t := range s.Info().Tables {
		if t.Class != snapshot.Archetype || t.Parts != 1 {
			continue
		}
		index, err := s.Index(i)
		if err != nil {
			continue // the code that reads the table reports that
		}
		fields := map[string]bool{}
		for _, c := range index.Columns {
			if c.Component == component {
				fields[c.Field] = true
			}
		}
		for _, name := range []string{"position", "global_position"} {
			at := component + "." + name
			switch {
			case fields[name+".x"] && fields[name+".z"]:
				deep.Positions = append(deep.Positions, snapshot.Position{Kind: t.Label, Archetype: t.Label, X: at + ".x", Y: at + ".z"})
			case fields[name+".x"] && fields[name+".y"]:
				flat.Positions = append(flat.Positions, snapshot.Position{Kind: t.Label, Archetype: t.Label, X: at + ".x", Y: at + ".y"})
			}
		}
	}
	if len(deep.Positions) > 0 {
		return deep // flat positions next to it belong to the screen
	}
	return flat
}

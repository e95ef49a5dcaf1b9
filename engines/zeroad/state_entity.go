package zeroad

import (
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// systemEntity is the entity that has the managers of the simulation as components. The items in their lists belong to
// the entities that the lists name.
const systemEntity = 1

// byKey are lists of managers with the number of an entity as second key, byColumn the lists that have it in a column.
var (
	byKey    = map[string]bool{"RangeManager.entity": true, "UnitMotionManager.unit": true, "TemplateManager.template": true}
	byColumn = map[string]string{"ObstructionManager.unit shape": "entity", "ObstructionManager.static shape": "entity"}
)

// folders are the kinds of entities by the folders of their templates.
var folders = map[string]string{"units": "unit", "structures": "structure"}

// naming finds the entity that the rows of all components belong to.
type naming struct {
	snapshot.TableNaming
	kinds map[uint64]string
}

func newNaming(s snapshot.State) snapshot.Naming {
	return naming{snapshot.NewTableNaming(s), map[uint64]string{}}
}

// entity returns an entity by its number.
func (n naming) entity(id uint64) snapshot.Entity {
	kind, ok := n.kinds[id]
	if !ok {
		folder, _, _ := strings.Cut(n.template(id), "/")
		if kind = folders[folder]; kind == "" {
			kind = "entity"
		}
		n.kinds[id] = kind
	}
	return snapshot.Entity{Kind: kind, Key: snapshot.Key{A: id}}
}

func (n naming) template(id uint64) string {
	return n.Text("TemplateManager.template", "TemplateManager", "key", snapshot.Key{A: systemEntity, B: id, Two: true})
}

func (n naming) Entity(label string, key snapshot.Key) snapshot.Entity {
	if key.A != systemEntity {
		return n.entity(key.A)
	}
	if byKey[label] && key.Two {
		return n.entity(key.B)
	}
	if column := byColumn[label]; column != "" {
		component, _, _ := strings.Cut(label, ".")
		if id, ok := n.Number(label, component, column, key); ok && id != 0 {
			return n.entity(id)
		}
	}
	return n.TableNaming.Entity(label, key)
}

func (n naming) Has(e snapshot.Entity) bool {
	switch e.Kind {
	case "entity", "unit", "structure":
		return n.HasRow("entity", e.Key)
	}
	return n.TableNaming.Has(e)
}

// Describe returns the name of an entity's template.
func (n naming) Describe(e snapshot.Entity) (name, place string) {
	switch e.Kind {
	case "entity", "unit", "structure":
		return n.template(e.Key.A), ""
	}
	return "", ""
}

// ground returns where entities are: y is the height.
func ground(snapshot.State) *snapshot.Ground {
	g := &snapshot.Ground{X: "x", Y: "z"}
	for _, kind := range []string{"unit", "structure", "entity"} {
		g.Positions = append(g.Positions, snapshot.Position{Kind: kind, Archetype: "Position", X: "Position.x", Y: "Position.z"})
	}
	return g
}

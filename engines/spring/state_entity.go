package spring

import (
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// kinds are the engine's words for the things that tables are of. Rows of pieces, weapons and commands belong to their
// unit.
var kinds = map[string]string{
	"Unit": "unit", "UnitPiece": "unit", "UnitWeapon": "unit", "UnitCommand": "unit", "UnitToBeRemoved": "unit",
	"Feature": "feature", "Projectile": "projectile", "Team": "team", "AllyTeam": "ally team", "LosMap": "ally team",
	"Model": "model", "ModelPiece": "model",
}

// homes are the tables that have a row for each thing of a kind.
var homes = map[string][]string{
	"unit": {"Unit", "UnitToBeRemoved"}, "feature": {"Feature"}, "projectile": {"Projectile"}, "team": {"Team"}, "ally team": {"AllyTeam"}, "model": {"Model"},
}

type naming struct{ snapshot.TableNaming }

func newNaming(s snapshot.State) snapshot.Naming { return naming{snapshot.NewTableNaming(s)} }

func (n naming) Entity(label string, key snapshot.Key) snapshot.Entity {
	if kind := kinds[label]; kind != "" {
		return snapshot.Entity{Kind: kind, Key: snapshot.Key{A: key.A}}
	}
	return n.TableNaming.Entity(label, key)
}

func (n naming) Has(e snapshot.Entity) bool {
	tables := homes[e.Kind]
	if tables == nil {
		return n.TableNaming.Has(e)
	}
	return slices.ContainsFunc(tables, func(label string) bool { return n.HasRow(label, e.Key) })
}

// Describe returns the name of a unit's or a feature's definition.
func (n naming) Describe(e snapshot.Entity) (name, place string) {
	for _, label := range homes[e.Kind] {
		if name = n.Text(label, label, "name", e.Key); name != "" {
			break
		}
	}
	return name, ""
}

// ground returns where things are: y is the height.
func ground(snapshot.State) *snapshot.Ground {
	g := &snapshot.Ground{X: "x", Y: "z"}
	for _, label := range []string{"Unit", "Feature", "Projectile"} {
		g.Positions = append(g.Positions, snapshot.Position{Kind: kinds[label], Archetype: label, X: label + ".pos.x", Y: label + ".pos.z"})
	}
	return g
}

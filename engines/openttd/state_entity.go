package openttd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// kinds are the game's words for the records of a chunk.
var kinds = map[string]string{
	"CAPA": "cargo packet", "CITY": "town", "DEPT": "depot", "ENGN": "engine", "GRPS": "vehicle group", "INDY": "industry", "OBJS": "object", "ORDL": "order list",
	"ORDR": "order", "PLYR": "company", "SIGN": "sign", "STNN": "station", "SUBS": "subsidy", "VEHS": "vehicle",
}

// chunks are the chunks of kinds.
var chunks = func() map[string]string {
	out := map[string]string{}
	for chunk, kind := range kinds {
		out[kind] = chunk
	}
	return out
}()

// tile is the kind of the rows of map arrays. Their keys are the numbers of tiles.
const tile = "tile"

// tileFields are the columns of chunks that contain the tile of a record.
var tileFields = map[string]string{"CITY": "xy", "DEPT": "xy", "INDY": "location.tile", "OBJS": "location.tile"}

type naming struct{ snapshot.TableNaming }

func newNaming(s snapshot.State) snapshot.Naming { return naming{snapshot.NewTableNaming(s)} }

func (n naming) Entity(label string, key snapshot.Key) snapshot.Entity {
	chunk, _, _ := strings.Cut(label, ".")
	switch _, array := mapWidths[label]; {
	case array && !key.Two:
		return snapshot.Entity{Kind: tile, Key: key}
	case kinds[chunk] != "":
		return snapshot.Entity{Kind: kinds[chunk], Key: snapshot.Key{A: key.A}}
	}
	return n.TableNaming.Entity(label, key)
}

// Has reports that every tile exists: maps have the same tiles on all peers.
func (n naming) Has(e snapshot.Entity) bool {
	switch chunk := chunks[e.Kind]; {
	case e.Kind == tile:
		return true
	case chunk != "":
		return n.HasRow(chunk, e.Key)
	}
	return n.TableNaming.Has(e)
}

// Describe returns the name that a player gave a thing, and the tile that it is on. Names that the game generates from
// a number are not in the save.
func (n naming) Describe(e snapshot.Entity) (name, place string) {
	if e.Kind == tile {
		return "", n.place(e.Key.A)
	}
	chunk := chunks[e.Kind]
	if chunk == "" {
		return "", ""
	}
	name = n.Text(chunk, chunk, "name", e.Key)
	if field := tileFields[chunk]; field != "" {
		if at, ok := n.Number(chunk, chunk, field, e.Key); ok {
			if place = n.place(at); place != "" {
				place = tile + " " + place
			}
		}
	}
	return name, place
}

// place returns the coordinates of a tile, "" if the save does not contain the size of the map.
func (n naming) place(at uint64) string {
	width, ok := n.Number("MAPS", "MAPS", "dim_x", snapshot.Key{})
	height, okY := n.Number("MAPS", "MAPS", "dim_y", snapshot.Key{})
	if !ok || !okY || width == 0 || at/width >= height {
		return ""
	}
	return fmt.Sprintf("x %d, y %d", at%width, at/width)
}

// tileUnits is how many units of a coordinate a tile is wide (OpenTTD/OpenTTD, src/tile_type.h,
// TILE_SIZE).
const tileUnits = 16

// ground returns on which tiles things are, if the save contains the size of the map.
func ground(s snapshot.State) *snapshot.Ground {
	g := &snapshot.Ground{X: "tile x", Y: "tile y"}
	width, ok := snapshot.NewLookup(s).Number("MAPS", "MAPS", "dim_x", snapshot.Key{})
	if ok && width > 0 {
		g.Positions = append(g.Positions, snapshot.Position{Kind: tile, Tiles: width})
		for _, chunk := range slices.Sorted(maps.Keys(tileFields)) {
			g.Positions = append(g.Positions, snapshot.Position{Kind: kinds[chunk], Archetype: chunk, X: chunk + "." + tileFields[chunk], Tiles: width})
		}
		for _, of := range []string{"normal", "waypoint"} {
			g.Positions = append(g.Positions, snapshot.Position{Kind: kinds["STNN"], Archetype: "STNN." + of + ".base", X: "base.xy", Tiles: width})
		}
	}
	for _, of := range []string{"train.common", "roadveh.common", "ship.common", "aircraft.common", "effect", "disaster"} {
		component := of[strings.LastIndexByte(of, '.')+1:]
		g.Positions = append(g.Positions, snapshot.Position{Kind: kinds["VEHS"], Archetype: "VEHS." + of, X: component + ".x_pos", Y: component + ".y_pos", Unit: tileUnits})
	}
	g.Positions = append(g.Positions, snapshot.Position{Kind: kinds["SIGN"], Archetype: "SIGN", X: "SIGN.x", Y: "SIGN.y", Unit: tileUnits})
	return g
}

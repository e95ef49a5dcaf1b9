package snapshot

// Ground is the plane that a game is played on, and where its states say what stands on it.
type Ground struct {
	// X and Y are what the game calls the axes: "x" and "z" where y is a height. X leads to the
	// right of a map, Y down.
	X, Y string
	// Positions are the places of entities. Of a kind that has several the first counts that has
	// a row of an entity.
	Positions []Position
}

// Position says which columns hold the places of the entities of one kind.
type Position struct {
	Kind      string // as Naming has it; else the label of an archetype
	Archetype string // with rows under the keys of the entities, or keyed (entity, index)
	// X and Y are the columns, as Component.field. Where Y is empty, X holds the number of a tile
	// if Tiles is set, and else a text that begins with both numbers: "320.0000, 240.0000". An
	// empty X with Tiles is the number of the entity.
	X, Y string
	// Tiles is how many tiles a row of the map has, 0 where places are no numbers of tiles.
	Tiles uint64
	// Unit is how many of the columns' units are one of the ground's; 0 means 1.
	Unit float64
}

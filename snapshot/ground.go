package snapshot

// Ground describes the plane on which a game is played, and the columns that contain positions on it.
type Ground struct {
	// X and Y are the game's names for the axes: "x" and "z" if y is a height. X points right on a map, Y down.
	X, Y string
	// Positions are the places of entities. If a kind has several, the first one with a row for the entity applies.
	Positions []Position
}

// Position names the columns that contain the places of one kind of entities.
type Position struct {
	Kind      string // kind from Naming, or the label of an archetype
	Archetype string // its rows have the entities' keys, or keys (entity, index)
	// X and Y are the columns, as Component.field. If Y is empty and Tiles is set, X contains a tile number; an empty X
	// then means the number of the entity itself. If Y is empty and Tiles is 0, X contains a text that begins with both
	// numbers: "320.0000, 240.0000".
	X, Y string
	// Tiles is the number of tiles in a row of the map, 0 if places are not tile numbers.
	Tiles uint64
	// Unit is how many units of the columns make one unit of the ground. 0 means 1.
	Unit float64
}

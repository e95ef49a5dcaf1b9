package document

// Timeline is the evidence of each peer, by tick and state point, from the first to the last that has any.
type Timeline struct {
	From     uint64         `json:"from"`
	To       uint64         `json:"to"`
	Bin      uint64         `json:"bin"`                // ticks that one number of TimelinePeer.Orders counts
	BinFrom  *uint64        `json:"bin_from,omitempty"` // the first tick of the first bin, nil if that is From
	Peers    []TimelinePeer `json:"peers"`
	Detected *uint64        `json:"detected_at"`
}

// TimelinePeer is one line of a timeline.
type TimelinePeer struct {
	Name      string         `json:"name"`
	Snapshots []uint64       `json:"snapshots"`        // state points, thinned out where there are very many
	Thinned   bool           `json:"thinned"`          // not all are listed
	Orders    []uint64       `json:"orders,omitempty"` // how many in each bin
	Hashes    *TimelineSpan  `json:"hashes,omitempty"` // recorded sync hashes
	Trace     *TimelineSpan  `json:"trace,omitempty"`
	Marks     []TimelineMark `json:"marks,omitempty"` // joins, leaves, loads
}

// TimelineSpan is a stretch that something covers.
type TimelineSpan struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Count uint64 `json:"count"`
}

// TimelineMark is an event.
type TimelineMark struct {
	Tick uint64 `json:"tick"`
	Kind string `json:"kind"` // join, leave, removal, reconnect, save, load, resync
	Text string `json:"text,omitempty"`
}

// Heat is how a divergence spreads: how much of each archetype differs when.
type Heat struct {
	By string `json:"by"` // snapshots or traces
	// Peers are the two that are compared.
	Peers [2]string `json:"peers"`
	// Points are the state points of the columns.
	Points []uint64  `json:"points"`
	Rows   []HeatRow `json:"rows"`
}

// HeatRow is one archetype, the RNG under "", or one system.
type HeatRow struct {
	Label string `json:"label"`
	// Differs has one digit for each of Heat.Points: 1 where it differs, 0 where it is
	// equal, - where that is not known.
	Differs string `json:"differs"`
}

// HashTree is the Merkle tree of two states where the peers diverged.
type HashTree struct {
	Peers  [2]string  `json:"peers"`
	Point  uint64     `json:"point"`
	Roots  [2]string  `json:"roots"`
	Leaves []TreeLeaf `json:"leaves"` // in the order of the tree; the RNG is ""
}

// TreeLeaf is one leaf with both hashes; empty where that peer lacks it.
type TreeLeaf struct {
	Label  string    `json:"label"`
	Hashes [2]string `json:"hashes"`
	Rows   [2]uint64 `json:"rows"`
}

// MapAxes is how the axes of a map were found.
type MapAxes string

const (
	AxesDeclared MapAxes = "declared" // the game's format names the ground axes
	AxesNamed    MapAxes = "named"    // by the names of the two position fields
	AxesSpread   MapAxes = "spread"   // by the names of three: of y and z, the one with the closer values is the height
)

// PositionsMap has the positions of entities of the differing kinds on both peers.
type PositionsMap struct {
	Peers [2]string `json:"peers"`
	Point uint64    `json:"point"`
	// X and Y are the names of the axes.
	X    string  `json:"x"`
	Y    string  `json:"y"`
	Axes MapAxes `json:"axes,omitempty"`
	// AtLeast reports whether more entities may differ than the marked ones.
	AtLeast  bool        `json:"at_least,omitempty"`
	Entities []MapEntity `json:"entities"` // those that differ first, then others around them
	Left     uint64      `json:"left"`     // entities that are left out
}

// MapEntity is one entity; At has x and y of each peer, null where it lacks the entity.
type MapEntity struct {
	// Kind is the game's word for such things, as in Compared.Entities; Archetype is the one that has the position.
	Kind      string         `json:"kind,omitempty"`
	Archetype string         `json:"archetype"`
	Key       string         `json:"key"`
	At        [2]*[2]float64 `json:"at"`
	// Differs reports whether any of its values differs.
	Differs bool `json:"differs"`
}

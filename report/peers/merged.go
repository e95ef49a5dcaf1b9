package peers

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/report/document"
)

// MergedSchema is the schema of a Merged.
const MergedSchema = "desynctool.report/1"

// Merged is desynctool.report/1: the combined reports of a session's peers.
type Merged struct {
	document.Head
	// Redacted reports that everything but state points, groups and the status is left out.
	Redacted bool   `json:"redacted,omitempty"`
	Seed     string `json:"seed,omitempty"`
	Peers    []Peer `json:"peers"` // one for each report, in the order given
	// Points are the state points that at least two peers reported on, ascending.
	Points []Point `json:"points"`
	// Orders are the orders that are in the excerpt of one peer and missing in another one that covers the tick: the
	// first of OrderCount. OrderWindow is where excerpts overlap, nil if nowhere.
	Orders         []Order  `json:"orders"`
	OrderCount     int      `json:"order_count"`
	OrderWindow    *Window  `json:"order_window"`
	Contradictions []string `json:"contradictions"`
	Missing        []string `json:"missing"`
	Notes          []string `json:"notes"`
}

// Peer is one peer's report.
type Peer struct {
	Name      string           `json:"name"`
	Player    int              `json:"player"`
	File      string           `json:"file,omitempty"`
	Point     uint64           `json:"point"`
	Phase     string           `json:"phase,omitempty"`
	Native    *document.Native `json:"native,omitempty"`
	StateHash string           `json:"state_hash,omitempty"`
	// Group is the number of its group at that point, from 1; 0 if no other peer reported on the point.
	Group int `json:"group"`
}

// Point is what the peers reported about one state point.
type Point struct {
	Point  uint64           `json:"point"`
	Phase  string           `json:"phase,omitempty"`
	Native *document.Native `json:"native,omitempty"`
	Groups [][]string       `json:"groups"` // the peers that have the same state
	// Majority is the number of the largest group, 0 if none is the largest. It is not
	// known to be right.
	Majority   int    `json:"majority"`
	Archetypes []Leaf `json:"archetypes"` // that differ, the RNG under ""
	// Differences compare the included content of these, two peers at a time.
	Differences []Difference `json:"differences"`
}

// Leaf is an archetype that is not the same on all peers.
type Leaf struct {
	Label  string     `json:"label"`
	Groups [][]string `json:"groups"` // the peers that have the same content
	Lack   []string   `json:"lack"`   // those that do not have the archetype
}

// Difference is how the included content of two peers differs.
type Difference struct {
	Peers      [2]string                `json:"peers"`
	Archetypes []document.TableDocument `json:"archetypes"`
}

// Order is an order that a peer lacks, or has less often.
type Order struct {
	document.ReportedOrder
	Peers []string `json:"peers"` // that have it
	Lack  []string `json:"lack"`
}

// ReadMerged reads a saved Merged.
func ReadMerged(r io.Reader, name string) (*Merged, error) {
	b, err := readDocument(r, name)
	if err != nil {
		return nil, err
	}
	if err := boundValues(b, name); err != nil {
		return nil, err
	}
	var out Merged
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s: not a saved report: %w", name, err)
	}
	if out.Schema != MergedSchema {
		return nil, fmt.Errorf("%s: its schema is %q, expected %q", name, out.Schema, MergedSchema)
	}
	return &out, nil
}

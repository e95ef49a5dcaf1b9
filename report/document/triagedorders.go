package document

import (
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
)

// TriagedOrder is one order around the divergence.
type TriagedOrder struct {
	ReportedOrder
	Native string   `json:"native,omitempty"` // the engine's own name of its tick
	Peers  []string `json:"peers"`            // the peers with logs that have it
	// Difference is how it differs between the peers, empty if it does not.
	Difference orderlog.DifferenceKind `json:"difference,omitempty"`
	// On are the peers where it differs: those that are known to lack it, or the one that has it otherwise.
	On []string `json:"on,omitempty"`
	// Names an entity of the locus.
	Names string `json:"names,omitempty"`
}

// rank orders what reports show first: orders that differ, then those that name what differs.
func (o *TriagedOrder) rank() int {
	switch {
	case o.Difference != "":
		return 0
	case o.Names != "":
		return 1
	}
	return 2
}

// Differs describes how it differs, and on which peers; "" if it does not.
func (o *TriagedOrder) Differs() string {
	words := map[orderlog.DifferenceKind]string{
		orderlog.Missing: "missing", orderlog.Extra: "missing", orderlog.Duplicated: "twice", orderlog.Reordered: "in another place",
		orderlog.Late: "in another tick", orderlog.Altered: "with other content", orderlog.Failed: "failed",
	}
	if o.Difference == "" || len(o.On) == 0 { // saved reports of before do not name the peers
		return string(o.Difference)
	}
	return words[o.Difference] + " on " + strings.Join(prose.Names(o.On), ", ")
}

// Content shows the content of an order: as text if most of it is, else as hex digits.
func (o *TriagedOrder) Content() string { return payloadText(o.Payload) }

// Inputs is how the orders of the peers differ.
type Inputs struct {
	Line        string                `json:"line"`
	Count       int                   `json:"difference_count"`
	Differences []orderlog.Difference `json:"differences"` // the first
}

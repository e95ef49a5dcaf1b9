package snapshot

import (
	"fmt"
	"strings"
)

// Names returns the point with the engine's own name and the tick: "2021-04-03 (1204)". A point without its own name is
// "1204". An unknown point has no number.
func (p Point) Names() string {
	if p.Native == "" || !p.Known() {
		return p.String()
	}
	return fmt.Sprintf("%s (%d)", p, p.Tick)
}

// FirstRun and SecondRun are the peers of a self-test, in which one machine computes the same ticks twice.
const (
	FirstRun  = "first run"
	SecondRun = "second run"
)

// IsRun reports whether a peer is one of the runs of a self-test.
func IsRun(peer string) bool { return peer == FirstRun || peer == SecondRun }

// RNG is the name of the RNG where output names an archetype, a component or the scope of a checkpoint. As a leaf, the
// RNG has an empty label.
const RNG = "RNG"

// LabelName returns the label of a leaf for output. The RNG has no label of its own.
func LabelName(label string) string {
	if label == "" {
		return RNG
	}
	return label
}

// LabelNames lists labels for output: at most 40, and how many more there are.
func LabelNames(labels []string) string {
	const most = 40
	var shown []string
	for i, l := range labels {
		if i == most {
			return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", len(labels)-i)
		}
		shown = append(shown, LabelName(l))
	}
	return strings.Join(shown, ", ")
}

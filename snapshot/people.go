package snapshot

import (
	"fmt"
	"strings"
)

// Names returns the point by the engine's own name and by ours: "2021-04-03 (1204)". A
// point without a name of its own is "1204"; one that is not known has no number.
func (p Point) Names() string {
	if p.Native == "" || !p.Known() {
		return p.String()
	}
	return fmt.Sprintf("%s (%d)", p, p.Tick)
}

// FirstRun and SecondRun are the peers of a self-test, in which one machine computes the same
// ticks twice.
const (
	FirstRun  = "first run"
	SecondRun = "second run"
)

// RNG is what the RNG is called where an archetype, a component or the scope of a checkpoint is
// named. Its own label, as a leaf, is empty.
const RNG = "RNG"

// LabelName returns the label of a leaf for people: the RNG has none.
func LabelName(label string) string {
	if label == "" {
		return RNG
	}
	return label
}

// LabelNames lists labels for people: at most 40, and how many more there are.
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

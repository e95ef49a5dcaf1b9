package report

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
)

// Redact returns what players may see of a Report: when their games parted and how many
// of them agree. There are no names but "player 1" and so on in the order of the peers,
// no values, orders, files, hashes or labels of the game's own, and none of the texts,
// which may hold any of these.
//
// Each field that it keeps is named here, so that a new one is left out.
func (r *Report) Redact() *Report {
	out := &Report{
		Head:    Head{Schema: ReportSchema, Status: r.Status.Known(), Warnings: []string{}},
		Kind:    knownKind(r.Kind),
		Session: Session{TickRate: r.Session.TickRate, First: r.Session.First, Last: r.Session.Last},
		Peers:   []TriagedPeer{}, Ladder: []Rung{}, Locus: []LocusField{}, Causes: []Cause{}, Cascade: []CascadeDocument{}, Orders: []TriagedOrder{},
		Contradictions: []string{}, Missing: []string{}, Notes: []string{}, Next: []string{}, Fingerprints: []Fingerprint{}, Splits: []SplitDocument{},
	}
	for i := range r.Peers {
		out.Peers = append(out.Peers, TriagedPeer{Name: playerName(i), Group: r.Peers[i].Group})
	}
	if d := r.FirstDivergence; d != nil {
		first := &FirstDivergence{
			Tick: d.Tick, Exact: d.Exact, InitialState: d.InitialState, Healed: d.Healed, Detected: d.Detected, Majority: d.Majority,
			Archetypes: []string{},
		}
		if b := d.Bracket; b != nil {
			first.Bracket = &BracketDocument{Good: b.Good, Bad: b.Bad}
		}
		out.FirstDivergence = first
	}
	for _, s := range r.Splits {
		out.Splits = append(out.Splits, SplitDocument{Good: s.Good, Bad: s.Bad, Healed: s.Healed})
	}
	out.Verdict = []string{plainVerdict(out.Status, out.FirstDivergence)}
	return out
}

// playerName is what peer i is called in a redacted document.
func playerName(i int) string { return fmt.Sprintf("player %d", i+1) }

func knownKind(k bisect.Kind) bisect.Kind {
	switch k {
	case bisect.StateDiffers, bisect.BlindChecksum, bisect.ChecksumOnly, bisect.InputsDiffer, bisect.StaleCache:
		return k
	}
	return ""
}

// plainVerdict says what happened without any name.
func plainVerdict(s Status, d *FirstDivergence) string {
	switch {
	case s == InSync:
		return "No difference was found between the games of the players."
	case s == Inconclusive:
		return "The evidence does not show whether the games of the players parted."
	case s != Diverged:
		return "The evidence could not be read."
	case d == nil:
		return "The games of the players parted."
	case d.InitialState:
		return "The games of the players were not the same from the start."
	case d.Tick != nil:
		return fmt.Sprintf("The games of the players parted in tick %d.", *d.Tick)
	case d.Bracket != nil && d.Bracket.Good != nil:
		return fmt.Sprintf("The games of the players parted between state points %d and %d.", *d.Bracket.Good, d.Bracket.Bad)
	case d.Bracket != nil && !d.Bracket.known():
		return "The games of the players parted; when is not known."
	case d.Bracket != nil:
		return fmt.Sprintf("The games of the players parted before state point %d.", d.Bracket.Bad)
	}
	return "The games of the players parted."
}

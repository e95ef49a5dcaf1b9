package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
)

// Redact returns the part of a Report that players may see: when their games diverged and how many of them agree. The
// only names are "player 1" and so on, in the order of the peers. There are no values, orders, files, hashes or labels
// from the game, and no texts, which may contain any of these.
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
		if b := d.Bracket; b != nil && b.known() { // else its numbers show nothing, and its names are left out
			first.Bracket = &BracketDocument{Good: b.Good, Bad: b.Bad}
		}
		for i := range r.Peers {
			if d.Loaded != "" && r.Peers[i].Name == d.Loaded {
				first.Loaded = out.Peers[i].Name
			}
		}
		out.FirstDivergence = first
	}
	for _, s := range r.Splits {
		out.Splits = append(out.Splits, SplitDocument{Good: s.Good, Bad: s.Bad, Healed: s.Healed})
	}
	out.Verdict = []string{plainVerdict(out.Headline())}
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

// plainVerdict is the headline as a sentence, without any names except the players'.
func plainVerdict(h Headline) string {
	switch h.Status {
	case InSync:
		return "No difference was found between the games of the players."
	case Inconclusive:
		return "The evidence does not show whether the games of the players diverged."
	case Diverged:
		return "The games of the players " + h.Text(func(s string) string { return s }) + "."
	}
	return "The evidence could not be read."
}

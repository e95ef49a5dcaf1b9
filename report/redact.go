package report

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/snapshot"
)

// Redact returns what players may see of a Report: when their games parted and how many
// of them agree. There are no names but "player 1" and so on in the order of the peers,
// no values, orders, files, hashes or labels of the game's own, and none of the texts,
// which may hold any of these.
//
// Each field that it keeps is named here, so that a new one is left out.
func Redact(r *Report) *Report {
	out := &Report{
		Head:    Head{Schema: ReportSchema, Status: knownStatus(r.Status), Warnings: []string{}},
		Kind:    knownKind(r.Kind),
		Session: Session{TickRate: r.Session.TickRate, First: r.Session.First, Last: r.Session.Last},
		Peers:   []TriagedPeer{}, Ladder: []Rung{}, Locus: []LocusField{}, Causes: []Cause{}, Cascade: []CascadeDocument{}, Orders: []TriagedOrder{},
		Contradictions: []string{}, Missing: []string{}, Notes: []string{}, Next: []string{}, Of: []Trait{},
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
	out.Verdict = []string{plainVerdict(out.Status, out.FirstDivergence)}
	return out
}

// playerName is what peer i is called in a redacted document.
func playerName(i int) string { return fmt.Sprintf("player %d", i+1) }

// knownStatus returns a status that is one; a document that was read may hold anything.
func knownStatus(s Status) Status {
	switch s {
	case InSync, Diverged, Inconclusive:
		return s
	}
	return Failed
}

func knownKind(k bisect.Kind) bisect.Kind {
	switch k {
	case bisect.StateDiffers, bisect.BlindChecksum, bisect.ChecksumOnly, bisect.InputsDiffer, bisect.StaleCache:
		return k
	}
	return ""
}

func knownPhase(phase string) string {
	if phase == snapshot.AfterOrders {
		return phase
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
	case d.Bracket != nil:
		return fmt.Sprintf("The games of the players parted before state point %d.", d.Bracket.Bad)
	}
	return "The games of the players parted."
}

// RedactPeer returns what players may see of a peer's own report: the state point and the
// status. Each field that it keeps is named here.
func RedactPeer(r *PeerReport) *PeerReport {
	return &PeerReport{
		Head:     Head{Schema: PeerReportSchema, Status: knownStatus(r.Status), Warnings: []string{}},
		Redacted: true, Player: -1, Tick: r.Tick, Phase: knownPhase(r.Phase),
		Nodes: [][2]string{}, Archetypes: []DivergedArchetype{}, Excerpt: []ReportedOrder{},
	}
}

// RedactMerged returns what players may see of merged reports: the state points, which
// players agree, and how many orders are not on all of them. Each field that it keeps is
// named here.
func RedactMerged(m *MergedReport) *MergedReport {
	out := &MergedReport{
		Head:     Head{Schema: MergedSchema, Status: knownStatus(m.Status), Warnings: []string{}},
		Redacted: true, Peers: []ReportingPeer{}, Points: []ReportedPoint{}, Orders: []MergedOrder{}, OrderCount: m.OrderCount,
		Contradictions: []string{}, Missing: []string{}, Notes: []string{},
	}
	players := map[string]string{}
	player := func(name string) string {
		if players[name] == "" {
			players[name] = playerName(len(players))
		}
		return players[name]
	}
	for _, p := range m.Peers {
		out.Peers = append(out.Peers, ReportingPeer{Name: player(p.Name), Player: -1, Point: p.Point, Phase: knownPhase(p.Phase), Group: p.Group})
	}
	for _, p := range m.Points {
		kept := ReportedPoint{
			Point: p.Point, Phase: knownPhase(p.Phase), Groups: make([][]string, len(p.Groups)), Majority: p.Majority,
			Archetypes: []ReportedArchetype{}, Differences: []ReportedDifference{},
		}
		for i, group := range p.Groups {
			for _, name := range group {
				kept.Groups[i] = append(kept.Groups[i], player(name))
			}
			kept.Groups[i] = list(kept.Groups[i])
		}
		out.Points = append(out.Points, kept)
	}
	return out
}

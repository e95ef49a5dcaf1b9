package document

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
)

// fullness is a part of a complete report: its weight, and how much of it a report has.
type fullness struct {
	points int
	// has returns how many of the points a report has, and what it has in a few words, empty for none.
	has func(r *Report, points int) (int, string)
}

// completeness are all parts, which have 100 points together. If both sides of a divergence may leave something, one
// side counts for a third.
var completeness = []fullness{
	{14, exactTick},
	{12, ofPeers("states", func(p *TriagedPeer) bool { return p.Snapshots > 0 })},
	{10, parted},
	{8, ofPeers("order logs", func(p *TriagedPeer) bool { return p.OrderLog })},
	{8, ofPeers("traces", func(p *TriagedPeer) bool { return p.Trace })},
	{8, answered("system", "system")},
	{8, answered("field", "fields")},
	{6, values},
	{5, answered("archetype", "archetype")},
	{5, answered("component", "component")},
	{4, answered("cause", "cause")},
	{4, answered("peers", "which peer is wrong")},
	{4, known("seed", func(r *Report) bool { return r.Session.Seed != "" || r.states("seed") })},
	{4, known("build", func(r *Report) bool {
		return r.Session.Build != "" || r.states("build", "version", "engine_version")
	})},
}

// Completeness returns how much a report knows, from 0 to 100, and the known parts in a few words each, the most
// important first. Among reports of one mistake it finds the one to open first. These parts count:
//
//	14  the tick is exact; 7 if it lies between two state points and the first one is known
//	12  states of two peers; 4 of one
//	10  that the peers diverged; 3 if only messages of a game show it
//	 8  order logs of two peers; 3 of one
//	 8  traces of two peers; 3 of one
//	 8  the system
//	 8  the fields
//	 6  the values
//	 5  the archetype
//	 5  the component
//	 4  the cause, or a few that are likely
//	 4  which peer is wrong
//	 4  the seed
//	 4  the build
func (r *Report) Completeness() (score int, why []string) {
	for _, part := range completeness {
		points, what := part.has(r, part.points)
		if score += points; points > 0 {
			why = append(why, what)
		}
	}
	return score, why
}

func exactTick(r *Report, points int) (int, string) {
	switch d := r.FirstDivergence; {
	case d == nil:
	case d.Exact || d.InitialState:
		return points, "tick exact"
	case d.Bracket != nil && d.Bracket.Good != nil:
		return points / 2, "tick within a bracket"
	}
	return 0, ""
}

func parted(r *Report, points int) (int, string) {
	switch {
	case r.Status != Diverged:
	case r.Kind == bisect.Claimed:
		return points / 3, "messages of the game of a divergence"
	default:
		return points, "a divergence that was compared"
	}
	return 0, ""
}

func values(r *Report, points int) (int, string) {
	if len(r.Locus) > 0 {
		return points, "values that differ"
	}
	return 0, ""
}

// ofPeers returns a part that every peer may have left.
func ofPeers(what string, has func(*TriagedPeer) bool) func(r *Report, points int) (int, string) {
	return func(r *Report, points int) (int, string) {
		n := 0
		for i := range r.Peers {
			if has(&r.Peers[i]) {
				n++
			}
		}
		said := fmt.Sprintf("%s of %s", what, prose.Count(n, "peer", "peers"))
		switch n {
		case 0:
			return 0, ""
		case 1:
			return (points + 1) / 3, said
		}
		return points, said
	}
}

// answered returns a part that is a rung of the ladder.
func answered(step, what string) func(r *Report, points int) (int, string) {
	return known(what, func(r *Report) bool {
		return slices.ContainsFunc(r.Ladder, func(rung Rung) bool { return rung.Step == step && rung.State == RungFound })
	})
}

func known(what string, is func(*Report) bool) func(r *Report, points int) (int, string) {
	return func(r *Report, points int) (int, string) {
		if is(r) {
			return points, what
		}
		return 0, ""
	}
}

// states reports whether a peer's file states one of some facts.
func (r *Report) states(names ...string) bool {
	return slices.ContainsFunc(r.Stated, func(f Fact) bool { return slices.Contains(names, f.Name) && len(f.Values) > 0 })
}

package peers

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// Redact returns the part of a peer's own report that players may see: the state point and the status. Each field that
// it keeps is named here.
func (r *Report) Redact() *Report {
	return &Report{
		Head:     document.Head{Schema: Schema, Status: r.Status.Known(), Warnings: []string{}},
		Redacted: true, Player: -1, Tick: r.Tick, Phase: knownPhase(r.Phase),
		Nodes: [][2]string{}, Archetypes: []Archetype{}, Excerpt: []document.ReportedOrder{},
	}
}

// Redact returns the part of merged reports that players may see: the state points, which players agree, and how many
// orders are not on all of them. Each field that it keeps is named here.
func (m *Merged) Redact() *Merged {
	out := &Merged{
		Head:     document.Head{Schema: MergedSchema, Status: m.Status.Known(), Warnings: []string{}},
		Redacted: true, Peers: []Peer{}, Points: []Point{}, Orders: []Order{}, OrderCount: m.OrderCount,
		Contradictions: []string{}, Missing: []string{}, Notes: []string{},
	}
	players := map[string]string{}
	player := func(name string) string {
		if players[name] == "" {
			players[name] = fmt.Sprintf("player %d", len(players)+1)
		}
		return players[name]
	}
	for _, p := range m.Peers {
		out.Peers = append(out.Peers, Peer{Name: player(p.Name), Player: -1, Point: p.Point, Phase: knownPhase(p.Phase), Group: p.Group})
	}
	for _, p := range m.Points {
		kept := Point{
			Point: p.Point, Phase: knownPhase(p.Phase), Groups: make([][]string, len(p.Groups)), Majority: p.Majority,
			Archetypes: []Leaf{}, Differences: []Difference{},
		}
		for i, group := range p.Groups {
			kept.Groups[i] = append(kept.Groups[i], lists.Map(group, player)...)
			kept.Groups[i] = list(kept.Groups[i])
		}
		out.Points = append(out.Points, kept)
	}
	return out
}

func knownPhase(phase string) string {
	if phase == snapshot.AfterOrders {
		return phase
	}
	return ""
}

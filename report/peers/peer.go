// Package peers writes, reads and compares the reports that the peers of a game write themselves, and combines several
// of them. A report of one peer is a Report, a combination of several a Merged.
package peers

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// Report is desynctool.peer-report/1: the report that one peer of a game writes when it finds that the others have
// another state. docs/peer-report.md specifies it for other languages.
type Report struct {
	document.Head
	// Redacted reports that everything but the state point and the status is left out.
	Redacted   bool             `json:"redacted,omitempty"`
	Seed       string           `json:"seed"`
	Player     int              `json:"player"` // -1 if the peer plays none
	Peer       string           `json:"peer"`
	Tick       uint64           `json:"tick"` // the state point of the hashes
	Phase      string           `json:"phase,omitempty"`
	Native     *document.Native `json:"native,omitempty"`
	StateHash  string           `json:"state_hash"` // 32 bytes as hex, or the first 8 of them
	RNGState   string           `json:"rng_state"`  // hex, empty if the game has none
	Nodes      [][2]string      `json:"merkle_nodes"`
	Archetypes []Archetype      `json:"diverged_archetypes"`
	// Window are the ticks that the excerpt covers; nil if the report does not contain them.
	Window  *Window                  `json:"order_log_window,omitempty"`
	Excerpt []document.ReportedOrder `json:"order_log_excerpt"`

	worlds         map[string]includedWorld // of Archetypes, by label; nil until they are read
	contradictions []string                 // of the report with itself
}

// Archetype is one archetype that differs, with its content.
type Archetype struct {
	Label string `json:"label"`
	World string `json:"world"` // base64 of a .snap that holds only the archetype
}

// New makes the report of one peer. Status is Diverged if others are known to have another state. Diverged are the
// labels of the leaves in which it differs from others, excerpt the orders before the state point, nil for none.
func New(player int, status document.Status, s snapshot.State, diverged []string, excerpt *Excerpt) (*Report, error) {
	info := s.Info()
	r := &Report{
		Head: document.NewHead("peer-report", status, nil), Seed: fmt.Sprintf("%016x", info.Seed), Player: player, Peer: info.Peer,
		Tick: info.Point.Tick, Phase: info.Point.Phase, Native: native(info.Point),
		StateHash: info.Root.String(), RNGState: hex.EncodeToString(info.RNG),
		Nodes: [][2]string{}, Archetypes: []Archetype{}, Excerpt: []document.ReportedOrder{},
	}
	for _, leaf := range info.Leaves() {
		r.Nodes = append(r.Nodes, [2]string{leaf.Label, leaf.Hash.String()})
	}
	for _, label := range diverged {
		for i := range info.Tables {
			if t := &info.Tables[i]; t.Class != snapshot.Archetype || t.Label != label {
				continue
			}
			table, err := snapshot.LoadTable(s, i)
			if err != nil {
				return nil, err
			}
			b, err := snapshot.Encode(&snapshot.World{Head: info.Head, Tables: []snapshot.Table{*table}}, snapshot.WriteOptions{})
			if err != nil {
				return nil, err
			}
			r.Archetypes = append(r.Archetypes, Archetype{label, base64.StdEncoding.EncodeToString(b)})
		}
	}
	if excerpt != nil {
		r.Excerpt, r.Window = list(excerpt.Orders), excerpt.Window
	}
	return r, nil
}

func native(p snapshot.Point) *document.Native {
	if p.Native == "" {
		return nil
	}
	return &document.Native{State: p.Native}
}

// list returns an empty list instead of nil, which JSON would call null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

package report

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// PeerReport is desynctool.peer-report/1: what one peer of a game writes when
// it learns that the others are somewhere else.
type PeerReport struct {
	Head
	Seed       string              `json:"seed"`
	Player     int                 `json:"player"`
	Peer       string              `json:"peer"`
	Tick       uint64              `json:"tick"` // the state point of the hashes
	StateHash  string              `json:"state_hash"`
	RNGState   string              `json:"rng_state"` // hex, empty if the game has none
	Nodes      [][2]string         `json:"merkle_nodes"`
	Archetypes []DivergedArchetype `json:"diverged_archetypes"`
	Excerpt    []ReportedOrder     `json:"order_log_excerpt"`
}

// DivergedArchetype is one archetype that differs, with its content.
type DivergedArchetype struct {
	Label string `json:"label"`
	World string `json:"world"` // base64 of a .snap that holds the archetype alone
}

// ReportedOrder is one order from the ticks before the report.
type ReportedOrder struct {
	Tick     uint64 `json:"tick"`
	SubTick  uint32 `json:"sub_tick_time"` // µs
	Player   uint32 `json:"player"`
	Sequence uint32 `json:"sequence"`
	Kind     string `json:"kind"`
	Payload  string `json:"payload"` // hex
}

// NewPeerReport makes the report of one peer. Diverged are the labels of the
// leaves in which it differs from others, ticks those whose orders to include.
func NewPeerReport(player int, s snapshot.State, diverged []string, kinds []orderlog.OrderKind, ticks []orderlog.Tick) (*PeerReport, error) {
	info := s.Info()
	r := &PeerReport{
		Head: head("peer-report", Diverged, nil), Seed: fmt.Sprintf("%016x", info.Seed), Player: player, Peer: info.Peer, Tick: info.Point.Tick,
		StateHash: info.Root.String(), RNGState: hex.EncodeToString(info.RNG),
		Nodes: [][2]string{}, Archetypes: []DivergedArchetype{}, Excerpt: []ReportedOrder{},
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
			r.Archetypes = append(r.Archetypes, DivergedArchetype{label, base64.StdEncoding.EncodeToString(b)})
		}
	}
	for i := range ticks {
		for _, o := range ticks[i].Orders {
			if int(o.Kind) >= len(kinds) {
				return nil, fmt.Errorf("order of kind %d, the log has %d kinds", o.Kind, len(kinds))
			}
			r.Excerpt = append(r.Excerpt, ReportedOrder{ticks[i].Number, o.SubTick, o.Player, o.Sequence, kinds[o.Kind].Name, hex.EncodeToString(o.Payload)})
		}
	}
	return r, nil
}

// PeerReportName returns the name of a peer's report file.
func PeerReportName(seed, tick uint64) string {
	return fmt.Sprintf("desync_report_%016x_%010d.json", seed, tick)
}

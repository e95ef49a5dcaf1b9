package report

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// PeerReport is desynctool.peer-report/1: what one peer of a game writes when
// it learns that the others are somewhere else. docs/peer-report.md specifies it for
// other languages.
type PeerReport struct {
	Head
	// Redacted says that everything but the state point and the status is left out.
	Redacted   bool                `json:"redacted,omitempty"`
	Seed       string              `json:"seed"`
	Player     int                 `json:"player"` // -1 if the peer plays none
	Peer       string              `json:"peer"`
	Tick       uint64              `json:"tick"` // the state point of the hashes
	Phase      string              `json:"phase,omitempty"`
	Native     *Native             `json:"native,omitempty"`
	StateHash  string              `json:"state_hash"` // 32 bytes as hex, or the first 8 of them
	RNGState   string              `json:"rng_state"`  // hex, empty if the game has none
	Nodes      [][2]string         `json:"merkle_nodes"`
	Archetypes []DivergedArchetype `json:"diverged_archetypes"`
	// Window are the ticks that the excerpt covers; nil if it does not say.
	Window  *ExcerptWindow  `json:"order_log_window,omitempty"`
	Excerpt []ReportedOrder `json:"order_log_excerpt"`

	worlds         map[string]includedWorld // of Archetypes, by label; nil until they are read
	contradictions []string                 // of the report with itself
}

// DivergedArchetype is one archetype that differs, with its content.
type DivergedArchetype struct {
	Label string `json:"label"`
	World string `json:"world"` // base64 of a .snap that holds the archetype alone
}

// ExcerptWindow are the first and the last tick that an excerpt of an order log covers.
type ExcerptWindow struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// ReportedOrder is one order from the ticks before the report.
type ReportedOrder struct {
	Tick     uint64 `json:"tick"`
	SubTick  uint32 `json:"sub_tick_time"` // µs
	Player   uint32 `json:"player"`
	Sequence uint32 `json:"sequence"`
	Kind     string `json:"kind"`
	Payload  string `json:"payload"` // hex
	// Local orders need not be the same on all peers.
	Local bool `json:"local,omitempty"`
}

// NewPeerReport makes the report of one peer. Status is Diverged if it is known that
// others have another state. Diverged are the labels of the leaves in which it differs
// from others, excerpt the orders before the state point, nil for none.
func NewPeerReport(player int, status Status, s snapshot.State, diverged []string, excerpt *Excerpt) (*PeerReport, error) {
	info := s.Info()
	r := &PeerReport{
		Head: head("peer-report", status, nil), Seed: fmt.Sprintf("%016x", info.Seed), Player: player, Peer: info.Peer,
		Tick: info.Point.Tick, Phase: info.Point.Phase, Native: native(info.Point),
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
	if excerpt != nil {
		r.Excerpt, r.Window = list(excerpt.Orders), excerpt.Window
	}
	return r, nil
}

// Excerpt are the orders of a few ticks of a log.
type Excerpt struct {
	Orders []ReportedOrder
	Window *ExcerptWindow // the ticks that the log covers; nil if it has none of them
}

// ReadExcerpt reads a log to its end and returns the orders of the ticks from (inclusive)
// to (exclusive). Where the log was rewound, by a load, what was played last counts. If
// the log cannot be read to its end the error says so and the excerpt holds what precedes.
func ReadExcerpt(log orderlog.Source, from, to uint64) (*Excerpt, error) {
	x := &excerpter{from: from, to: to}
	for {
		record, err := log.Next()
		if err == io.EOF {
			return x.excerpt(), nil
		}
		if err != nil {
			return x.excerpt(), err
		}
		if record.Tick == nil {
			continue
		}
		if err := x.tick(&record, log.Header().Kinds); err != nil {
			return x.excerpt(), err
		}
	}
}

// excerpter collects an excerpt.
type excerpter struct {
	from, to    uint64
	orders      []ReportedOrder
	any         bool
	first, last uint64 // ticks that are whole
}

func (x *excerpter) tick(record *orderlog.Record, kinds []orderlog.OrderKind) error {
	t := record.Tick
	if x.any && t.Number <= x.last {
		keep := 0
		for keep < len(x.orders) && x.orders[keep].Tick < t.Number {
			keep++
		}
		x.orders = x.orders[:keep]
	}
	if !x.any || t.Number < x.first {
		x.any, x.first = true, t.Number
		if record.HeadCut {
			x.first++
		}
	}
	if x.last = t.Number; record.TailCut && x.last > 0 {
		x.last--
	}
	if t.Number < x.from || t.Number >= x.to {
		return nil
	}
	for _, o := range t.Orders {
		if int(o.Kind) >= len(kinds) {
			return fmt.Errorf("order of kind %d in tick %d, the log has %d kinds", o.Kind, t.Number, len(kinds))
		}
		kind := kinds[o.Kind]
		x.orders = append(x.orders, ReportedOrder{t.Number, o.SubTick, o.Player, o.Sequence, kind.Name, hex.EncodeToString(o.Payload), kind.Local})
	}
	return nil
}

func (x *excerpter) excerpt() *Excerpt {
	out := &Excerpt{Orders: x.orders}
	if x.any && x.to > 0 {
		w := ExcerptWindow{max(x.from, x.first), min(x.to-1, x.last)}
		if w.From <= w.To {
			out.Window = &w
		}
	}
	return out
}

// PeerReportName returns the name of a peer's report file.
func PeerReportName(seed, tick uint64) string {
	return fmt.Sprintf("desync_report_%016x_%010d.json", seed, tick)
}

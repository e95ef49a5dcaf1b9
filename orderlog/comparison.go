package orderlog

import (
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/internal/prose"
)

// DifferenceKind is the way in which an order, or a marker that is an input, differs between two peers.
type DifferenceKind string

const (
	Missing    DifferenceKind = "missing"    // the peer does not have it
	Extra      DifferenceKind = "extra"      // only the peer has it
	Duplicated DifferenceKind = "duplicated" // the peer applied it one time more
	Reordered  DifferenceKind = "reordered"  // same tick, different position among the orders
	Late       DifferenceKind = "late"       // the peer applied it in a different tick
	Altered    DifferenceKind = "altered"    // same player and tick, different content
	Failed     DifferenceKind = "failed"     // the sim refused it on this peer only
)

// Verdict is the result of a comparison.
type Verdict string

const (
	// InputsEqual means that no order and no recorded hash differs where the logs overlap.
	InputsEqual Verdict = "inputs-equal"
	// InputsDiffer means that the peers received different orders, and no recorded hash shows that their states
	// differed before.
	InputsDiffer Verdict = "network"
	// LogsDiffer means that orders differ between the logs, but hashes that the peers recorded later agree. Nothing
	// shows that the peers applied different orders; a log may lack a line that its peer applied.
	LogsDiffer Verdict = "logs-differ"
	// Simulation means that equal orders led to different states.
	Simulation Verdict = "simulation"
	// InitialState means that the peers' states differ at the first state point of their logs, before any tick.
	InitialState Verdict = "initial-state"
	// NoOverlap means that no two logs cover the same tick.
	NoOverlap Verdict = "no-overlap"
)

// Comparison describes how the logs of a session's peers differ. Each list contains at most CompareOptions.Limit
// entries, the first ones; the count next to it includes all. Differences of local orders are only in Local, and only
// LocalCount counts them. The same logs always give the same Comparison.
type Comparison struct {
	Verdict Verdict `json:"verdict"`
	// Basis explains the verdict in one line.
	Basis string      `json:"basis"`
	Peers []PeerRange `json:"peers"`
	// Reference is the peer that the others are compared with: CompareOptions.Reference, or the server. If it is empty,
	// each tick is compared with the version that most peers have. In a tie, that is the version of the peer that comes
	// first in the headers' list of peers, or else of the first log. It does not mean that this peer is right.
	Reference string `json:"reference,omitempty"`
	// Window is the range in which at least two logs overlap, nil if there is none.
	Window *Window `json:"window"`

	Differences     []Difference           `json:"differences"` // sorted by tick
	DifferenceCount int                    `json:"difference_count"`
	Counts          map[DifferenceKind]int `json:"counts"`
	// Local are differences of orders that may differ between peers.
	Local      []Difference `json:"local,omitempty"`
	LocalCount int          `json:"local_count"`

	// Headers are values in the logs' headers that differ but must be the same on all peers: the build, the tick rate.
	Headers []HeaderDifference `json:"headers,omitempty"`

	// Engine is the game engine that wrote the logs. It is empty for order logs.
	Engine string `json:"engine,omitempty"`

	State State `json:"state"`

	// Claims are errors that the games themselves wrote into their logs.
	Claims     []PeerClaim `json:"claims,omitempty"`
	ClaimCount int         `json:"claim_count"`
	// Misplaced are orders in an order log that were applied in the wrong sequence.
	Misplaced      []Misplacement `json:"misplaced,omitempty"`
	MisplacedCount int            `json:"misplaced_count"`
	// InputHashes are recorded input hashes that do not match the recorded orders.
	InputHashes     []InputHashMismatch `json:"input_hashes,omitempty"`
	InputHashCount  int                 `json:"input_hash_count"`
	InputHashesRead uint64              `json:"input_hashes_read"`

	Warnings []string `json:"warnings,omitempty"`

	// Lost is for callers that searched for the logs: the peers without a readable log.
	Lost []string `json:"-"`
}

// Difference is one order that differs, or one marker that is an input.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	// Tick is where the difference begins. For a late order it is the lower of the two ticks.
	Tick   uint64 `json:"tick"`
	Native string `json:"native,omitempty"`
	Player uint32 `json:"player"`
	Peer   string `json:"peer"` // the peer that differs from Base
	Base   string `json:"base"`
	// Order is the name of the order's kind, or the kind of the marker.
	Order    string `json:"order"`
	Marker   bool   `json:"marker,omitempty"`
	Sequence uint32 `json:"sequence"`
	// Payload is the first 64 bytes of Base's payload, or of Peer's if only Peer has the order.
	Payload    Bytes `json:"payload,omitempty"`
	PayloadLen int   `json:"payload_len"`
	// At is the position in the logs of Base and Peer, for each that has the order.
	At []Place `json:"at"`
	// Have and Lack are the peers with and without the order. A peer whose log covers none of the tick, or perhaps not
	// that part of it, is in neither. They are set for missing and extra orders only.
	Have []string     `json:"have,omitempty"`
	Lack []string     `json:"lack,omitempty"`
	Diff *PayloadDiff `json:"diff,omitempty"` // for altered orders
	// Either is set where orders have no numbers and both peers have an equal order in the tick: the one peer may have
	// applied it twice, or the other once too few.
	Either bool `json:"-"`
}

// Place is a position in a peer's log.
type Place struct {
	Peer   string `json:"peer"`
	Tick   uint64 `json:"tick"`
	Native string `json:"native,omitempty"`
	Index  int    `json:"index"`          // among the tick's orders or markers, from 0
	Line   int64  `json:"line,omitempty"` // from 1, in a text log
	Offset int64  `json:"offset"`         // of the record, in bytes
}

// PeerRange is the part of a session that a peer's log covers.
type PeerRange struct {
	Name      string    `json:"name"`
	Stretches []Stretch `json:"stretches"` // the first ones, up to the limit
	// Before, Between and After count the orders of other peers that this log cannot contain, because their ticks come
	// before its start, between two of its stretches, or after its end.
	Before  uint64 `json:"before"`
	Between uint64 `json:"between"`
	After   uint64 `json:"after"`
	// Rerun counts ticks that the peer ran again after it received an older state. They are not compared.
	Rerun uint64 `json:"rerun,omitempty"`
	// Unknown counts lines of unknown kinds, which are ignored. UnknownLine is the number of the first one.
	Unknown     int64 `json:"unknown_lines,omitempty"`
	UnknownLine int64 `json:"unknown_line,omitempty"`
	// Alone counts ticks after an unmarked jump back that no other log has.
	Alone uint64 `json:"alone,omitempty"`
	// Err is the error that ended the reading, nil if the log's end was reached.
	Err   error  `json:"-"`
	Error string `json:"error,omitempty"`
}

// Stretch is a part of a log without a gap.
type Stretch struct {
	From       uint64 `json:"from"` // first and last tick
	To         uint64 `json:"to"`
	NativeFrom string `json:"native_from,omitempty"`
	NativeTo   string `json:"native_to,omitempty"`
	Orders     uint64 `json:"orders"`
}

// Window is where logs overlap.
type Window struct {
	From       uint64 `json:"from"` // first and last tick that at least two logs cover
	To         uint64 `json:"to"`
	NativeFrom string `json:"native_from,omitempty"`
	NativeTo   string `json:"native_to,omitempty"`
	Ticks      uint64 `json:"ticks"`  // ticks with a record in at least one log
	Orders     uint64 `json:"orders"` // orders that are the same on at least two peers
}

// State is the result of comparing the recorded hashes.
type State struct {
	Hashes []HashSummary `json:"hashes,omitempty"`
	// First is the lowest state point at which two peers' hashes differ.
	First *HashDifference `json:"first,omitempty"`
	// Good is the highest point below First at which hashes of the whole state agree. Hashes of parts do not prove that
	// states agree.
	Good *uint64 `json:"good"`
	// Agreed is the highest point at which any hashes agree, nil if there is none.
	Agreed *uint64 `json:"agreed,omitempty"`
	// Contradictions are points for which the logs contain two different hashes of the same peer.
	Contradictions     []HashDifference `json:"contradictions,omitempty"`
	ContradictionCount int              `json:"contradiction_count"`
}

// HashSummary counts how often the hashes of one kind and coverage agreed.
type HashSummary struct {
	Kind     HashKind        `json:"kind"`
	Coverage Coverage        `json:"coverage"`
	Equal    uint64          `json:"equal"` // pairs of hashes
	Differ   uint64          `json:"differ"`
	First    *HashDifference `json:"first,omitempty"`
}

// HashDifference is a state point with two different hashes.
type HashDifference struct {
	Point    uint64        `json:"point"`
	Native   string        `json:"native,omitempty"`
	Kind     HashKind      `json:"kind"`
	Coverage Coverage      `json:"coverage"`
	Values   [2]HashOfPeer `json:"values"`

	generation int
}

// HashOfPeer is the hash of a peer's state.
type HashOfPeer struct {
	Peer string `json:"peer"`
	Log  string `json:"log"` // the peer that logged the hash
	Hash Bytes  `json:"hash"`
}

// PeerClaim is a Claim with its peer and position.
type PeerClaim struct {
	Peer string    `json:"peer"`
	Kind ClaimKind `json:"kind"`
	// After is the last tick in the log before the claim; it is 0 and has no native name if there is none. Before is
	// the next tick after the claim, nil if there is none.
	After        uint64  `json:"after"`
	Before       *uint64 `json:"before"`
	NativeAfter  string  `json:"native_after,omitempty"`
	NativeBefore string  `json:"native_before,omitempty"`
	Line         int64   `json:"line"`
	Offset       int64   `json:"offset"`
	Text         string  `json:"text"`
	// Peers are the peers that the claim reports as desynced, if it names any.
	Peers []string `json:"peers,omitempty"`
}

// Misplacement is an order that should have been applied before the order that precedes it.
type Misplacement struct {
	Peer   string `json:"peer"`
	Tick   uint64 `json:"tick"`
	Index  int    `json:"index"`
	Offset int64  `json:"offset"`
}

// InputHashMismatch is a tick with a recorded input hash that does not match its orders.
type InputHashMismatch struct {
	Peer     string `json:"peer"`
	Tick     uint64 `json:"tick"`
	Recorded Bytes  `json:"recorded"`
	Computed Bytes  `json:"computed"`
	Offset   int64  `json:"offset"`
}

// Diverged reports whether the logs prove that the peers diverged.
func (c *Comparison) Diverged() bool {
	return c.Verdict == InputsDiffer || c.Verdict == Simulation || c.Verdict == InitialState
}

// Incomplete reports whether evidence is missing or doubtful. This is so if a log is missing, could not be read to its
// end, has lines of unknown kinds, contradicts itself, or overlaps with no other log. It is also so if orders differ
// while hashes agree, or if nothing else confirms a claim of the game.
func (c *Comparison) Incomplete() bool {
	for i := range c.Peers {
		if p := &c.Peers[i]; p.Err != nil || p.Unknown > 0 || p.Alone > 0 {
			return true
		}
	}
	return len(c.Lost) > 0 || c.Verdict == NoOverlap || c.Verdict == LogsDiffer || c.Verdict == InputsEqual && c.ClaimCount > 0 || c.InputHashCount > 0 || c.State.ContradictionCount > 0
}

// Line returns the verdict in one line.
func (c *Comparison) Line() string {
	switch c.Verdict {
	case InputsDiffer:
		return "inputs differ: network layer: " + c.Basis
	case LogsDiffer:
		return "logs differ, states do not: " + c.Basis
	case Simulation:
		return "state differs: simulation: " + c.Basis
	case InitialState:
		return "initial states differ: " + c.Basis
	case NoOverlap:
		return "nothing compared: " + c.Basis
	}
	return "inputs equal: " + c.Basis
}

// String returns the difference in one line.
func (d *Difference) String() string {
	s := fmt.Sprintf("%s %s", namedTick(d.Tick, d.Native), d.Kind)
	if d.Marker {
		s += " marker"
	}
	s += fmt.Sprintf(" %s of player %d on %s", prose.Name(d.Order), d.Player, prose.Name(d.Peer))
	if d.Kind == Late && len(d.At) == 2 {
		s += fmt.Sprintf(": %s at %s, %s at %s", prose.Name(d.At[0].Peer), namedTick(d.At[0].Tick, d.At[0].Native),
			prose.Name(d.At[1].Peer), namedTick(d.At[1].Tick, d.At[1].Native))
	}
	if d.Diff != nil {
		s += fmt.Sprintf(": byte %d: %s, %s", d.Diff.Offset, d.Diff.Base, d.Diff.Peer)
		for _, f := range d.Diff.Fields {
			s += fmt.Sprintf("; %s: %s, %s", f.Path, f.Base, f.Peer)
		}
	}
	return s
}

func namedTick(tick uint64, native string) string {
	if native != "" {
		return prose.Moment(native)
	}
	return strconv.FormatUint(tick, 10)
}

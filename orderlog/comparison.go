package orderlog

import (
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/internal/prose"
)

// DifferenceKind is how an order, or a marker that is an input, differs
// between two peers.
type DifferenceKind string

const (
	Missing    DifferenceKind = "missing"    // the peer lacks it
	Extra      DifferenceKind = "extra"      // only the peer has it
	Duplicated DifferenceKind = "duplicated" // the peer applied it once more
	Reordered  DifferenceKind = "reordered"  // same tick, other place among the orders
	Late       DifferenceKind = "late"       // the peer applied it in another tick
	Altered    DifferenceKind = "altered"    // same player and tick, other content
	Failed     DifferenceKind = "failed"     // the sim refused it on the peer only
)

// Verdict is what the comparison comes to.
type Verdict string

const (
	// InputsEqual says that no order differs where logs overlap, and that no
	// recorded hash does.
	InputsEqual Verdict = "inputs-equal"
	// InputsDiffer says that the peers were given different orders while
	// nothing recorded says that their states differed before.
	InputsDiffer Verdict = "network"
	// LogsDiffer says that orders differ between the logs, while the hashes that the
	// peers recorded later agree: nothing shows that they applied different orders. A
	// log may lack a line that its peer applied.
	LogsDiffer Verdict = "logs-differ"
	// Simulation says that from equal orders different states came.
	Simulation Verdict = "simulation"
	// InitialState says that the peers' states differ at the first state point
	// of their logs, before any tick.
	InitialState Verdict = "initial-state"
	// NoOverlap says that no two logs cover a common tick.
	NoOverlap Verdict = "no-overlap"
)

// Comparison is how the logs of a session's peers differ. Every list holds the
// first ones up to CompareOptions.Limit; the number beside it counts all. Only
// Local holds differences of orders of a local kind, and no number but LocalCount counts
// them. The same logs give the same Comparison.
type Comparison struct {
	Verdict Verdict `json:"verdict"`
	// Basis says in one line what the verdict rests on.
	Basis string      `json:"basis"`
	Peers []PeerRange `json:"peers"`
	// Reference is the peer that the others are compared with: the one asked
	// for, else the server. It is empty if each tick is compared with what most
	// peers have, and if as many have another, with the peer that stands
	// first in the headers' list of peers, else the first log. It is no
	// statement of who is right.
	Reference string `json:"reference,omitempty"`
	// Window is where at least two logs overlap, nil if nowhere.
	Window *Window `json:"window"`

	Differences     []Difference           `json:"differences"` // by tick
	DifferenceCount int                    `json:"difference_count"`
	Counts          map[DifferenceKind]int `json:"counts"`
	// Local are differences of orders that need not be the same on all peers.
	Local      []Difference `json:"local,omitempty"`
	LocalCount int          `json:"local_count"`

	// Headers are what the logs' headers state that has to be the same on all peers and is
	// not: the build, the tick rate.
	Headers []HeaderDifference `json:"headers,omitempty"`

	// Engine is the one whose own logs were compared, empty for logs of ours.
	Engine string `json:"engine,omitempty"`

	State State `json:"state"`

	// Claims are what the games themselves wrote into their logs.
	Claims     []PeerClaim `json:"claims,omitempty"`
	ClaimCount int         `json:"claim_count"`
	// Misplaced are orders that a log of ours applied out of order.
	Misplaced      []Misplacement `json:"misplaced,omitempty"`
	MisplacedCount int            `json:"misplaced_count"`
	// InputHashes are recorded input hashes that the recorded orders do not
	// give.
	InputHashes     []InputHashMismatch `json:"input_hashes,omitempty"`
	InputHashCount  int                 `json:"input_hash_count"`
	InputHashesRead uint64              `json:"input_hashes_read"`

	Warnings []string `json:"warnings,omitempty"`

	// Lost is for callers that searched for the logs: which peers left none that can be
	// read.
	Lost []string `json:"-"`
}

// Difference is one order, or one marker that is an input, which differs.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	// Tick is where it begins: of a late order the lower of both ticks.
	Tick   uint64 `json:"tick"`
	Native string `json:"native,omitempty"`
	Player uint32 `json:"player"`
	Peer   string `json:"peer"` // that differs from Base
	Base   string `json:"base"`
	// Order is the name of the order's kind, of a marker its kind.
	Order    string `json:"order"`
	Marker   bool   `json:"marker,omitempty"`
	Sequence uint32 `json:"sequence"`
	// Payload is that of the base, or of the peer if only it has the order; the
	// first 64 bytes.
	Payload    Bytes `json:"payload,omitempty"`
	PayloadLen int   `json:"payload_len"`
	// At is where it stands in the logs of Base and Peer, as far as they have
	// it.
	At []Place `json:"at"`
	// Have and Lack are all peers, of those that cover the tick, with and
	// without the order; for missing and extra ones only.
	Have []string     `json:"have,omitempty"`
	Lack []string     `json:"lack,omitempty"`
	Diff *PayloadDiff `json:"diff,omitempty"` // of altered ones
}

// Place is a position in a peer's log.
type Place struct {
	Peer   string `json:"peer"`
	Tick   uint64 `json:"tick"`
	Native string `json:"native,omitempty"`
	Index  int    `json:"index"`          // among the orders or markers of the tick, from 0
	Line   int64  `json:"line,omitempty"` // from 1, of a log that is text
	Offset int64  `json:"offset"`         // of the record in bytes
}

// PeerRange is how much of a session a peer's log covers.
type PeerRange struct {
	Name      string    `json:"name"`
	Stretches []Stretch `json:"stretches"` // the first ones up to the limit
	// Before, Between and After count orders of others that the log cannot
	// have, because they are of ticks before it begins, between two of its
	// stretches, or after its end.
	Before  uint64 `json:"before"`
	Between uint64 `json:"between"`
	After   uint64 `json:"after"`
	// Rerun counts ticks that the peer ran again after it was sent an older
	// state. They are not compared.
	Rerun uint64 `json:"rerun,omitempty"`
	// Unknown counts lines of no known kind, of which UnknownLine is the first.
	// What they said is lost.
	Unknown     int64 `json:"unknown_lines,omitempty"`
	UnknownLine int64 `json:"unknown_line,omitempty"`
	// Alone counts ticks after a jump back, without a word, that no other log has.
	Alone uint64 `json:"alone,omitempty"`
	// Err is how reading ended, nil if the log's end was reached.
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
	From       uint64 `json:"from"` // first and last tick that two logs cover
	To         uint64 `json:"to"`
	NativeFrom string `json:"native_from,omitempty"`
	NativeTo   string `json:"native_to,omitempty"`
	Ticks      uint64 `json:"ticks"`  // with a record in one log at least
	Orders     uint64 `json:"orders"` // that two peers at least have alike
}

// State is what the recorded hashes say.
type State struct {
	Hashes []HashSummary `json:"hashes,omitempty"`
	// First is the lowest state point at which hashes of two peers differ.
	First *HashDifference `json:"first,omitempty"`
	// Good is the highest point below First at which hashes over the whole
	// state agree. Hashes over parts prove no agreement.
	Good *uint64 `json:"good"`
	// Agreed is the highest point at which any hashes agree, nil if none do.
	Agreed *uint64 `json:"agreed,omitempty"`
	// Contradictions are points for which two logs, or one, have different
	// hashes of one peer.
	Contradictions     []HashDifference `json:"contradictions,omitempty"`
	ContradictionCount int              `json:"contradiction_count"`
}

// HashSummary is how often the hashes of one kind and coverage agreed.
type HashSummary struct {
	Kind     HashKind        `json:"kind"`
	Coverage Coverage        `json:"coverage"`
	Equal    uint64          `json:"equal"` // pairs
	Differ   uint64          `json:"differ"`
	First    *HashDifference `json:"first,omitempty"`
}

// HashDifference is a state point with two hashes.
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
	Log  string `json:"log"` // the peer whose log says so
	Hash Bytes  `json:"hash"`
}

// PeerClaim is a Claim with where it belongs.
type PeerClaim struct {
	Peer string    `json:"peer"`
	Kind ClaimKind `json:"kind"`
	// After is the last tick that the log names before the claim, 0 without a
	// native name if there is none; Before is the next one after it, nil if
	// there is none.
	After        uint64  `json:"after"`
	Before       *uint64 `json:"before"`
	NativeAfter  string  `json:"native_after,omitempty"`
	NativeBefore string  `json:"native_before,omitempty"`
	Line         int64   `json:"line"`
	Offset       int64   `json:"offset"`
	Text         string  `json:"text"`
	// Peers are those whom it says to have desynced, if it names them.
	Peers []string `json:"peers,omitempty"`
}

// Misplacement is an order that had to be applied before the one it follows.
type Misplacement struct {
	Peer   string `json:"peer"`
	Tick   uint64 `json:"tick"`
	Index  int    `json:"index"`
	Offset int64  `json:"offset"`
}

// InputHashMismatch is a tick whose recorded input hash is not that of its
// orders.
type InputHashMismatch struct {
	Peer     string `json:"peer"`
	Tick     uint64 `json:"tick"`
	Recorded Bytes  `json:"recorded"`
	Computed Bytes  `json:"computed"`
	Offset   int64  `json:"offset"`
}

// Diverged reports whether the logs prove that the peers parted.
func (c *Comparison) Diverged() bool {
	return c.Verdict == InputsDiffer || c.Verdict == Simulation || c.Verdict == InitialState
}

// Incomplete reports whether evidence was lost or lacking: a log that is not there, could
// not be read to its end, has lines of no known kind, contradicts itself, or overlaps with
// no other, orders that differ while hashes agree, or a claim of the game that nothing bears
// out.
func (c *Comparison) Incomplete() bool {
	for i := range c.Peers {
		if p := &c.Peers[i]; p.Err != nil || p.Unknown > 0 || p.Alone > 0 {
			return true
		}
	}
	return len(c.Lost) > 0 || c.Verdict == NoOverlap || c.Verdict == LogsDiffer || c.Verdict == InputsEqual && c.ClaimCount > 0 || c.InputHashCount > 0 || c.State.ContradictionCount > 0
}

// Line is the verdict in one line.
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

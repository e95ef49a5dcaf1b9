// Package orderlog reads and writes order logs. An order log contains the inputs that one peer of a deterministic game
// applied, tick by tick. It also contains the hashes that the peer observed, and the events that changed who plays or
// where the state came from.
//
// # Format
//
// An order log is a file of package frame, version 1, with the magic "\x89DOL\r\n\x1a\n". Each payload is one
// MessagePack array. Integers are written in the shortest form and read in any form. u8 to u64 are unsigned integers of
// that range.
//
//	frame kind 1, header: the first frame and no other
//	    [seed u64, peer str, build str, [num u32, den u32], start bin(32),
//	     first point u64, epoch u32, [[kind str, local bool]...],
//	     [peer str...], [[key str, value str]...]]
//	frame kind 2, tick
//	    [tick u64, input hash bin(8), [order...], [hash...], [marker...]]
//	frame kind 3, observed: hashes without a tick
//	    [hash...]
//
//	order   [sub tick u32, player u32, sequence u32, kind u32, payload bin]
//	hash    [point u64, peer u32, kind str, coverage str, bytes bin(1..64)]
//	marker  [kind u8, player u32, peer u32, sequence u32, point u64,
//	         new epoch bool, history bin(0 or 32), text str]
//
// Within an epoch ticks strictly ascend, possibly with gaps. A log that was cut off is read up to its last whole frame
// and then reported as torn, see package frame. docs/orderlog.md specifies the format for other languages, with a
// worked example, and describes the text twin of [WriteText] and [ParseText].
//
// # Comparison
//
// [Compare] reads the logs of a session's peers side by side and finds whether their inputs differ. It takes any
// [Source]: a [Reader], or a reader of an engine's own log from a sub-package. The [Dialect] of such a reader describes
// how the log differs from an order log.
//
// # Words
//
// Tick T leads from state point T to state point T + 1. Orders and markers belong to ticks; hashes belong to points.
package orderlog

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Magic is the start of every order log.
const Magic = "\x89DOL\r\n\x1a\n"

// Version is the format version that is written, and the newest version that can be read.
const Version = 1

var format = frame.Format{Name: "order log", Magic: Magic, Version: Version, MaxPayload: 16 << 20}

// RecordKind is the kind of a record and of its frame.
type RecordKind uint32

// Record kinds are part of the format.
const (
	HeaderRecord   RecordKind = 1
	TickRecord     RecordKind = 2
	ObservedRecord RecordKind = 3
)

// recordNames is the only table of record kinds. The names are keywords of the text twin.
var recordNames = [...]string{
	HeaderRecord:   headerName,
	TickRecord:     tickName,
	ObservedRecord: observedName,
}

const (
	headerName   = "header"
	tickName     = "tick"
	observedName = "observed"
)

// String returns the kind's name in the text twin.
func (k RecordKind) String() string {
	if k < HeaderRecord || k > ObservedRecord {
		return fmt.Sprintf("record kind %d", uint32(k))
	}
	return recordNames[k]
}

// Limits of the format. They keep every line of the text twin shorter than 16 MiB.
const (
	MaxPayload   = 4 << 20  // bytes of an order's payload
	MaxText      = 64 << 10 // bytes of any string
	MaxHashWidth = 64       // bytes of an observed hash
	maxName      = 64       // bytes of a hash kind or coverage
	maxTable     = 1 << 16  // order kinds, peers or parameters
)

// Header is the data that applies to the whole log.
type Header struct {
	Seed     uint64
	Peer     string // the peer that wrote the log
	Build    string // build of the game
	TickRate Rate
	// Start is the state hash at FirstPoint.
	Start merkle.Hash
	// FirstPoint is the state point at which the log begins: 0 for a log from the game's start, later for a peer that
	// joined. No tick comes before it.
	FirstPoint uint64
	// Epoch is the number of the epoch in which the log begins.
	Epoch uint32
	// Kinds are the kinds of orders, by the number in Order.Kind. Names are
	// unique and not empty.
	Kinds []OrderKind
	// Peers are the names of the session's peers, by the number in Observed.Peer. The list may be shorter than the
	// numbers in use.
	Peers []string
	// Params contains whatever a simulator needs to start, such as the map.
	Params map[string]string
}

// Rate is a number of ticks per second as a fraction, for example 100/3 for one tick every 30 ms. The zero Rate means
// unknown; otherwise neither number is 0.
type Rate struct{ Num, Den uint32 }

// OrderKind is a kind of orders.
type OrderKind struct {
	Name string
	// Local marks orders that may differ between peers, such as chat. The input hash does not contain them.
	Local bool
}

// Tick contains the inputs that one tick applied, and the hashes and events of that tick.
type Tick struct {
	Number uint64
	// InputHash is the hash of the orders as the peer computed it, all zero if the peer computed none. It is recorded
	// without a check: see [InputHash].
	InputHash merkle.Short
	Orders    []Order    // in the order in which they were applied
	Hashes    []Observed // usually of point Number, but any point is valid
	Markers   []Marker   // events before the orders
}

// Order is one input of one player. The server, AIs and scripts are players too.
type Order struct {
	Tick     uint64 // the tick that applied it; in a log, the Number of its Tick
	SubTick  uint32 // µs from the start of the tick
	Player   uint32
	Sequence uint32 // ordinal among the player's orders
	Kind     uint32 // index into Header.Kinds
	Payload  []byte // at most MaxPayload bytes; nil and empty are the same
}

// HashKind is the data over which an observed hash was computed. Engines may add kinds: at most 64 ASCII letters,
// digits, '-' and '_'.
type HashKind string

// Kinds of hashes that desynctool computes itself, see package merkle.
const (
	SyncHash    HashKind = "sync"    // 8 bytes
	StateHash   HashKind = "state"   // 32 bytes
	HistoryHash HashKind = "history" // 32 bytes
)

// Coverage is the part of the state that a hash covers. Engines choose the names of the parts, with the characters of a
// HashKind; "quick" is a common one.
type Coverage string

// Full is the coverage of a hash of the whole authoritative state.
const Full Coverage = ""

// Observed is a hash that the log's peer computed or received.
type Observed struct {
	Point    uint64 // state point
	Peer     uint32 // the peer that has this state, see Header.Peers
	Kind     HashKind
	Coverage Coverage
	Bytes    []byte // 1 to MaxHashWidth bytes
}

// Marker is an event that is not an order. Fields that its kind does not use are 0.
type Marker struct {
	Kind     MarkerKind
	Player   uint32
	Peer     uint32
	Sequence uint32 // number of an order that failed
	Point    uint64 // state point of the event, or of the loaded state
	// NewEpoch means that the state of the log's peer was replaced by another one. A new epoch begins with this tick,
	// which may have any number. Only a Join, Reconnect, Load or Resync can set it.
	NewEpoch bool
	// History is the history hash with which a new epoch begins, all zero if it is unknown.
	History merkle.Hash
	Text    string
}

// MarkerKind is a kind of markers.
type MarkerKind uint8

// Marker kinds are part of the format.
const (
	Join        MarkerKind = 1 // a player or peer joined
	Leave       MarkerKind = 2 // it left by itself
	Removal     MarkerKind = 3 // it was removed
	Reconnect   MarkerKind = 4 // it came back
	Save        MarkerKind = 5
	Load        MarkerKind = 6
	Resync      MarkerKind = 7 // a peer received another peer's state
	FailedOrder MarkerKind = 8 // the sim refused an order of this tick
)

// markerKinds is the only table of marker kinds.
var markerKinds = [...]struct {
	name     string
	newEpoch bool // may open an epoch
}{
	Join:        {"join", true},
	Leave:       {"leave", false},
	Removal:     {"removal", false},
	Reconnect:   {"reconnect", true},
	Save:        {"save", false},
	Load:        {"load", true},
	Resync:      {"resync", true},
	FailedOrder: {"failed-order", false},
}

func (k MarkerKind) known() bool { return k >= Join && k <= FailedOrder }

// String returns the kind's name in the text twin.
func (k MarkerKind) String() string {
	if !k.known() {
		return fmt.Sprintf("marker kind %d", uint8(k))
	}
	return markerKinds[k].name
}

// NewEpoch returns the marker with which t opens an epoch, or nil.
func (t *Tick) NewEpoch() *Marker {
	for i := range t.Markers {
		if t.Markers[i].NewEpoch {
			return &t.Markers[i]
		}
	}
	return nil
}

// IsLog reports whether head, the first bytes of a file, begins an order log.
func IsLog(head []byte) bool { return len(head) >= len(Magic) && string(head[:len(Magic)]) == Magic }

// IsText reports whether head, the first bytes of a file, begins the text twin of an order log.
func IsText(head []byte) bool {
	line, _, _ := strings.Cut(string(head), "\n")
	return strings.TrimSuffix(line, "\r") == textBegin
}

// Package orderlog reads and writes order logs: the inputs that one peer of a
// deterministic game applied, tick by tick, with the hashes it observed and
// the events that changed who plays or where the state came from.
//
// # Format
//
// An order log is a file of package frame, version 1, whose magic is
// "\x89DOL\r\n\x1a\n". Each payload is one MessagePack array; integers take
// the shortest form when written and any form when read. u8 to u64 are
// unsigned integers of that range.
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
// Within an epoch ticks strictly ascend; they may leave gaps. A log that was
// cut off is delivered up to its last whole frame and then says so, see
// package frame. docs/orderlog.md specifies the same for other languages,
// with a worked example, and the text twin of [WriteText] and [ParseText].
//
// # Comparison
//
// [Compare] reads the logs of a session's peers side by side and finds whether
// their inputs differ. It takes any [Source]: a [Reader], or the readers of
// engines' own logs in sub-packages, each of which says by its [Dialect] how its
// log differs from one of ours.
//
// # Words
//
// Tick T leads from state point T to state point T + 1. Orders and markers
// belong to ticks; hashes belong to points.
package orderlog

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Magic is what an order log begins with.
const Magic = "\x89DOL\r\n\x1a\n"

// Version is the version of the format that is written, and the newest read.
const Version = 1

var format = frame.Format{Name: "order log", Magic: Magic, Version: Version, MaxPayload: 16 << 20}

// RecordKind is the kind of a record, and of the frame that holds it.
type RecordKind uint32

// Record kinds are part of the format.
const (
	HeaderRecord   RecordKind = 1
	TickRecord     RecordKind = 2
	ObservedRecord RecordKind = 3
)

// recordNames is the one table of record kinds; the names are keywords of the
// text twin.
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

// Limits of the format. They keep every line of the text twin below 16 MiB.
const (
	MaxPayload   = 4 << 20  // bytes of an order's payload
	MaxText      = 64 << 10 // bytes of any string
	MaxHashWidth = 64       // bytes of an observed hash
	maxName      = 64       // bytes of a hash kind or coverage
	maxTable     = 1 << 16  // order kinds, peers or parameters
)

// Header is what holds for a whole log.
type Header struct {
	Seed     uint64
	Peer     string // the peer that wrote the log
	Build    string // of the game
	TickRate Rate
	// Start is the state hash at FirstPoint.
	Start merkle.Hash
	// FirstPoint is the state point at which the log begins: 0 for a game from
	// its start, later for a peer that joined. No tick comes before it.
	FirstPoint uint64
	// Epoch is the number of the epoch in which the log begins.
	Epoch uint32
	// Kinds are the kinds of orders, by the number in Order.Kind. Names are
	// unique and not empty.
	Kinds []OrderKind
	// Peers are the names of the session's peers, by the number in
	// Observed.Peer. It may be shorter than the numbers in use.
	Peers []string
	// Params is what a simulator needs to start, such as the map.
	Params map[string]string
}

// Rate is a number of ticks per second as a fraction, 100/3 for one tick each
// 30 ms. The zero Rate is unknown; otherwise neither number is 0.
type Rate struct{ Num, Den uint32 }

// OrderKind is a kind of orders.
type OrderKind struct {
	Name string
	// Local marks orders that do not have to be the same on all peers, such as
	// chat. They are left out of the input hash.
	Local bool
}

// Tick is what one tick applied, and what was seen beside it.
type Tick struct {
	Number uint64
	// InputHash is the hash of the orders as the peer computed it, all zero if
	// it did not. It is recorded, not checked: see [InputHash].
	InputHash merkle.Short
	Orders    []Order    // as applied
	Hashes    []Observed // often of point Number, but any point will do
	Markers   []Marker   // what happened before the orders
}

// Order is one input of one player. Players include the server, AIs and
// scripts.
type Order struct {
	Tick     uint64 // that applied it; in a log, that of its Tick
	SubTick  uint32 // µs from the start of the tick
	Player   uint32
	Sequence uint32 // ordinal among the player's orders
	Kind     uint32 // index into Header.Kinds
	Payload  []byte // at most MaxPayload bytes; nil and empty are the same
}

// HashKind is what an observed hash is a hash of. Engines may add kinds of
// their own: ASCII letters, digits, '-' and '_', at most 64.
type HashKind string

// Kinds of hashes that desynctool computes itself, see package merkle.
const (
	SyncHash    HashKind = "sync"    // 8 bytes
	StateHash   HashKind = "state"   // 32 bytes
	HistoryHash HashKind = "history" // 32 bytes
)

// Coverage is the part of the state that a hash covers. Engines name parts of
// their own, in the characters of a HashKind; "quick" is a usual one.
type Coverage string

// Full is the coverage of a hash over the whole authoritative state.
const Full Coverage = ""

// Observed is a hash that the log's peer computed or was sent.
type Observed struct {
	Point    uint64 // state point
	Peer     uint32 // the peer whose state it is, see Header.Peers
	Kind     HashKind
	Coverage Coverage
	Bytes    []byte // 1 to MaxHashWidth bytes
}

// Marker is an event beside the orders. Fields that its kind has no use for
// are 0.
type Marker struct {
	Kind     MarkerKind
	Player   uint32
	Peer     uint32
	Sequence uint32 // of an order that failed
	Point    uint64 // state point of the event, or of the state that was loaded
	// NewEpoch says that the state of the log's own peer was replaced by
	// another: a new epoch begins with this tick, whose number may be any. Only
	// a Join, Reconnect, Load or Resync can say so.
	NewEpoch bool
	// History is the history hash that a new epoch adopts, all zero if it is
	// not known.
	History merkle.Hash
	Text    string
}

// MarkerKind is a kind of markers.
type MarkerKind uint8

// Marker kinds are part of the format.
const (
	Join        MarkerKind = 1 // a player or peer came in
	Leave       MarkerKind = 2 // it left by itself
	Removal     MarkerKind = 3 // it was thrown out
	Reconnect   MarkerKind = 4 // it came back
	Save        MarkerKind = 5
	Load        MarkerKind = 6
	Resync      MarkerKind = 7 // a peer was sent the state of another
	FailedOrder MarkerKind = 8 // an order of this tick was refused by the sim
)

// markerKinds is the one table of marker kinds.
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

// NewEpoch returns the marker by which t opens an epoch, or nil.
func (t *Tick) NewEpoch() *Marker {
	for i := range t.Markers {
		if t.Markers[i].NewEpoch {
			return &t.Markers[i]
		}
	}
	return nil
}

// IsLog reports whether head, the leading bytes of a file, are an order log's.
func IsLog(head []byte) bool { return len(head) >= len(Magic) && string(head[:len(Magic)]) == Magic }

// IsText reports whether head, the leading bytes of a file, are the text twin
// of an order log.
func IsText(head []byte) bool {
	line, _, _ := strings.Cut(string(head), "\n")
	return strings.TrimSuffix(line, "\r") == textBegin
}

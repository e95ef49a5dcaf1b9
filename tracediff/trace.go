// Package tracediff reads, writes and compares checksum traces. A trace contains the checksums that a deterministic
// game computed at its checkpoints, in execution order. A comparison can therefore name the first system in the first
// tick that differs between peers.
//
// # Text
//
// A trace is usually text, one checkpoint a line of key=value pairs:
//
//	%desynctool trace 1
//	%seed 7
//	%peer "host"
//	tick=100 system=Movement scope=Infantry n=250 sum=0x6a09e667bb67ae85
//	tick=100 system=Combat sum=3c6ef372 sum.rng=510e527f
//	tick=101 system=Movement phase=predicted sum=0x9b05688c2b3e6c1f
//	event=restore tick=100 at=102 sum=0x1f83d9ab
//	%end
//
// The lines that begin with % are optional. docs/trace.md has the grammar. It also describes the other text forms that
// a [Reader] accepts: log lines with a checksum somewhere in them, one hash a line, and tables with one row a tick and
// one column a peer.
//
// # Binary
//
// A binary trace is a file of package frame, version 1, with the magic "\x89DTR\r\n\x1a\n". Each payload is one
// MessagePack array. As in an order log, integers are written in the shortest form and read in any form.
//
//	frame kind 1, header: the first frame and no other
//	    [[seed u64] or [], peer str, build str, [num u32, den u32],
//	     [[key str, value str]...]]
//	frame kind 2, names: appended to the list of names, whose number 0 is ""
//	    [name str...]
//	frame kind 3, checkpoints: one after the other, all of one tick
//	    [tick u64, [checkpoint...]]
//	frame kind 4, event of a rollback
//	    [kind u8, tick u64, other u64, player u32, phase u8, [sum...]]
//
//	checkpoint  [system u32, scope u32, phase u8, [sum...]] or, with a count,
//	            [system u32, scope u32, phase u8, [sum...], count u64]
//	sum         [name u32, value bin or str]
//
// # Words
//
// A checkpoint belongs to a tick, which leads from state point T to T + 1. A tick may be simulated more than once, by
// prediction and rollback; each time is a pass. If ticks go back further than a rollback can, the state was replaced
// and a new epoch begins.
package tracediff

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Magic is the start of every binary trace.
const Magic = "\x89DTR\r\n\x1a\n"

// Version is the version of the binary format that is written, and the newest version that can be read.
const Version = 1

var format = frame.Format{Name: "trace", Magic: Magic, Version: Version, MaxPayload: 16 << 20}

// Limits of the formats.
const (
	MaxText  = 64 << 10 // bytes of a name, of a sum's value or of a string in the header
	MaxSums  = 256      // sums in one checkpoint or event
	maxNames = 1 << 20  // names in a binary trace
	maxMeta  = 1 << 16  // pairs in a header
)

// PasteMeta is a name in Header.Meta for traces that are excerpts. Its value identifies the diff that contains the
// trace as one side, or the file itself. Lines are missing in such a trace. Both sides of one diff lack the same lines.
const PasteMeta = "paste"

// Header is the data that applies to a whole trace. All fields are optional.
type Header struct {
	Seed    uint64
	HasSeed bool
	Peer    string
	Build   string
	// RateNum and RateDen are the number of ticks per second as a fraction, both 0 if unknown.
	RateNum, RateDen uint32
	// Meta contains other data about the peer or the game.
	Meta map[string]string
}

func (h *Header) check() error {
	texts := []string{h.Peer, h.Build}
	for _, k := range slices.Sorted(maps.Keys(h.Meta)) {
		texts = append(texts, k, h.Meta[k])
	}
	switch {
	case len(h.Meta) > maxMeta:
		return fmt.Errorf("header has %d pairs, limit is %d", len(h.Meta), maxMeta)
	case (h.RateNum == 0) != (h.RateDen == 0):
		return fmt.Errorf("tick rate is %d/%d", h.RateNum, h.RateDen)
	}
	for _, s := range texts {
		if len(s) > MaxText {
			return fmt.Errorf("text of %d bytes in the header, limit is %d", len(s), MaxText)
		}
	}
	return nil
}

// Phase is whether the inputs of a tick were known when it was simulated.
type Phase uint8

// Phases are part of the binary format.
const (
	Confirmed Phase = 0 // all inputs were known
	Predicted Phase = 1 // some were guessed
)

var phaseNames = [...]string{Confirmed: "confirmed", Predicted: "predicted"}

// String returns the phase's name in text.
func (p Phase) String() string {
	if int(p) >= len(phaseNames) {
		return fmt.Sprintf("phase %d", uint8(p))
	}
	return phaseNames[p]
}

// Sum is one checksum of a checkpoint.
type Sum struct {
	Name string // "" for the main one
	// Value is the checksum as text. Bytes are written as 0x and lower-case hex digits, two a byte; a binary trace
	// stores them as bytes. Anything else is kept unchanged.
	Value []byte
}

// BytesSum returns a sum with the value b.
func BytesSum(name string, b []byte) Sum {
	return Sum{name, hex.AppendEncode([]byte("0x"), b)}
}

// Bytes appends the value's bytes to dst. It returns false if the value is text.
func (s Sum) Bytes(dst []byte) ([]byte, bool) {
	digits, ok := s.hex()
	if !ok {
		return dst, false
	}
	dst, err := hex.AppendDecode(dst, digits)
	return dst, err == nil
}

// hex returns the digits of a value that represents bytes.
func (s Sum) hex() ([]byte, bool) {
	v := s.Value
	if len(v) < 4 || len(v)%2 != 0 || v[0] != '0' || v[1] != 'x' {
		return nil, false
	}
	for _, c := range v[2:] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil, false
		}
	}
	return v[2:], true
}

// Checkpoint contains the checksums that the game computed at one place in one tick.
type Checkpoint struct {
	Tick   uint64
	System string // system that has just ended; may be empty
	Scope  string // subsystem or component type that is covered; "" means everything
	Phase  Phase
	// Occurrence is the index among the checkpoints with the same system, scope and phase in the same pass over the
	// tick, from 0. It follows from the order of a trace and is not stored.
	Occurrence uint32
	Sums       []Sum // names are unique
	Count      uint64
	HasCount   bool // count of entities, or of whatever else the game counts
	// Detail contains details from an engine's file. desynctool's own traces have none.
	Detail []Detail
	// Unsettled means that it may be confirmed, although Phase is Predicted: a log that does not show which ends there.
	Unsettled bool
	// Seal is a checksum of all checkpoints of the tick that the game wrote into the file, "" if there is none. Traces
	// with the same seal that differ in that tick are not two opinions: one of them is damaged.
	Seal string
}

func (c *Checkpoint) check() error {
	switch {
	case int(c.Phase) >= len(phaseNames):
		return fmt.Errorf("unknown phase %d", c.Phase)
	case len(c.System) > MaxText || len(c.Scope) > MaxText:
		return fmt.Errorf("name of %d bytes, limit is %d", max(len(c.System), len(c.Scope)), MaxText)
	case len(c.Sums) == 0 && !c.HasCount:
		return fmt.Errorf("checkpoint with neither sum nor count")
	}
	return checkSums(c.Sums)
}

func checkSums(sums []Sum) error {
	if len(sums) > MaxSums {
		return fmt.Errorf("%d sums, limit is %d", len(sums), MaxSums)
	}
	for i := range sums {
		switch s := &sums[i]; {
		case len(s.Value) == 0:
			return fmt.Errorf("sum %q is empty", s.Name)
		case len(s.Value) > MaxText || len(s.Name) > MaxText:
			return fmt.Errorf("sum of %d bytes, limit is %d", max(len(s.Value), len(s.Name)), MaxText)
		case !plainName(s.Name):
			return fmt.Errorf("sum name %s has characters that a key cannot have", quoteShort([]byte(s.Name)))
		}
		for j := range i {
			if sums[j].Name == sums[i].Name {
				return fmt.Errorf("sum %q a second time", sums[i].Name)
			}
		}
	}
	return nil
}

// EventKind is a kind of rollback event.
type EventKind uint8

// Event kinds are part of the binary format.
const (
	// Save: the state at point Tick was kept.
	Save EventKind = 1
	// Restore: tick Other was about to be simulated, and the state at point Tick was restored.
	Restore EventKind = 2
	// Resimulate: ticks Tick to Other, both included, are simulated again.
	Resimulate EventKind = 3
	// Input: an input of Player was used for tick Tick. The phase shows whether it was known or guessed.
	Input EventKind = 4
)

// eventKinds is the only table of event kinds. other is the key of Event.Other in text, "" if the kind does not use it.
var eventKinds = [...]struct {
	name, other string
	player      bool
}{
	Save:       {name: "save"},
	Restore:    {name: "restore", other: "at"},
	Resimulate: {name: "resimulate", other: "to"},
	Input:      {name: "input", player: true},
}

func (k EventKind) known() bool { return k >= Save && k <= Input }

// String returns the kind's name in text.
func (k EventKind) String() string {
	if !k.known() {
		return fmt.Sprintf("event kind %d", uint8(k))
	}
	return eventKinds[k].name
}

// Event is an event that affects whole states, or an input that was used. Fields that its kind does not use are 0.
type Event struct {
	Kind   EventKind
	Tick   uint64
	Other  uint64
	Player uint32
	Phase  Phase // for an Input
	Sums   []Sum // of the state at point Tick, or of an input
}

func (e *Event) check() error {
	switch {
	case !e.Kind.known():
		return fmt.Errorf("unknown %s", e.Kind)
	case int(e.Phase) >= len(phaseNames):
		return fmt.Errorf("unknown phase %d", e.Phase)
	case e.Other != 0 && eventKinds[e.Kind].other == "":
		return fmt.Errorf("%s event with a second tick", e.Kind)
	case (e.Player != 0 || e.Phase != Confirmed) && !eventKinds[e.Kind].player:
		return fmt.Errorf("%s event with a player or a phase", e.Kind)
	}
	return checkSums(e.Sums)
}

// Position is where a record begins.
type Position struct {
	Line   int64 // from 1; 0 in a binary trace, and after a search by SeekTick
	Offset int64 // in bytes, of the line or frame; in the uncompressed content if the file is compressed
}

// String returns "line 7" or, for a binary trace, "offset 160".
func (p Position) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("offset %d", p.Offset)
}

// Record is one record of a trace: an event if Event is not nil, else a checkpoint.
type Record struct {
	Pos        Position
	Checkpoint *Checkpoint
	Event      *Event
}

// Tick returns the tick of the checkpoint or event.
func (r *Record) Tick() uint64 {
	if r.Event != nil {
		return r.Event.Tick
	}
	return r.Checkpoint.Tick
}

// Clone returns a copy of c that shares no memory with its Reader.
func (c *Checkpoint) Clone() *Checkpoint {
	d := *c
	d.Sums, d.Detail = cloneSums(c.Sums), slices.Clone(c.Detail)
	return &d
}

func cloneSums(sums []Sum) []Sum {
	out := slices.Clone(sums)
	for i := range out {
		out[i].Value = slices.Clone(out[i].Value)
	}
	return out
}

// equalSum reports whether two values are the same checksum: equal texts, or the same hex digits, with or without 0x
// and in either case.
func equalSum(a, b []byte) bool {
	if string(a) == string(b) {
		return true
	}
	a, b = digits(a), digits(b)
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for i := range a {
		if a[i] != b[i] && (lowerHex(a[i]) != lowerHex(b[i]) || lowerHex(a[i]) == 0) {
			return false
		}
	}
	return isHex(a)
}

func digits(v []byte) []byte {
	if len(v) > 2 && v[0] == '0' && v[1]|0x20 == 'x' {
		return v[2:]
	}
	return v
}

func isHex(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return lowerHex(c) == 0 })
}

// lowerHex returns a hex digit in lower case, or 0.
func lowerHex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20
	}
	return 0
}

package orderlog

import "time"

// Source is the log of one peer, read as a stream: a [*Reader], or the reader of an engine's own log.
//
// Next returns io.EOF after the last record. After an error it returns the same error again. A record and its byte
// slices are valid until the next call. While an engine's log is read, the Header may gain kinds, but existing kinds
// never change.
type Source interface {
	Header() Header
	Next() (Record, error)
}

var _ Source = (*Reader)(nil)

// Foreign is a Source that does not read an order log.
type Foreign interface {
	Source
	Dialect() Dialect
}

// Lossy is a Source that skips lines of unknown kinds.
type Lossy interface {
	// Unknown returns the number of skipped lines so far, and the line number of the first one.
	Unknown() (lines, first int64)
}

// MixedEnds is a Source with orders that may end with a carriage return that is data.
type MixedEnds interface {
	// Mixed returns the number of a line that ends with a carriage return in a log where other lines do not. In such a
	// log a carriage return after an order may be data or part of the line end. It returns 0 if there is no such line.
	Mixed() (line int64)
}

// Dialect describes how an engine's own log differs from an order log. The zero Dialect describes an order log.
type Dialect struct {
	Engine  string // "OpenTTD"; empty for an order log
	Session string // identifies the session, or empty if the log has nothing that does
	Server  bool   // the machine that relays the orders wrote the log
	// Recorded is the start time in the log, zero if the log has none.
	Recorded time.Time

	// Counted means that the log does not number orders. Order.Sequence then only counts the tick's orders, so it
	// shifts when one is missing.
	Counted bool
	// OwnMarkers means that markers are this peer's own observations, not inputs.
	OwnMarkers bool

	// TickName returns the engine's own name of a tick or state point. It is nil if the engine uses only the number.
	TickName func(tick uint64) string
	// Fields decodes an order's payload. It is nil if the payload has no fields or names them itself (JSON,
	// MessagePack).
	Fields func(kind string, payload []byte) []Field
}

// Field is one value inside a payload.
type Field struct {
	Path  string // "data.command", "entities[3]"
	Value string // a number as written, a string in double quotes
}

// ClaimKind is the subject of a Claim.
type ClaimKind string

const (
	// ClaimDesync is the game's own report of a desync.
	ClaimDesync ClaimKind = "desync"
	// ClaimCache is the game's own report that derived data became stale.
	ClaimCache ClaimKind = "cache"
)

// Claim is an error that the game itself detected and wrote into its log. It is evidence, not proof.
type Claim struct {
	Kind   ClaimKind
	Line   int64
	Offset int64 // of the line
	Text   string
	Peers  []string // peers that it reports as desynced, if it names any
}

func dialectOf(s Source) Dialect {
	if f, ok := s.(Foreign); ok {
		return f.Dialect()
	}
	return Dialect{}
}

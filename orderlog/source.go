package orderlog

import "time"

// Source is the log of one peer, read as a stream: a [*Reader], or the reader
// of an engine's own log.
//
// Next returns io.EOF after the last record, and once it has returned an
// error it returns the same one again. A record and the bytes in it are valid
// until the next call. The kinds in the Header may become more while a log of
// an engine is read, never other ones.
type Source interface {
	Header() Header
	Next() (Record, error)
}

var _ Source = (*Reader)(nil)

// Foreign is a Source whose log is not one of ours.
type Foreign interface {
	Source
	Dialect() Dialect
}

// Lossy is a Source that passes over lines of no known kind.
type Lossy interface {
	// Unknown returns how many there were so far, and the number of the first.
	Unknown() (lines, first int64)
}

// MixedEnds is a Source whose orders may end with a carriage return that is data.
type MixedEnds interface {
	// Mixed returns the number of a line that ends with a carriage return while
	// others do not, so that one after an order may be either; 0 if there is none.
	Mixed() (line int64)
}

// Dialect says how an engine's own log differs from one of ours. The zero
// Dialect is that of our own logs.
type Dialect struct {
	Engine  string // "OpenTTD"; empty for a log of ours
	Session string // what the log has to set its session apart from others, or empty
	Server  bool   // the log was written by the machine that relays the orders
	// Recorded is when the log says that it was begun, zero if it does not say.
	Recorded time.Time

	// Counted says that the log does not number orders: Order.Sequence only
	// counts those of the tick, so that it shifts when one is missing.
	Counted bool
	// OwnMarkers says that markers are what this peer saw and no inputs.
	OwnMarkers bool

	// TickName returns the engine's own name of a tick or state point, nil if
	// it has none but the number.
	TickName func(tick uint64) string
	// Fields takes an order's payload apart, nil if the payload has no fields
	// or names them itself (JSON, MessagePack).
	Fields func(kind string, payload []byte) []Field
}

// Field is one value inside a payload.
type Field struct {
	Path  string // "data.command", "entities[3]"
	Value string // a number as it is written, a string in double quotes
}

// ClaimKind is what a Claim is about.
type ClaimKind string

const (
	// ClaimDesync is the game's own word that it has desynced.
	ClaimDesync ClaimKind = "desync"
	// ClaimCache is the game's own word that derived data had become stale.
	ClaimCache ClaimKind = "cache"
)

// Claim is something that the game itself found wrong and wrote into its log.
// It is evidence, not proof.
type Claim struct {
	Kind   ClaimKind
	Line   int64
	Offset int64 // of the line
	Text   string
	Peers  []string // whom it says to have desynced, by name, if it names them
}

func dialectOf(s Source) Dialect {
	if f, ok := s.(Foreign); ok {
		return f.Dialect()
	}
	return Dialect{}
}

package zeroad

import (
	"bytes"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// Quick is the scope of hashes that cover only a part of the state.
const QuickScope = "hash-quick"

// peers are the peers with hashes in the output.
var peers = [...]string{tracediff.FirstRun, tracediff.SecondRun}

// Formats returns the format of a replay's output.
func Formats() []tracediff.Format {
	return []tracediff.Format{{
		Name:  "0ad-replay-output",
		Title: "0 A.D. output of a replay, with computed and recorded hashes",
		Sniff: traceSniff,
		Peers: func(io.Reader, string) ([]string, error) { return peers[:], nil },
		Read: func(r io.Reader, name string, peer int) (tracediff.Source, error) {
			return &reader{lines: orderlog.NewLines(r, name), side: peer}, nil
		},
	}}
}

// sniff looks for a turn with a hash after it.
func traceSniff(head []byte) bool {
	turn := false
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if _, ok := ParseTurn(line); ok {
			turn = true
			continue
		}
		if _, ok := ParseHash(line); ok && turn {
			return true
		}
		turn = false
	}
	return false
}

// ParseTurn reads "Turn 17 (200)...", which the engine prints before it plays a turn.
func ParseTurn(line []byte) (turn uint64, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("Turn "))
	if !ok {
		return 0, false
	}
	digits, rest, _ := bytes.Cut(rest, []byte(" ("))
	if turn, ok = number(digits); !ok {
		return 0, false
	}
	length, rest, _ := bytes.Cut(rest, []byte(")"))
	_, ok = number(length)
	return turn, ok && string(rest) == "..."
}

func number(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, len(b) > 0 && len(b) <= 18
}

// Hashes are the hashes of the state after one turn, in hex. They are parts of the line.
type Hashes struct {
	Quick              bool
	Recorded, Computed []byte
}

// ParseHash reads "hash-quick ok (HEX)" or "hash MISMATCH (HEX != HEX)".
func ParseHash(line []byte) (h Hashes, ok bool) {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "hash":
	case "hash-quick":
		h.Quick = true
	default:
		return h, false
	}
	rest, closed := bytes.CutSuffix(rest, []byte(")"))
	if equal, ok := bytes.CutPrefix(rest, []byte("ok (")); ok {
		h.Recorded, h.Computed = equal, equal
	} else if two, ok := bytes.CutPrefix(rest, []byte("MISMATCH (")); ok {
		h.Computed, h.Recorded, _ = bytes.Cut(two, []byte(" != "))
	}
	return h, closed && isHash(h.Recorded) && isHash(h.Computed)
}

func isHash(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 2*orderlog.MaxHashWidth
}

// reader reads the hashes of one side.
type reader struct {
	lines *orderlog.Lines
	side  int

	turn   uint64
	inTurn bool // a turn has begun, and its hash has not come
	whole  bool // the final state has come

	rec tracediff.Record
	at  tracediff.Checkpoint
	err error // once reading has ended
}

func (r *reader) Header() tracediff.Header { return tracediff.Header{Peer: peers[r.side]} }

func (r *reader) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "0 A.D.", File: "0 A.D. output of a replay", Replay: true,
		TickName: func(turn uint64) string { return fmt.Sprintf("turn %d", turn) },
		Covers:   "quick hashes, which cover only the random number generator, the next entity and positions; every twentieth turn has a full one",
	}
}

// Next returns the next hash.
func (r *reader) Next() (*tracediff.Record, error) {
	for r.err == nil {
		var line []byte
		if line, r.err = r.lines.Next(); r.err != nil {
			if r.err == io.EOF && !r.whole {
				r.err = &frame.Error{
					Name: r.lines.Name(), Offset: r.lines.Offset(), Err: frame.ErrTorn,
					Msg: "the output ends before the final state",
				}
			}
			break
		}
		if bytes.HasPrefix(line, []byte("# Final state: ")) {
			r.whole = true
		}
		if turn, ok := ParseTurn(line); ok {
			r.turn, r.inTurn = turn, true
			continue
		}
		h, ok := ParseHash(line)
		switch {
		case !ok && (bytes.HasPrefix(line, []byte("hash")) || bytes.HasPrefix(line, []byte("Turn "))):
			r.inTurn = false // it may be the next one that is damaged
			return nil, r.wrong("%.60q, expected a turn or the hashes of one", line)
		case !ok:
			continue
		case !r.inTurn:
			return nil, r.wrong("a hash without a turn before it")
		}
		r.inTurn = false
		r.checkpoint(h)
		return &r.rec, nil
	}
	return nil, r.err
}

func (r *reader) wrong(format string, args ...any) error {
	return &tracediff.SyntaxError{Name: r.lines.Name(), Pos: engine.PositionOf(r.lines), Msg: fmt.Sprintf(format, args...)}
}

func (r *reader) checkpoint(h Hashes) {
	value := h.Recorded
	if r.side == 1 {
		value = h.Computed
	}
	r.at = tracediff.Checkpoint{Tick: r.turn, Sums: append(r.at.Sums[:0], tracediff.Sum{Value: value})}
	if h.Quick {
		r.at.Scope = QuickScope
	}
	r.rec = tracediff.Record{Checkpoint: &r.at, Pos: engine.PositionOf(r.lines)}
}

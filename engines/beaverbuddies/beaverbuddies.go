// Package beaverbuddies reads logs of BeaverBuddies, a multiplayer mod for Timberborn. With detailed logs a client
// writes where its own trace of a tick diverges from the server's:
//
//	[14-55-11.50] Desync detected for tick 812!
//	========== Trace history ==========
//	========== Shared History for Desynced Tick 812 ==========
//	Tick 812 started
//	========== Desynced Trace ==========
//	---------- My Trace ----------
//	Spawning: 7, (1, 2, 3)
//	  at BeaverBuddies.DesyncDetecter.DesyncDetecterService.Trace (System.String message) [0x00000] in <0>:0
//	--------------
//	---------- Other Trace ----------
//	Spawning: 8, (1, 2, 3)
//	--------------
//	========== Desynced Log End ==========
//
// These are two traces of the tick, client and server, with a checkpoint for each line of a message. Call stacks are
// skipped. A log without such a part is a trace of one peer, from the lines after each tick:
//
//	[14-55-11.20] Tick 00110 IO done; Order hash: 1A2B3C4D; Move hash: 00000007; Random s0: 5B1458C0
package beaverbuddies

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// Whose checkpoints are read: a log of one peer, or one side of a part with two traces. The last two are indices in the
// result of peers.
const (
	ticks = iota
	client
	server
)

// maxMessage is how many bytes of a line of a trace are kept.
const maxMessage = 4096

// Format returns the format of such logs.
func Format() tracediff.Format {
	return engine.Lines{
		Name: "beaverbuddies", Title: "log of BeaverBuddies (Timberborn) with traces or hashes", Sniff: sniff, Peers: peers, Dialect: dialect,
		Parser: func(peer int) func([]byte, *tracediff.Checkpoint) bool {
			if peer == ticks {
				return hashesOf
			}
			return (&side{peer: peer}).message
		},
	}.Format()
}

func sniff(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if _, ok := parseTick(line); ok {
			return true
		}
		if _, ok := parseBegin(line); ok {
			return true
		}
	}
	return false
}

// peers returns the two sides of a log with two traces, none of another log.
func peers(r io.Reader, name string) (names []string, err error) {
	begun := false
	err = engine.EachLine(r, name, func(line []byte, _ tracediff.Position) bool {
		if _, ok := parseBegin(line); ok {
			begun = true
		}
		if begun && string(line) == otherBegins {
			names = []string{ticks: "", client: "client", server: "server"}
		}
		return names == nil
	})
	return names, err
}

// Lines of a part with two traces.
const (
	sharedBegins = "========== Shared History for Desynced Tick "
	mineBegins   = "---------- My Trace ----------"
	otherBegins  = "---------- Other Trace ----------"
	partEnds     = "========== Desynced Log End =========="
)

// parseBegin reads the number of the tick from the line that begins such a part, after the time in
// brackets.
func parseBegin(line []byte) (tick uint64, ok bool) {
	rest, ok := cutTime(line)
	if !ok {
		return 0, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte("Desync detected for tick "))
	digits, closed := bytes.CutSuffix(rest, []byte("!"))
	tick, err := strconv.ParseUint(string(digits), 10, 62)
	return tick, ok && closed && err == nil
}

// cutTime cuts off "[14-55-11.20] ", and what a loader of mods writes before it.
func cutTime(line []byte) ([]byte, bool) {
	if rest, ok := bytes.CutPrefix(line, []byte("[")); ok {
		if lead, after, ok := bytes.Cut(rest, []byte("] ")); ok && bytes.HasSuffix(lead, []byte(":BeaverBuddies")) {
			line = after
		}
	}
	const pattern = "[00-00-00.00] "
	if len(line) < len(pattern) {
		return nil, false
	}
	for i := range len(pattern) {
		if c := line[i]; pattern[i] == '0' && (c < '0' || c > '9') || pattern[i] != '0' && c != pattern[i] {
			return nil, false
		}
	}
	return line[len(pattern):], true
}

// hashes are the values in a line after a tick.
type hashes struct {
	tick uint64
	sums [3][]byte
}

// hashNames are the names of the hashes in a line, and as sums.
var hashNames = [3]struct{ mark, name string }{
	{" IO done; Order hash: ", "order"}, {"; Move hash: ", "move"}, {"; Random s0: ", "random"},
}

// parseTick reads "Tick 00110 IO done; Order hash: X; Move hash: X; Random s0: X" after the time.
func parseTick(line []byte) (h hashes, ok bool) {
	rest, ok := cutTime(line)
	if !ok {
		return h, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte("Tick ")); !ok {
		return h, false
	}
	digits, rest, _ := bytes.Cut(rest, []byte(hashNames[0].mark))
	tick, err := strconv.ParseUint(string(digits), 10, 62)
	for i := range h.sums {
		next := []byte(nil)
		if i+1 < len(h.sums) {
			h.sums[i], next, _ = bytes.Cut(rest, []byte(hashNames[i+1].mark))
		} else {
			h.sums[i] = rest
		}
		rest = next
		if _, bad := strconv.ParseUint(string(h.sums[i]), 16, 32); bad != nil || len(h.sums[i]) != 8 {
			return h, false
		}
	}
	h.tick = tick
	return h, err == nil
}

func dialect(peer int) tracediff.Dialect {
	d := tracediff.Dialect{
		Engine: "BeaverBuddies", File: "log of BeaverBuddies", Endless: true, TickName: messages.TickName("tick"),
		Covers: "the order in which entities are updated, their positions, the first word of the random number generator's state",
	}
	if peer != ticks {
		d.File, d.Values, d.Covers = "traces in a log of BeaverBuddies", true, "what the mod traces, from the first line that differs on at most eleven messages"
	}
	return d
}

// hashesOf reports whether a line has hashes, which are the checkpoint then.
func hashesOf(line []byte, to *tracediff.Checkpoint) bool {
	h, ok := parseTick(line)
	if !ok {
		return false
	}
	*to = tracediff.Checkpoint{Tick: h.tick, Sums: to.Sums[:0]}
	for i, sum := range h.sums {
		to.Sums = append(to.Sums, tracediff.Sum{Name: hashNames[i].name, Value: append([]byte("0x"), bytes.ToLower(sum)...)})
	}
	return true
}

// side reads one side of the traces in a log.
type side struct {
	peer int

	inPart bool
	mine   bool // the lines belong to the client's trace
	other  bool // the lines belong to the server's
	tick   uint64
	last   uint64 // tick of the last part, which later ones repeat
	parted bool
}

// message reports whether a line is one of this side's trace, which is the checkpoint then.
func (r *side) message(line []byte, to *tracediff.Checkpoint) bool {
	if tick, ok := parseBegin(line); ok {
		r.tick, r.inPart, r.mine, r.other = tick, !r.parted || tick > r.last, false, false
		return false
	}
	switch {
	case !r.inPart:
		return false
	case bytes.HasPrefix(line, []byte(sharedBegins)):
		r.mine, r.other = true, true
		return false
	case string(line) == mineBegins:
		r.mine, r.other = true, false
		return false
	case string(line) == otherBegins:
		r.mine, r.other = false, true
		return false
	case string(line) == partEnds:
		r.inPart, r.parted, r.last = false, true, r.tick
		return false
	}
	if r.peer == client && !r.mine || r.peer == server && !r.other || !isMessage(line) {
		return false
	}
	text := strings.ToValidUTF8(string(line[:min(len(line), maxMessage)]), "\uFFFD")
	*to = tracediff.Checkpoint{Tick: r.tick, Scope: "trace", Sums: append(to.Sums[:0], tracediff.Sum{Value: []byte(text)})}
	return true
}

// isMessage reports whether a line is neither of a call stack nor between messages.
func isMessage(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	switch {
	case len(trimmed) == 0, len(bytes.Trim(trimmed, "-")) == 0, bytes.HasPrefix(line, []byte("  at ")), bytes.HasPrefix(line, []byte("   at ")):
		return false
	case bytes.HasPrefix(line, []byte("========== ")):
		return false
	}
	return string(trimmed) != "... (more traces)" && string(trimmed) != "No trace (index out of bounds)"
}

// Package stratagus reads what Stratagus prints about its units, since it has been out of sync or from the
// beginning, as a trace:
//
//	GameCycle: 145d, new SyncHash: 206020a (unit: 0:unit-gold-mine, order: 1, refs: 1)
//
// There is a checkpoint for each unit that acted in a cycle: the hash after it, its order and how often it
// is referred to. The hash runs on from unit to unit and from cycle to cycle. Other lines, such as those
// of the call stacks after each, are passed over.
package stratagus

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// Format returns the format of such output.
func Format() tracediff.Format {
	return engine.Lines{
		Name: "stratagus-units", Title: "Stratagus output with a hash of each unit", Sniff: sniff,
		Dialect: func(int) tracediff.Dialect {
			return tracediff.Dialect{
				Engine: "Stratagus", File: "output of Stratagus", Cumulative: true, Endless: true, TickName: messages.TickName("cycle"),
				Covers: "the orders of the units that acted, and how often these are referred to",
			}
		},
		Parser: func(int) func([]byte, *tracediff.Checkpoint) bool { return checkpoint },
	}.Format()
}

func sniff(head []byte) bool {
	for line := range engine.WholeLines(head) {
		if _, ok := parse(line); ok {
			return true
		}
	}
	return false
}

// acted is what a line says.
type acted struct {
	cycle       uint64
	hash        uint32
	unit        uint64
	name        []byte
	order, refs []byte
}

const maxName = 256 // bytes of the name of a type of units, or of an order

// parse parses a whole line. An order is a number, in 2026 a name.
func parse(line []byte) (a acted, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("GameCycle: "))
	if !ok {
		return a, false
	}
	cycle, rest, _ := bytes.Cut(rest, []byte("d, new SyncHash: "))
	hash, rest, _ := bytes.Cut(rest, []byte(" (unit: "))
	unit, rest, _ := bytes.Cut(rest, []byte(":"))
	name, rest, _ := bytes.Cut(rest, []byte(", order: "))
	order, rest, _ := bytes.Cut(rest, []byte(", refs: "))
	refs, closed := bytes.CutSuffix(rest, []byte(")"))
	var errs [4]error
	var sum, count uint64
	a.cycle, errs[0] = strconv.ParseUint(string(cycle), 10, 62)
	sum, errs[1] = strconv.ParseUint(string(hash), 16, 32)
	a.unit, errs[2] = strconv.ParseUint(string(unit), 10, 32)
	count, errs[3] = strconv.ParseUint(string(refs), 10, 32)
	if !closed || slices.ContainsFunc(errs[:], func(err error) bool { return err != nil }) {
		return a, false
	}
	if len(name) == 0 || len(name) > maxName || len(order) == 0 || len(order) > maxName {
		return a, false
	}
	a.hash, a.name, a.order, a.refs = uint32(sum), name, order, strconv.AppendUint(nil, count, 10)
	return a, true
}

// checkpoint reports whether a line says what a unit did, which is the checkpoint then.
func checkpoint(line []byte, to *tracediff.Checkpoint) bool {
	a, ok := parse(line)
	if !ok {
		return false
	}
	*to = tracediff.Checkpoint{
		Tick: a.cycle, Scope: strings.ToValidUTF8(fmt.Sprintf("unit %d %s", a.unit, a.name), "\uFFFD"),
		Sums: append(to.Sums[:0],
			tracediff.Sum{Value: fmt.Appendf(nil, "0x%08x", a.hash)},
			tracediff.Sum{Name: "order", Value: a.order}, tracediff.Sum{Name: "refs", Value: a.refs}),
	}
	return true
}

package tracediff

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Keys in a line of key=value pairs, in the order in which they are written. The reader accepts any order and skips
// other keys.
const (
	keyEvent  = "event"
	keyTick   = "tick"
	keyAt     = "at"
	keyTo     = "to"
	keyPlayer = "player"
	keySystem = "system"
	keyScope  = "scope"
	keyPhase  = "phase"
	keyCount  = "n"
	keySum    = "sum"
)

// fields is the parsed part of a line.
type fields struct {
	c     Checkpoint
	e     Event
	event bool
	seen  uint16 // one bit for each known key except sum

	byMid     map[string]*memo
	begin     []byte // of the last line, up to the blank after its tick
	beginTick uint64
	last      *memo // the last one that matched
}

const (
	sawEvent = 1 << iota
	sawTick
	sawAt
	sawTo
	sawPlayer
	sawSystem
	sawScope
	sawPhase
	sawCount
)

// parse fills f from a line of key=value pairs. The values of sums point into the line.
func (f *fields) parse(line []byte, interned *names) error {
	if f.fast(line) {
		return nil
	}
	before := f.last
	if err := f.parsePairs(line, interned); err != nil {
		return err
	}
	if f.learn(line); f.last != nil && before != nil && before.next[0] != f.last {
		before.next = [2]*memo{f.last, before.next[0]}
	}
	return nil
}

// parsePairs is parse for lines in any form.
func (f *fields) parsePairs(line []byte, interned *names) error {
	sums := f.c.Sums[:0]
	f.c = Checkpoint{}
	f.event, f.seen = false, 0
	i := 0
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) {
			break
		}
		begin := i
		for i < len(line) && line[i] != '=' && line[i] > ' ' {
			i++
		}
		if i == len(line) || line[i] != '=' || i == begin {
			return fmt.Errorf("%s, expected key=value", quoteShort(line[begin:]))
		}
		key := line[begin:i]
		i++
		begin = i
		if i < len(line) && line[i] == '"' {
			q, err := strconv.QuotedPrefix(string(line[i:]))
			if err != nil {
				return fmt.Errorf("%s is not a string in Go's notation", quoteShort(line[i:]))
			}
			i += len(q)
			s, err := strconv.Unquote(q)
			if err != nil || i < len(line) && line[i] != ' ' && line[i] != '\t' {
				return fmt.Errorf("%s is not a string in Go's notation", quoteShort(line[begin:]))
			}
			if sums, err = f.pair(sums, key, []byte(s), interned); err != nil {
				return err
			}
			continue
		}
		for i < len(line) && line[i] > ' ' {
			i++
		}
		var err error
		if sums, err = f.pair(sums, key, line[begin:i], interned); err != nil {
			return err
		}
	}
	f.c.Sums = sums
	return f.finish()
}

// pair handles one pair.
func (f *fields) pair(sums []Sum, key, value []byte, interned *names) ([]Sum, error) {
	var bit uint16
	ok := true
	switch string(key) {
	case keySum:
		return addSum(sums, "", value)
	case keyTick:
		bit = sawTick
		f.c.Tick, ok = parseUint(value, math.MaxUint64)
	case keySystem:
		bit = sawSystem
		f.c.System = interned.intern(value)
	case keyScope:
		bit = sawScope
		f.c.Scope = interned.intern(value)
	case keyPhase:
		bit = sawPhase
		f.c.Phase, ok = parsePhase(value)
	case keyCount:
		bit = sawCount
		f.c.HasCount = true
		f.c.Count, ok = parseUint(value, math.MaxUint64)
	case keyEvent:
		bit = sawEvent
		f.event = true
		f.e.Kind, ok = parseEventKind(value)
	case keyAt:
		bit = sawAt
		f.e.Other, ok = parseUint(value, math.MaxUint64)
	case keyTo:
		bit = sawTo
		f.e.Other, ok = parseUint(value, math.MaxUint64)
	case keyPlayer:
		bit = sawPlayer
		var n uint64
		n, ok = parseUint(value, math.MaxUint32)
		f.e.Player = uint32(n)
	default:
		if name, found := bytes.CutPrefix(key, []byte(keySum+".")); found {
			if len(name) == 0 {
				return sums, fmt.Errorf("key %q without a name", key)
			}
			return addSum(sums, interned.intern(name), value)
		}
		return sums, nil
	}
	if !ok {
		return sums, fmt.Errorf("%s=%s is not in its range", key, quoteShort(value))
	}
	if f.seen&bit != 0 {
		return sums, fmt.Errorf("key %s a second time", key)
	}
	f.seen |= bit
	return sums, nil
}

func addSum(sums []Sum, name string, value []byte) ([]Sum, error) {
	for i := range sums {
		if sums[i].Name == name {
			return sums, fmt.Errorf("sum %q a second time", name)
		}
	}
	switch {
	case len(value) == 0:
		return sums, fmt.Errorf("sum %q is empty", name)
	case len(sums) == MaxSums:
		return sums, fmt.Errorf("more than %d sums", MaxSums)
	case len(value) > MaxText:
		return sums, fmt.Errorf("sum of %d bytes, limit is %d", len(value), MaxText)
	}
	return append(sums, Sum{name, value}), nil
}

// finish checks that the line has all required fields and no invalid ones.
func (f *fields) finish() error {
	switch {
	case f.seen&sawTick == 0:
		return fmt.Errorf("no tick")
	case !f.event:
		if len(f.c.Sums) == 0 && !f.c.HasCount {
			return fmt.Errorf("neither sum nor n")
		}
		if len(f.c.System) > MaxText || len(f.c.Scope) > MaxText {
			return fmt.Errorf("name of more than %d bytes", MaxText)
		}
		return nil
	}
	kind := eventKinds[f.e.Kind]
	if f.seen&(sawSystem|sawScope|sawCount) != 0 ||
		f.seen&(sawPlayer|sawPhase) != 0 && !kind.player ||
		f.seen&sawAt != 0 && kind.other != keyAt || f.seen&sawTo != 0 && kind.other != keyTo {
		return fmt.Errorf("%s event with a key that it has no use for", f.e.Kind)
	}
	e := Event{Kind: f.e.Kind, Tick: f.c.Tick, Phase: f.c.Phase, Sums: f.c.Sums}
	if f.seen&(sawAt|sawTo) != 0 {
		e.Other = f.e.Other
	}
	if f.seen&sawPlayer != 0 {
		e.Player = f.e.Player
	}
	f.e = e
	return nil
}

func parseUint(b []byte, limit uint64) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = 10*n + d
	}
	return n, n <= limit
}

func parsePhase(b []byte) (Phase, bool) {
	for p, name := range phaseNames {
		if string(b) == name {
			return Phase(p), true
		}
	}
	return 0, false
}

func parseEventKind(b []byte) (EventKind, bool) {
	for k := Save; k.known(); k++ {
		if string(b) == eventKinds[k].name {
			return k, true
		}
	}
	return 0, false
}

// quoteShort quotes bytes that may be long and have any content.
func quoteShort(b []byte) string {
	if len(b) > 40 {
		return strconv.Quote(string(b[:40])) + "…"
	}
	return strconv.Quote(string(b))
}

package document

import (
	"slices"
	"strconv"
	"strings"
)

// Names are an engine's names for the things that the pictures of a report show, where it has its own names.
type Names struct {
	// Ticks is the rule for ticks, nil if their names are the numbers, or follow no rule; States is the rule for state
	// points, from the first to the last of Points, nil if there is none.
	Ticks  *TickNames  `json:"ticks,omitempty"`
	States *TickNames  `json:"states,omitempty"`
	Points []PointWord `json:"points,omitempty"` // state points that the pictures have, in order
}

// PointWord is the engine's own name of a state point, in the words of [snapshot.Point.Words].
type PointWord struct {
	Point  uint64 `json:"point"`
	Native string `json:"native"`
}

// TickNames is the rule by which an engine names the ticks from From to To: Before, a number, After, as in "161431 ms".
// With Cycle the number begins again at 0 every Cycle ticks, and is preceded by Large, which grows by one then, and
// Between, as in "000adef0;0c".
type TickNames struct {
	From    uint64  `json:"from"`
	To      uint64  `json:"to"`
	Before  string  `json:"before,omitempty"`
	Large   *Number `json:"large,omitempty"`
	Between string  `json:"between,omitempty"`
	Number  Number  `json:"number"`
	Step    uint64  `json:"step"`            // by which Number grows in a tick; 1 with Cycle
	Cycle   uint64  `json:"cycle,omitempty"` // in ticks
	After   string  `json:"after,omitempty"`
}

// Number is a number of a name: its value in the first tick, and how it is written.
type Number struct {
	First uint64 `json:"first"`
	Hex   bool   `json:"hex,omitempty"`   // in lower case
	Width int    `json:"width,omitempty"` // digits that it has at least, 20 at most
}

// append appends the text of a value.
func (n Number) append(b []byte, value uint64) []byte {
	var room [20]byte
	digits := strconv.AppendUint(room[:0], value, n.base())
	for range min(n.Width, len(room)) - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}

func (n Number) base() int {
	if n.Hex {
		return 16
	}
	return 10
}

// Name returns the name of a tick, "" for one that the rule is not known for.
func (n *TickNames) Name(tick uint64) string {
	var room [64]byte
	return string(n.append(room[:0], tick))
}

// append appends the name of a tick.
func (n *TickNames) append(b []byte, tick uint64) []byte {
	if n == nil || tick < n.From || tick > n.To {
		return b
	}
	value := n.Number.First + (tick-n.From)*n.Step
	b = append(b, n.Before...)
	if n.Large != nil && n.Cycle != 0 {
		b = append(n.Large.append(b, n.Large.First+value/n.Cycle), n.Between...)
		value %= n.Cycle
	}
	return append(n.Number.append(b, value), n.After...)
}

// Limits of NamesOf: how far apart the begins of two cycles may be, and at how many ticks a rule
// is checked.
const (
	maxCycle    = 1 << 12
	nameSamples = 1 << 14
)

// NamesOf finds the rule by which name calls the ticks from from to to. It returns nil if the
// names are the numbers themselves, if there are none, or if no rule gives every name that is
// checked: both ends, and as many between them as are worth the time.
func NamesOf(name func(tick uint64) string, from, to uint64) *TickNames {
	if name == nil || to <= from || name(from) == strconv.FormatUint(from, 10) {
		return nil
	}
	step := max((to-from)/nameSamples, 1)
	for _, form := range []struct {
		hex, fixed bool
	}{{false, false}, {true, true}, {false, true}, {true, false}} {
		for _, find := range []func(func(uint64) string, uint64, uint64, bool, bool) *TickNames{simpleNames, cyclicNames} {
			rule := find(name, from, to, form.hex, form.fixed)
			if rule != nil && rule.holds(name, step) {
				return rule
			}
		}
	}
	return nil
}

func (n *TickNames) holds(name func(uint64) string, step uint64) bool {
	var b []byte
	is := func(tick uint64) bool {
		b = n.append(b[:0], tick)
		return string(b) == name(tick)
	}
	for tick := n.From; ; tick += step {
		if !is(tick) {
			return false
		}
		if n.To-tick < step {
			return is(n.To)
		}
	}
}

// simpleNames takes what the names of the first two ticks have in common for the rule.
func simpleNames(name func(uint64) string, from, to uint64, hex, fixed bool) *TickNames {
	a, ok := cutNumber(name(from), hex, fixed)
	b, more := cutNumber(name(from+1), hex, fixed)
	if !ok || !more || b.number.First <= a.number.First {
		return nil
	}
	return &TickNames{From: from, To: to, Before: a.before, Number: a.number, Step: b.number.First - a.number.First, After: a.after}
}

// NamesAt finds the rule of the names of some state points in order. It returns nil if there are
// fewer than two, or if no rule gives all of them.
func NamesAt(points []PointWord) *TickNames {
	if len(points) < 2 {
		return nil
	}
	first, next, last := points[0], points[1], points[len(points)-1]
	a, ok := cutNumber(first.Native, false, false)
	b, more := cutNumber(next.Native, false, false)
	if !ok || !more || next.Point <= first.Point || b.number.First <= a.number.First || (b.number.First-a.number.First)%(next.Point-first.Point) != 0 {
		return nil
	}
	rule := &TickNames{
		From: first.Point, To: last.Point, Before: a.before, Number: a.number, Step: (b.number.First - a.number.First) / (next.Point - first.Point), After: a.after,
	}
	if slices.ContainsFunc(points, func(p PointWord) bool { return rule.Name(p.Point) != p.Native }) {
		return nil
	}
	return rule
}

// cyclicNames looks for two ticks in which the number begins again.
func cyclicNames(name func(uint64) string, from, to uint64, hex, fixed bool) *TickNames {
	first, ok := cutNumber(name(from), hex, fixed)
	if !ok {
		return nil
	}
	var starts []uint64
	last := first
	for tick := from + 1; tick <= to && tick-from <= 2*maxCycle; tick++ {
		at, ok := cutNumber(name(tick), hex, fixed)
		switch {
		case !ok:
			return nil
		case at.number.First == 0:
			starts = append(starts, tick)
		case at.number.First != last.number.First+1:
			return nil
		}
		last = at
		if len(starts) < 2 {
			continue
		}
		large, ok := cutNumber(first.before, hex, fixed)
		if !ok {
			return nil
		}
		return &TickNames{
			From: from, To: to, Before: large.before, Large: &large.number, Between: large.after, Number: first.number, Step: 1, Cycle: starts[1] - starts[0], After: first.after,
		}
	}
	return nil
}

// cutName is a name around the last number in it.
type cutName struct {
	before, after string
	number        Number
}

func cutNumber(name string, hex, fixed bool) (cutName, bool) {
	base := Number{Hex: hex}.base()
	digits := "0123456789abcdef"[:base]
	end := strings.LastIndexAny(name, "0123456789")
	if end < 0 {
		return cutName{}, false
	}
	for end++; end < len(name) && strings.IndexByte(digits, name[end]) >= 0; end++ {
	}
	start := end
	for start > 0 && strings.IndexByte(digits, name[start-1]) >= 0 {
		start--
	}
	value, err := strconv.ParseUint(name[start:end], base, 64)
	if err != nil {
		return cutName{}, false
	}
	n := cutName{before: name[:start], after: name[end:], number: Number{First: value, Hex: hex}}
	if fixed {
		n.number.Width = end - start
	}
	return n, true
}

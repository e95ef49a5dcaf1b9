package minimize

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
)

// Input is the session to minimize: the orders of one log.
type Input struct {
	Name   string
	Header orderlog.Header

	ticks  []orderlog.Tick // ascending; of a tick that was played again, the last time
	end    uint64          // the state point that they lead to
	away   *bisect.Stretch // the stretch after the first gap; nothing is taken from it
	orders []place         // orders that may be left out, in the order of application

	observed []orderlog.Observed // hashes that belong to no tick
}

// place is the position of an order.
type place struct{ tick, order int } // indices in Input.ticks and in its orders

// NewInput takes the orders out of a log. Orders of a kind that fixed accepts, which may be nil, are always kept.
// Markers are left out: a candidate was never played, so it has no loads or gaps. Everything after the log's first gap
// is also left out, see Left.
func NewInput(log *orderlog.Log, fixed func(kind string) bool) (*Input, error) {
	in := &Input{Name: log.Name, Header: log.Header, end: log.Header.FirstPoint}
	log, in.away = untilGap(log)
	in.ticks = lastTimes(log)
	for i := range in.ticks {
		t := &in.ticks[i]
		if t.Number < in.end {
			return nil, fmt.Errorf("%s: tick %d is before state point %d, where the log begins", log.Name, t.Number, in.end)
		}
		in.end = t.Number + 1
		t.Markers = nil
		for k := range t.Orders {
			o := &t.Orders[k]
			if int(o.Kind) >= len(log.Header.Kinds) {
				return nil, fmt.Errorf("%s: order of kind %d in tick %d, the log has %d kinds", log.Name, o.Kind, t.Number, len(log.Header.Kinds))
			}
			if fixed == nil || !fixed(log.Header.Kinds[o.Kind].Name) {
				in.orders = append(in.orders, place{i, k})
			}
		}
	}
	if n := len(log.Epochs); n > 0 {
		in.observed = log.Epochs[n-1].Observed
	}
	return in, nil
}

// untilGap returns what a log has before its first gap, and the stretch after that, nil if
// there is none.
func untilGap(log *orderlog.Log) (*orderlog.Log, *bisect.Stretch) {
	stretches := bisect.LogOf(log).Stretches
	end := log.Header.FirstPoint
	for i := range stretches {
		s := &stretches[i]
		if i == 0 || s.From <= end {
			end = max(end, s.To)
			continue
		}
		first := slices.IndexFunc(log.Ticks, func(t orderlog.Tick) bool { return t.Number == s.From })
		before := &orderlog.Log{Name: log.Name, Header: log.Header, Ticks: log.Ticks[:first]}
		for _, e := range log.Epochs {
			if e.Number < s.Epoch {
				before.Epochs = append(before.Epochs, e)
			}
		}
		return before, s
	}
	return log, nil
}

// Left describes the part of the log that is not searched, empty if all of it is.
func (in *Input) Left() string {
	if in.away == nil {
		return ""
	}
	return fmt.Sprintf("%s: the ticks after state point %d are not searched: the peer was away, up to state point %d", in.Name, in.end, in.away.From)
}

// lastTimes returns the ticks of a log in ascending order. Where a log goes back and
// plays ticks again, the orders of the last time count.
func lastTimes(log *orderlog.Log) []orderlog.Tick {
	ticks := slices.Clone(log.Ticks)
	slices.Reverse(ticks)
	lists.SortStable(ticks, func(a, b orderlog.Tick) int {
		switch {
		case a.Number < b.Number:
			return -1
		case a.Number > b.Number:
			return 1
		}
		return 0
	})
	return slices.CompactFunc(ticks, func(a, b orderlog.Tick) bool { return a.Number == b.Number })
}

// First and End return the state points between which the session was played.
func (in *Input) First() uint64 { return in.Header.FirstPoint }

// End returns the last state point that the orders lead to.
func (in *Input) End() uint64 { return in.end }

// Orders returns how many orders may be left out.
func (in *Input) Orders() int { return len(in.orders) }

// order returns the order of a number.
func (in *Input) order(n int) *orderlog.Order {
	p := in.orders[n]
	return &in.ticks[p.tick].Orders[p.order]
}

// tick returns the tick that applies the order of a number.
func (in *Input) tick(n int) uint64 { return in.ticks[in.orders[n].tick].Number }

// Whole returns the input as a candidate.
func (in *Input) Whole() *Candidate {
	c := &Candidate{in: in, until: in.end, kept: make([]int, len(in.orders))}
	for i := range c.kept {
		c.kept[i] = i
	}
	return c
}

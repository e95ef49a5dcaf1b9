package peers

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
)

// Window are the first and the last tick that an excerpt of an order log covers.
type Window struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Excerpt are the orders of a few ticks of a log.
type Excerpt struct {
	Orders []document.ReportedOrder
	Window *Window // the ticks that the log covers; nil if it has none of them
}

// ReadExcerpt reads a log to its end and returns the orders of the ticks from (inclusive) to (exclusive). Where the log
// was rewound, by a load, the last pass counts. If the log cannot be read to its end, it returns an error and an
// excerpt with the orders before it.
func ReadExcerpt(log orderlog.Source, from, to uint64) (*Excerpt, error) {
	x := &excerpter{from: from, to: to}
	for {
		record, err := log.Next()
		if err == io.EOF {
			return x.excerpt(), nil
		}
		if err != nil {
			return x.excerpt(), err
		}
		if record.Tick == nil {
			continue
		}
		if err := x.tick(&record, log.Header().Kinds); err != nil {
			return x.excerpt(), err
		}
	}
}

// excerpter collects an excerpt.
type excerpter struct {
	from, to    uint64
	orders      []document.ReportedOrder
	any         bool
	first, last uint64 // ticks that are whole
}

func (x *excerpter) tick(record *orderlog.Record, kinds []orderlog.OrderKind) error {
	t := record.Tick
	if x.any && t.Number <= x.last {
		keep := 0
		for keep < len(x.orders) && x.orders[keep].Tick < t.Number {
			keep++
		}
		x.orders = x.orders[:keep]
	}
	if !x.any || t.Number < x.first {
		x.any, x.first = true, t.Number
		if record.HeadCut {
			x.first++
		}
	}
	if x.last = t.Number; record.TailCut && x.last > 0 {
		x.last--
	}
	if t.Number < x.from || t.Number >= x.to {
		return nil
	}
	for _, o := range t.Orders {
		if int(o.Kind) >= len(kinds) {
			return fmt.Errorf("order of kind %d in tick %d, the log has %d kinds", o.Kind, t.Number, len(kinds))
		}
		kind := kinds[o.Kind]
		x.orders = append(x.orders, document.ReportedOrder{
			Tick: t.Number, SubTick: o.SubTick, Player: o.Player, Sequence: o.Sequence,
			Kind: kind.Name, Payload: hex.EncodeToString(o.Payload), Local: kind.Local,
		})
	}
	return nil
}

func (x *excerpter) excerpt() *Excerpt {
	out := &Excerpt{Orders: x.orders}
	if x.any && x.to > 0 {
		w := Window{max(x.from, x.first), min(x.to-1, x.last)}
		if w.From <= w.To {
			out.Window = &w
		}
	}
	return out
}

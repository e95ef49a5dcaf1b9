package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/orderlog"
)

// Read reads a file with the pattern. Orders of one tick keep the order of the file. An order may precede the newest
// one before it by up to 64 ticks, more is an error that names the line.
func (p *Pattern) Read(r io.Reader, name string) (orderlog.Foreign, error) {
	out := &reader{name: name, kinds: map[string]uint32{}}
	if p.notation == nil {
		out.more = p.readLines(r, name)
		return out, out.start()
	}
	text, err := io.ReadAll(io.LimitReader(r, limits.State.Max()+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if limits.State.Over(int64(len(text))) {
		return nil, limits.State.Reached(name, 0)
	}
	c := &collector{pattern: p}
	err = p.notation.Parse(text, c)
	if c.fault != nil && (err == nil || c.fault.Offset < err.(*notation.Error).Offset) {
		c.found = slices.DeleteFunc(c.found, func(o order) bool { return o.offset > int64(c.fault.Offset) })
		err = c.fault
	}
	end := io.EOF
	if fault, ok := err.(*notation.Error); ok {
		end = fault.In(name, text)
	}
	linesOf(text, c.found)
	out.header.Seed = c.seed
	next := 0
	out.more = func() (*order, error) {
		if next == len(c.found) {
			return nil, end
		}
		next++
		return &c.found[next-1], nil
	}
	return out, out.start()
}

// reader makes records of ticks from orders.
type reader struct {
	name   string
	header orderlog.Header
	kinds  map[string]uint32
	more   func() (*order, error)

	held   []*batch // by tick
	newest uint64
	bytes  int
	passed uint64 // ticks before this one have been delivered
	any    bool
	err    error

	rec  orderlog.Record
	tick orderlog.Tick
}

// batch is the orders of one tick.
type batch struct {
	tick   uint64
	orders []order
}

// start reads up to the first record, for the header.
func (r *reader) start() error {
	r.fill()
	if errors.Is(r.err, io.EOF) || len(r.held) > 0 {
		return nil
	}
	return r.err
}

func (r *reader) Header() orderlog.Header { return r.header }

func (r *reader) Dialect() orderlog.Dialect { return orderlog.Dialect{Engine: Engine, Counted: true} }

// fill reads until the first tick that is held is complete.
func (r *reader) fill() {
	for r.err == nil && (len(r.held) == 0 || r.held[0].tick+window >= r.newest) {
		one, err := r.more()
		if err != nil {
			r.err = err
			return
		}
		r.hold(one)
	}
}

// hold adds an order to those of its tick.
func (r *reader) hold(o *order) {
	if r.any && (o.tick < r.passed || o.tick+window < r.newest) {
		r.err = r.corrupt(o, "tick %d after tick %d, expected one that is at most %d ticks earlier", o.tick, r.newest, window)
		return
	}
	if r.bytes += len(o.payload) + 64; limits.Tick.Over(int64(r.bytes)) {
		r.err = limits.Tick.Reached(r.name, int64(r.bytes))
		return
	}
	r.any, r.newest = true, max(r.newest, o.tick)
	i := len(r.held)
	for i > 0 && r.held[i-1].tick > o.tick {
		i--
	}
	if i == 0 || r.held[i-1].tick != o.tick {
		r.held = slices.Insert(r.held, i, &batch{tick: o.tick})
		i++
	}
	at := r.held[i-1]
	at.orders = append(at.orders, *o)
}

func (r *reader) corrupt(o *order, format string, args ...any) error {
	msg := fmt.Sprintf("line %d: ", o.line) + fmt.Sprintf(format, args...)
	return &frame.Error{Name: r.name, Offset: o.offset, Msg: msg, Err: frame.ErrCorrupt}
}

// Next returns the orders of the next tick that has some.
func (r *reader) Next() (orderlog.Record, error) {
	r.fill()
	if len(r.held) == 0 {
		return orderlog.Record{}, r.err
	}
	b := r.held[0]
	first := &b.orders[0]
	r.tick = orderlog.Tick{Number: b.tick, Orders: r.tick.Orders[:0]}
	lines := r.rec.Lines[:0]
	for i := range b.orders {
		o := &b.orders[i]
		kind, err := r.kind(o)
		if err != nil {
			r.err, r.held = err, nil
			return orderlog.Record{}, err
		}
		r.tick.Orders = append(r.tick.Orders, orderlog.Order{
			Tick: b.tick, Player: o.player, Sequence: uint32(i), Kind: kind, Payload: bytes.Clone(o.payload),
		})
		lines = append(lines, o.line)
		r.bytes -= len(o.payload) + 64
	}
	r.held = slices.Delete(r.held, 0, 1)
	r.passed = b.tick + 1
	r.rec = orderlog.Record{Kind: orderlog.TickRecord, Offset: first.offset, Line: first.line, Lines: lines, Tick: &r.tick}
	return r.rec, nil
}

// kind returns the number of the kind of an order.
func (r *reader) kind(o *order) (uint32, error) {
	kind, ok := r.kinds[o.kind]
	if ok {
		return kind, nil
	}
	if len(r.kinds) == maxKinds {
		return 0, r.corrupt(o, "more than %d kinds of orders", maxKinds)
	}
	kind = uint32(len(r.header.Kinds))
	r.kinds[o.kind] = kind
	// A Header that was returned keeps its own list.
	r.header.Kinds = append(slices.Clip(r.header.Kinds), orderlog.OrderKind{Name: o.kind})
	return kind, nil
}

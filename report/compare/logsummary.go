package compare

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
)

// logSummary is what a report shows of an order log.
type logSummary struct {
	header  orderlog.Header
	dialect orderlog.Dialect
	span    document.TimelineSpan // of its ticks
	perBin  map[uint64]uint64     // orders, by tick / bin
	bin     uint64
	hashed  document.TimelineSpan
	marks   []document.TimelineMark

	held      []byte // orders, see hold
	room      int    // bytes that held may have
	overflown bool   // there were too many to hold
	loads     bool   // a tick comes more than once
}

// maxBins is how many stretches of a log are counted apart, and maxMarks how many events are
// kept.
const (
	maxBins  = 200
	maxMarks = 100
)

// newSummary returns one for an opened log, one of so many.
func newSummary(source orderlog.Source, logs int) *logSummary {
	s := &logSummary{room: maxHeld / logs, header: source.Header(), perBin: map[uint64]uint64{}, bin: 1}
	if f, ok := source.(orderlog.Foreign); ok {
		s.dialect = f.Dialect()
	}
	return s
}

// add takes a record, in the order of the log.
func (s *logSummary) add(rec *orderlog.Record) {
	observed := rec.Observed
	if t := rec.Tick; t != nil {
		s.tick(t)
		observed = t.Hashes
		s.hold(t)
	}
	for i := range observed {
		span(&s.hashed, observed[i].Point)
	}
}

// maxHeld is how many bytes of orders of all logs are held until it is known which of them
// are of interest; of a log with more than its part, they are read again.
const maxHeld = 16 << 20

// heldHead is the size of the head before the payload of a held order: tick, number within the tick, player, sequence,
// kind, length.
const heldHead = 8 + 5*4

// hold keeps the orders of a tick, one after the other in a single piece of memory.
func (s *logSummary) hold(t *orderlog.Tick) {
	le := binary.LittleEndian
	for i := range t.Orders {
		o := &t.Orders[i]
		if s.overflown || len(s.held)+heldHead+len(o.Payload) > s.room {
			s.held, s.overflown = nil, true
			return
		}
		s.held = le.AppendUint64(s.held, t.Number)
		for _, n := range []uint32{o.SubTick, o.Player, o.Sequence, o.Kind, uint32(len(o.Payload))} {
			s.held = le.AppendUint32(s.held, n)
		}
		s.held = append(s.held, o.Payload...)
	}
}

// eachHeld calls f with the orders that are held.
func (s *logSummary) eachHeld(f func(tick uint64, o *orderlog.Order)) {
	le := binary.LittleEndian
	for b := s.held; len(b) > 0; {
		n := int(le.Uint32(b[24:]))
		f(le.Uint64(b), &orderlog.Order{
			SubTick: le.Uint32(b[8:]), Player: le.Uint32(b[12:]), Sequence: le.Uint32(b[16:]), Kind: le.Uint32(b[20:]), Payload: b[heldHead : heldHead+n],
		})
		b = b[heldHead+n:]
	}
}

// between returns the orders of ticks from one to before another. Again opens the log again.
func (s *logSummary) between(from, to uint64, again func() (orderlog.Source, io.Closer, error)) (list []document.ReportedOrder) {
	if !s.overflown {
		s.eachHeld(func(tick uint64, o *orderlog.Order) {
			if from <= tick && tick < to {
				list = append(list, reported(tick, o, s.header.Kinds))
			}
		})
		return list
	}
	source, closer, err := again()
	if err != nil {
		return nil
	}
	defer closer.Close()
	for {
		rec, err := source.Next()
		if err != nil {
			return list // the comparison has said what is lost
		}
		t := rec.Tick
		if t == nil {
			continue
		}
		if t.Number >= to && !s.loads {
			return list
		}
		if from <= t.Number && t.Number < to {
			for i := range t.Orders {
				list = append(list, reported(t.Number, &t.Orders[i], source.Header().Kinds))
			}
		}
	}
}

func reported(tick uint64, o *orderlog.Order, kinds []orderlog.OrderKind) document.ReportedOrder {
	r := document.ReportedOrder{Tick: tick, SubTick: o.SubTick, Player: o.Player, Sequence: o.Sequence, Payload: hex.EncodeToString(o.Payload)}
	if int(o.Kind) < len(kinds) {
		r.Kind, r.Local = kinds[o.Kind].Name, kinds[o.Kind].Local
	}
	return r
}

func span(s *document.TimelineSpan, n uint64) {
	if s.Count == 0 || n < s.First {
		s.First = n
	}
	s.Last = max(s.Last, n)
	s.Count++
}

func (s *logSummary) tick(t *orderlog.Tick) {
	s.loads = s.loads || s.span.Count > 0 && t.Number <= s.span.Last
	span(&s.span, t.Number)
	for i := range t.Markers {
		if m := &t.Markers[i]; len(s.marks) < maxMarks && m.Kind != orderlog.Save {
			s.marks = append(s.marks, document.TimelineMark{Tick: t.Number, Kind: m.Kind.String(), Text: m.Text})
		}
	}
	if len(t.Orders) == 0 {
		return
	}
	s.perBin[t.Number/s.bin] += uint64(len(t.Orders))
	for len(s.perBin) > maxBins {
		s.widen(2 * s.bin)
	}
}

// widen counts in wider bins.
func (s *logSummary) widen(bin uint64) {
	wider := map[uint64]uint64{}
	for n, count := range s.perBin {
		wider[n*s.bin/bin] += count
	}
	s.perBin, s.bin = wider, bin
}

func (s *logSummary) hashes() *document.TimelineSpan {
	if s.hashed.Count == 0 {
		return nil
	}
	return &s.hashed
}

// around is how many ticks before a divergence, or the first order that differs, orders are
// shown of, and maxAround how many orders.
const (
	aroundTicks = 60
	maxAround   = 60
)

// window returns the ticks with orders that are of interest.
func (g *gatherer) window() (from, to uint64) {
	at := uint64(0)
	b := g.e.Bisect.Bracket
	switch o := g.e.Orders; {
	case b != nil && b.Good != nil:
		at = b.Good.Tick
		to = b.Bad.Tick + 2
	case b != nil:
		at, to = b.Bad.Tick, b.Bad.Tick+2
	case o != nil && len(o.Differences) > 0:
		at = o.Differences[0].Tick
		to = at + 3
	}
	return at - min(at, aroundTicks), to
}

// logOf returns the log of a peer by its name in the result, nil if there is none.
func (g *gatherer) logOf(name string) *readLog {
	if i := slices.IndexFunc(g.logs, func(r *readLog) bool { return r.name == name }); i >= 0 {
		return g.logs[i]
	}
	return nil
}

// nameLogs gives the logs of peers the names that these have in the result.
func (g *gatherer) nameLogs() {
	for i, p := range g.peers {
		for _, r := range g.logs {
			if r.file == p.Log && i < len(g.e.Bisect.Peers) {
				r.name = g.e.Bisect.Peers[i].Name
			}
		}
	}
}

// sameBins counts the orders of all peers in the same bins.
func (g *gatherer) sameBins() {
	var bin, first, last uint64
	any := false
	for _, s := range g.logs {
		bin = max(bin, s.bin)
		if s.span.Count > 0 {
			if !any || s.span.First < first {
				first = s.span.First
			}
			last, any = max(last, s.span.Last), true
		}
	}
	if !any {
		return
	}
	for last/bin-first/bin >= 2*maxBins {
		bin *= 2
	}
	for i := range g.e.Peers {
		p := &g.e.Peers[i]
		s := g.logOf(p.Name)
		if s == nil {
			continue
		}
		s.widen(bin)
		p.Orders = make([]uint64, last/bin-first/bin+1)
		for n, count := range s.perBin {
			p.Orders[n-first/bin] = count
		}
	}
	g.e.Bin, g.e.BinFrom = bin, first/bin*bin
	g.e.Logged = &document.TimelineSpan{First: first, Last: last, Count: last - first + 1}
}

// around joins the orders of all logs around the divergence.
func (g *gatherer) around() {
	type identity struct {
		document.ReportedOrder
		n int // a log may contain the same order twice
	}
	have := map[identity][]string{}
	from, to := g.window()
	for _, p := range g.e.Peers {
		s := g.logOf(p.Name)
		if s == nil {
			continue
		}
		seen := map[document.ReportedOrder]int{}
		for _, o := range s.between(from, to, s.again) {
			have[identity{o, seen[o]}] = append(have[identity{o, seen[o]}], p.Name)
			seen[o]++
		}
	}
	for id, peers := range have {
		g.e.Around = append(g.e.Around, document.TriagedOrder{ReportedOrder: id.ReportedOrder, Peers: peers})
	}
	lists.SortStable(g.e.Around, func(a, b document.TriagedOrder) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.SubTick, b.SubTick), cmp.Compare(a.Player, b.Player), cmp.Compare(a.Sequence, b.Sequence),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Payload, b.Payload), slices.Compare(a.Peers, b.Peers))
	})
	if n := len(g.e.Around) - maxAround; n > 0 {
		g.e.Around = g.e.Around[n:]
	}
}

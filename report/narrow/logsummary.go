package narrow

import (
	"cmp"
	"encoding/hex"
	"io"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
)

// logSummary is what a report shows of an order log.
type logSummary struct {
	header  orderlog.Header
	dialect orderlog.Dialect
	span    report.TimelineSpan // of its ticks
	perBin  map[uint64]uint64   // orders, by tick / bin
	bin     uint64
	hashed  report.TimelineSpan
	marks   []report.TimelineMark

	held      []heldOrder
	size      int  // of held, in bytes
	overflown bool // there were too many to hold
	loads     bool // a tick comes more than once
}

// maxBins is how many stretches of a log are counted apart, and maxMarks how many events are
// kept.
const (
	maxBins  = 200
	maxMarks = 100
)

// newSummary returns one for a log with that header.
func newSummary(source orderlog.Source) *logSummary {
	s := &logSummary{header: source.Header(), perBin: map[uint64]uint64{}, bin: 1}
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

// maxHeld is how many bytes of orders of a log are held until it is known which of them are
// of interest; of a log with more, that part is read again.
const maxHeld = 8 << 20

// heldOrder is an order that may be of interest.
type heldOrder struct {
	tick    uint64
	order   orderlog.Order
	payload string
}

// hold keeps the orders of a tick.
func (s *logSummary) hold(t *orderlog.Tick) {
	if s.overflown {
		return
	}
	for _, o := range t.Orders {
		if s.size += 96 + len(o.Payload); s.size > maxHeld {
			s.held, s.overflown = nil, true
			return
		}
		h := heldOrder{t.Number, o, string(o.Payload)}
		h.order.Payload = nil
		s.held = append(s.held, h)
	}
}

// between returns the orders of ticks from one to before another. Again opens the log anew.
func (s *logSummary) between(from, to uint64, again func() (orderlog.Source, io.Closer, error)) (list []report.ReportedOrder) {
	if !s.overflown {
		for i := range s.held {
			if h := &s.held[i]; from <= h.tick && h.tick < to {
				list = append(list, reported(h.tick, &h.order, []byte(h.payload), s.header.Kinds))
			}
		}
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
				list = append(list, reported(t.Number, &t.Orders[i], t.Orders[i].Payload, source.Header().Kinds))
			}
		}
	}
}

func reported(tick uint64, o *orderlog.Order, payload []byte, kinds []orderlog.OrderKind) report.ReportedOrder {
	r := report.ReportedOrder{Tick: tick, SubTick: o.SubTick, Player: o.Player, Sequence: o.Sequence, Payload: hex.EncodeToString(payload)}
	if int(o.Kind) < len(kinds) {
		r.Kind, r.Local = kinds[o.Kind].Name, kinds[o.Kind].Local
	}
	return r
}

func span(s *report.TimelineSpan, n uint64) {
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
		m := &t.Markers[i]
		if len(s.marks) < maxMarks && m.Kind != orderlog.Save {
			s.marks = append(s.marks, report.TimelineMark{Tick: t.Number, Kind: m.Kind.String(), Text: m.Text})
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

func (s *logSummary) hashes() *report.TimelineSpan {
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

// window returns the ticks whose orders are of interest.
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
}

// around joins the orders of all logs that stand around the divergence.
func (g *gatherer) around() {
	type identity struct {
		report.ReportedOrder
		n int // the same order may stand in a log twice
	}
	have := map[identity][]string{}
	from, to := g.window()
	for _, p := range g.e.Peers {
		s := g.logOf(p.Name)
		if s == nil {
			continue
		}
		seen := map[report.ReportedOrder]int{}
		for _, o := range s.between(from, to, s.again) {
			have[identity{o, seen[o]}] = append(have[identity{o, seen[o]}], p.Name)
			seen[o]++
		}
	}
	for id, peers := range have {
		g.e.Around = append(g.e.Around, report.TriagedOrder{ReportedOrder: id.ReportedOrder, Peers: peers})
	}
	slices.SortFunc(g.e.Around, func(a, b report.TriagedOrder) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.SubTick, b.SubTick), cmp.Compare(a.Player, b.Player), cmp.Compare(a.Sequence, b.Sequence),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Payload, b.Payload), slices.Compare(a.Peers, b.Peers))
	})
	if n := len(g.e.Around) - maxAround; n > 0 {
		g.e.Around = g.e.Around[n:]
	}
}

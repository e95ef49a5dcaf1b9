package formats

import (
	"cmp"
	"encoding/hex"
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
	orders  []report.ReportedOrder // in the window
}

// maxBins is how many stretches of a log are counted apart, and maxMarks how many events are
// kept.
const (
	maxBins  = 200
	maxMarks = 100
)

// summarize reads a log to its end, or as far as it can be read. Orders of ticks from one to
// before another are kept.
func summarize(source orderlog.Source, from, to uint64) *logSummary {
	s := &logSummary{header: source.Header(), perBin: map[uint64]uint64{}, bin: 1}
	if f, ok := source.(orderlog.Foreign); ok {
		s.dialect = f.Dialect()
	}
	for {
		rec, err := source.Next()
		if err != nil {
			break // the comparison has told of what is lost
		}
		observed := rec.Observed
		if t := rec.Tick; t != nil {
			s.tick(t)
			observed = t.Hashes
			if from <= t.Number && t.Number < to {
				s.keep(t, source.Header().Kinds)
			}
		}
		for i := range observed {
			span(&s.hashed, observed[i].Point)
		}
	}
	s.header = source.Header()
	return s
}

func span(s *report.TimelineSpan, n uint64) {
	if s.Count == 0 || n < s.First {
		s.First = n
	}
	s.Last = max(s.Last, n)
	s.Count++
}

func (s *logSummary) tick(t *orderlog.Tick) {
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

// keep keeps the orders of a tick.
func (s *logSummary) keep(t *orderlog.Tick, kinds []orderlog.OrderKind) {
	for _, o := range t.Orders {
		r := report.ReportedOrder{
			Tick: t.Number, SubTick: o.SubTick, Player: o.Player, Sequence: o.Sequence, Payload: hex.EncodeToString(o.Payload),
		}
		if int(o.Kind) < len(kinds) {
			r.Kind, r.Local = kinds[o.Kind].Name, kinds[o.Kind].Local
		}
		s.orders = append(s.orders, r)
	}
}

func (s *logSummary) hashes() *report.TimelineSpan {
	if s.hashed.Count == 0 {
		return nil
	}
	return &s.hashed
}

// logs reads what the peers' logs hold, by peer.
func (g *gatherer) logs() map[string]*logSummary {
	from, to := g.window()
	out := map[string]*logSummary{}
	for _, p := range g.peers {
		if p.Log == nil {
			continue
		}
		if log, err := p.Log.Open(); err == nil {
			out[p.Name] = summarize(log.Source(), from, to)
		}
	}
	if g.e.Orders == nil {
		return out
	}
	logs, err := OpenLogs(g.tree, g.logPaths(), nil)
	if err != nil {
		return out
	}
	defer logs.Close()
	for _, n := range logs.Named {
		if out[n.Name] == nil {
			out[n.Name] = summarize(n.Source, from, to)
		}
	}
	return out
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

// sameBins counts the orders of all peers in the same bins.
func (g *gatherer) sameBins(logs map[string]*logSummary) {
	var bin, first, last uint64
	any := false
	for _, s := range logs {
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
		s := logs[p.Name]
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
func (g *gatherer) around(logs map[string]*logSummary) {
	type identity struct {
		report.ReportedOrder
		n int // the same order may stand in a log twice
	}
	have := map[identity][]string{}
	for _, p := range g.e.Peers {
		s := logs[p.Name]
		if s == nil {
			continue
		}
		seen := map[report.ReportedOrder]int{}
		for _, o := range s.orders {
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

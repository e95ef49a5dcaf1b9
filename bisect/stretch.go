package bisect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Stretch is the part of a log between two of its peer's loads, joins and gaps: each state in it follows from the one
// before. The peer did not play the ticks between two stretches. docs/orderlog.md has the rule that distinguishes ticks
// without a record from a gap.
type Stretch struct {
	// From and To are state points: the peer played ticks From to To - 1. To is From if it played none.
	From, To uint64
	Began    Beginning
	Epoch    uint32 // as the log counts
	// After is where the stretch before it ended, nil for the first one. If it is below From there is a gap in between.
	After *uint64
	// left is the hash of From to which the stretch before it led, if it led there; nil if there is none.
	left *merkle.Short
}

// Beginning is how a stretch began.
type Beginning string

// Beginnings.
const (
	BeganStart     Beginning = "start" // of the session
	BeganJoin      Beginning = "join"
	BeganReconnect Beginning = "reconnect"
	BeganLoad      Beginning = "load"
	BeganResync    Beginning = "resync"
	BeganGap       Beginning = "gap" // without a word of where the state is from
)

// Loaded reports whether the stretch began with a state that came from elsewhere.
func (s *Stretch) Loaded() bool { return s.Began != BeganStart }

// String returns "ticks 160 to 299, after a load".
func (s *Stretch) String() string {
	text := fmt.Sprintf("ticks %d to %d", s.From, s.To-1)
	if s.To <= s.From {
		text = fmt.Sprintf("state point %d", s.From)
	}
	if s.Loaded() {
		text += ", after a " + string(s.Began)
	}
	return text
}

// covers reports whether a state point belongs to the stretch.
func (s *Stretch) covers(point uint64) bool { return s.From <= point && point <= s.To }

// beginnings by the markers that open an epoch.
var beginnings = map[orderlog.MarkerKind]Beginning{
	orderlog.Join: BeganJoin, orderlog.Reconnect: BeganReconnect, orderlog.Load: BeganLoad, orderlog.Resync: BeganResync,
}

// cutter finds the stretches of a log while it is read.
type cutter struct {
	first  uint64 // point of the log
	own    uint32
	known  bool    // own is the number of the log's peer, and not of everyone's
	pieces []piece // without a missing tick in between
	room   int     // how many pieces there may be before they are compacted
	leaves bool    // the peer's own marker in the last record shows that it leaves

	idle, direct int // records without orders, and how many of them follow the record of the tick before
}

// piece is a run of ticks with a record each.
type piece struct {
	Stretch
	opened bool // by a new epoch
	marked bool // at its beginning, or the end of the one before, the peer itself came or went
}

func newCutter(h *orderlog.Header) cutter {
	own := slices.Index(h.Peers, h.Peer)
	return cutter{first: h.FirstPoint, own: uint32(max(own, 0)), known: own > 0, room: maxPieces}
}

// add takes the record of a tick. The tick with the highest possible number leads to no state point.
func (c *cutter) add(epoch uint32, t *orderlog.Tick) {
	if t.Number == math.MaxUint64 {
		return
	}
	opening := t.NewEpoch()
	comes, goes := c.moves(t)
	var last *piece
	if n := len(c.pieces); n > 0 {
		last = &c.pieces[n-1]
	}
	if len(t.Orders) == 0 && len(t.Markers) == 0 {
		if c.idle++; last != nil && last.To == t.Number {
			c.direct++
		}
	}
	p := piece{Stretch: Stretch{From: t.Number, To: t.Number + 1, Epoch: epoch, Began: BeganGap}, opened: opening != nil, marked: comes != "" || c.leaves}
	c.leaves = goes
	switch {
	case opening != nil:
		p.Began = beginnings[opening.Kind]
	case comes != "":
		p.Began = comes
	}
	switch {
	case last == nil && opening == nil && t.Number > c.first:
		// The ticks before it are missing, or had no orders.
		begin := piece{Stretch: Stretch{From: c.first, To: c.first, Epoch: epoch, Began: c.begins()}, opened: true}
		c.pieces = append(c.pieces, begin, p)
	case last == nil:
		if opening == nil {
			p.Began, p.opened = c.begins(), true
		}
		c.pieces = append(c.pieces, p)
	case opening == nil && last.Epoch == epoch && last.To == t.Number && !p.marked:
		last.To++
	default:
		if len(c.pieces) >= c.room && !c.writes() {
			c.compact()
			// Where each piece is a stretch, as in a log of nothing but loads, the next look is
			// as far away as this one was long.
			c.room = max(maxPieces, 2*len(c.pieces))
		}
		c.pieces = append(c.pieces, p)
	}
}

// maxPieces bounds the memory for a log that leaves out ticks without orders: most of so many pieces are not stretches.
const maxPieces = 1 << 14

// compact puts pieces together of a log that leaves out ticks without orders, without a look at its hashes.
func (c *cutter) compact() {
	kept := c.pieces[:1]
	for _, p := range c.pieces[1:] {
		last := &kept[len(kept)-1]
		if p.opened || p.marked || p.Epoch != last.Epoch || p.From-last.To > maxGap {
			kept = append(kept, p)
			continue
		}
		last.To = p.To
	}
	c.pieces = kept
}

// begins is how the log begins if no marker shows it.
func (c *cutter) begins() Beginning {
	if c.first == 0 {
		return BeganStart
	}
	return BeganJoin
}

// moves returns how the peer itself came in by a tick's markers, and whether they show that it left.
func (c *cutter) moves(t *orderlog.Tick) (comes Beginning, goes bool) {
	for i := range t.Markers {
		m := &t.Markers[i]
		if !c.known || m.Peer != c.own {
			continue
		}
		switch m.Kind {
		case orderlog.Join, orderlog.Reconnect:
			comes = beginnings[m.Kind]
		case orderlog.Leave, orderlog.Removal:
			goes = true
		}
	}
	return comes, goes
}

// maxGap is how many ticks without a record may have been played in a row. Writers may leave out ticks without orders,
// but no game goes on for hours without any.
const maxGap = 100_000

// writes reports whether the log also has records of ticks without orders.
func (c *cutter) writes() bool { return c.idle >= 4 && 4*c.direct >= 3*c.idle }

// stretches puts the pieces together again where the writer left ticks out. Hashes returns the hashes of an epoch's
// points, ascending.
func (c *cutter) stretches(hashes func(epoch uint32) []Hash) []Stretch {
	if len(c.pieces) == 0 {
		return []Stretch{{From: c.first, To: c.first, Began: c.begins()}}
	}
	usual := c.usual(hashes)
	var list []Stretch
	for i := range c.pieces {
		p := &c.pieces[i]
		if i > 0 && !p.opened && !c.gap(&list[len(list)-1], p, hashes(p.Epoch), usual) {
			list[len(list)-1].To = p.To
			continue
		}
		s := p.Stretch
		if i > 0 {
			after := list[len(list)-1].To
			s.After = &after
			if len(list) == 1 && list[0].From == list[0].To && s.From > after {
				list, s.After = list[:0], nil // the log lacks its beginning
			}
		}
		list = append(list, s)
	}
	return list
}

// gap reports whether the peer was absent between a stretch and a piece after it in the same epoch. Usual is how far
// its hashes are apart, 0 if it has too few.
func (c *cutter) gap(s *Stretch, p *piece, hashes []Hash, usual uint64) bool {
	missing := p.From - s.To
	switch {
	case missing == 0:
		return p.marked && p.Began != BeganGap // its marker shows that it came in from somewhere
	case missing > maxGap:
		return true
	}
	after, _ := slices.BinarySearchFunc(hashes, s.To+1, func(h Hash, point uint64) int { return cmp.Compare(h.Point, point) })
	if after < len(hashes) && hashes[after].Point < p.From {
		return false // it was there
	}
	if p.marked || c.writes() {
		return true
	}
	return usual > 0 && after > 0 && after < len(hashes) && hashes[after].Point-hashes[after-1].Point > 2*usual
}

// usual returns how far apart nine of ten hashes are at most, 0 if there are too few.
func (c *cutter) usual(hashes func(epoch uint32) []Hash) uint64 {
	var distances []uint64
	for i := range c.pieces {
		if i > 0 && c.pieces[i].Epoch == c.pieces[i-1].Epoch {
			continue
		}
		list := hashes(c.pieces[i].Epoch)
		for k := 1; k < len(list); k++ {
			if d := list[k].Point - list[k-1].Point; d > 0 {
				distances = append(distances, d)
			}
		}
	}
	if len(distances) < 10 {
		return 0
	}
	slices.Sort(distances)
	return distances[(len(distances)-1)*9/10]
}

// maxStretches is how many stretches of a log are replayed: no peer is away more often.
const maxStretches = 1000

// played is a stretch with the part of its log.
type played struct {
	Stretch
	log    *orderlog.Log
	orders map[uint64][]orderlog.Order // by tick
	hashes map[uint64]merkle.Short     // of the log's own peer, by state point
}

// playedOf returns the stretches of a log, and the faults of its hashes. For a log that was made and not recorded,
// whole reports that it has no gaps.
func playedOf(log *orderlog.Log, whole bool) (list []*played, lost []string) {
	l := LogOf(log)
	stretches := l.Stretches
	if whole {
		stretches = []Stretch{wholeOf(log)}
	}
	lost = l.lost()
	if n := len(stretches); n > maxStretches {
		lost = append(lost, fmt.Sprintf("%s: %d stretches between loads, joins and gaps; the first %d are judged", prose.Path(log.Name), n, maxStretches))
		stretches = stretches[:maxStretches]
	}
	for i := range stretches {
		list = append(list, &played{Stretch: stretches[i], log: log, orders: map[uint64][]orderlog.Order{}, hashes: map[uint64]merkle.Short{}})
	}
	own := uint32(max(slices.Index(log.Header.Peers, log.Header.Peer), 0))
	kind, size := orderlog.SyncHash, merkle.ShortSize
	if len(l.Hashes) == 0 { // a state hash begins with the sync hash
		kind, size = orderlog.StateHash, merkle.HashSize
	}
	for k, rest := 0, list; k < len(log.Epochs) && len(rest) > 0; k++ {
		e, n := &log.Epochs[k], len(rest)
		if !whole {
			n = slices.IndexFunc(rest, func(p *played) bool { return p.Epoch != e.Number })
			if n < 0 {
				n = len(rest)
			}
		}
		takeEpoch(e, rest[:n])
		if !l.stranger() {
			observeEpoch(e, rest[:n], own, kind, size)
		}
		if !whole {
			rest = rest[n:]
		}
	}
	return list, lost
}

// takeEpoch gives stretches, ascending, the orders that an epoch has of their ticks.
func takeEpoch(e *orderlog.Epoch, list []*played) {
	for i := range e.Ticks {
		t := &e.Ticks[i]
		for len(list) > 0 && t.Number >= list[0].To {
			list = list[1:]
		}
		if len(list) == 0 {
			return
		}
		if t.Number >= list[0].From {
			list[0].orders[t.Number] = t.Orders
		}
	}
}

// observeEpoch gives stretches, ascending, the sync hashes of a peer in an epoch, or the leading bytes of its hashes of
// another kind and size.
func observeEpoch(e *orderlog.Epoch, list []*played, own uint32, kind orderlog.HashKind, size int) {
	observe := func(hashes []orderlog.Observed) {
		for i := range hashes {
			o := &hashes[i]
			if o.Peer != own || o.Kind != kind || o.Coverage != orderlog.Full || len(o.Bytes) != size {
				continue
			}
			n, _ := slices.BinarySearchFunc(list, o.Point, func(p *played, point uint64) int { return cmp.Compare(p.To, point) })
			for ; n < len(list) && list[n].covers(o.Point); n++ { // where one ends another may begin
				list[n].hashes[o.Point] = merkle.Short(o.Bytes[:merkle.ShortSize])
			}
		}
	}
	for i := range e.Ticks {
		observe(e.Ticks[i].Hashes)
	}
	observe(e.Observed)
}

// wholeOf is a log's only stretch if it has no gaps.
func wholeOf(log *orderlog.Log) Stretch {
	c := newCutter(&log.Header)
	s := Stretch{From: c.first, To: c.first, Began: c.begins(), Epoch: log.Header.Epoch}
	for i := range log.Ticks {
		if n := log.Ticks[i].Number; n < math.MaxUint64 {
			s.To = max(s.To, n+1)
		}
	}
	return s
}

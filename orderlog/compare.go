package orderlog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Named is a peer's log and what the Comparison calls it; names are unique.
type Named struct {
	Name   string
	Source Source
}

// CompareOptions changes what Compare does.
type CompareOptions struct {
	// Reference is the name of the peer that the others are compared with.
	Reference string
	// LocalKinds are kinds of orders to be taken as local, beside those that
	// the headers name.
	LocalKinds []string
	// LateWindow is how many ticks an order may be late or early and still be
	// taken for the same one. 0 means 4096.
	LateWindow uint64
	// Limit is how many entries each list keeps. 0 means 1000.
	Limit int
	// Force compares logs of different sessions or seeds.
	Force bool
}

// ErrOtherGame is what Compare's error wraps if the logs are of different
// games, sessions or seeds. Another build is no other game, but what explains most
// desyncs: see Comparison.Headers.
var ErrOtherGame = errors.New("logs of different games")

// Memory is bounded by these, whatever the logs hold.
const (
	maxPending = 1 << 14 // differences that are not yet counted, in case the order is late
	maxHashes  = 1 << 14 // points whose hashes are kept for those of other peers
)

// Compare reads two or more logs of one session side by side and finds how the
// orders differ, and what the recorded hashes say about the state. Orders are
// matched by tick, player and content. It holds one record of each log and
// what is not yet decided; so logs may be of any size.
//
// A log that cannot be read to its end is compared as far as it goes, see
// PeerRange.Err. Logs that cannot be compared at all give an error.
func Compare(peers []Named, opts CompareOptions) (*Comparison, error) {
	c, err := newComparer(peers, opts)
	if err != nil {
		return nil, err
	}
	for i := range c.lanes {
		c.advance(&c.lanes[i])
	}
	for c.step() {
	}
	return c.finish(), nil
}

type comparer struct {
	opts      CompareOptions
	lanes     []lane
	reference int // lane, or -1
	first     int // lane whose header names its peer before all others
	out       *Comparison

	byHeader map[string]string // names of lanes by what their headers call them

	kinds      map[string]uint32 // number of each kind of order, common to all logs
	kindNames  []string
	kindLocal  []bool
	generation int // see lane.generation
	now        uint64
	counted    bool // no log numbers its orders
	mixed      bool // a log has line ends of both kinds
	tickName   func(uint64) string
	fields     func(string, []byte) []Field

	shared ledger // differences of orders
	local  ledger // of local ones
	state  stateLedger

	stale *PeerClaim // the first claim of a stale cache

	input   []byte // memory of inputHash
	hashed  bool   // the input hash of the tick is known, if all have the same orders
	hash    merkle.Short
	applied lastSequence
	covers  []int // lanes that cover the tick
	same    bool  // they have the same orders in it, in the same order
	groups  []sameItems
	tables  []items
	rows    aligner
}

func newComparer(peers []Named, opts CompareOptions) (*comparer, error) {
	if len(peers) < 2 {
		return nil, fmt.Errorf("%d logs, expected two at least", len(peers))
	}
	if opts.Limit <= 0 {
		opts.Limit = 1000
	}
	if opts.LateWindow == 0 {
		opts.LateWindow = 4096
	}
	c := &comparer{
		opts:      opts,
		reference: -1,
		kinds:     map[string]uint32{},
		out:       &Comparison{},
		tables:    make([]items, len(peers)),
		rows:      newAligner(),
	}
	c.shared = newLedger(opts)
	c.local = newLedger(opts)
	c.state = newStateLedger(opts)
	seen := map[string]bool{}
	for i, p := range peers {
		if seen[p.Name] {
			return nil, fmt.Errorf("two logs are named %q", p.Name)
		}
		seen[p.Name] = true
		l := lane{index: i, name: p.Name, source: p.Source, header: p.Source.Header(), dialect: dialectOf(p.Source)}
		l.ranges.Name = p.Name
		l.number = c.state.peer(p.Name)
		l.hasFirst = l.dialect.Engine == ""
		c.lanes = append(c.lanes, l)
	}
	for i := range c.lanes {
		l := &c.lanes[i]
		if err := c.sameGame(&c.lanes[0], l); err != nil {
			return nil, err
		}
		if l.name == opts.Reference && opts.Reference != "" {
			c.reference = i
		}
		if l.dialect.TickName != nil {
			c.tickName = l.dialect.TickName
		}
		if l.dialect.Fields != nil {
			c.fields = l.dialect.Fields
		}
		c.counted = c.counted || l.dialect.Counted
		for _, name := range l.header.Peers {
			l.peers = append(l.peers, c.state.peer(c.displayName(l, name)))
		}
		c.addKinds(l)
		l.usualKinds = slices.Equal(l.header.Kinds, c.lanes[0].header.Kinds)
	}
	c.out.Engine = c.lanes[0].dialect.Engine
	c.out.Headers = c.headers()
	c.first = c.hostLane()
	switch {
	case opts.Reference != "" && c.reference < 0:
		return nil, fmt.Errorf("reference %q is none of the logs", opts.Reference)
	case opts.Reference == "":
		for i := range c.lanes {
			if c.lanes[i].dialect.Server {
				c.reference = i
				break
			}
		}
	}
	if c.reference >= 0 {
		c.out.Reference = c.lanes[c.reference].name
	}
	return c, nil
}

// hostLane returns the lane whose peer stands first in the session's list of
// peers, which all logs of ours share; the first lane if they do not say.
func (c *comparer) hostLane() int {
	best, place := 0, -1
	for i := range c.lanes {
		h := &c.lanes[i].header
		if !slices.Equal(h.Peers, c.lanes[0].header.Peers) {
			return 0
		}
		n := slices.Index(h.Peers, h.Peer)
		if n >= 0 && (place < 0 || n < place) {
			best, place = i, n
		}
	}
	return best
}

func (c *comparer) sameGame(a, b *lane) error {
	differ := func(what string, x, y any) error {
		return fmt.Errorf("%s and %s: %w: %s %v and %v", a.name, b.name, ErrOtherGame, what, x, y)
	}
	if a.dialect.Engine != b.dialect.Engine {
		return differ("engine", name(a.dialect.Engine), name(b.dialect.Engine))
	}
	var err error
	known := a.dialect.Engine == "" || a.header.Seed != 0 && b.header.Seed != 0
	switch x, y := a.dialect.Session, b.dialect.Session; {
	case x != y && x != "" && y != "":
		err = differ("session", prose.Name(x), prose.Name(y))
	case known && a.header.Seed != b.header.Seed:
		err = differ("seed", a.header.Seed, b.header.Seed)
	}
	if err != nil && c.opts.Force {
		c.out.Warnings = append(c.out.Warnings, err.Error())
		return nil
	}
	return err
}

func name(engine string) string {
	if engine == "" {
		return "desynctool"
	}
	return engine
}

func (c *comparer) native(tick uint64) string {
	if c.tickName == nil {
		return ""
	}
	return c.tickName(tick)
}

// step compares the next tick. It returns false when no log has one.
func (c *comparer) step() bool {
	found := false
	for i := range c.lanes {
		l := &c.lanes[i]
		if !l.head {
			continue
		}
		t := l.rec.Tick.Number
		if !found || l.generation < c.generation || l.generation == c.generation && t < c.now {
			c.generation, c.now, found = l.generation, t, true
		}
	}
	if !found {
		return false
	}
	c.shared.settle(c.generation, c.now)
	c.local.settle(c.generation, c.now)
	c.cover()
	c.same = false
	c.hashed = false
	if len(c.covers) > 1 {
		c.overlap()
	} else if l := &c.lanes[c.covers[0]]; l.jumps > 0 {
		l.ranges.Alone++
	}
	for i := range c.lanes {
		if l := &c.lanes[i]; l.at(c.generation, c.now) {
			c.record(l)
			c.advance(l)
		}
	}
	return true
}

func (c *comparer) warn(format string, args ...any) {
	c.out.Warnings = append(c.out.Warnings, fmt.Sprintf(format, args...))
}

func (c *comparer) finish() *Comparison {
	c.shared.close()
	c.local.close()
	out := c.out
	out.Differences, out.DifferenceCount = c.shared.kept, c.shared.count
	out.Local, out.LocalCount = c.local.kept, c.local.count
	if out.Differences == nil {
		out.Differences = []Difference{}
	}
	out.Counts = c.shared.kinds
	out.State = c.state.summary(c)
	for i := range c.lanes {
		r := &c.lanes[i].ranges
		for j := range r.Stretches {
			s := &r.Stretches[j]
			s.NativeFrom, s.NativeTo = c.native(s.From), c.native(s.To)
		}
		if lossy, ok := c.lanes[i].source.(Lossy); ok {
			r.Unknown, r.UnknownLine = lossy.Unknown()
		}
		if r.Unknown > 0 {
			c.warn("%s: %s of no known kind, first at line %d: orders of the ticks beside them may be lacking", prose.Path(r.Name), lines(r.Unknown), r.UnknownLine)
		}
		out.Peers = append(out.Peers, *r)
	}
	if w := out.Window; w != nil {
		w.NativeFrom, w.NativeTo = c.native(w.From), c.native(w.To)
	}
	c.verdict()
	return out
}

func lines(n int64) string {
	if n == 1 {
		return "1 line is"
	}
	return fmt.Sprintf("%d lines are", n)
}

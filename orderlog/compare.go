package orderlog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Named is a peer's log with the name that the Comparison uses for it. Names are unique.
type Named struct {
	Name   string
	Source Source
}

// CompareOptions configures Compare.
type CompareOptions struct {
	// Reference is the name of the peer that the others are compared with.
	Reference string
	// LocalKinds are kinds of orders to treat as local, in addition to the kinds that the headers mark as local.
	LocalKinds []string
	// LateWindow is how many ticks late or early an order may be and still count as the same order. 0 means 4096.
	LateWindow uint64
	// Limit is how many entries each list contains at most. 0 means 1000.
	Limit int
	// Force compares logs of different sessions or seeds.
	Force bool
}

// ErrOtherGame is wrapped by Compare's error if the logs belong to different games, sessions or seeds. Different builds
// are not an error, because they explain most desyncs: see Comparison.Headers.
var ErrOtherGame = errors.New("logs of different games")

// These limits bound the memory, whatever the logs contain.
const (
	maxPending = 1 << 14 // differences that are not yet counted because the order may still appear later
	maxHashes  = 1 << 14 // points for which hashes are kept to compare with other peers' hashes
)

// Compare reads two or more logs of one session side by side. It finds which orders differ, and what the recorded
// hashes show about the state. Orders are matched by tick, player and content. Memory holds one record of each log and
// the undecided differences, so logs may have any size.
//
// A log that cannot be read to its end is compared up to that place; see PeerRange.Err. Logs that cannot be compared at
// all give an error.
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
	first     int // lane of the peer that comes first in the headers' list of peers
	out       *Comparison

	byHeader map[string]string // lane names by the names in the lanes' headers

	kinds      map[string]uint32 // number of each kind of order, the same for all logs
	kindNames  []string
	kindLocal  []bool
	generation int // see lane.generation
	now        uint64
	counted    bool // at least one log does not number its orders
	mixed      bool // at least one log has both kinds of line ends
	tickName   func(uint64) string
	fields     func(string, []byte) []Field

	shared ledger // differences of orders that all peers must have
	local  ledger // differences of local orders
	state  stateLedger

	stale *PeerClaim // the first claim of a stale cache

	input   []byte // buffer of inputHash
	hashed  bool   // hash is the tick's input hash; only set if all lanes have the same orders
	hash    merkle.Short
	applied lastSequence
	covers  []int // lanes that cover the tick
	same    bool  // these lanes have the same orders in the same sequence
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
	opts.LateWindow = cmp.Or(opts.LateWindow, 4096)
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

// hostLane returns the lane of the first peer in the session's list of peers, which all order logs of a session share.
// If the headers have no such list, it returns the first lane.
func (c *comparer) hostLane() int {
	best, place := 0, -1
	for i := range c.lanes {
		h := &c.lanes[i].header
		if !slices.Equal(h.Peers, c.lanes[0].header.Peers) {
			return 0
		}
		if n := slices.Index(h.Peers, h.Peer); n >= 0 && (place < 0 || n < place) {
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

// step compares the next tick. It returns false when no log has another tick.
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
			c.warn("%s: %s of no known kind, first at line %d: orders of the ticks next to them may be missing", prose.Path(r.Name), lines(r.Unknown), r.UnknownLine)
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

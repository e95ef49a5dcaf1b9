package orderlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Named is a peer's log and what the Comparison calls it; names are unique.
type Named struct {
	Name   string
	Source Source
}

// CompareOptions changes what Compare does.
type CompareOptions struct {
	// Reference is the name of the peer that the others are told against.
	Reference string
	// LocalKinds are kinds of orders to be taken as local, beside those that
	// the headers name.
	LocalKinds []string
	// LateWindow is how many ticks an order may be late or early and still be
	// taken for the same one. 0 means 4096.
	LateWindow uint64
	// Limit is how many entries each list keeps. 0 means 1000.
	Limit int
	// Force compares logs of different sessions, seeds or builds.
	Force bool
}

// ErrOtherGame is what Compare's error wraps if the logs are of different
// games, sessions, seeds or builds.
var ErrOtherGame = errors.New("logs of different games")

// Memory is bounded by these, whatever the logs hold.
const (
	maxPending = 1 << 14 // differences that are not yet told, in case the order is late
	maxHashes  = 1 << 14 // points whose hashes are kept for those of other peers
)

// Compare reads two or more logs of one session side by side and tells how the
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
	applied lastSequence
	covers  []int // lanes that cover the tick
	tables  []items
	rows    aligner
}

// lane is the reading of one log.
type lane struct {
	index   int
	name    string
	source  Source
	header  Header
	dialect Dialect
	kinds   []uint32 // by Order.Kind
	number  int32    // of the peer in comparer.state
	peers   []int32  // such numbers by Observed.Peer

	rec  Record // the next one; a tick
	head bool   // rec is there
	// generation counts how often the game went back to an earlier tick. Ticks
	// of different generations are different ticks.
	generation int
	fresh      bool // rec begins a stretch
	started    bool // a stretch has begun
	last       uint64
	back       bool // in ticks that the peer ran before
	jumps      int  // back to an earlier tick, without a word
	ranges     PeerRange
	stretches  int
	waiting    []int // claims without a tick behind them, in Comparison.Claims
	hasFirst   bool  // of a log of ours whose header says where it begins
}

// moment is the earliest tick or point of something that decides the verdict.
type moment struct {
	known      bool
	generation int
	tick       uint64
	text       string
}

func (m *moment) note(generation int, tick uint64, text func() string) {
	if !m.known || generation < m.generation || generation == m.generation && tick < m.tick {
		*m = moment{true, generation, tick, text()}
	}
}

func (m *moment) before(generation int, tick uint64) bool {
	return m.generation < generation || m.generation == generation && m.tick < tick
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
	}
	c.out.Engine = c.lanes[0].dialect.Engine
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
// peers, which all logs of ours share; the first lane if they do not tell.
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

// displayName returns what the Comparison calls the peer that l's header calls
// name.
func (c *comparer) displayName(l *lane, name string) string {
	if name == l.header.Peer {
		return l.name
	}
	for i := range c.lanes {
		if c.lanes[i].header.Peer == name {
			return c.lanes[i].name
		}
	}
	return name
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
		err = differ("session", printable(x), printable(y))
	case known && a.header.Seed != b.header.Seed:
		err = differ("seed", a.header.Seed, b.header.Seed)
	case a.header.Build != b.header.Build && a.header.Build != "" && b.header.Build != "":
		err = differ("build", printable(a.header.Build), printable(b.header.Build))
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

// kind returns the common number of a lane's kind of orders.
func (c *comparer) kind(l *lane, k uint32) uint32 {
	if int(k) >= len(l.kinds) {
		l.header = l.source.Header()
		c.addKinds(l)
	}
	return l.kinds[k]
}

func (c *comparer) addKinds(l *lane) {
	for _, kind := range l.header.Kinds[len(l.kinds):] {
		local := kind.Local || slices.Contains(c.opts.LocalKinds, kind.Name)
		n, ok := c.kinds[kind.Name]
		if !ok {
			n = uint32(len(c.kindNames))
			c.kinds[kind.Name] = n
			c.kindNames = append(c.kindNames, kind.Name)
			c.kindLocal = append(c.kindLocal, local)
		}
		c.kindLocal[n] = c.kindLocal[n] || local
		l.kinds = append(l.kinds, n)
	}
}

// advance reads a lane's next tick.
func (c *comparer) advance(l *lane) {
	l.head = false
	for {
		rec, err := l.source.Next()
		if err != nil {
			if err != io.EOF {
				l.ranges.Err = err
				l.ranges.Error = err.Error()
			}
			return
		}
		if rec.Kind != TickRecord {
			c.hashes(l, rec.Epoch, rec.Observed)
			c.claims(l, &rec, l.last)
			continue
		}
		t := rec.Tick.Number
		opening := rec.Tick.NewEpoch()
		l.fresh = !l.started || opening != nil
		if l.started && t <= l.last {
			// Everyone goes back when a saved game is loaded. A peer that was
			// sent an older state goes back alone; its ticks are compared again
			// from where the others are.
			// So does one that comes back to the tick in which it left.
			l.back = t == l.last || opening == nil && l.back || opening != nil && opening.Kind != Load
			if l.back {
				l.ranges.Rerun++
				c.claims(l, &rec, t)
				continue
			}
			l.generation++
			l.fresh = true
			if rec.Back {
				if l.jumps++; l.jumps <= 3 {
					c.warn("%s: line %d: the log goes back from %s to %s: taken for a state that was loaded",
						l.name, rec.Line, namedTick(l.last, c.native(l.last)), namedTick(t, c.native(t)))
				}
			}
		}
		l.back = false
		l.rec, l.head = rec, true
		return
	}
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

// at reports whether the lane's next record is of that tick.
func (l *lane) at(generation int, tick uint64) bool {
	return l.head && l.generation == generation && l.rec.Tick.Number == tick
}

// cover finds the lanes that can tell of the tick, and counts for the others
// what they cannot tell of.
func (c *comparer) cover() {
	c.covers = c.covers[:0]
	for i := range c.lanes {
		l := &c.lanes[i]
		switch {
		case l.at(c.generation, c.now):
			c.covers = append(c.covers, i)
		case l.head && !l.fresh && l.generation == c.generation:
			c.covers = append(c.covers, i)
		case l.head && !l.started && l.hasFirst && l.generation == c.generation && l.rec.Tick.NewEpoch() == nil && l.header.FirstPoint <= c.now:
			c.covers = append(c.covers, i)
		}
	}
	if len(c.covers) == len(c.lanes) {
		return
	}
	most := uint64(0)
	for _, i := range c.covers {
		if l := &c.lanes[i]; l.at(c.generation, c.now) {
			most = max(most, c.inputs(l))
		}
	}
	for i := range c.lanes {
		l := &c.lanes[i]
		switch {
		case slices.Contains(c.covers, i):
		case !l.started && l.head:
			l.ranges.Before += most
		case l.head:
			l.ranges.Between += most
		default:
			l.ranges.After += most
		}
	}
}

// inputs counts the orders of a lane's tick that are not local.
func (c *comparer) inputs(l *lane) uint64 {
	n := uint64(0)
	for i := range l.rec.Tick.Orders {
		if !c.kindLocal[c.kind(l, l.rec.Tick.Orders[i].Kind)] {
			n++
		}
	}
	return n
}

// overlap compares a tick that two logs at least cover.
func (c *comparer) overlap() {
	w := c.out.Window
	if w == nil {
		w = &Window{From: c.now, To: c.now}
		c.out.Window = w
	}
	w.From, w.To = min(w.From, c.now), max(w.To, c.now)
	w.Ticks++
	for _, i := range c.covers {
		if l := &c.lanes[i]; l.fresh && l.at(c.generation, c.now) {
			c.applied.reset() // numbers may begin again
		}
	}
	c.evenEnds()
	if c.alike() {
		return
	}
	for _, i := range c.covers {
		c.tables[i].fill(c, &c.lanes[i])
	}
	base := c.base()
	for _, i := range c.covers {
		if i != base {
			c.rows.compare(c, &c.lanes[base], &c.lanes[i])
		}
	}
	w.Orders += uint64(c.rows.matched)
	c.rows.matched = 0
	for _, o := range c.rows.applied {
		c.applied.note(o.player, o.sequence)
	}
	c.rows.applied = c.rows.applied[:0]
	renew(&c.rows.told)
}

// evenEnds drops a carriage return behind the orders of the tick, in all logs, if
// it may belong to the line's end in one of them.
func (c *comparer) evenEnds() {
	if !c.mixed {
		for i := range c.lanes {
			l := &c.lanes[i]
			m, ok := l.source.(MixedEnds)
			if !ok || m.Mixed() == 0 {
				continue
			}
			c.mixed = true
			c.warn("%s: some lines end with a carriage return, the first is line %d: behind a command's arguments it is taken for no difference", l.name, m.Mixed())
		}
		if !c.mixed {
			return
		}
	}
	for _, i := range c.covers {
		l := &c.lanes[i]
		if !l.at(c.generation, c.now) {
			continue
		}
		for j := range l.rec.Tick.Orders {
			o := &l.rec.Tick.Orders[j]
			o.Payload = bytes.TrimSuffix(o.Payload, []byte("\r"))
		}
	}
}

func (c *comparer) warn(format string, args ...any) {
	c.out.Warnings = append(c.out.Warnings, fmt.Sprintf(format, args...))
}

// alike is the way that nearly every tick takes: all that cover it have the
// same orders in the same order, none of them failed, and no markers that
// count.
func (c *comparer) alike() bool {
	var first *lane
	for _, i := range c.covers {
		l := &c.lanes[i]
		if !l.at(c.generation, c.now) {
			l = nil
		}
		if i == c.covers[0] {
			first = l
			if first != nil && !c.plain(first) {
				return false
			}
			continue
		}
		if l != nil && !c.plain(l) || !c.sameOrders(first, l) {
			return false
		}
	}
	if first == nil {
		return true
	}
	if !c.counted {
		for i := range first.rec.Tick.Orders {
			o := &first.rec.Tick.Orders[i]
			c.applied.note(o.Player, o.Sequence)
		}
	}
	c.out.Window.Orders += c.inputs(first)
	return true
}

// plain reports whether a tick has orders only.
func (c *comparer) plain(l *lane) bool {
	for i := range l.rec.Tick.Markers {
		if k := l.rec.Tick.Markers[i].Kind; k == FailedOrder || !l.dialect.OwnMarkers && k.input() {
			return false
		}
	}
	return true
}

func (c *comparer) sameOrders(a, b *lane) bool {
	var x, y []Order
	if a != nil {
		x = a.rec.Tick.Orders
	}
	if b != nil {
		y = b.rec.Tick.Orders
	}
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		o, p := &x[i], &y[i]
		if o.Player != p.Player || o.SubTick != p.SubTick || !c.counted && o.Sequence != p.Sequence ||
			c.kind(a, o.Kind) != c.kind(b, p.Kind) || !bytes.Equal(o.Payload, p.Payload) {
			return false
		}
	}
	return true
}

// base returns the lane that the others are told against in this tick: the
// reference if it covers the tick, else one of the largest group that has the
// same, of groups of one size that with the session's first peer.
func (c *comparer) base() int {
	if slices.Contains(c.covers, c.reference) {
		return c.reference
	}
	best, most := c.covers[0], 0
	for _, i := range c.covers {
		n := 0
		for _, j := range c.covers {
			if c.tables[i].equal(&c.tables[j], c.counted) {
				n++
			}
		}
		if n > most || n == most && i == c.first {
			best, most = i, n
		}
	}
	return best
}

// record takes from a lane's tick what is not compared order by order.
func (c *comparer) record(l *lane) {
	t := l.rec.Tick
	if l.fresh {
		l.stretches++
		if len(l.ranges.Stretches) < c.opts.Limit {
			l.ranges.Stretches = append(l.ranges.Stretches, Stretch{From: t.Number})
		}
	}
	if l.stretches == len(l.ranges.Stretches) {
		s := &l.ranges.Stretches[l.stretches-1]
		s.To = t.Number
		s.Orders += c.inputs(l)
	}
	l.started, l.last = true, t.Number
	for _, i := range l.waiting {
		number := t.Number
		c.out.Claims[i].Before = &number
		c.out.Claims[i].NativeBefore = c.native(number)
	}
	l.waiting = l.waiting[:0]
	c.hashes(l, l.rec.Epoch, t.Hashes)
	c.claims(l, &l.rec, t.Number)
	if l.dialect.Engine != "" {
		return
	}
	if i := t.Misplaced(); i >= 0 {
		if c.out.MisplacedCount++; len(c.out.Misplaced) < c.opts.Limit {
			c.out.Misplaced = append(c.out.Misplaced, Misplacement{l.name, t.Number, i, l.rec.Offset})
		}
	}
	if t.InputHash != (merkle.Short{}) {
		c.out.InputHashesRead++
		var got merkle.Short
		if got, c.input = inputHash(c.input, l.header.Kinds, t.Orders); got != t.InputHash {
			if c.out.InputHashCount++; len(c.out.InputHashes) < c.opts.Limit {
				c.out.InputHashes = append(c.out.InputHashes,
					InputHashMismatch{l.name, t.Number, bytes.Clone(t.InputHash[:]), bytes.Clone(got[:]), l.rec.Offset})
			}
		}
	}
}

func (c *comparer) claims(l *lane, rec *Record, after uint64) {
	for _, claim := range rec.Claims {
		if c.out.ClaimCount++; len(c.out.Claims) < c.opts.Limit {
			l.waiting = append(l.waiting, len(c.out.Claims))
			p := PeerClaim{Peer: l.name, Kind: claim.Kind, After: after, Line: claim.Line, Offset: claim.Offset, Text: claim.Text}
			if after > 0 || l.started {
				p.NativeAfter = c.native(after)
			}
			c.out.Claims = append(c.out.Claims, p)
			if c.stale == nil && p.Kind == ClaimCache {
				c.stale = &p
			}
		}
	}
}

// peerNumber returns the number of the peer whose state a hash is of.
func (l *lane) peerNumber(s *stateLedger, peer uint32) int32 {
	if int(peer) < len(l.peers) {
		return l.peers[peer]
	}
	if peer == 0 && len(l.peers) == 0 {
		return l.number
	}
	return s.peer(fmt.Sprintf("%s: peer %d", l.name, peer))
}

func (c *comparer) hashes(l *lane, epoch uint32, hashes []Observed) {
	for i := range hashes {
		c.state.note(l, epoch, &hashes[i])
	}
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
			c.warn("%s: %s of no known kind, first at line %d: orders of the ticks beside them may be lacking", r.Name, lines(r.Unknown), r.UnknownLine)
		}
		out.Peers = append(out.Peers, *r)
	}
	if w := out.Window; w != nil {
		w.NativeFrom, w.NativeTo = c.native(w.From), c.native(w.To)
	}
	c.verdict()
	return out
}

// verdict weighs what was found by what came first: an order that differs
// after the state did may be its consequence, such as one that an AI gave.
func (c *comparer) verdict() {
	out, input, failed := c.out, c.shared.input, c.shared.failed
	state, basis := moment{}, ""
	if h := out.State.First; h != nil {
		state = moment{known: true, generation: h.generation, tick: h.Point}
		basis = fmt.Sprintf("%s differ from state point %s on", hashName(h.Kind, h.Coverage), namedTick(h.Point, h.Native))
	}
	// An order of tick T that fails on one side tells of a state before.
	if failed.known && (!state.known || failed.before(state.generation, state.tick)) {
		state, basis = failed, failed.text
	}
	switch {
	case out.State.First != nil && out.State.First.Point == 0 && out.State.First.Coverage == Full:
		out.Verdict, out.Basis = InitialState, basis+", before any tick"
	case input.known && state.known && !input.before(state.generation, state.tick):
		out.Verdict = Simulation
		out.Basis = basis + "; orders differ later: " + input.text
	case input.known:
		out.Verdict, out.Basis = NetworkLayer, input.text
	case state.known:
		out.Verdict, out.Basis = Simulation, "orders are equal, "+basis
	case out.Window == nil:
		out.Verdict, out.Basis = NoOverlap, "no two logs cover a common tick"
	case c.stale != nil:
		// The game computed a cache again and got something else.
		out.Verdict, out.Basis = Simulation, "orders are equal, "+c.stale.says()
	default:
		w := out.Window
		out.Verdict = InputsEqual
		out.Basis = fmt.Sprintf("%d orders from %s to %s", w.Orders, namedTick(w.From, w.NativeFrom), namedTick(w.To, w.NativeTo))
		if out.ClaimCount > 0 {
			out.Basis += "; " + out.Claims[0].says() + ", which nothing here bears out"
		}
	}
}

// says tells the claim in one line.
func (c *PeerClaim) says() string {
	return fmt.Sprintf("%s says after %s: %s", printable(c.Peer), namedTick(c.After, c.NativeAfter), printable(c.Text))
}

func hashName(kind HashKind, coverage Coverage) string {
	if coverage == Full {
		return string(kind) + " hashes"
	}
	return strings.Join([]string{string(kind), string(coverage)}, "/") + " hashes"
}

// lastSequence is the highest sequence number that was applied of each player.
type lastSequence struct {
	few  [256]uint64 // sequence + 1 of players below 256
	many map[uint32]uint64
}

func (s *lastSequence) note(player, sequence uint32) {
	if player < uint32(len(s.few)) {
		s.few[player] = max(s.few[player], uint64(sequence)+1)
		return
	}
	if s.many == nil || len(s.many) > maxPending {
		s.many = map[uint32]uint64{}
	}
	s.many[player] = max(s.many[player], uint64(sequence)+1)
}

func (s *lastSequence) has(player, sequence uint32) bool {
	if player < uint32(len(s.few)) {
		return uint64(sequence) < s.few[player]
	}
	return uint64(sequence) < s.many[player]
}

func (s *lastSequence) reset() { *s = lastSequence{} }

func lines(n int64) string {
	if n == 1 {
		return "1 line is"
	}
	return fmt.Sprintf("%d lines are", n)
}

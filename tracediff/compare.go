package tracediff

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog/frame"
)

const (
	maxPeers = 64
	// settleAfter is how many ticks a trace may go back unless told otherwise.
	settleAfter = 256
	// progressStep is how many bytes of a trace are read between two calls of
	// Options.Progress.
	progressStep = 8 << 20
)

// errRollback says that a comparison of traces without rollbacks came upon one.
var errRollback = errors.New("trace goes back to an earlier tick or predicts")

// Compare compares two or more traces. Records are aligned by epoch, tick,
// system, scope, phase and occurrence; where traces are equal byte by byte,
// nothing is read but their bytes. It holds a few megabytes of each.
//
// An error means that no comparison was possible. A trace that is damaged or
// breaks off is compared up to there, and its TraceInfo says so.
func Compare(list []*Trace, opts Options) (*Result, error) { return compare(list, opts, usual, true) }

func compare(list []*Trace, opts Options, z sizes, mapped bool) (*Result, error) {
	if len(list) < 2 || len(list) > maxPeers {
		return nil, fmt.Errorf("%d traces, expected 2 to %d", len(list), maxPeers)
	}
	var warnings []string
	if err := Comparable(list); err != nil {
		if !opts.Force {
			return nil, err
		}
		warnings = append(warnings, err.Error())
	}
	if opts.Limit == 0 {
		opts.Limit = DefaultLimit
	}
	if opts.Context == 0 {
		opts.Context = 3
	}
	if opts.Rollback == 0 {
		opts.Rollback = settleAfter
	}
	// A comparison starts again if the traces turn out to have rollbacks, and if
	// a file shrinks under it.
	rollback := false
	for {
		c := &comparer{opts: opts, list: list, sizes: z, mapped: mapped, rollback: rollback}
		c.result.Warnings = slices.Clone(warnings)
		res, err := c.run()
		once := slices.ContainsFunc(list, func(t *Trace) bool { return t.once })
		switch {
		case errors.Is(err, errCut) && mapped && !once:
			mapped = false
		case err == errRollback && once:
			return nil, fmt.Errorf("%s, which its first %d KiB do not show: such a trace must be a file", c.culprit, z.head>>10)
		case err == errRollback && !rollback:
			rollback = true
		default:
			return res, err
		}
	}
}

// comparer holds what one comparison works with.
type comparer struct {
	opts     Options
	list     []*Trace
	sizes    sizes
	mapped   bool
	rollback bool
	culprit  string // where errRollback comes from

	peers    []*peer
	result   Result
	compared uint64 // peers that have a value in common with another
	seq      int64  // counts checkpoints compared, to order what was found

	// The tick at hand.
	tick    Tick
	open    bool
	inTick  uint64         // peers that have had records in it
	order   []visit        // checkpoints in it so far, in order
	differs bool           // at this tick
	class   [maxPeers]int8 // peers of the same class agree at this tick
	cells   []cell         // scratch, one a peer

	grouped      uint64 // inTick and class when Groups was last looked at
	groupedClass [maxPeers]int8

	prev    Tick // the last tick that was compared and is over
	hasPrev bool

	keys map[key]*keyInfo
	last *keyInfo

	alike   bool  // the same bytes mean the same in all traces
	noSkip  int64 // offset in the first peer before which skipping is not tried
	backoff int64

	pending []pendingNotice // one for each schedule
	shown   int64           // offset of the last call of Progress
}

// peer is one trace.
type peer struct {
	n        int
	r        *Reader
	info     *TraceInfo
	rec      *Record // that comes next, nil if it has not been read
	torn     bool    // rec is of a last line without an end
	done     bool
	at       Tick // of rec
	last     Tick // of the record before
	started  bool
	cadence  cadence  // of all its ticks
	hurt     bool     // lines before the next record are malformed
	lost     []span   // where malformed lines may have been checkpoints
	settling *settler // with rollbacks
}

// span is a range of ticks, both ends included.
type span struct{ from, to Tick }

// maxSpans bounds peer.lost; behind that many the last one grows.
const maxSpans = 1 << 12

// lose notes where malformed lines are, now that the record behind them is
// known to be of tick to.
func (p *peer) lose(from, to Tick) {
	if p.hurt = false; len(p.lost) < maxSpans {
		p.lost = append(p.lost, span{from, to})
	} else {
		p.lost[maxSpans-1].to = to
	}
}

// mayHaveLost reports whether malformed lines may have been checkpoints of a
// tick.
func (p *peer) mayHaveLost(t Tick) bool {
	i := len(p.lost)
	for i > 0 && p.lost[i-1].to.compare(t) >= 0 {
		if i--; p.lost[i].from.compare(t) <= 0 {
			return true
		}
	}
	return false
}

// cell is what one peer has at the checkpoint at hand.
type cell struct {
	c         *Checkpoint // nil if it has none
	pos       Position
	torn      bool // of a last line without an end
	predicted bool // and never confirmed
}

type key struct{ system, scope string }

// keyInfo is what is known of a system and scope.
type keyInfo struct {
	key
	next    *keyInfo // that came behind it last time
	seen    uint64   // peers that have it
	cadence []cadence
	cascade *Cascade
	lacking []lacking // two for each peer, if there is any: see lackingAt
}

// cadence is at which ticks a peer has a checkpoint, or anything.
type cadence struct {
	last   Tick
	stride uint64 // divides all distances so far
	ticks  int64
}

// see adds a tick.
func (d *cadence) see(t Tick) {
	if d.ticks > 0 && t.Epoch == d.last.Epoch {
		n := t.Number - d.last.Number
		if n == 0 {
			return
		}
		if n != d.stride {
			d.stride = gcd(d.stride, n)
		}
	}
	d.ticks++
	d.last = t
}

// off reports whether a tick is between those of the cadence.
func (d *cadence) off(t Tick) bool {
	if d.stride < 2 || t.Epoch != d.last.Epoch {
		return false
	}
	return (max(t.Number, d.last.Number)-min(t.Number, d.last.Number))%d.stride != 0
}

// settledCadence is how many ticks make a cadence that can be relied on.
const settledCadence = 8

// knownCadence is how many ticks are the least from which anything follows.
const knownCadence = 3

// lacking is what a peer did not have while it was not yet known whether it
// should.
type lacking struct {
	count      int64
	first      *Difference
	context    []Context
	prev       Tick
	hasPrev    bool
	wholeTicks bool // of ticks of which the peer has nothing
}

type pendingNotice struct {
	tick Tick
	set  bool
}

func (c *comparer) run() (res *Result, err error) {
	defer guard(&err)()
	interned := new(names)
	n := len(c.list)
	c.keys = map[key]*keyInfo{}
	c.cells = make([]cell, n)
	c.result.Traces = make([]TraceInfo, n)
	c.result.Noticed = make([]Noticed, len(c.opts.Schedules))
	c.pending = make([]pendingNotice, len(c.opts.Schedules))
	for i, s := range c.opts.Schedules {
		c.result.Noticed[i].Schedule = s
	}
	defer func() {
		for _, p := range c.peers {
			if e := p.r.Close(); err == nil && e != nil {
				err = e
			}
		}
	}()
	for i, t := range c.list {
		r, err := t.open(opening{interned, c.mapped, c.sizes})
		if err != nil {
			return nil, err
		}
		info := &c.result.Traces[i]
		*info = TraceInfo{Name: t.Name, File: t.File, Header: r.header, Grammar: r.grammar.kind, Packing: t.Packing, Empty: true}
		c.peers = append(c.peers, &peer{n: i, r: r, info: info})
	}
	if c.rollback {
		err = c.settled()
	} else {
		c.alike = c.sameGrammar()
		err = c.plain()
	}
	if err != nil {
		return nil, err
	}
	return c.finish(), nil
}

// What no game has, and what would need memory without bounds.
const (
	maxKeys   = 1 << 17 // systems and scopes
	maxInTick = 1 << 18 // checkpoints of one tick that have to be aligned
)

// plain compares traces that never go back.
func (c *comparer) plain() error {
	for {
		if c.maySkip() {
			if err := c.skip(); err != nil {
				return err
			}
		}
		live := 0
		var tick Tick
		for _, p := range c.peers {
			if err := c.peek(p); err != nil {
				return err
			}
			if p.done {
				continue
			}
			if live++; live == 1 || p.at.compare(tick) < 0 {
				tick = p.at
			}
		}
		if live < 2 {
			// What one trace alone goes on with is no difference, except for the
			// rest of a tick that the others have.
			if live == 0 || !c.open || tick != c.tick {
				c.closeTick()
				return nil
			}
		}
		if len(c.keys) > maxKeys {
			return fmt.Errorf("%s: more than %d systems and scopes by tick %s", c.list[0].File, maxKeys, tick)
		}
		if !c.open || tick != c.tick {
			if c.closeTick(); c.opts.FirstOnly && c.result.First != nil {
				return nil
			}
			c.openTick(tick)
		}
		if c.inOrder() {
			if c.differs {
				c.pairwise()
			}
			continue
		}
		if err := c.gather(); err != nil {
			return err
		}
	}
}

// pairwise goes on where two traces differ line by line: it does what plain
// does, without its care for all that lines may be, as long as both traces have
// lines like those before of the same checkpoints, and these differ.
func (c *comparer) pairwise() {
	if len(c.peers) != 2 || !c.alike || c.peers[0].r.grammar.kind != Pairs {
		return
	}
	a, b := c.peers[0], c.peers[1]
	if a.rec != nil || b.rec != nil || a.done || b.done {
		return
	}
	fa, fb := &a.r.f, &b.r.f
	for c.differs {
		la, lb := a.r.win.wholeLine(), b.r.win.wholeLine()
		lastA, lastB := fa.last, fb.last
		if la == nil || lb == nil || !fa.fast(la) {
			return
		}
		x, y := &fa.c, &fb.c
		if !fb.fast(lb) || x.Tick != y.Tick || x.System != y.System || x.Scope != y.Scope || x.Tick < c.tick.Number ||
			x.Tick != c.tick.Number && c.opts.FirstOnly {
			fa.last, fb.last = lastA, lastB // the lines are read again
			return
		}
		if x.Tick != c.tick.Number {
			c.closeTick()
			c.openTick(Tick{c.tick.Epoch, x.Tick})
			c.inTick = 3
		}
		a.pass(c.tick, len(la), x, &c.cells[0])
		b.pass(c.tick, len(lb), y, &c.cells[1])
		k := c.key(x.System, x.Scope)
		c.order = append(c.order, visit{k.system, k.scope, Confirmed})
		c.slot(k, -1)
	}
}

// pass takes the line at the position of p, of n bytes, for the checkpoint x.
func (p *peer) pass(t Tick, n int, x *Checkpoint, to *cell) {
	*to = cell{c: x, pos: Position{p.r.line, p.r.win.offset()}}
	p.r.win.pos += n + 1
	p.r.line++
	p.at = t
	p.consume()
}

// peek reads the next record of p unless it is there.
func (c *comparer) peek(p *peer) error {
	for p.rec == nil && !p.done {
		rec, err := p.read()
		if err != nil {
			return err
		}
		if rec == nil {
			return nil
		}
		if rec.Event != nil || rec.Checkpoint.Phase == Predicted {
			c.culprit = fmt.Sprintf("%s: %s predicts or rolls back", p.info.File, rec.Pos)
			return errRollback
		}
		tick := rec.Checkpoint.Tick
		at := Tick{p.last.Epoch, tick}
		if p.started && tick < p.last.Number {
			if p.torn {
				p.end(nil)
				return nil
			}
			if p.last.Number-tick <= c.opts.Rollback {
				c.culprit = fmt.Sprintf("%s: %s goes back from tick %d to %d", p.info.File, rec.Pos, p.last.Number, tick)
				return errRollback
			}
			at.Epoch++
			c.newEpoch(p, rec, at)
		}
		if p.hurt {
			p.lose(p.last, at)
		}
		p.rec, p.at = rec, at
	}
	return nil
}

// newEpoch warns that a trace begins anew.
func (c *comparer) newEpoch(p *peer, rec *Record, at Tick) {
	p.info.Epochs++
	if p.info.Epochs <= 3 {
		c.warn("%s: %s goes back from tick %d to %d: taken for a state that was loaded, epoch %d", p.info.File, rec.Pos, p.last.Number, at.Number, at.Epoch)
	}
}

func (c *comparer) warn(format string, args ...any) {
	c.result.Warnings = append(c.result.Warnings, fmt.Sprintf(format, args...))
}

// read returns the next record of p, nil at its end. Malformed lines are
// counted and passed over.
func (p *peer) read() (*Record, error) {
	for {
		rec, err := p.r.read()
		p.torn = p.r.cut
		if err == nil {
			return rec, nil
		}
		var syntax *SyntaxError
		var malformed *frame.Error
		switch {
		case err == io.EOF:
			p.end(nil)
		case errors.As(err, &syntax):
			if p.torn {
				continue
			}
			p.hurt = true
			if p.info.Malformed++; p.info.Malformed == 1 {
				p.info.Trouble = err.Error()
			}
			continue
		case errors.As(err, &malformed), errors.Is(err, io.ErrUnexpectedEOF):
			p.end(err)
		default:
			return nil, err
		}
		return nil, nil
	}
}

// end ends the trace; err is nil if nothing is wrong.
func (p *peer) end(err error) {
	p.done, p.rec = true, nil
	if p.hurt {
		p.lose(p.last, Tick{^uint64(0), 0})
	}
	info := p.info
	info.Ended = err == nil && (p.r.binary != nil || p.r.text.ended && p.r.text.trouble == "")
	if err != nil {
		info.Torn = errors.Is(err, frame.ErrTorn) || errors.Is(err, io.ErrUnexpectedEOF)
		info.Trouble = err.Error()
	}
	if p.torn {
		info.Torn = true
		info.Trouble = "last line has no end"
	}
	if p.r.text.begun && !p.r.text.ended {
		info.Torn = true
		info.Trouble = "no " + textEnd + " at the end"
	}
	if t := p.r.text.trouble; t != "" {
		info.Torn = true
		info.Trouble = t
	}
	if w := p.r.win; w.cut {
		info.Torn = true
		info.Trouble = fmt.Sprintf("file was cut to %d bytes while it was read", w.size)
	}
}

// consume marks the next record of p as taken. It stays valid until p reads.
func (p *peer) consume() {
	if !p.started {
		p.started = true
		p.info.First, p.info.Empty = p.at, false
	}
	p.last = p.at
	p.info.Last = p.at
	p.rec = nil
}

// openTick begins a tick.
func (c *comparer) openTick(t Tick) {
	c.tick, c.open, c.differs = t, true, false
	c.inTick = 0
	c.order = c.order[:0]
	for i := range c.peers {
		c.class[i] = 0
	}
	for i, p := range c.pending {
		if p.set && p.tick.Epoch == t.Epoch && p.tick.Number < t.Number {
			c.notice(i, p.tick)
		}
		c.pending[i].set = false
	}
	if p := c.peers[0]; c.opts.Progress != nil && p.r.win != nil {
		if at := p.r.win.offset(); at-c.shown >= progressStep {
			c.shown = at
			c.opts.Progress(at, p.r.win.size)
		}
	}
}

// closeTick ends the tick at hand.
func (c *comparer) closeTick() {
	if !c.open {
		return
	}
	c.open = false
	compared := bits.OnesCount64(c.inTick) > 1
	for i, p := range c.peers {
		if c.inTick&(1<<i) != 0 {
			p.cadence.see(c.tick)
		}
	}
	if c.differs {
		c.result.LastDiffering = c.tick
		for i := range c.pending {
			if next := c.result.Noticed[i].Schedule.Next(c.tick.Number); !c.result.Noticed[i].Noticed {
				c.pending[i] = pendingNotice{Tick{c.tick.Epoch, next}, true}
			}
			if p := c.pending[i]; p.set && p.tick == c.tick {
				c.notice(i, p.tick)
				c.pending[i].set = false
			}
		}
	}
	if compared {
		c.result.LastCompared = c.tick
		c.regroup()
		if !c.differs {
			c.prev, c.hasPrev = c.tick, true
		}
	}
}

func (c *comparer) notice(i int, t Tick) {
	if n := &c.result.Noticed[i]; !n.Noticed {
		n.Noticed, n.Tick = true, t
	}
}

// regroup keeps the groups of the tick if they are others than before.
func (c *comparer) regroup() {
	list := c.result.Groups
	if len(list) == 0 && !c.differs || len(list) > 0 && c.inTick == c.grouped && c.class == c.groupedClass {
		return
	}
	c.grouped, c.groupedClass = c.inTick, c.class
	var groups [][]int
	index := map[int8]int{}
	for i := range c.peers {
		if c.inTick&(1<<i) == 0 {
			continue
		}
		g, ok := index[c.class[i]]
		if !ok {
			g = len(groups)
			index[c.class[i]] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	if len(list) > 0 && slices.EqualFunc(list[len(list)-1].Groups, groups, slices.Equal) {
		return
	}
	if c.opts.Limit >= 0 && len(list) >= c.opts.Limit {
		list = list[:len(list)-1] // keep the last one
	}
	c.result.Groups = append(list, Groups{c.tick, groups})
}

// split reports whether peers did not agree at the last tick compared.
func (c *comparer) split() bool {
	n := len(c.result.Groups)
	return n > 0 && len(c.result.Groups[n-1].Groups) > 1
}

// inOrder compares and consumes one record of each peer if all that have the
// tick have the same checkpoint next.
func (c *comparer) inOrder() bool {
	var first *peer
	at := uint64(0)
	for _, p := range c.peers {
		if p.rec == nil || p.at != c.tick {
			continue
		}
		if first == nil {
			first = p
		} else if a, b := first.rec.Checkpoint, p.rec.Checkpoint; a.System != b.System || a.Scope != b.Scope {
			return false
		}
		at |= 1 << p.n
	}
	if c.inTick&^at != 0 || at&(at-1) == 0 {
		return false
	}
	if c.inTick != at {
		if len(c.order) > 0 {
			return false
		}
		c.inTick = at
	}
	k := c.key(first.rec.Checkpoint.System, first.rec.Checkpoint.Scope)
	for _, p := range c.peers {
		c.cells[p.n] = cell{}
		if at&(1<<p.n) != 0 {
			c.cells[p.n] = cell{p.rec.Checkpoint, p.rec.Pos, p.torn, false}
			p.consume()
		}
	}
	c.order = append(c.order, visit{k.system, k.scope, Confirmed})
	c.slot(k, -1)
	return true
}

// key returns what is known of a system and scope. Traces repeat: what came
// behind the last one before is tried first.
func (c *comparer) key(system, scope string) *keyInfo {
	if c.last != nil && c.last.next != nil {
		if k := c.last.next; k.system == system && k.scope == scope {
			c.last = k
			return k
		}
	}
	k := c.keys[key{system, scope}]
	if k == nil {
		k = &keyInfo{key: key{system, scope}, cadence: make([]cadence, len(c.peers))}
		c.keys[k.key] = k
	}
	if c.last != nil {
		c.last.next = k
	}
	c.last = k
	return k
}

// gather reads what is left of the tick from all peers and aligns it.
func (c *comparer) gather() error {
	lists := make([][]cell, len(c.peers))
	for _, p := range c.peers {
		for {
			if err := c.peek(p); err != nil {
				return err
			}
			if p.rec == nil || p.at != c.tick {
				break
			}
			if len(lists[p.n]) == maxInTick {
				return fmt.Errorf("%s: tick %s has more than %d checkpoints", p.info.File, c.tick, maxInTick)
			}
			lists[p.n] = append(lists[p.n], cell{p.rec.Checkpoint.Clone(), p.rec.Pos, p.torn, false})
			c.inTick |= 1 << p.n
			p.consume()
		}
	}
	c.align(lists)
	return nil
}

// place is a checkpoint within a tick.
type place struct {
	k          *keyInfo
	occurrence uint32
}

// align pairs the checkpoints that peers have in the tick at hand, behind those
// of c.order, and compares them in the order of execution.
func (c *comparer) align(lists [][]cell) {
	counts := map[*keyInfo]uint32{}
	for _, v := range c.order {
		counts[c.key(v.system, v.scope)]++
	}
	type slot struct {
		place
		cells []cell
		next  int // slot behind it, -1 at the end
	}
	var slots []slot
	index := map[place]int{}
	head := -1
	var sequences [][]int
	for n, list := range lists {
		own := map[*keyInfo]uint32{}
		before := -1 // slot of the previous item
		var sequence []int
		for _, it := range list {
			k := c.key(it.c.System, it.c.Scope)
			pl := place{k, counts[k] + own[k]}
			own[k]++
			i, ok := index[pl]
			if !ok {
				i = len(slots)
				index[pl] = i
				s := slot{place: pl, cells: make([]cell, len(lists))}
				if before < 0 {
					s.next, head = head, i
				} else {
					s.next, slots[before].next = slots[before].next, i
				}
				slots = append(slots, s)
			}
			slots[i].cells[n] = it
			sequence = append(sequence, i)
			before = i
		}
		sequences = append(sequences, sequence)
	}
	for i := head; i >= 0; i = slots[i].next {
		s := &slots[i]
		copy(c.cells, s.cells)
		c.slot(s.k, int64(s.occurrence))
	}
	for n, sequence := range sequences[1:] {
		c.checkOrder(n+1, sequences[0], sequence, func(i int) (*keyInfo, cell, cell) { return slots[i].k, slots[i].cells[0], slots[i].cells[n+1] })
	}
}

// checkOrder reports where peer n executed the checkpoints that it shares with
// the first one in another order.
func (c *comparer) checkOrder(n int, a, b []int, at func(int) (*keyInfo, cell, cell)) {
	shared := func(list []int) (out []int) {
		for _, i := range list {
			if _, x, y := at(i); x.c != nil && y.c != nil {
				out = append(out, i)
			}
		}
		return out
	}
	a, b = shared(a), shared(b)
	for i := range a {
		if a[i] != b[i] {
			want, _, _ := at(a[i])
			got, first, other := at(b[i])
			c.find(Finding{
				Kind: Reordered, Trace: n, Tick: c.tick, System: got.system, Scope: got.scope, Pos: other.pos, Before: first.pos,
				Expected: want.name(), Got: got.name(),
			})
			return
		}
	}
}

// name returns "system" or "system/scope".
func (k key) name() string {
	if k.scope == "" {
		return k.system
	}
	return k.system + "/" + k.scope
}

func (c *comparer) find(f Finding) {
	c.result.FindingCount++
	if c.opts.Limit < 0 || len(c.result.Findings) < c.opts.Limit {
		c.result.Findings = append(c.result.Findings, f)
	}
}

// slot compares c.cells, the checkpoints of one place in the tick at hand. The
// occurrence is to be counted in c.order if it is below 0.
func (c *comparer) slot(k *keyInfo, occurrence int64) {
	c.seq++
	excused := c.drop()
	var first *cell
	differ := false
	have := uint64(0)
	for i := range c.cells {
		x := &c.cells[i]
		if x.c == nil {
			continue
		}
		have |= 1 << i
		k.cadence[i].see(c.tick)
		if first == nil {
			first = x
		} else if !differ && !sameSums(first.c, x.c) {
			differ = true
		}
	}
	if have == 0 {
		return
	}
	k.seen |= have
	c.meet()
	if differ {
		c.changed(k, occurrence)
	}
	if have != 1<<len(c.cells)-1 {
		c.missing(k, occurrence, have|excused)
	}
}

// meet notes which peers have a value in common with another one.
func (c *comparer) meet() {
	if c.compared == 1<<len(c.peers)-1 {
		return
	}
	for i := range c.cells {
		for j := range i {
			if a, b := c.cells[i].c, c.cells[j].c; a != nil && b != nil && comparable(a, b) {
				c.compared |= 1<<i | 1<<j
			}
		}
	}
}

// comparable reports whether two checkpoints have counts or a sum of the same
// name.
func comparable(a, b *Checkpoint) bool {
	if a.HasCount && b.HasCount {
		return true
	}
	return slices.ContainsFunc(a.Sums, func(s Sum) bool { return find(b.Sums, s.Name) != nil })
}

// drop takes away the checkpoints that cannot be compared: those that were
// predicted and never confirmed, and those of last lines without an end whose
// values are not as long as another peer's and may go on. It returns whose.
func (c *comparer) drop() (peers uint64) {
	for i := range c.cells {
		if c.cells[i].predicted {
			c.cells[i].c = nil
			peers |= 1 << i
		}
		if !c.cells[i].torn || c.cells[i].c == nil {
			continue
		}
		fits := false
		for j := range c.cells {
			if x := &c.cells[j]; i != j && x.c != nil && len(x.c.Sums) == len(c.cells[i].c.Sums) {
				fits = fits || slices.EqualFunc(x.c.Sums, c.cells[i].c.Sums, func(a, b Sum) bool { return len(a.Value) == len(b.Value) })
			}
		}
		if !fits {
			c.cells[i].c = nil
			peers |= 1 << i
		}
	}
	return peers
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sameSums reports whether two checkpoints have the same values where they have
// sums of the same name.
func sameSums(a, b *Checkpoint) bool {
	if a.HasCount && b.HasCount && a.Count != b.Count {
		return false
	}
	for i := range a.Sums {
		x := &a.Sums[i]
		var y *Sum
		if i < len(b.Sums) && b.Sums[i].Name == x.Name {
			y = &b.Sums[i]
		} else if y = find(b.Sums, x.Name); y == nil {
			continue
		}
		if !equalSum(x.Value, y.Value) {
			return false
		}
	}
	return true
}

func find(sums []Sum, name string) *Sum {
	for i := range sums {
		if sums[i].Name == name {
			return &sums[i]
		}
	}
	return nil
}

// changed records that peers have other values.
func (c *comparer) changed(k *keyInfo, occurrence int64) {
	c.result.Changed++
	c.refine(func(i, j int) bool { return sameSums(c.cells[i].c, c.cells[j].c) }, 0)
	c.differ(k, occurrence, Changed)
}

// missing records which peers, but for those of have, lack a checkpoint that
// they should have.
func (c *comparer) missing(k *keyInfo, occurrence int64, have uint64) {
	lack := uint64(0)
	for i, p := range c.peers {
		if have&(1<<i) != 0 || !c.covers(p) || p.mayHaveLost(c.tick) {
			continue
		}
		inTick := c.inTick&(1<<i) != 0
		cad := &k.cadence[i]
		if !inTick {
			cad = &p.cadence
		}
		switch {
		case k.seen&(1<<i) == 0 || cad.ticks < settledCadence:
			c.lack(k, occurrence, i, !inTick)
		case !cad.off(c.tick):
			lack |= 1 << i
		}
	}
	if lack == 0 {
		return
	}
	c.result.Missing++
	c.refine(func(i, j int) bool { return true }, lack)
	c.differ(k, occurrence, Missing)
}

// lack keeps in mind that peer i does not have a checkpoint. It may be something
// that it does not trace, or not at such ticks.
func (c *comparer) lack(k *keyInfo, occurrence int64, i int, wholeTick bool) {
	if k.lacking == nil {
		k.lacking = make([]lacking, 2*len(c.peers))
	}
	l := &k.lacking[2*i]
	if wholeTick {
		l = &k.lacking[2*i+1]
	}
	if l.count++; l.count > 1 {
		return
	}
	d := c.difference(k, occurrence, Missing)
	*l = lacking{count: 1, first: &d, prev: c.prev, hasPrev: c.hasPrev, wholeTicks: wholeTick}
	if c.result.First == nil && k.seen&(1<<i) != 0 {
		l.context = c.context(&d)
	}
}

// covers reports whether p was being traced when the tick at hand was over.
func (c *comparer) covers(p *peer) bool {
	if !p.started || c.tick.compare(p.info.First) < 0 {
		return false
	}
	if !p.done && p.settling == nil || p.settling != nil && !p.settling.over {
		return true
	}
	order := c.tick.compare(p.lastTick())
	return order < 0 || order == 0 && p.info.Ended
}

func (p *peer) lastTick() Tick {
	if p.settling != nil {
		return p.settling.lastTick
	}
	return p.last
}

// refine splits the classes of peers by the checkpoint at hand: those that have
// it by its value, and the peers of lack from those that have it.
func (c *comparer) refine(same func(i, j int) bool, lack uint64) {
	if len(c.peers) == 2 && c.class[0] != c.class[1] {
		return
	}
	next := int8(0)
	var class [maxPeers]int8
	n := len(c.peers)
	for i := range n {
		class[i] = -1
		for j := range i {
			if c.class[i] != c.class[j] {
				continue
			}
			agree := lack&(1<<i) == lack&(1<<j)>>j<<i
			if c.cells[i].c != nil && c.cells[j].c != nil {
				agree = same(i, j)
			}
			if agree {
				class[i] = class[j]
				break
			}
		}
		if class[i] < 0 {
			class[i] = next
			next++
		}
	}
	c.class = class
}

// differ records a difference.
func (c *comparer) differ(k *keyInfo, occurrence int64, kind DifferenceKind) {
	c.differs = true
	c.count(k)
	res := &c.result
	if c.opts.Limit >= 0 && len(res.Differences) >= c.opts.Limit && res.First != nil {
		return
	}
	d := c.difference(k, occurrence, kind)
	if res.First == nil {
		c.first(&d)
	}
	if c.opts.Limit < 0 || len(res.Differences) < c.opts.Limit {
		res.Differences = append(res.Differences, d)
	}
}

// count adds a difference to the cascade.
func (c *comparer) count(k *keyInfo) {
	if k.cascade == nil {
		group := k
		if k.scope != "" {
			// All systems share the scope's entry, which is that of the key without
			// a system.
			group = c.keys[key{"\x00", k.scope}]
			if group == nil {
				group = &keyInfo{}
				c.keys[key{"\x00", k.scope}] = group
			}
		}
		if group.cascade == nil {
			group.cascade = &Cascade{Scope: k.scope, System: k.system, Tick: c.tick, seq: c.seq}
		}
		k.cascade = group.cascade
	}
	k.cascade.Count++
	if k.cascade.Last.compare(c.tick) < 0 {
		k.cascade.Last = c.tick
	}
}

// difference makes a Difference of the cells.
func (c *comparer) difference(k *keyInfo, occurrence int64, kind DifferenceKind) Difference {
	if occurrence < 0 {
		for _, v := range c.order {
			if v.system == k.system && v.scope == k.scope {
				occurrence++
			}
		}
	}
	d := Difference{Kind: kind, Tick: c.tick, System: k.system, Scope: k.scope, Occurrence: uint32(occurrence), seq: c.seq}
	var first *Checkpoint
	for _, x := range c.cells {
		if x.c == nil {
			d.Values = append(d.Values, Value{})
			continue
		}
		d.Values = append(d.Values, Value{true, x.pos, cloneSums(x.c.Sums), x.c.Count, x.c.HasCount})
		if first == nil {
			first = x.c
			continue
		}
		d.Count = d.Count || first.HasCount && x.c.HasCount && first.Count != x.c.Count
		for _, s := range first.Sums {
			if t := find(x.c.Sums, s.Name); t != nil && !equalSum(s.Value, t.Value) && !slices.Contains(d.Sums, s.Name) {
				d.Sums = append(d.Sums, s.Name)
			}
		}
	}
	return d
}

// first takes d as the first difference.
func (c *comparer) first(d *Difference) {
	c.result.First = d
	c.result.Bracket = &Bracket{Good: c.prev, HasGood: c.hasPrev, Bad: c.tick}
	c.result.Context = c.context(d)
}

// context returns what surrounds d in each trace.
func (c *comparer) context(d *Difference) []Context {
	if c.opts.Context < 0 {
		return nil
	}
	// Cells may point into windows, which capturing moves.
	for i := range c.cells {
		if c.cells[i].c != nil {
			c.cells[i].c = c.cells[i].c.Clone()
		}
	}
	list := make([]Context, len(c.peers))
	for i, p := range c.peers {
		p.capture(&list[i], &d.Values[i], c.opts.Context)
	}
	return list
}

// finish completes the result.
func (c *comparer) finish() *Result {
	res := &c.result
	c.resolve()
	if res.First != nil {
		for i := range res.Noticed {
			n := &res.Noticed[i]
			if p := c.pending[i]; !n.Noticed && p.set {
				n.Open, n.Tick = true, p.tick
			}
			if (n.Noticed || n.Open) && n.Tick.Epoch == res.First.Tick.Epoch {
				n.Late = n.Tick.Number - res.First.Tick.Number
			}
		}
	}
	for i := range c.peers {
		if c.compared&(1<<i) == 0 && !res.Traces[i].Empty {
			res.Uncompared = append(res.Uncompared, i)
		}
	}
	seen := map[*Cascade]bool{}
	for _, k := range c.keys {
		if k.cascade != nil && !seen[k.cascade] {
			seen[k.cascade] = true
			res.Cascade = append(res.Cascade, *k.cascade)
		}
	}
	slices.SortFunc(res.Cascade, func(a, b Cascade) int { return int(a.seq - b.seq) })
	// How much was skipped is nobody's business.
	for i := range res.Cascade {
		res.Cascade[i].seq = 0
	}
	for i := range res.Differences {
		res.Differences[i].seq = 0
	}
	if res.First != nil {
		res.First.seq = 0
	}
	for i := range res.Traces {
		t := &res.Traces[i]
		switch {
		case t.Trouble != "" && t.Malformed > 0:
			c.warn("%s: %d lines are no records, the first is %s", t.File, t.Malformed, t.Trouble)
		case t.Trouble != "":
			c.warn("%s: %s", t.File, strings.TrimPrefix(t.Trouble, t.File+": "))
		}
	}
	return res
}

// resolve decides about checkpoints that peers lacked before they first had
// them: those that never have them do not trace them.
func (c *comparer) resolve() {
	res := &c.result
	for _, k := range c.keys {
		var untraced Untraced
		for i, l := range k.lacking {
			switch {
			case l.count == 0:
			case l.wholeTicks && c.peers[i/2].cadence.ticks < knownCadence:
				res.Unsure += l.count
			case k.seen&(1<<(i/2)) == 0:
				if !slices.Contains(untraced.Traces, i/2) {
					untraced.Traces = append(untraced.Traces, i/2)
				}
				untraced.Count = max(untraced.Count, k.lacking[i&^1].count+k.lacking[i|1].count)
			case l.wholeTicks && c.peers[i/2].cadence.off(l.first.Tick):
			case !l.wholeTicks && k.cadence[i/2].ticks >= settledCadence && k.cadence[i/2].off(l.first.Tick):
			default:
				c.late(k, l)
			}
		}
		if untraced.Count > 0 {
			untraced.System, untraced.Scope = k.system, k.scope
			res.Untraced = append(res.Untraced, untraced)
		}
	}
	slices.SortFunc(res.Untraced, func(a, b Untraced) int {
		return strings.Compare(a.System+"\x00"+a.Scope, b.System+"\x00"+b.Scope)
	})
	slices.SortStableFunc(res.Differences, func(a, b Difference) int { return int(a.seq - b.seq) })
}

// late adds differences that were found to be some only later. Of several only
// the first was kept.
func (c *comparer) late(k *keyInfo, l lacking) {
	res := &c.result
	d := l.first
	res.Missing += l.count
	tick, seq := c.tick, c.seq
	c.tick, c.seq = d.Tick, d.seq
	c.count(k)
	k.cascade.Count += l.count - 1
	if k.cascade.seq > d.seq {
		k.cascade.Tick, k.cascade.System, k.cascade.seq = d.Tick, k.system, d.seq
	}
	c.tick, c.seq = tick, seq
	if res.LastDiffering.compare(d.Tick) < 0 {
		res.LastDiffering = d.Tick
	}
	if res.First == nil || res.First.seq > d.seq {
		if res.First == nil || res.First.Tick != d.Tick {
			res.Bracket = &Bracket{Good: l.prev, HasGood: l.hasPrev, Bad: d.Tick}
		}
		res.First, res.Context = d, l.context
	}
	res.Differences = append(res.Differences, *d)
}

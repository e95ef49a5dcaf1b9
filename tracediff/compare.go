package tracediff

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
)

const (
	maxPeers = 64
	// settleAfter is how many ticks a trace may go back by default.
	settleAfter = 256
	// progressStep is the maximum number of bytes that are read from a trace between two calls of Options.Progress,
	// unless it is read in larger pieces.
	progressStep = 8 << 20
)

// errRollback reports that a comparison for traces without rollbacks found one.
var errRollback = errors.New("trace goes back to an earlier tick or predicts")

// Compare compares two or more traces. Records are aligned by epoch, tick, system, scope, phase and occurrence. Where
// traces are equal byte by byte, only their bytes are read. It keeps a few megabytes of each trace in memory.
//
// An error means that no comparison was possible. A trace that is damaged or breaks off is compared up to that place,
// and its TraceInfo reports it.
func Compare(list []*Trace, opts Options) (*Result, error) { return compare(list, opts, usual, true) }

func compare(list []*Trace, opts Options, z sizes, mapped bool) (*Result, error) {
	if len(list) < 2 && len(opts.Claims) > 0 {
		return claimed(list, opts), nil
	}
	if len(list) < 2 || len(list) > maxPeers {
		return nil, fmt.Errorf("%d traces, expected 2 to %d", len(list), maxPeers)
	}
	warnings := otherBuilds(list)
	if err := Comparable(list); err != nil {
		if !opts.Force {
			return nil, err
		}
		warnings = append(warnings, err.Error())
	}
	opts.Limit = cmp.Or(opts.Limit, DefaultLimit)
	opts.Context = cmp.Or(opts.Context, 3)
	opts.Rollback = cmp.Or(opts.Rollback, settleAfter)
	// A comparison restarts if the traces turn out to have rollbacks, and if a file shrinks during it.
	// Where only the first difference is wanted, what comes after it is not read and cannot show that it is a guess.
	rollback, straight := false, !opts.FirstOnly && !slices.ContainsFunc(list, func(t *Trace) bool { return t.once })
	for {
		c := &comparer{opts: opts, list: list, sizes: z, mapped: mapped, straight: straight, rollback: rollback, noise: noiseOf(list)}
		c.result.Warnings = slices.Clone(warnings)
		res, err := c.run()
		once := slices.ContainsFunc(list, func(t *Trace) bool { return t.once })
		switch {
		case errors.Is(err, errCut) && mapped && !once:
			mapped = false
		case errors.Is(err, ErrBack) && straight:
			straight = false
		case err == errRollback && once:
			return nil, fmt.Errorf("%s, which its first %d KiB do not show: such a trace must be a file", c.culprit, z.head>>10)
		case err == errRollback && !rollback:
			rollback, straight = true, false
		default:
			return res, err
		}
	}
}

// comparer is the working state of one comparison.
type comparer struct {
	opts     Options
	list     []*Trace
	sizes    sizes
	mapped   bool
	straight bool // see opening
	rollback bool
	culprit  string // the trace that caused errRollback

	peers    []*peer
	result   Result
	compared uint64 // peers that have a value in common with another peer
	seq      int64  // counts compared checkpoints, to order the findings

	// The current tick.
	tick     Tick
	open     bool
	inTick   uint64           // peers that have confirmed records in it
	guessed  uint64           // peers that predicted a part of it and never confirmed that part
	shared   uint64           // peers that have a checkpoint in common with another one
	unsure   uint64           // peers with a checkpoint that was not compared although others have it
	order    []visit          // its checkpoints so far, in order
	differs  bool             // a checkpoint in this tick differs
	agreed   bool             // the first checkpoints of this tick agree
	seal     string           // the same Checkpoint.Seal of all traces with this tick, else ""
	apart    [maxPeers]uint64 // for each peer, the peers that differ from it at this tick
	cells    []cell           // scratch, one for each peer
	gathered gathered
	noise    func(sum string) bool
	noises   map[string]*Noise // by sum

	partings     partings
	parted       bool   // traces differed at the last tick that was compared
	grouped      uint64 // inTick and apart when Groups was last computed
	groupedApart [maxPeers]uint64

	witnesses map[uint64]*witness // for ticks that claims name
	mainSums  [][]byte            // sums of the current tick, if claims name it

	prev    Tick // the last tick that was compared and is over
	hasPrev bool

	keys map[key]*keyInfo
	last *keyInfo

	alike   bool  // the same bytes mean the same in all traces
	noSkip  int64 // offset in the first peer below which skipping is not tried
	backoff int64

	pending []pendingNotice // one for each schedule
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
		r, err := t.open(opening{interned, c.mapped, c.straight, c.sizes})
		if err != nil {
			return nil, err
		}
		info := &c.result.Traces[i]
		*info = TraceInfo{Name: t.Name, File: t.File, Header: r.header, Grammar: r.grammar.kind, Dialect: t.Dialect, Packing: t.Packing, Empty: true}
		p := &peer{n: i, r: r, info: info, trace: t}
		p.last.Epoch = p.epoch(0)
		c.peers = append(c.peers, p)
	}
	c.follow()
	c.collectClaims()
	if c.rollback {
		err = c.settled()
	} else {
		c.alike = c.sameGrammar()
		if err = c.skipSources(); err == nil {
			err = c.plain()
		}
	}
	if err != nil {
		return nil, err
	}
	return c.finish(), nil
}

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
			// If only one trace continues, that is not a difference. The exception is the rest of a tick that the
			// others have.
			if live == 0 || !c.open || tick != c.tick {
				c.closeTick()
				return c.confirm()
			}
		}
		if err := c.enter(tick); err != nil {
			return err
		}
		if c.opts.FirstOnly && !c.open && c.result.First != nil {
			return nil
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

// confirm reads on in traces that go on, as far as records before may turn out to be predictions.
func (c *comparer) confirm() error {
	for _, p := range c.peers {
		if s, ok := p.r.source.(Straight); ok && c.straight {
			if err := s.Confirm(); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter makes a tick the current one. Where only the first difference is wanted and known, no tick is.
func (c *comparer) enter(tick Tick) error {
	n := len(c.keys)
	if c.open && tick == c.tick {
		n = max(n, len(c.order))
	}
	if limits.Checkpoints.Over(int64(n)) {
		return limits.Checkpoints.Reached(c.list[0].File, 0)
	}
	if !c.open || tick != c.tick {
		if c.closeTick(); c.opts.FirstOnly && c.result.First != nil {
			return nil
		}
		c.openTick(tick)
	}
	return nil
}

// pairwise is a fast path where two traces differ line by line. It does the same as plain, but handles only the usual
// form of lines. It continues as long as both traces have lines of the same known checkpoints, and these differ.
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
			fa.last, fb.last = lastA, lastB // these lines are read again
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

func (c *comparer) warn(format string, args ...any) {
	c.result.Warnings = append(c.result.Warnings, fmt.Sprintf(format, args...))
}

// openTick begins a tick.
func (c *comparer) openTick(t Tick) {
	c.tick, c.open, c.differs, c.agreed = t, true, false, false
	c.partings.begin()
	c.seal = c.sealed(t)
	c.inTick, c.guessed, c.shared, c.unsure = 0, 0, 0, 0
	c.order = c.order[:0]
	c.mainSums = c.mainSums[:0]
	for i := range c.peers {
		c.apart[i] = 0
	}
	for i, p := range c.pending {
		if p.set && p.tick.Epoch == t.Epoch && p.tick.Number < t.Number {
			c.notice(i, p.tick)
		}
		c.pending[i].set = false
	}
}

// sealed returns the seal that all traces with a tick have, "" if they have different ones or none.
func (c *comparer) sealed(t Tick) (seal string) {
	n := 0
	for _, p := range c.peers {
		if p.rec == nil || p.at != t {
			continue
		}
		if n++; n > 1 && p.rec.Checkpoint.Seal != seal {
			return ""
		}
		seal = p.rec.Checkpoint.Seal
	}
	return seal
}

// broken takes a difference in a sealed tick: one of the traces is damaged. It reports false if the tick is not sealed.
func (c *comparer) broken(at Position) bool {
	if c.seal == "" {
		return false
	}
	for i, p := range c.peers {
		if c.inTick&(1<<i) == 0 {
			continue
		}
		if p.info.Malformed++; p.info.Malformed == 1 {
			p.info.Trouble = fmt.Sprintf("%s: %s: differs, but all files have the checksum %s for the whole tick: one is damaged", p.info.File, at, c.seal)
		}
	}
	return true
}

// follow reports the progress of the largest file with a known size.
func (c *comparer) follow() {
	if c.opts.Progress == nil {
		return
	}
	var largest *Reader
	size := int64(0)
	for _, p := range c.peers {
		if _, total := p.r.progress(); total > size {
			largest, size = p.r, total
		}
	}
	if largest == nil {
		return
	}
	shown, step := int64(0), min(progressStep, size/100)
	largest.follow(func() {
		if done, total := largest.progress(); done-shown >= step {
			shown = done
			c.opts.Progress(done, total)
		}
	})
}

// known returns the peers that differ from others in the current tick, or are known to be equal to them: checkpoints that
// no other peer has and guesses show neither.
func (c *comparer) known() uint64 {
	there := c.shared &^ c.unsure
	for i := range c.peers {
		if c.apart[i] != 0 {
			there |= 1 << i
		}
	}
	return there
}

// closeTick ends the current tick.
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
	c.testify()
	if b := c.result.Bracket; len(c.peers) > 2 && c.differs && *b == (Bracket{c.prev, c.hasPrev, c.tick}) {
		b.Good, b.HasGood = good(c.groups(), c.partings.meetings()) // others may have been compared in the tick before
		c.result.passed = c.result.passed || b.Good != c.prev
	}
	if c.result.First == nil { // it may follow ticks that only some traces have
		c.result.passed = !compared
	}
	there := c.known()
	c.closeParting(there)
	if compared {
		c.result.LastCompared = c.tick
		c.parted = c.differs
		c.regroup()
		if !c.differs && bits.OnesCount64(there) > 1 {
			c.prev, c.hasPrev = c.tick, true
			if c.result.First != nil && !c.partings.open && !c.result.LastDiffering.Before(c.result.EqualFrom) {
				c.result.EqualFrom = c.tick
			}
		}
	}
}

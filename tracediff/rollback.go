package tracediff

import (
	"fmt"
	"slices"
)

// maxOpen is the maximum number of checkpoints, in ticks that may still change, to keep for a trace. If a trace has
// more, its oldest ticks are settled early.
const maxOpen = 1 << 18

// maxKept is the maximum number of TraceInfo.Kept.
const maxKept = 64

// settled compares traces that predict and roll back. A tick is compared when no trace can go back to it any more, by
// the values that were confirmed last.
func (c *comparer) settled() error {
	for _, p := range c.peers {
		p.settling = &settler{
			c: c, p: p, depth: c.opts.Rollback, epoch: p.epoch(0),
			ticks: map[uint64]*passes{}, saves: map[uint64]saved{}, inputs: map[inputKey]saved{}, wrong: map[uint64]KeptGuess{},
		}
		p.info.Rollback = &p.settling.stats
	}
	for {
		var tick Tick
		live := 0
		for _, p := range c.peers {
			if err := p.settling.fill(); err != nil {
				return err
			}
			if p.settling.ready == nil {
				continue
			}
			if t := p.settling.ready.tick; live == 0 || t.compare(tick) < 0 {
				tick = t
			}
			live++
		}
		if live < 2 {
			// No other trace reaches further, but the findings within this trace still count.
			for _, p := range c.peers {
				for p.settling.ready != nil {
					p.settling.ready = nil
					if err := p.settling.fill(); err != nil {
						return err
					}
				}
			}
			return nil
		}
		c.openTick(tick)
		lists := make([][]cell, len(c.peers))
		for i, p := range c.peers {
			s := p.settling
			if s.ready == nil || s.ready.tick != tick {
				continue
			}
			for _, it := range s.ready.items {
				if it.confirmed != nil {
					lists[i] = append(lists[i], cell{c: it.confirmed, pos: it.pos, torn: it.torn})
					c.inTick |= 1 << i
				} else {
					lists[i] = append(lists[i], cell{c: it.predicted, predicted: true})
					c.guessed |= 1 << i
				}
			}
			if len(lists[i]) > 0 {
				p.at = tick
				p.consume()
			}
			s.ready = nil
		}
		c.align(lists)
		if c.closeTick(); c.opts.FirstOnly && c.result.First != nil {
			return nil
		}
	}
}

// settler reads a trace and keeps the ticks to which it may go back.
type settler struct {
	c     *comparer
	p     *peer
	depth uint64 // in ticks
	stats RollbackStats

	queue    []*passes          // ticks in memory, in order
	ticks    map[uint64]*passes // the ticks in queue that belong to the current epoch
	held     int                // checkpoints in these ticks
	ready    *passes            // settled and not yet taken
	over     bool
	lastTick Tick // the last settled tick

	epoch   uint64
	begun   bool   // the epoch has ticks
	current uint64 // tick of the last checkpoint
	newest  uint64
	settled uint64 // earlier ticks are over
	cadence cadence
	pass    int
	seq     int64

	saves   map[uint64]saved
	inputs  map[inputKey]saved
	wrong   map[uint64]KeptGuess // by tick, until a restore leads back to it
	restore *restore
	writes  bool // restores
}

// passes is a tick that may be simulated again.
type passes struct {
	tick  Tick
	items []*confirmation
	index map[spot]*confirmation
	pass  int              // the pass that n counts
	n     map[visit]uint32 // checkpoints in that pass
}

// superseded reports whether a checkpoint is a guess that a later pass over the tick made again in another place: that pass
// confirmed the same system and scope, and lacks this one.
func (t *passes) superseded(it *confirmation) bool {
	if it.confirmed != nil || it.pass == t.pass {
		return false
	}
	first := t.index[spot{it.predicted.System, it.predicted.Scope, 0}]
	return first != it && first.confirmed != nil && first.pass > it.pass
}

// spot is a checkpoint within a tick, in either phase.
type spot struct {
	system, scope string
	n             uint32
}

// confirmation is the data about one checkpoint.
type confirmation struct {
	predicted *Checkpoint // the last one before it was confirmed
	confirmed *Checkpoint // the last one
	pos       Position    // of confirmed
	seq       int64       // of confirmed
	torn      bool
	pass      int // that had it last
}

// saved is a state or an input.
type saved struct {
	sums  []Sum
	pos   Position
	phase Phase
}

type inputKey struct {
	tick   uint64
	player uint32
}

// restore is the last restore, until its resimulation has begun.
type restore struct {
	point, at uint64
	pos       Position
}

// fill reads until a tick is settled, or the trace ends.
func (s *settler) fill() error {
	for s.ready == nil {
		if len(s.queue) > 0 {
			oldest := s.queue[0].tick
			if s.p.done || oldest.Epoch < s.epoch || s.newest-oldest.Number > s.depth || s.held > maxOpen {
				s.settle()
				continue
			}
		}
		if s.p.done {
			s.over = true
			return nil
		}
		rec, err := s.p.read()
		switch {
		case err != nil:
			return err
		case rec == nil:
		case rec.Event != nil:
			s.event(rec)
		default:
			s.checkpoint(rec)
		}
	}
	return nil
}

// settle makes the oldest tick ready.
func (s *settler) settle() {
	t := s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	s.held -= len(t.items)
	if t.tick.Epoch == s.epoch {
		delete(s.ticks, t.tick.Number)
		s.settled = t.tick.Number + 1
		if k, ok := s.wrong[t.tick.Number]; ok && s.writes && len(s.p.info.Kept) < maxKept {
			s.p.info.Kept = append(s.p.info.Kept, k)
		}
		delete(s.wrong, t.tick.Number)
	}
	t.items = slices.DeleteFunc(t.items, t.superseded)
	for _, it := range t.items {
		if it.confirmed == nil {
			s.stats.Unconfirmed++
		}
	}
	s.p.info.ahead(t.tick, !slices.ContainsFunc(t.items, func(it *confirmation) bool {
		return it.confirmed != nil || it.predicted.Unsettled
	}))
	slices.SortFunc(t.items, func(a, b *confirmation) int { return int(a.seq - b.seq) })
	s.ready, s.lastTick = t, t.tick
	if t.tick.Number%64 == 0 {
		s.forget()
	}
}

// forget drops states and inputs to which the trace cannot go back.
func (s *settler) forget() {
	for tick := range s.saves {
		if tick+s.depth < s.settled {
			delete(s.saves, tick)
		}
	}
	for k := range s.inputs {
		if k.tick+s.depth < s.settled {
			delete(s.inputs, k)
		}
	}
}

func (s *settler) find(kind FindingKind, tick uint64, r *Record) *Finding {
	f := Finding{Kind: kind, Trace: s.p.n, Tick: Tick{s.epoch, tick}, Pos: r.Pos}
	if c := r.Checkpoint; c != nil {
		f.System, f.Scope = c.System, c.Scope
	}
	return &f
}

func (s *settler) checkpoint(rec *Record) {
	c := rec.Checkpoint
	if s.begun && c.Tick < s.newest && (s.newest-c.Tick > s.depth || s.p.trace.Dialect.Restarts) && s.restore == nil {
		if s.p.torn {
			return
		}
		s.newEpoch(rec)
	}
	if s.begun && c.Tick < s.settled {
		if s.stats.BeyondWindow++; s.stats.BeyondWindow == 1 {
			s.c.warn("%s: %s simulates tick %d again, %d ticks back: more than %d are not followed", s.p.info.File, rec.Pos, c.Tick, s.newest-c.Tick, s.depth)
		}
		return
	}
	s.resimulated(rec)
	if s.begun && c.Tick < s.current && s.restore == nil {
		s.wentBack(s.current + 1 - c.Tick)
	}
	s.restore = nil
	if s.p.hurt {
		s.p.lose(Tick{s.epoch, min(s.current, c.Tick)}, Tick{s.epoch, max(s.current, c.Tick)})
	}
	if !s.begun || c.Tick > s.newest {
		s.newest = c.Tick
		s.cadence.see(Tick{s.epoch, c.Tick})
	}
	s.begun, s.current = true, c.Tick

	t := s.at(c.Tick)
	if t.pass != s.pass {
		clear(t.n)
		t.pass = s.pass
	}
	v := visit{c.System, c.Scope, c.Phase}
	at := spot{c.System, c.Scope, t.n[v]}
	t.n[v]++
	it := t.index[at]
	if it == nil {
		it = new(confirmation)
		t.index[at] = it
		t.items = append(t.items, it)
		s.held++
	}
	it.pass = s.pass
	if c.Phase == Predicted {
		s.stats.Predicted++
		if it.confirmed == nil {
			s.seq++
			it.predicted, it.seq = c.Clone(), s.seq
		}
		return
	}
	s.confirm(it, rec)
}

// confirm handles a confirmed checkpoint.
func (s *settler) confirm(it *confirmation, rec *Record) {
	c := rec.Checkpoint
	s.stats.Confirmed++
	switch {
	case it.confirmed != nil:
		s.stats.ConfirmedTwice++
		if !sameSums(it.confirmed, c, s.c.noise) && !s.p.torn {
			s.stats.ConfirmedChange++
			f := s.find(ConfirmedChanged, c.Tick, rec)
			f.Before = it.pos
			f.Expected, f.Got = describe(it.confirmed.Sums, c.Sums)
			if f.Expected == "" { // the counts differ
				f.Expected, f.Got = fmt.Sprintf("n=%d", it.confirmed.Count), fmt.Sprintf("n=%d", c.Count)
			}
			s.c.find(*f)
		}
	case it.predicted != nil:
		if !sameSums(it.predicted, c, s.c.noise) {
			s.stats.Mispredictions++
		}
		it.predicted = nil
	}
	s.seq++
	it.confirmed, it.pos, it.seq, it.torn = c.Clone(), rec.Pos, s.seq, s.p.torn
}

// describe returns the values of the first sum that differs.
func describe(a, b []Sum) (before, after string) {
	for _, x := range a {
		if y := find(b, x.Name); y != nil && !equalSum(x.Value, y.Value) {
			return string(x.Value), string(y.Value)
		}
	}
	return "", ""
}

// at returns the tick with that number.
func (s *settler) at(number uint64) *passes {
	t := s.ticks[number]
	if t == nil {
		t = &passes{tick: Tick{s.epoch, number}, index: map[spot]*confirmation{}, pass: s.pass, n: map[visit]uint32{}}
		s.ticks[number] = t
		i := len(s.queue)
		for i > 0 && t.tick.compare(s.queue[i-1].tick) < 0 {
			i--
		}
		s.queue = slices.Insert(s.queue, i, t)
	}
	return t
}

// newEpoch begins an epoch because a checkpoint goes back further than a rollback may.
func (s *settler) newEpoch(rec *Record) {
	s.p.last = Tick{s.epoch, s.newest}
	s.epoch = s.p.epoch(s.p.info.Epochs + 1)
	s.c.newEpoch(s.p, rec, Tick{s.epoch, rec.Checkpoint.Tick})
	clear(s.ticks)
	clear(s.saves)
	clear(s.inputs)
	clear(s.wrong)
	s.restore = nil
	s.begun, s.settled = false, 0
	s.pass++
}

// wentBack counts a rollback by n ticks.
func (s *settler) wentBack(n uint64) {
	s.pass++
	s.stats.Rollbacks++
	s.stats.Deepest = max(s.stats.Deepest, n)
}

// resimulated checks that the first checkpoint after a restore belongs to the tick after the restored state.
func (s *settler) resimulated(rec *Record) {
	tick := rec.Checkpoint.Tick
	if r := s.restore; r != nil && s.cadence.stride == 1 && tick != r.point {
		f := s.find(ResimulationOff, r.point, rec)
		f.Before = r.pos
		f.Expected, f.Got = fmt.Sprintf("tick %d", r.point), fmt.Sprintf("tick %d", tick)
		s.c.find(*f)
	}
}

func (s *settler) event(rec *Record) {
	e := rec.Event
	sums := saved{cloneSums(e.Sums), rec.Pos, e.Phase}
	switch e.Kind {
	case Save:
		s.saves[e.Tick] = sums
	case Restore:
		if before, ok := s.saves[e.Tick]; ok {
			if want, got := describe(before.sums, e.Sums); want != got {
				f := s.find(RestoreMismatch, e.Tick, rec)
				f.Before, f.Expected, f.Got = before.pos, want, got
				s.c.find(*f)
			}
		}
		s.restore, s.writes = &restore{e.Tick, e.Other, rec.Pos}, true
		for tick := range s.wrong {
			if e.Tick <= tick && tick < e.Other {
				delete(s.wrong, tick)
			}
		}
		if e.Other > e.Tick {
			s.wentBack(e.Other - e.Tick)
		} else {
			s.pass++
		}
	case Resimulate:
		r := s.restore
		if r == nil || e.Tick == r.point && (e.Other+1 == r.at || r.at == 0) {
			return
		}
		f := s.find(ResimulationOff, e.Tick, rec)
		f.Before = r.pos
		f.Expected, f.Got = ticks(r.point, r.at-1), ticks(e.Tick, e.Other)
		s.c.find(*f)
		s.restore = &restore{e.Tick, 0, rec.Pos} // it was reported; the ticks that follow are as announced
	case Input:
		s.input(rec, sums)
	}
}

func ticks(from, to uint64) string { return fmt.Sprintf("ticks %d to %d", from, to) }

// input compares an input that was used with the known inputs.
func (s *settler) input(rec *Record, used saved) {
	e := rec.Event
	k := inputKey{e.Tick, e.Player}
	before, known := s.inputs[k]
	if e.Phase == Predicted {
		s.stats.GuessedInputs++
	}
	want, got := describe(before.sums, used.sums)
	switch {
	case known && before.phase == Confirmed:
		if want != got {
			f := s.find(InputAfterConfirmed, e.Tick, rec)
			f.Player, f.Before, f.Expected, f.Got = e.Player, before.pos, want, got
			s.c.find(*f)
		}
		if e.Phase == Predicted {
			return
		}
	case known && e.Phase == Confirmed && want != got:
		s.stats.WrongInputs++
		if _, ok := s.wrong[e.Tick]; !ok && (!s.begun || e.Tick >= s.settled) {
			s.wrong[e.Tick] = KeptGuess{Tick{s.epoch, e.Tick}, e.Player, want, got, rec.Pos}
		}
	}
	s.inputs[k] = used
}

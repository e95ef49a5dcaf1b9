package bisect

import (
	"fmt"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// player replays one log.
type player struct {
	log      *orderlog.Log
	sim      *Sim
	opts     TrialOptions
	out      *Trial
	orders   map[uint64][]orderlog.Order
	recorded map[uint64]merkle.Short // by the log's own peer

	mu   sync.Mutex
	done int64
	all  int64
}

// prepare finds out from where to where the log can be replayed.
func (p *player) prepare() error {
	own := &Peer{log: p.log, set: &snapshot.Set{}}
	own.record()
	p.out.Lost = own.lost
	p.recorded = own.syncs
	p.out.From = p.log.Header.FirstPoint
	if start := p.log.Header.Start; !start.IsZero() {
		if got, ok := p.recorded[p.out.From]; ok && got != start.Short() {
			p.out.Lost = append(p.out.Lost, fmt.Sprintf("%s contradicts itself: at state point %d its header has hash %s, its hashes %s", p.log.Name, p.out.From, start.Short(), got))
		} else if p.recorded == nil {
			p.recorded = map[uint64]merkle.Short{p.out.From: start.Short()}
		} else {
			p.recorded[p.out.From] = start.Short()
		}
	}
	if p.opts.Expect != nil {
		p.recorded = p.opts.Expect
	}
	if w := p.opts.From; w != nil {
		if w.Seed != p.log.Header.Seed {
			return fmt.Errorf("the snapshot is of seed %016x, %s of %016x", w.Seed, p.log.Name, p.log.Header.Seed)
		}
		p.out.From = w.Point.Tick
	}
	r := run{log: p.log}
	r.cover(p.out.From)
	p.orders, p.out.To = r.orders, r.end
	if p.opts.Until > 0 {
		if p.opts.Until > r.end {
			return fmt.Errorf("%s: its orders are known up to state point %d only, not to %d", p.log.Name, r.end, p.opts.Until)
		}
		p.out.To = p.opts.Until
	}
	if p.out.To < p.out.From {
		return fmt.Errorf("%s: state point %d is before %d, where the replay would begin", p.log.Name, p.out.To, p.out.From)
	}
	return nil
}

// start starts an instance at p.out.From.
func (p *player) start(sim *Sim) (Simulator, error) {
	var s Simulator
	var err error
	if p.opts.From != nil {
		s, err = sim.Resume(p.opts.From, &p.log.Header)
	} else {
		s, err = sim.Start(&p.log.Header)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot replay %s: %w", sim.Name, p.log.Name, err)
	}
	if at := s.Point(); at != p.out.From {
		return nil, fmt.Errorf("%s begins at state point %d, expected %d", sim.Name, at, p.out.From)
	}
	return s, nil
}

// step plays the tick at hand.
func (p *player) step(s Simulator) error {
	if err := s.Step(p.orders[s.Point()]); err != nil {
		return fmt.Errorf("tick %d of %s: %w", s.Point(), p.log.Name, err)
	}
	p.count()
	return nil
}

// count counts a tick that was played.
func (p *player) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Ticks++
	if p.done++; p.opts.Progress != nil {
		p.opts.Progress(p.done, p.all)
	}
}

func (p *player) length() int64 { return int64(p.out.To - p.out.From) }

// plain replays against recorded hashes.
func (p *player) plain() error {
	p.all = p.length()
	s, err := p.start(p.sim)
	if err != nil {
		return err
	}
	if v, ok := s.(Validator); ok {
		p.validate(v)
	}
	var drill *drill
	if p.opts.Drill {
		if drill, err = p.driller(s); err != nil {
			return err
		}
	}
	for {
		point, got := s.Point(), s.SyncHash()
		if p.opts.Observe != nil {
			if err := p.opts.Observe(point, got); err != nil {
				return err
			}
		}
		if want, ok := p.recorded[point]; ok && p.out.First == nil {
			p.out.Compared++
			if want != got {
				d := &Departure{Point: point, A: p.source(), B: p.sim.Name, Expected: want, Got: got}
				p.out.First = d
				p.held(d, s)
				if drill != nil && point > p.out.From {
					d.Proof = "the trace does not tell which system it was"
				}
				if err := p.twice(d); err != nil {
					return err
				}
			} else {
				p.out.Agreed = &point
			}
		}
		if point == p.out.To || p.out.First != nil && p.opts.Observe == nil {
			return nil
		}
		if drill == nil || p.out.First != nil {
			err = p.step(s)
		} else if err = drill.step(); err == nil && p.out.First != nil {
			return p.twice(p.out.First)
		}
		if err != nil {
			return err
		}
	}
}

// validate notes the orders that the simulator ignores.
func (p *player) validate(v Validator) {
	n, first := 0, ""
	for tick := p.out.From; tick < p.out.To; tick++ {
		for i := range p.orders[tick] {
			o := &p.orders[tick][i]
			if err := v.Validate(o); err != nil {
				if n++; n == 1 {
					first = fmt.Sprintf("in tick %d, of player %d: %v", tick, o.Player, err)
				}
			}
		}
	}
	if n > 0 {
		p.out.Notes = append(p.out.Notes, fmt.Sprintf("%s ignores %d of the orders, the first %s", p.sim.Name, n, first))
	}
}

// caches replays and computes all caches again after each tick.
func (p *player) caches() error {
	p.all = p.length()
	s, err := p.start(p.sim)
	if err != nil {
		return err
	}
	checker, ok := s.(CacheChecker)
	if !ok {
		return fmt.Errorf("%s cannot check its caches", p.sim.Name)
	}
	for {
		point := s.Point()
		stale, err := checker.StaleCaches()
		if err != nil {
			return err
		}
		p.out.Compared++
		if len(stale) > 0 {
			p.out.First = &Departure{Point: point, A: "computed again", B: p.sim.Name, Caches: slices.Clone(stale)}
			return nil
		}
		p.out.Agreed = &point
		if point == p.out.To {
			return nil
		}
		if err := p.step(s); err != nil {
			return err
		}
	}
}

// source names what recorded the hashes that a plain replay is held against.
func (p *player) source() string {
	if p.opts.Expect != nil {
		return "expected"
	}
	if p.log.Header.Peer != "" {
		return p.log.Header.Peer
	}
	return p.log.Name
}

// held tells what departs by the peer's snapshot of that point, if it left one.
func (p *player) held(d *Departure, s Simulator) {
	saver, ok := s.(Saver)
	if !ok || p.opts.Snapshots == nil {
		return
	}
	e := p.opts.Snapshots.At(snapshot.Point{Tick: d.Point})
	if e == nil {
		return
	}
	state, err := e.Open()
	if err != nil {
		if state != nil {
			state.Close()
		}
		p.out.Lost = append(p.out.Lost, err.Error())
		return
	}
	defer state.Close()
	d.Diff = p.diff(state, saver.World())
}

// diff compares a state with what a simulator has.
func (p *player) diff(a snapshot.State, b *snapshot.World) *snapshot.Diff {
	held, err := snapshot.Hold(b)
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	d, err := snapshot.Compare(a, held, snapshot.DiffOptions{Force: true})
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	return d
}

// twice replays up to a departure a second time: before a peer is blamed, the
// simulator must agree with itself.
func (p *player) twice(d *Departure) error {
	s, err := p.start(p.sim)
	if err != nil {
		return err
	}
	whole := d.Point
	if d.System != "" {
		whole-- // the departure is inside the tick before
	}
	for s.Point() < whole {
		if err := p.step(s); err != nil {
			return err
		}
	}
	if d.System != "" {
		if err := p.stepTo(s.(Stepper), d.System); err != nil {
			return err
		}
	}
	if again := s.SyncHash(); again != d.Got {
		p.out.Means = fmt.Sprintf("%s itself is not deterministic: a second replay has %s at that point; nothing follows for the peer", p.sim.Name, again)
	}
	return nil
}

package bisect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// player replays one stretch of a log, or a part of it.
type player struct {
	log      *orderlog.Log
	sim      *Sim
	opts     TrialOptions
	out      *Trial
	from     origin
	mark     map[uint64]merkle.Short   // hashes of a plain replay at the requested points
	mine     func(*snapshot.Info) bool // whether a snapshot belongs to the stretch
	hits     []bool                    // of the replays of Repeat, which departed
	orders   map[uint64][]orderlog.Order
	recorded map[uint64]merkle.Short // by the log's own peer
	rooted   bool                    // recorded are roots of snapshots

	mu      sync.Mutex
	done    int64
	all     int64
	started []Simulator // that hold on to something outside this process
}

// start starts an instance at p.out.From. It is closed when the trial ends, or by stop.
func (p *player) start(sim *Sim) (Simulator, error) {
	s, err := p.begin(sim, p.from)
	if err != nil {
		return nil, err
	}
	if at := s.Point(); at != p.out.From {
		return nil, fmt.Errorf("%s begins at state point %d, expected %d", sim.Name, at, p.out.From)
	}
	return s, nil
}

// begin starts an instance where an origin leads to.
func (p *player) begin(sim *Sim, from origin) (s Simulator, err error) {
	header := &p.log.Header
	if from.header != nil {
		header = from.header
	}
	switch {
	case from.lead != nil:
		if s, err = p.begin(sim, from.lead.from); err != nil {
			return nil, err
		}
		own := p.orders
		p.orders = from.lead.orders
		err = p.advanceTo(s, from.until)
		p.orders = own
		return s, err
	case from.world != nil:
		if s, err = sim.Resume(from.world, header); err != nil {
			err = notLoaded{err}
		}
	default:
		s, err = sim.Start(header)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot replay %s: %w", sim.Name, p.log.Name, err)
	}
	p.keep(s)
	return s, nil
}

// notLoaded is the error of a simulator that did not begin with a state.
type notLoaded struct{ error }

func (e notLoaded) Unwrap() error { return e.error }

// keep remembers an instance that has to be closed.
func (p *player) keep(s Simulator) {
	if _, ok := s.(io.Closer); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.started = append(p.started, s)
	}
}

// stop closes an instance before the trial ends.
func (p *player) stop(s Simulator) error {
	closer, ok := s.(io.Closer)
	if !ok {
		return nil
	}
	p.mu.Lock()
	p.started = slices.DeleteFunc(p.started, func(other Simulator) bool { return other == s })
	p.mu.Unlock()
	return closer.Close()
}

// close closes all instances.
func (p *player) close() error {
	errs := lists.Map(p.started, func(s Simulator) error { return s.(io.Closer).Close() })
	p.started = nil
	return errors.Join(errs...)
}

// ended returns why the replay is to end early, if it is.
func (p *player) ended() error {
	if p.sim.Interrupted() {
		return context.Cause(p.sim.Context)
	}
	if p.opts.Context == nil {
		return nil
	}
	return p.opts.Context.Err()
}

// step plays the current tick.
func (p *player) step(s Simulator) error {
	if err := p.ended(); err != nil {
		return err
	}
	if err := s.Step(p.orders[s.Point()]); err != nil {
		return fmt.Errorf("%s, tick %d of %s: %w", p.sim.Name, s.Point(), p.log.Name, err)
	}
	p.count(1)
	return nil
}

// batch is how many ticks a Batcher plays at once.
const batch = 128

// ahead returns how many ticks the given instances play at once, of those up to a point.
func (p *player) ahead(point uint64, list ...Simulator) uint64 {
	n := uint64(1)
	for _, s := range list {
		if _, ok := s.(Batcher); ok {
			n = batch
		}
	}
	return min(n, point-list[0].Point())
}

// advance plays n ticks and appends the sync hash after each to dst.
func (p *player) advance(dst []merkle.Short, s Simulator, n uint64) ([]merkle.Short, error) {
	b, ok := s.(Batcher)
	if !ok {
		for range n {
			if err := p.step(s); err != nil {
				return dst, err
			}
			dst = append(dst, s.SyncHash())
		}
		return dst, nil
	}
	if err := p.ended(); err != nil {
		return dst, err
	}
	first := s.Point()
	ticks := make([][]orderlog.Order, n)
	for i := range ticks {
		ticks[i] = p.orders[first+uint64(i)]
	}
	dst, err := b.Run(dst, ticks)
	if err != nil {
		return dst, fmt.Errorf("%s, ticks %d to %d of %s: %w", p.sim.Name, first, first+n-1, p.log.Name, err)
	}
	p.count(n)
	return dst, nil
}

// play plays up to a point without asking for hashes on the way.
func (p *player) play(s Simulator, point uint64) error {
	if _, ok := s.(Batcher); ok {
		return p.advanceTo(s, point)
	}
	for s.Point() < point {
		if err := p.step(s); err != nil {
			return err
		}
	}
	return nil
}

// advanceTo plays up to a point.
func (p *player) advanceTo(s Simulator, point uint64) error {
	for s.Point() < point {
		if _, err := p.advance(nil, s, p.ahead(point, s)); err != nil {
			return err
		}
	}
	return nil
}

// playedTo returns a separate instance that was played to a point.
func (p *player) playedTo(sim *Sim, point uint64) (Simulator, error) {
	s, err := p.start(sim)
	if err == nil {
		err = p.advanceTo(s, point)
	}
	return s, err
}

// walk plays an instance to the end, and calls visit with the hash of each point from the current one on. The instance
// may be several points ahead of the point that is visited. Visit ends the walk by returning false.
func (p *player) walk(s Simulator, visit func(point uint64, hash merkle.Short) (more bool, err error)) error {
	hashes := []merkle.Short{s.SyncHash()}
	for first := s.Point(); ; first = s.Point() - uint64(len(hashes)) + 1 {
		for i, hash := range hashes {
			if more, err := visit(first+uint64(i), hash); !more || err != nil {
				return err
			}
		}
		if s.Point() == p.out.To {
			return nil
		}
		var err error
		if hashes, err = p.advance(hashes[:0], s, p.ahead(p.out.To, s)); err != nil {
			return err
		}
	}
}

// count counts ticks that were played.
func (p *player) count(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Ticks += n
	if p.done += int64(n); p.opts.Progress != nil {
		p.opts.Progress(p.done, p.all)
	}
}

// overshot takes back ticks that were played after a departure.
func (p *player) overshot(n uint64) { p.out.Ticks -= n }

func (p *player) length() int64 { return int64(p.out.To - p.out.From) }

// plain replays against recorded hashes.
func (p *player) plain() error {
	p.all = p.length()
	s, err := p.start(p.sim)
	if err != nil {
		return err
	}
	if v, ok := As[Validator](s, CanValidate); ok {
		if err := p.validate(v); err != nil {
			return err
		}
	}
	p.byRoots(s.Point(), s.SyncHash())
	var drill *drill
	if p.opts.Drill && p.rooted {
		p.out.Notes = append(p.out.Notes, "not drilled: the trace has checksums of the game's own")
	} else if p.opts.Drill {
		if drill, err = p.driller(s); err != nil {
			return err
		}
	}
	hashes := []merkle.Short{s.SyncHash()}
	for first := s.Point(); ; first = s.Point() - uint64(len(hashes)) + 1 {
		for i, got := range hashes {
			point := first + uint64(i)
			if _, ok := p.mark[point]; ok {
				p.mark[point] = got
			}
			if point == p.out.To {
				p.out.End = got
			}
			if p.opts.Observe != nil {
				if err := p.opts.Observe(point, got); err != nil {
					return err
				}
			}
			if p.out.First != nil || !p.departs(point, got) {
				continue
			}
			if drill != nil && point > p.out.From {
				p.out.First.Proof = "the trace does not show which system it was"
			}
			if p.opts.Observe == nil {
				p.overshot(s.Point() - point)
			}
			if err := p.twice(p.out.First); err != nil || p.opts.Observe == nil {
				return err
			}
		}
		if s.Point() == p.out.To {
			return nil
		}
		if drill != nil && p.out.First == nil {
			if err := drill.step(); err != nil {
				return err
			}
			if p.out.First != nil {
				return p.twice(p.out.First)
			}
			hashes = append(hashes[:0], s.SyncHash())
			continue
		}
		if p.opts.ObserveSystem != nil {
			if err := p.stepObserved(s); err != nil {
				return err
			}
			hashes = append(hashes[:0], s.SyncHash())
			continue
		}
		if hashes, err = p.advance(hashes[:0], s, p.ahead(p.out.To, s)); err != nil {
			return err
		}
	}
}

// departs compares a hash of the replay with the recorded one, if there is one.
func (p *player) departs(point uint64, got merkle.Short) bool {
	want, ok := p.recorded[point]
	if !ok {
		return false
	}
	p.out.Compared++
	if want == got {
		p.out.Agreed = &point
		return false
	}
	p.out.First = &Departure{Point: point, A: p.source(), B: p.sim.Name, Expected: want, Got: got}
	return true
}

// validate notes the orders that the simulator ignores.
func (p *player) validate(v Validator) error {
	n, first := 0, ""
	for tick := p.out.From; tick < p.out.To; tick++ {
		orders := p.orders[tick]
		if len(orders) == 0 {
			continue
		}
		reasons, err := v.Validate(orders)
		if err != nil {
			return err
		}
		for i, why := range reasons {
			if why == "" {
				continue
			}
			if n++; n == 1 {
				first = fmt.Sprintf("in tick %d, of player %d: %s", tick, orders[i].Player, why)
			}
		}
	}
	if n > 0 {
		p.out.Notes = append(p.out.Notes, fmt.Sprintf("%s ignores %d of the orders, the first %s", p.sim.Name, n, first))
	}
	return nil
}

// caches replays and computes all caches again after each tick.
func (p *player) caches() error {
	p.all = p.length()
	checker, err := startAs[CacheChecker](p, CanCaches, "check its caches")
	if err != nil {
		return err
	}
	for {
		point := checker.Point()
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
		if err := p.step(checker); err != nil {
			return err
		}
	}
}

// startAs starts an instance that can do what a mode needs.
func startAs[T Simulator](p *player, c Capability, what string) (able T, err error) {
	s, err := p.start(p.sim)
	if err != nil {
		return able, err
	}
	able, ok := As[T](s, c)
	if !ok {
		return able, fmt.Errorf("%s cannot %s", p.sim.Name, what)
	}
	return able, nil
}

// source names what recorded the hashes that a plain replay is compared with.
func (p *player) source() string {
	if p.opts.Expect != nil {
		return "expected"
	}
	if p.log.Header.Peer != "" {
		return p.log.Header.Peer
	}
	return p.log.Name
}

// held finds the differences from the peer's snapshot of that point, if it left one.
func (p *player) held(d *Departure, s Simulator) error {
	if p.opts.Snapshots == nil {
		return nil
	}
	e := p.opts.Snapshots.At(snapshot.Point{Tick: d.Point})
	if e == nil {
		return nil
	}
	have, err := p.hold(s)
	if have == nil || err != nil {
		return err
	}
	state, err := e.Open()
	if state != nil {
		defer state.Close()
	}
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	d.Diff = p.diff(state, have)
	return nil
}

// hold takes the state out of a simulator. It returns nil if that cannot be done.
func (p *player) hold(s Simulator) (snapshot.State, error) {
	saver, ok := As[Saver](s, CanState)
	if !ok {
		return nil, nil
	}
	w, err := saver.World()
	if err != nil {
		return nil, fmt.Errorf("%s, state point %d: %w", p.sim.Name, s.Point(), err)
	}
	state, err := snapshot.Hold(w)
	if err != nil {
		return nil, fmt.Errorf("%s, state point %d: %w", p.sim.Name, s.Point(), err)
	}
	return state, nil
}

// between finds what differs between two instances, if their states can be taken out.
func (p *player) between(d *Departure, a, b Simulator) error {
	x, err := p.hold(a)
	if x == nil || err != nil {
		return err
	}
	y, err := p.hold(b)
	if y == nil || err != nil {
		return err
	}
	d.Diff = p.diff(x, y)
	return nil
}

// diff compares two states.
func (p *player) diff(a, b snapshot.State) *snapshot.Diff {
	d, err := snapshot.Compare(a, b, snapshot.DiffOptions{Force: true})
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	return d
}

// twice replays up to a departure a second time: before a peer is blamed, the simulator must agree with itself. The
// second one shows what departs, as the first may have gone on.
func (p *player) twice(d *Departure) error {
	whole := d.Point
	if d.System != "" {
		whole-- // the departure is inside the tick before
	}
	s, err := p.playedTo(p.sim, whole)
	if err != nil {
		return err
	}
	if d.System != "" {
		if err := p.stepTo(s.(Stepper), d.System); err != nil {
			return err
		}
	}
	if again := s.SyncHash(); again != d.Got {
		p.out.Unsteady = true
		p.out.Means = fmt.Sprintf("%s itself is not deterministic: a second replay has %s at that point; nothing follows for the peer", p.sim.Name, again)
		return nil
	}
	if d.System != "" {
		return nil
	}
	return p.held(d, s)
}

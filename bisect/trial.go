package bisect

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Saver is a Simulator whose state can be taken out of it.
type Saver interface {
	Simulator
	World() *snapshot.World
}

// CacheChecker is a Simulator that computes its caches again and compares.
type CacheChecker interface {
	Simulator
	// StaleCaches returns the names of the caches that are not what the state
	// gives, in order.
	StaleCaches() ([]string, error)
}

// Validator is a Simulator that knows which orders it ignores.
type Validator interface {
	Simulator
	// Validate returns why an order of a tick would be ignored whatever the state.
	Validate(o *orderlog.Order) error
}

// TrialMode is a way of replaying the orders of a log. Each finds another kind of
// mistake.
type TrialMode string

// Modes.
const (
	// Plain holds the replay against the hashes that the log's peer recorded: it
	// tells whether that peer or the others went wrong.
	Plain TrialMode = "plain"
	// Against steps two simulators side by side: two builds, or one with other
	// data.
	Against TrialMode = "against"
	// Dual steps two instances of one simulator side by side: what depends on
	// threads, time, addresses or the order of a map shows, if it shows at once.
	Dual TrialMode = "dual"
	// Serialize saves and loads one of two instances in every tick: state that a
	// save forgets shows.
	Serialize TrialMode = "serialize"
	// Rollback goes back some ticks in every tick and plays them again: what a
	// restore does not put back shows, even if it is read only some ticks later.
	Rollback TrialMode = "rollback"
	// FromEachSnapshot begins at each of the peer's snapshots, as a peer that
	// joins does.
	FromEachSnapshot TrialMode = "from-each-snapshot"
	// Repeat replays the whole log several times: what happens only now and then.
	Repeat TrialMode = "runs"
	// CheckCaches computes all caches again in every tick.
	CheckCaches TrialMode = "check-caches"
)

// TrialOptions says how a log is replayed.
type TrialOptions struct {
	Mode TrialMode
	// Against is the second simulator of that mode.
	Against *Sim
	// Depth is by how many ticks Rollback goes back, 1 at least.
	Depth int
	// Runs is how often the log is replayed, 2 at least.
	Runs int
	// From is the state to begin with; nil is the start of the session.
	From *snapshot.World
	// Until is the last state point, 0 the end of the log.
	Until uint64
	// Snapshots are the peer's, for FromEachSnapshot, and to tell what departs.
	Snapshots *snapshot.Set
	// Expect are the hashes to hold the replay against instead of those of the
	// log, by state point.
	Expect map[uint64]merkle.Short
	// Observe, if not nil, is called with the sync hash of each state point of a
	// plain replay.
	Observe func(point uint64, hash merkle.Short) error
	// Drill steps system by system, so that the first system after which anything
	// departs is known, and what departs right behind it. It is for Plain, Against,
	// Dual and Serialize, and for simulators that are Steppers.
	Drill bool
	// Traced is what the log's peer traced, for Plain with Drill.
	Traced Traced
	// Progress, if not nil, is called with the ticks that are done and all.
	Progress func(done, total int64)
}

// Trial is what a replay in one mode found.
type Trial struct {
	Mode         TrialMode
	Sim, Against string
	From, To     uint64 // state points
	Ticks        uint64 // that were simulated, of all instances
	Compared     uint64 // hashes, or caches checked

	// First is the first point at which anything departs, nil if nothing does.
	First *Departure
	// Agreed is the last point before First that was compared and agrees.
	Agreed *uint64

	// Runs and Hits are for Repeat: how many replays there were beside the first,
	// and how many departed from it. Low and High bound the rate of departures with
	// 95 % confidence.
	Runs, Hits int
	Low, High  float64

	// Snapshots counts those that a replay began at.
	Snapshots int

	// Means says in a sentence what follows.
	Means string
	// Lost names what could not be used, Notes what limits the answer.
	Lost, Notes []string
}

// Departed reports whether anything departs.
func (t *Trial) Departed() bool { return t.First != nil }

// Tick returns the tick that departs, false if there is none: then the states were
// not the same before any tick, or nothing departs.
func (t *Trial) Tick() (uint64, bool) {
	if t.First == nil || t.First.Point <= t.From || t.Agreed == nil || *t.Agreed+1 != t.First.Point {
		return 0, false
	}
	return t.First.Point - 1, true
}

// Departure is a state point at which two things are not the same that should be.
type Departure struct {
	Point uint64
	// A and B are what is compared: instances of a simulator, or it and the log.
	A, B          string
	Expected, Got merkle.Short
	// Diff is what differs, nil where only hashes are known.
	Diff *snapshot.Diff
	// Caches are those that are stale.
	Caches []string
	// From is the point of the snapshot that the replay began at.
	From uint64

	// What follows is known from drilling. System is the first one in the tick
	// behind which anything departs; Diff is of the states right behind it then.
	System string
	// Scopes are what departs behind System as far as a trace tells: archetypes,
	// columns.
	Scopes []string
	// TickEnd says that Diff is of the states at the end of the tick, since no others
	// are known: later systems may have added to it.
	TickEnd bool
	// Proof says where it ends.
	Proof string
}

// Try replays a log in one mode.
func Try(log *orderlog.Log, sim *Sim, opts TrialOptions) (*Trial, error) {
	p := &player{log: log, sim: sim, opts: opts, out: &Trial{Mode: opts.Mode, Sim: sim.Name}}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	var err error
	switch opts.Mode {
	case Plain:
		err = p.plain()
	case Against:
		p.out.Against = opts.Against.Name
		err = p.pair(sim, opts.Against, false)
	case Dual:
		err = p.pair(sim, sim, false)
	case Serialize:
		err = p.pair(sim, sim, true)
	case Rollback:
		err = p.rollback()
	case FromEachSnapshot:
		err = p.fromEach()
	case Repeat:
		err = p.repeat()
	case CheckCaches:
		err = p.caches()
	default:
		err = fmt.Errorf("unknown mode %q", opts.Mode)
	}
	if err != nil {
		return nil, err
	}
	if p.out.Means == "" {
		p.out.Means = means(p.out)
	}
	return p.out, nil
}

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

// pair steps two instances side by side; with serialize the second is saved and
// loaded after each tick.
func (p *player) pair(simA, simB *Sim, serialize bool) error {
	p.all = 2 * p.length()
	a, err := p.start(simA)
	if err != nil {
		return err
	}
	b, err := p.start(simB)
	if err != nil {
		return err
	}
	nameA, nameB := "first "+simA.Name, "second "+simB.Name
	switch {
	case serialize:
		nameA, nameB = simA.Name, simB.Name+", saved and loaded in each tick"
	case simA.Name != simB.Name:
		nameA, nameB = simA.Name, simB.Name
	}
	for {
		point := a.Point()
		ha, hb := a.SyncHash(), b.SyncHash()
		p.out.Compared++
		if ha != hb {
			p.out.First = &Departure{Point: point, A: nameA, B: nameB, Expected: ha, Got: hb, Diff: p.between(a, b)}
			return nil
		}
		p.out.Agreed = &point
		if point == p.out.To {
			return nil
		}
		if p.opts.Drill {
			if err := p.stepTogether(a, b, nameA, nameB); err != nil || p.out.First != nil {
				return err
			}
			if serialize {
				if b, err = p.reload(simB, b); err != nil {
					return err
				}
			}
			continue
		}
		errs := make([]error, 2)
		var wait sync.WaitGroup
		wait.Go(func() { errs[0] = p.step(a) })
		wait.Go(func() {
			if errs[1] = p.step(b); errs[1] == nil && serialize {
				b, errs[1] = p.reload(simB, b)
			}
		})
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

// between compares the states of two instances, nil if they cannot be taken out.
func (p *player) between(a, b Simulator) *snapshot.Diff {
	x, ok1 := a.(Saver)
	y, ok2 := b.(Saver)
	if !ok1 || !ok2 {
		return nil
	}
	held, err := snapshot.Hold(x.World())
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	return p.diff(held, y.World())
}

// reload saves an instance and loads what was saved.
func (p *player) reload(sim *Sim, s Simulator) (Simulator, error) {
	saver, ok := s.(Saver)
	if !ok {
		return nil, fmt.Errorf("%s cannot be saved", sim.Name)
	}
	return sim.Resume(saver.World(), &p.log.Header)
}

// rollback goes back by Depth ticks in every tick and plays them again.
func (p *player) rollback() error {
	depth := p.opts.Depth
	if depth < 1 || depth > maxDepth {
		return fmt.Errorf("rollback by %d ticks, expected 1 to %d", depth, maxDepth)
	}
	p.all = p.length() * int64(depth+1)
	s, err := p.start(p.sim)
	if err != nil {
		return err
	}
	saver, ok := s.(Saver)
	if !ok {
		return fmt.Errorf("%s cannot be saved", p.sim.Name)
	}
	var kept []*snapshot.World // the last Depth states, the oldest first
	for saver.Point() < p.out.To {
		kept = append(kept, saver.World())
		if err := p.step(saver); err != nil {
			return err
		}
		if len(kept) < depth {
			continue
		}
		again, err := p.sim.Resume(kept[0], &p.log.Header)
		if err != nil {
			return err
		}
		begin := again.Point()
		kept = kept[1:]
		for again.Point() < saver.Point() {
			if err := p.step(again); err != nil {
				return err
			}
		}
		point := saver.Point()
		p.out.Compared++
		if want, got := saver.SyncHash(), again.SyncHash(); want != got {
			p.out.First = &Departure{
				Point: point, A: p.sim.Name, B: fmt.Sprintf("%s, rolled back to state point %d", p.sim.Name, begin),
				Expected: want, Got: got, Diff: p.between(saver, again), From: begin,
			}
			return nil
		}
		p.out.Agreed = &point
	}
	return nil
}

// maxDepth is the deepest rollback: so many states are held.
const maxDepth = 64

// fromEach replays from each of the peer's snapshots to the end, against the
// recorded hashes.
func (p *player) fromEach() error {
	if p.opts.Snapshots == nil {
		return errors.New("no snapshots to begin at")
	}
	var entries []*snapshot.Entry
	for _, e := range p.opts.Snapshots.Entries {
		if e.Seed == p.log.Header.Seed && e.Point.Phase == "" && e.Point.Tick >= p.out.From && e.Point.Tick < p.out.To {
			entries = append(entries, e)
			p.all += int64(p.out.To - e.Point.Tick)
		}
	}
	if len(entries) == 0 {
		return fmt.Errorf("%s: no snapshots between state points %d and %d", p.opts.Snapshots.Path, p.out.From, p.out.To)
	}
	var last *uint64
	for _, e := range entries {
		agreed, err := p.fromOne(e)
		if err != nil {
			return err
		}
		if p.out.First != nil {
			p.out.Agreed = agreed
			return nil
		}
		last = agreed
	}
	p.out.Agreed = last
	return nil
}

// fromOne replays from one snapshot and returns the last point that agrees.
func (p *player) fromOne(e *snapshot.Entry) (agreed *uint64, err error) {
	state, err := e.Open()
	if err != nil {
		if state != nil {
			state.Close()
		}
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil, nil
	}
	defer state.Close()
	world, err := snapshot.Load(state)
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil, nil
	}
	s, err := p.sim.Resume(world, &p.log.Header)
	if err != nil {
		return nil, fmt.Errorf("%s cannot resume from %s: %w", p.sim.Name, e.Path(), err)
	}
	p.out.Snapshots++
	begin := s.Point()
	depart := func(want, got merkle.Short, diff *snapshot.Diff) {
		p.out.First = &Departure{Point: s.Point(), A: p.source(), B: fmt.Sprintf("%s from state point %d", p.sim.Name, begin), Expected: want, Got: got, Diff: diff, From: begin}
	}
	if want, got := state.Info().Root.Short(), s.SyncHash(); want != got {
		var diff *snapshot.Diff
		if saver, ok := s.(Saver); ok {
			diff = p.diff(state, saver.World())
		}
		p.out.Compared++
		depart(want, got, diff)
		return nil, nil
	}
	for {
		point := s.Point()
		if want, ok := p.recorded[point]; ok {
			p.out.Compared++
			if got := s.SyncHash(); want != got {
				depart(want, got, nil)
				p.held(p.out.First, s)
				return agreed, nil
			}
			agreed = &point
		}
		if point == p.out.To {
			return agreed, nil
		}
		if err := p.step(s); err != nil {
			return nil, err
		}
	}
}

// repeat replays the log several times, on all processors, and compares each
// replay with the first.
func (p *player) repeat() error {
	if p.opts.Runs < 2 {
		return fmt.Errorf("%d run(s), expected at least 2", p.opts.Runs)
	}
	p.all = int64(p.opts.Runs) * p.length()
	first, err := p.hashes(nil)
	if err != nil {
		return err
	}
	p.out.Runs = p.opts.Runs - 1
	departs := make([]*Departure, p.out.Runs)
	errs := make([]error, p.out.Runs)
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), p.out.Runs) {
		wait.Go(func() {
			for i := range next {
				_, errs[i] = p.hashes(func(n int, got merkle.Short) bool {
					if got == first[n] {
						return true
					}
					departs[i] = &Departure{
						Point: p.out.From + uint64(n), A: "first replay", B: fmt.Sprintf("replay %d", i+2), Expected: first[n], Got: got,
					}
					return false
				})
			}
		})
	}
	for i := range p.out.Runs {
		next <- i
	}
	close(next)
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, d := range departs {
		if d == nil {
			p.out.Compared += uint64(len(first))
			continue
		}
		p.out.Compared += d.Point - p.out.From + 1
		p.out.Hits++
		if p.out.First == nil || d.Point < p.out.First.Point {
			p.out.First = d
		}
	}
	if d := p.out.First; d != nil && d.Point > p.out.From {
		agreed := d.Point - 1
		p.out.Agreed = &agreed
	}
	p.out.Low, p.out.High = wilson(p.out.Hits, p.out.Runs)
	return nil
}

// hashes replays the log and returns the hash of each point, until keep, if it is
// not nil, reports false.
func (p *player) hashes(keep func(n int, hash merkle.Short) bool) (list []merkle.Short, err error) {
	s, err := p.start(p.sim)
	if err != nil {
		return nil, err
	}
	for {
		h := s.SyncHash()
		if keep == nil {
			list = append(list, h)
		} else if !keep(int(s.Point()-p.out.From), h) {
			return nil, nil
		}
		if s.Point() == p.out.To {
			return list, nil
		}
		if err := p.step(s); err != nil {
			return nil, err
		}
	}
}

// wilson returns the bounds of a rate that was seen hits times of n, with 95 %
// confidence (Wilson's score interval).
func wilson(hits, n int) (low, high float64) {
	const z = 1.959963984540054
	rate, size := float64(hits)/float64(n), float64(n)
	centre := rate + z*z/(2*size)
	spread := z * math.Sqrt(rate*(1-rate)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	return max(0, (centre-spread)/scale), min(1, (centre+spread)/scale)
}

// RunsFor returns how many replays see something at least once, with 95 %
// probability, that happens at a rate.
func RunsFor(rate float64) int { return int(math.Ceil(math.Log(0.05) / math.Log1p(-rate))) }

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

// means says what follows from a trial.
func means(t *Trial) string {
	d := t.First
	if d != nil && d.System != "" && t.Mode == Plain {
		return fmt.Sprintf("%s departs from what its own orders give in %s: it went wrong there, or the simulator is another build", d.A, d.System)
	}
	if d == nil {
		switch {
		case t.Compared == 0:
			return "nothing was compared: no hash is recorded in these ticks"
		case t.Mode == Plain:
			return "the recorded states are what the orders give"
		case t.Mode == Repeat:
			return fmt.Sprintf("nothing departed; a mistake that shows in 1 of 300 replays would need %d of them to be seen with 95 %% probability", RunsFor(1.0/300))
		case t.Mode == CheckCaches:
			return "every cache is what its state gives"
		}
		return "both are the same at every point"
	}
	atStart := d.Point == t.From && t.Mode != FromEachSnapshot
	switch t.Mode {
	case Plain:
		if atStart {
			return "the state at the start is not what the log's header gives: another build, map or set of data, or a lobby flag"
		}
		return fmt.Sprintf("%s departs from what its own orders give: it went wrong, or the simulator is another build", d.A)
	case Against:
		if atStart {
			return "the simulators begin with different states: other data, or another build"
		}
		return "from the same orders the simulators come to different states: their builds, platforms or data differ in what this tick does"
	case Dual:
		return "the simulator does not agree with itself: threads, the order of a map or of memory, a clock, or uninitialized memory"
	case Serialize:
		return "a save forgets something, or loading changes it: a peer that joins or loads would depart here"
	case Rollback:
		return "a restore does not put everything back, or the ticks played again are not the same: a client that rolls back would depart here"
	case FromEachSnapshot:
		if d.Point == d.From {
			return "loading the snapshot does not give the state that was saved"
		}
		return "a peer that joins with this snapshot departs: the save lacks what later ticks read, or the peer went wrong before"
	case Repeat:
		return "replays of the same orders differ: the mistake depends on threads, time or memory"
	case CheckCaches:
		return "a cache was not updated when what it follows from changed; whoever reads it departs later, while hashes still agree"
	}
	return ""
}

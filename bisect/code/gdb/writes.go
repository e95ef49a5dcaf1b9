package gdb

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Finding is the first write of a tick that two builds make differently.
type Finding struct {
	Tick   uint64
	System string   // after which the states differ; empty if the tick is not played system by system
	Fields []Field  // that were watched
	Equal  int      // writes that both builds make alike, before the first that differs
	Builds [2]Build // the sound one first, if it is known
	Notes  []string
}

// Field is a value of the state.
type Field struct {
	Archetype, Column string // "Component.field"; both are empty for the RNG
	Key               snapshot.Key
}

// String returns "Infantry 7 Health.points", or the name of the RNG.
func (f Field) String() string {
	if f.Archetype == "" {
		return snapshot.RNG
	}
	return fmt.Sprintf("%s %s %s", f.Archetype, f.Key, f.Column)
}

// Build is what one build writes.
type Build struct {
	Name   string
	Writes int    // that were seen
	First  *Write // that differs from the other build's, nil if it makes no further one
}

// Write is a change of a field.
type Write struct {
	Field    int // of Finding.Fields
	Old, New string
	At       code.Place // in the game's own code
	Stack    code.Stack // the innermost call first, without those that led to the simulation
}

// Program is a build of the game that gdb can start.
type Program struct {
	Name string
	// Sim returns its simulator, started as given: see extsim.Options. One request may take a time, at least.
	Sim func(under func(*exec.Cmd) (func(error), error), request time.Duration) (*bisect.Sim, error)
}

// Options says how to find a write.
type Options struct {
	// Trial is how instances get to the tick: see [bisect.Reach].
	Trial bisect.TrialOptions
	// Most is how many writes of a build are seen; 0 is 1000.
	Most int
	// Watching is how long a tick may take under gdb; 0 is a minute.
	Watching time.Duration
}

// ErrMissing is the error where there is no such debugger.
var ErrMissing = errors.New("not installed")

func missing(d Debugger) error {
	return fmt.Errorf("%s is %w (Debian and Ubuntu: apt install %[1]s)", d, ErrMissing)
}

// registers is how many places of 8 bytes processors can watch at once.
const registers = 4

// Find plays a tick in which two builds depart under gdb, and watches the first values that differ. The states must be
// equal before the tick. No process is left running.
func Find(log *orderlog.Log, programs [2]Program, tick uint64, opts Options) (*Finding, error) {
	path, err := exec.LookPath(string(GDB))
	if err != nil {
		return nil, missing(GDB)
	}
	f, err := newFinder(path, log, programs, tick, opts)
	if err != nil {
		return nil, err
	}
	if err := f.depart(); err != nil {
		return nil, err
	}
	err = f.watch()
	if err == errMissed {
		f.steps = true
		err = f.watch()
	}
	if err != nil {
		return nil, err
	}
	return f.out, nil
}

// finder finds a write.
type finder struct {
	log    *orderlog.Log
	tick   uint64
	opts   Options
	builds [2]build
	out    *Finding

	steps      bool // the processor does not report changes
	systems    int  // to play, 0 for the whole tick
	hashes     [2]merkle.Short
	candidates []candidate
}

// newFinder returns a finder that starts the builds under the gdb at a path, or by themselves without a path.
func newFinder(gdb string, log *orderlog.Log, programs [2]Program, tick uint64, opts Options) (_ *finder, err error) {
	f := &finder{log: log, tick: tick, opts: opts}
	f.opts.Most = cmp.Or(opts.Most, 1000)
	f.opts.Watching = cmp.Or(opts.Watching, time.Minute)
	f.out = &Finding{Tick: tick}
	for i, p := range programs {
		f.out.Builds[i].Name = p.Name
		b := &f.builds[i]
		if b.sim, err = p.Sim(b.under(gdb), max(time.Minute, 3*f.opts.Watching)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// build is a build that runs under gdb.
type build struct {
	sim     *bisect.Sim
	session *session // of the instance that was started last
	spot    *bisect.Spot
}

func (b *build) under(gdb string) func(*exec.Cmd) (func(error), error) {
	if gdb == "" {
		return nil
	}
	return func(cmd *exec.Cmd) (func(error), error) {
		s, started, err := startUnder(gdb, cmd)
		b.session = s
		return started, err
	}
}

// both does something with both builds side by side.
func (f *finder) both(do func(i int, b *build) error) error {
	var errs [2]error
	var wait sync.WaitGroup
	for i := range f.builds {
		wait.Go(func() {
			if errs[i] = f.builds[i].session.explain(do(i, &f.builds[i])); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", f.out.Builds[i].Name, errs[i])
			}
		})
	}
	wait.Wait()
	return cmp.Or(errs[0], errs[1])
}

// reach plays both builds to the beginning of the tick.
func (f *finder) reach() error {
	return f.both(func(i int, b *build) (err error) {
		opts := f.opts.Trial
		if i > 0 {
			opts.Progress = nil
		}
		if b.spot, err = bisect.Reach(f.log, b.sim, f.tick, opts); err != nil {
			return b.session.explain(err)
		}
		if _, ok := bisect.As[bisect.Locator](b.spot.Simulator, bisect.CanWhere); !ok {
			return fmt.Errorf("it cannot locate its values (capability %q): %w", bisect.CanWhere, bisect.ErrUnsupported)
		}
		if _, ok := bisect.As[bisect.Saver](b.spot.Simulator, bisect.CanState); !ok {
			return fmt.Errorf("it cannot return its state (capability %q): %w", bisect.CanState, bisect.ErrUnsupported)
		}
		return nil
	})
}

// end ends both programs.
func (f *finder) end() {
	for i := range f.builds {
		b := &f.builds[i]
		if b.session != nil {
			b.session.quit()
		}
		if b.spot != nil {
			_ = b.spot.Close() // gdb has killed it
		}
		b.session, b.spot = nil, nil
	}
}

// depart plays the tick up to the system after which the states differ, and finds the values that do.
func (f *finder) depart() error {
	defer f.end()
	if err := f.reach(); err != nil {
		return err
	}
	a, b := f.builds[0].spot, f.builds[1].spot
	if a.SyncHash() != b.SyncHash() {
		return fmt.Errorf("the builds differ before tick %d: no write in it is the first", f.tick)
	}
	before, err := a.Simulator.(bisect.Saver).World()
	if err != nil {
		return f.builds[0].session.explain(err)
	}
	if err := f.step(); err != nil {
		return err
	}
	f.hashes = [2]merkle.Short{a.SyncHash(), b.SyncHash()}
	if f.hashes[0] == f.hashes[1] {
		return fmt.Errorf("under gdb both builds come to the same state after tick %d: the difference depends on addresses, time or threads", f.tick)
	}
	var held [2]snapshot.State
	var after [2]*snapshot.World
	if err := f.both(func(i int, b *build) (err error) {
		if after[i], err = b.spot.Simulator.(bisect.Saver).World(); err == nil {
			held[i], err = snapshot.Hold(after[i])
		}
		return err
	}); err != nil {
		return err
	}
	d, err := snapshot.Compare(held[0], held[1], snapshot.DiffOptions{Force: true})
	if err != nil {
		return err
	}
	list := f.lone(d, before, after)
	if d.RNG != nil { // many values follow from it
		list = append([]candidate{differing("", "", d.RNG)}, list...)
	}
	list = append(list, f.changed(d)...)
	if len(list) == 0 {
		return errors.New("no value of an entity that both builds have differs, and only values can be watched")
	}
	return f.locate(list)
}

// step plays the tick in both builds, system by system where they can.
func (f *finder) step() error {
	steppers := [2]bisect.Stepper{}
	for i, b := range f.builds {
		s, ok := bisect.As[bisect.Stepper](b.spot.Simulator, bisect.CanSystems)
		if !ok {
			return f.both(func(i int, b *build) error { return b.spot.Step(b.spot.Orders) })
		}
		steppers[i] = s
	}
	if err := f.both(func(i int, b *build) error { return steppers[i].Begin(b.spot.Orders) }); err != nil {
		return err
	}
	for more := [2]bool{true, true}; more[0] && more[1]; {
		var systems [2]string
		if err := f.both(func(i int, _ *build) (err error) {
			systems[i], more[i], err = steppers[i].Next()
			return err
		}); err != nil {
			return err
		}
		f.systems++
		if systems[0] != systems[1] || more[0] != more[1] {
			return fmt.Errorf("the builds have other systems: %q and %q", systems[0], systems[1])
		}
		if f.out.System = systems[0]; steppers[0].SyncHash() != steppers[1].SyncHash() {
			break
		}
	}
	return nil
}

// watch plays the tick again, watches the values, and compares what the builds write.
func (f *finder) watch() error {
	defer f.end()
	if err := f.reach(); err != nil {
		return err
	}
	var places [2][]place
	kept := f.candidates[:0]
	for _, c := range f.candidates {
		still := true
		for i := range f.builds {
			p, err := f.builds[i].where(&c)
			switch {
			case c.lone:
				c.ends[i], still = p, still && err == nil && p.words() == 1
			case err == nil && p.address != c.ends[i].address: // else it appears in the tick, where it was in the first run
				still = false
			}
		}
		if still {
			kept = append(kept, c)
			places[0], places[1] = append(places[0], c.ends[0]), append(places[1], c.ends[1])
			f.out.Fields = append(f.out.Fields, c.Field)
		}
	}
	if len(kept) == 0 {
		return fmt.Errorf("%s moves to another place in memory within the tick", f.candidates[0].Field)
	}
	f.candidates = kept
	if err := f.both(func(i int, b *build) error {
		if f.steps {
			b.session.stepped = true
		}
		return errors.Join(b.session.halt(), b.session.watch(places[i], f.opts.Most), b.session.resume())
	}); err != nil {
		return err
	}
	if err := f.both(f.watched); err != nil {
		if errors.Is(err, errMissed) {
			f.out.Fields, err = nil, errMissed
		}
		return err
	}
	f.compare()
	return f.both(f.live)
}

// watched plays the tick under the watchpoints, at most for a time.
func (f *finder) watched(i int, b *build) error {
	played := make(chan error, 1)
	go func() { played <- f.play(b) }()
	timer := time.NewTimer(f.opts.Watching)
	defer timer.Stop()
	var err error
	select {
	case err = <-played:
	case <-timer.C:
		b.session.abandon()
		err = <-played
	}
	if err != nil {
		return err
	}
	if b.spot.SyncHash() != f.hashes[i] {
		return errors.New("it comes to another state when it plays the tick again: it does not agree with itself")
	}
	if err := b.session.halt(); err != nil {
		return err
	}
	if missed, err := b.session.missed(); missed || err != nil {
		return cmp.Or(err, errMissed)
	}
	return b.session.unwatch()
}

var errMissed = errors.New("changes of watched memory are not reported")

// play plays the part of the tick after which the states differ.
func (f *finder) play(b *build) error {
	if f.systems == 0 {
		return b.spot.Step(b.spot.Orders)
	}
	s := b.spot.Simulator.(bisect.Stepper)
	if err := s.Begin(b.spot.Orders); err != nil {
		return err
	}
	for range f.systems {
		if _, _, err := s.Next(); err != nil {
			return err
		}
	}
	return nil
}

// compare finds the first write that differs: to another place, or of another value.
func (f *finder) compare() {
	a, b := f.builds[0].session, f.builds[1].session
	n := 0
	for n < min(len(a.writes), len(b.writes)) && a.writes[n].place == b.writes[n].place && string(a.writes[n].new) == string(b.writes[n].new) {
		n++
	}
	f.out.Equal = n
	for i, s := range []*session{a, b} {
		out := &f.out.Builds[i]
		if out.Writes = len(s.writes); n < out.Writes {
			w := &s.writes[n]
			c := &f.candidates[w.place]
			out.First = &Write{w.place, c.text(w.old), c.text(w.new), own(w.stack), w.stack}
		}
		if s.stepped {
			f.note(out.Name + ": gdb steps it, since the processor cannot watch memory; other threads are not seen")
		}
		if s.cut {
			f.note(fmt.Sprintf("%s: only the first %d writes were seen (at most %d, in at most %v)", out.Name, out.Writes, f.opts.Most, f.opts.Watching))
		}
	}
	if f.out.Builds[0].First == nil && f.out.Builds[1].First == nil && !a.cut && !b.cut {
		f.note("no instruction of the programs makes the difference: the system writes it, such as where a file is read into the state")
	}
}

// live changes a value of the finding in the memory of a halted program, and checks that the state follows: else what was
// watched is a copy, and what writes the copy explains nothing.
func (f *finder) live(i int, b *build) error {
	field := 0
	if w := cmp.Or(f.out.Builds[0].First, f.out.Builds[1].First); w != nil {
		field = w.Field
	}
	c := &f.candidates[field]
	now, err := b.session.memory(c.ends[i])
	if err != nil {
		return err
	}
	_, err = b.session.do(`-data-write-memory-bytes 0x%x "%02x"`, c.ends[i].address, now[0]^1)
	if err = errors.Join(err, b.session.resume()); err != nil {
		return err
	}
	w, err := b.spot.Simulator.(bisect.Saver).World()
	if err != nil {
		return nil // the state depends on it so much that it is refused
	}
	if v := c.of(w); v == nil || v.String() != c.values[i].String() {
		return nil
	}
	return fmt.Errorf("the state does not follow from the memory of %s: the game describes copies of its values (it should set `copies`), or the process that gdb started is not the one that answers", c.Field)
}

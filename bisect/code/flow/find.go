package flow

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
)

// Kind is what the branches of a tick show.
type Kind string

// Kinds.
const (
	// Branch: the builds go different ways at a line.
	Branch Kind = "branch"
	// Data: the builds take the same branches. They compute other values: arithmetic, not logic.
	Data Kind = "data"
	// Unsteady: one build takes other branches when it plays the same tick again.
	Unsteady Kind = "unsteady"
	// Unknown: the builds were compiled otherwise, and where their branches can be compared they are equal.
	Unknown Kind = "unknown"
)

// Finding is where two builds, or two runs of one build, take different branches in a tick.
type Finding struct {
	Kind   Kind
	Tick   uint64
	Builds [2]string // for Unsteady, twice the same
	Thread uint32    // of the simulation, by the game's numbers
	Equal  uint64    // branches before the difference, or of the whole tick for Data
	Lines  bool      // Equal counts lines, since the builds were compiled otherwise
	// At is the last place at which the builds agree: the line of the game that decides, and the calls that were inlined
	// around it, the innermost first. It is empty if the first branch differs.
	At []code.Place
	// Next is where each of the builds goes on. It is empty where the thread ends its tick.
	Next [2][]code.Place
	// Alone, if not nil, is the build that goes to its Next for the first time in this tick, where the other build does not
	// go; the Next of the other is empty then.
	Alone *int
	// Calls are the functions that the builds call in the blocks that decide, by the names of the linker, sorted.
	Calls []string
	// Stack are the calls at At, the innermost first.
	Stack code.Stack
	// System is the system in which the branches differ, if the tick can be stepped. StateFirst is the system after which
	// the states differ first; if it is an earlier one, the branches differ since the values do.
	System, StateFirst string
	Consequence        bool
	Notes              []string
}

// Options configures a search.
type Options struct {
	// Tick is the tick in which the builds depart: their states agree before it.
	Tick uint64
	// Dir is a folder for the recordings, which can have a byte for five branches.
	Dir string
	// Trial is how instances get to the tick: see [bisect.Reach].
	Trial bisect.TrialOptions
}

// Find lets two builds record the same tick, and returns where they take different branches. Both may be one build: then
// only a difference between two runs of it can be found.
func Find(log *orderlog.Log, builds [2]*bisect.Sim, opts Options) (_ *Finding, err error) {
	f := &finder{opts: opts}
	defer f.close()
	for i, sim := range builds {
		dir, err := os.MkdirTemp(opts.Dir, "build-")
		if err != nil {
			return nil, err
		}
		f.recorders[i] = &recorder{log: log, sim: sim, tick: opts.Tick, opts: opts.Trial, dir: dir}
	}
	if err := f.recordBoth(); err != nil {
		return nil, err
	}
	out := &Finding{Kind: Data, Tick: opts.Tick, Builds: [2]string{builds[0].Name, builds[1].Name}}
	if err := f.sooner(out); err != nil {
		return nil, err
	}
	if err := f.compare(out); err != nil {
		return nil, err
	}
	for i := range f.programs {
		for _, note := range f.programs[i].notes {
			if !slices.Contains(out.Notes, note) {
				out.Notes = append(out.Notes, note)
			}
		}
	}
	return out, nil
}

// finder compares the branches of two builds.
type finder struct {
	opts      Options
	recorders [2]*recorder
	runs      [2]*run
	programs  [2]*programs
	all       []*run
}

func (f *finder) record(build int, n, stop uint64) (*run, error) {
	out, err := f.recorders[build].record(n, stop)
	if out != nil {
		f.all = append(f.all, out)
	}
	return out, err
}

func (f *finder) close() {
	for _, r := range f.all {
		r.close()
	}
	for _, p := range f.programs {
		if p != nil {
			p.close()
		}
	}
}

// recordBoth records the tick in both builds.
func (f *finder) recordBoth() (err error) {
	for i := range f.runs {
		if f.runs[i], err = f.record(i, lead, math.MaxUint64); err != nil {
			return err
		}
		if f.programs[i] == nil {
			f.programs[i] = newPrograms(f.runs[i].tick)
		}
	}
	return nil
}

// sooner looks for a tick before the one in question in which the branches differ while the states still agree: then the
// builds differ in something that the states do not contain. Only two instances of one program can be compared there.
func (f *finder) sooner(out *Finding) error {
	if !sameModules([2]*Recording{f.runs[0].tick, f.runs[1].tick}) {
		return nil
	}
	tick, err := firstTick(f.recorders)
	if err != nil || tick >= out.Tick {
		return err
	}
	out.Notes = append(out.Notes, fmt.Sprintf("the states agree up to tick %d: until then, what differs is in no state", out.Tick))
	out.Tick, f.opts.Tick = tick, tick
	for _, r := range f.recorders {
		r.tick = tick
	}
	return f.recordBoth()
}

// threads returns the numbers of the threads that took branches in either recording.
func threads(a, b *Recording) (list []uint32) {
	for _, r := range []*Recording{a, b} {
		list = append(list, lists.Map(r.Threads, func(t Thread) uint32 { return t.Number })...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// compare compares the tick, thread by thread, and then each build with a second run of itself.
func (f *finder) compare(out *Finding) error {
	ticks := [2]*Recording{f.runs[0].tick, f.runs[1].tick}
	list := threads(ticks[0], ticks[1])
	if len(list) == 0 {
		return fmt.Errorf("%s and %s take no branches in tick %d: nothing of the simulation is compiled with -fsanitize-coverage", out.Builds[0], out.Builds[1], f.opts.Tick)
	}
	out.Lines = !sameModules(ticks)
	var held *Finding // of thread 0, which follows from values: another thread may have made them
	for _, thread := range list {
		p, err := f.differs(out, ticks, thread)
		if err != nil {
			return err
		}
		if p == nil {
			out.Equal += ticks[0].Thread(thread).Count
			continue
		}
		found := *out
		found.Kind, found.Thread, found.Equal, found.Notes = Branch, thread, p.equal, slices.Clone(out.Notes)
		if err := f.part(&found, p); err != nil {
			return err
		}
		if !found.Consequence {
			*out = found
			return nil
		}
		held = &found
	}
	if held != nil {
		*out = *held
		return nil
	}
	return f.steady(out, nil)
}

// sameModules reports whether one build made two recordings. A program without a build id is the same only as the same
// file.
func sameModules(r [2]*Recording) bool {
	a, b := r[0].Modules, r[1].Modules
	return len(a) > 0 && slices.EqualFunc(a, b, func(a, b Module) bool {
		return a.Same(&b) || len(a.BuildID)+len(b.BuildID) == 0 && a.Path == b.Path
	})
}

// differs finds where a thread of the builds goes different ways, nil if it does not.
func (f *finder) differs(out *Finding, ticks [2]*Recording, thread uint32) (*difference, error) {
	ctx := f.opts.Trial.Context
	if !out.Lines {
		return identical(ctx, ticks[0].Branches(ticks[0].Thread(thread)), ticks[1].Branches(ticks[1].Thread(thread)))
	}
	for i, p := range f.programs {
		if err := p.named(ticks[i], thread); err != nil {
			return nil, fmt.Errorf("%s: %w", out.Builds[i], err)
		}
	}
	leads := [2][]*Recording{f.runs[0].lead, f.runs[1].lead}
	columns := newLines(f.programs, true)
	statements, err := columns.learn(ctx, leads, thread)
	l, o := columns, statements
	if err == nil && !o.all { // other compilers have other columns
		l = newLines(f.programs, false)
		o, err = l.learn(ctx, leads, thread)
	}
	if err != nil {
		return nil, fmt.Errorf("tick %d: %w", f.opts.Tick, err)
	}
	if !o.all {
		out.Kind = Unknown
		out.Notes = append(out.Notes, fmt.Sprintf("the builds were compiled otherwise: they are compared at the %d of %d lines that both visit alike in the ticks before", len(o.keep), len(o.seen)))
	}
	p, err := l.aligned(ctx, o, ticks, thread)
	if err != nil {
		return nil, err
	}
	p, moved, err := columns.earlier(ctx, statements, f.runs, thread, p)
	if moved {
		out.Kind = Unknown
		out.Notes = append(out.Notes, "an optimiser has moved the code where the builds go different ways: compile both with -O0 or -Og")
	}
	return p, err
}

// earlier returns the branch of a build to a place that it alone visits for the first time, if that is before a difference
// of lines. If the optimiser has moved code there, it is not known which line decides.
func (l *lines) earlier(ctx context.Context, o *learned, runs [2]*run, thread uint32, p *difference) (_ *difference, moved bool, _ error) {
	var lists [2][]novelty
	var known [2]map[Address]bool
	for i := range lists {
		var err error
		if lists[i], known[i], err = novelties(ctx, runs[i], thread); err != nil {
			return nil, false, err
		}
	}
	build, first, err := l.alone(o, lists, known)
	if first == nil || err != nil || p != nil && first.index > p.index[build]+1 {
		return p, false, err
	}
	if first.moved {
		return nil, true, nil
	}
	out := &difference{equal: first.index, of: build, alone: true}
	out.last[build], out.next[build], out.near[build] = first.from, &first.to, first.near
	out.before[build] = []Address{first.from}
	if first.index > 0 {
		out.index[build] = first.index - 1
	}
	return out, false, nil
}

// part describes where the branches of the builds differ.
func (f *finder) part(out *Finding, p *difference) error {
	if err := f.steady(out, p); err != nil || out.Kind == Unsteady {
		return err
	}
	if out.Thread != 0 || p.equal == 0 {
		return nil
	}
	return f.systems(out, p, [2]int{0, 1})
}

// describe names the places of a difference. The stack is the one at the last equal branch.
func describe(out *Finding, p *difference, programs [2]*programs, stack []Address) (err error) {
	of := p.of
	if p.alone {
		out.Alone = &of
	}
	for i, next := range p.next {
		if next == nil {
			continue
		}
		if out.Next[i], err = programs[i].places(*next); err != nil {
			return err
		}
	}
	if p.equal == 0 {
		out.own()
		return nil
	}
	at := programs[of].decider(p.last[of], stack, p.next[of])
	if out.At, err = programs[of].decides(at, p.near[of], out.Next); err != nil {
		return err
	}
	for i, list := range p.before {
		for _, at := range list {
			out.Calls = append(out.Calls, programs[i].calls(at)...)
		}
	}
	slices.Sort(out.Calls)
	out.Calls = slices.Compact(out.Calls)
	noted := len(programs[of].notes)
	for i := slices.Index(stack, at) + 1; i > 0 && i < len(stack); i++ {
		places, err := programs[of].places(stack[i])
		if err != nil {
			return err
		}
		if out.Stack = append(out.Stack, places...); places[len(places)-1].Function == "main" {
			break // what calls it is the system's
		}
	}
	out.Stack = out.Stack.Game()
	out.own()
	programs[of].notes = programs[of].notes[:noted] // nobody needs lines of the libraries that call the game
	return nil
}

// own makes At a line of the game: code of a standard library that the game's own file was compiled with, such as a sort,
// counts as the line that calls it.
func (f *Finding) own() {
	chain := append(slices.Clone(f.At), f.Stack...)
	i := slices.IndexFunc(chain, func(p code.Place) bool { return !p.Library() })
	for k, list := range f.Next {
		if at := slices.IndexFunc(list, code.Place.Own); at > 0 {
			f.Next[k] = list[at:]
		}
	}
	if i < 0 && len(chain) > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("the branch is in the library's %s, and the line of the game that calls it is not known", chain[0]))
		f.At, f.Stack = nil, nil
	}
	if i <= 0 {
		return
	}
	f.Notes = append(f.Notes, fmt.Sprintf("the branch itself is in the library's %s, which this line calls", chain[0]))
	end := max(i+1, len(f.At))
	f.At, f.Stack = chain[i:end], chain[end:]
}

// steady lets each build play the tick again, and takes the stack at the last equal branch of a difference, which it then
// describes. A build that takes other branches in the second run is the finding.
func (f *finder) steady(out *Finding, p *difference) error {
	stops := [2]uint64{math.MaxUint64, math.MaxUint64}
	of := 0
	if p != nil && p.equal > 0 && out.Thread == 0 {
		of = p.of
		stops[of] = p.index[of]
	}
	var stack []Address
	for i := range f.recorders {
		again, err := f.record(i, 0, stops[i])
		if err != nil {
			return err
		}
		before := f.runs[i].tick
		for _, thread := range threads(before, again.tick) {
			changed, err := identical(f.opts.Trial.Context, before.Branches(before.Thread(thread)), again.tick.Branches(again.tick.Thread(thread)))
			if err != nil {
				return err
			}
			if changed == nil {
				continue
			}
			name := out.Builds[i]
			*out = Finding{Kind: Unsteady, Tick: out.Tick, Builds: [2]string{name, name}, Thread: thread, Equal: changed.equal}
			if stack, err = f.stackOf(i, thread, changed); err != nil {
				return err
			}
			err = describe(out, changed, [2]*programs{f.programs[i], f.programs[i]}, stack)
			if err != nil || thread != 0 || changed.equal == 0 {
				return err
			}
			return f.systems(out, changed, [2]int{i, i})
		}
		if i == of {
			stack = again.tick.Stack
		}
	}
	if p == nil {
		return nil
	}
	return describe(out, p, f.programs, stack)
}

// tries is how often a build that takes other branches each time plays a tick for the stack at one of them.
const tries = 3

// stackOf returns the stack at the last equal branch of two runs of a build, nil if it does not come to it again. A library
// may go other ways each time, such as a hash table: then the difference is where the game called it.
func (f *finder) stackOf(build int, thread uint32, p *difference) ([]Address, error) {
	if thread != 0 || p.equal == 0 {
		return nil, nil
	}
	first := len(p.past) - 1 // of the library
	for ; first > 0; first-- {
		if place, _, err := f.programs[build].line(p.past[first-1]); err != nil {
			return nil, err
		} else if place.Own() {
			break
		}
	}
	for try := range tries + 1 {
		if try == tries {
			back := len(p.past) - 1 - first
			p.last[0], p.index[0] = p.past[first], p.index[0]-uint64(back)
		}
		again, err := f.record(build, 0, p.index[0])
		if err != nil {
			return nil, err
		}
		if stack := again.tick.Stack; len(stack) > 0 && stack[0] == p.last[0] {
			return stack, nil
		}
	}
	return nil, nil
}

// maxHashing is how many branches the hash after a system may take, such as the game's own description of its state.
const maxHashing = 1000

// hashing returns how many branches the hash after a system takes: a whole tick, of count branches, has one hash, and a
// tick in steps has one after each system. It reports whether the counts fit.
func hashing(parts []part, count uint64) (each uint64, ok bool) {
	n := uint64(len(parts))
	if n == 0 || parts[n-1].until < count {
		return 0, false
	}
	more := parts[n-1].until - count
	if n == 1 {
		return 0, more == 0
	}
	each = more / (n - 1)
	return each, more%(n-1) == 0 && each <= maxHashing
}

// parts returns the systems of the tick in a build, with the branches of each, without the branches of the hashes. How many
// a hash takes is learned from the tick before, which is alike in all runs; without one, from the tick itself. It returns
// none if the build cannot be stepped, or if the counts do not fit.
func (f *finder) parts(build int) ([]part, error) {
	r, tick, count := f.recorders[build], f.opts.Tick, f.runs[build].tick.Thread(0).Count
	list, err := r.systems(tick)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	known := list
	if lead := f.runs[build].lead; len(lead) > 0 {
		if known, err = r.systems(tick - 1); err != nil {
			return nil, err
		}
		count = lead[len(lead)-1].Thread(0).Count
	}
	each, ok := hashing(known, count)
	if !ok {
		return nil, nil
	}
	for i := range list {
		taken := uint64(i+1) * each
		if list[i].until < taken {
			return nil, nil
		}
		list[i].until -= taken
	}
	list[len(list)-1].until = math.MaxUint64 // the hash of the whole tick
	return list, nil
}

// systems finds the system of a difference between two builds, or two runs of one, and whether the states differ in an
// earlier system: then the branches differ since the values do.
func (f *finder) systems(out *Finding, p *difference, builds [2]int) error {
	var parts [2][]part
	for i, build := range builds {
		var err error
		if parts[i], err = f.parts(build); err != nil {
			return err
		}
	}
	in := func(i int) int {
		return slices.IndexFunc(parts[i], func(one part) bool { return p.index[i]+1 < one.until })
	}
	a, b := in(0), in(1)
	if p.alone {
		a, b = in(p.of), in(p.of)
	}
	if a < 0 || a != b || a >= len(parts[0]) {
		return nil
	}
	out.System = parts[0][a].system
	first := firstState(parts)
	if first < 0 && builds[0] == builds[1] { // two runs can be equal by chance
		var err error
		if parts[1], err = f.parts(1 - builds[1]); err != nil {
			return err
		}
		first = firstState(parts)
	}
	if first >= 0 {
		out.StateFirst, out.Consequence = parts[0][first].system, first < a
	}
	return nil
}

// firstState returns the first system after which the states of two runs differ, -1 if there is none.
func firstState(parts [2][]part) int {
	for i := range min(len(parts[0]), len(parts[1])) {
		if parts[0][i].system != parts[1][i].system {
			return -1
		}
		if parts[0][i].hash != parts[1][i].hash {
			return i
		}
	}
	return -1
}

package verdict

import (
	"errors"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/snapshot"
)

// bench makes the experiments on one divergence and keeps what they show.
type bench struct {
	c    *Conclusion
	e    Evidence
	lab  *Lab
	peer string
	seen *shape   // what differs between the peers at the end of the tick, nil if that is not known
	own  ownBuild // what the peer's own build has been seen to do
	wide bool     // the experiments are made around the tick, not in it alone
	// lost are the places that a state must have lost to differ so: those that differ first, as
	// far as they are known. Changed are the places that change in the tick, and around it.
	lost    map[string]bool
	changed map[bool]map[string]bool
	// wavers is set if an experiment departed, and did not when it was repeated: the build does not do the same twice.
	// unproven is set if one departed, and nothing shows whether it does so each time: then nothing follows from it, or
	// from other experiments that depart or do not.
	wavers, unproven bool
	spent            bool // no more replays are allowed
}

// ownBuild is what the peer's own build does with the peer's orders.
type ownBuild int

const (
	ownUnknown  ownBuild = iota
	ownRepeats           // it comes to the peer's state
	ownAgrees            // it comes to the state of the trusted build
	ownOther             // it comes to neither, or to another one each time
	ownEarlier           // it departs from the peer before
	ownNoReplay          // it cannot replay the orders
)

// experiment chooses experiments with outcomes that separate the classes that are open, the cheapest first, and stops
// when one shows the cause. It reports whether any is shown.
func (c *Conclusion) experiment(e Evidence, t *traits) bool {
	if e.Lab == nil || c.Tick == nil || c.InitialState || e.Bisect.Replay == nil {
		return false
	}
	b := &bench{c: c, e: e, lab: e.Lab}
	switch {
	case len(c.Guilty) > 0:
		b.peer = c.Guilty[0]
	case len(e.Bisect.Replay.Peers) > 0:
		b.peer = e.Bisect.Replay.Peers[0].Name
	default:
		return false
	}
	if t.exact {
		b.seen, b.lost = shapeOf(e.Diff, nil), t.shape.places
	}
	if e.Lab.Given {
		b.own = b.replayed(false)
	}
	switch {
	case c.OwnFailed:
		return false
	case len(c.Guilty) == 0: // it is not known which peer had the build
		b.own = ownUnknown
	case b.own == ownAgrees: // its data outside the state may be older
		if b.own = b.replayed(true); b.own == ownRepeats {
			return b.kept(t)
		}
		c.exclude(signOf(Experimented, string(bisect.Plain), b.lab.Own), DifferentData)
	}
	switch b.own {
	case ownRepeats:
		return b.repeats(t)
	case ownAgrees:
		return b.inPassing() || b.outside(t)
	case ownOther:
		return b.inReplay(true) || b.inPassing()
	}
	return b.inPassing() || b.inReplay(false)
}

// replayed replays the peer's orders in its own build, and compares the replay with the peer's record.
func (b *bench) replayed(whole bool) ownBuild {
	trial, x := b.try(bisect.Plain, whole)
	if trial == nil {
		if err := x.err; err != nil && !whole && !errors.Is(err, bisect.ErrUnsupported) && !errors.Is(err, bisect.ErrUnplayable) {
			b.c.SimFailed, b.c.OwnFailed = err.Error(), true
		}
		return ownNoReplay
	}
	tick := b.c.Tick.Number
	switch d := trial.First; {
	case d == nil && trial.Compared > 0:
		x.Result = DepartsSo
		if !whole && len(b.c.Guilty) > 0 { // by playing alone; and a peer that may be right shows nothing of the mistake
			b.c.exclude(x.sign(), passing...)
		}
		return ownRepeats
	case d == nil:
		x.Result, x.Why = Impossible, "the peer left no hash of these ticks"
		return ownUnknown
	case d.Point != tick+1:
		return ownEarlier
	case trial.Unsteady:
		return ownOther
	default:
		for _, p := range b.e.Bisect.Replay.Peers {
			if p.Name == b.peer && p.Departs != nil && *p.Departs == d.Point && p.Expected == d.Got {
				x.Result = Agrees
				return ownAgrees
			}
		}
		return ownOther
	}
}

// inPassing looks for mistakes that a build makes outside plain playing: when it tests orders, saves and loads, or
// predicts. A game may take predictions back by loading what it saved, so that both depart.
func (b *bench) inPassing() bool {
	if b.so(bisect.CheckPurity, false) {
		return b.show(ImpureValidation)
	}
	if b.so(bisect.CheckCaches, false) {
		return b.show(StaleCache)
	}
	// From the start too, since little may have changed since the last state in which the peers
	// were equal; and around the tick, since the game may have predicted, or saved, where
	// something changes that does not in that tick.
	defer func() { b.wide = false }()
	for _, at := range []Trying{{}, {Whole: true}, {Wide: true}} {
		more := at != Trying{}
		if b.unproven || more && (b.spent || b.own == ownEarlier || b.own == ownNoReplay) || at.Whole && !b.e.Bisect.Replay.FromState {
			continue
		}
		if b.wide = at.Wide; b.takesBack(at.Whole) {
			return true
		}
	}
	return false
}

// takesBack looks for a state that is not put back completely.
func (b *bench) takesBack(whole bool) bool {
	saved, predicted := b.so(bisect.Serialize, whole), b.so(bisect.Predict, whole)
	departs := saved || predicted || b.so(bisect.Rollback, whole)
	if departs && !b.unproven { // two instances may depart without being treated otherwise
		b.control(whole)
	}
	switch {
	case b.wavers:
		return b.showUnsteady()
	case b.unproven || !departs:
		return false
	case saved && predicted:
		return b.show(SaveForgets, PredictionLeak, Uninitialized)
	case saved:
		return b.show(SaveForgets, Uninitialized)
	case predicted:
		return b.show(PredictionLeak, Uninitialized)
	}
	return b.show(SaveForgets, PredictionLeak, Uninitialized)
}

// inReplay looks for a build that does not come to the same state twice. sure is set if its replay has been seen to
// come to another state than the peer.
func (b *bench) inReplay(sure bool) bool {
	if b.so(bisect.Repeat, false) {
		return b.showUnsteady()
	}
	for _, whole := range []bool{false, true} {
		if sure && b.varies(whole) {
			return b.showUnsteady()
		}
	}
	return false
}

// control looks whether the build does the same each time: else nothing follows from two
// instances that depart because one of them is treated otherwise.
func (b *bench) control(whole bool) {
	if !b.wavers {
		b.wavers = b.varies(whole)
	}
	if !b.wavers && b.made(b.trying(bisect.Repeat, whole)) == nil {
		b.unproven = true
	}
}

// varies reports whether several replays in the build are seen to depart from each other,
// anywhere, or from the plain one.
func (b *bench) varies(whole bool) bool {
	trial, x := b.try(bisect.Repeat, whole)
	switch {
	case trial == nil:
		return false
	case trial.First != nil:
		x.Result = DepartsSo
		return true
	}
	plain := b.made(b.trying(bisect.Plain, whole))
	if plain == nil || plain.trial.To != trial.To || plain.trial.End.IsZero() || plain.trial.End == trial.End {
		return false
	}
	x.Result, x.At = DepartsSo, b.c.tick(b.e, b.c.Tick.Number)
	x.Hits, x.Runs = x.Runs+1, x.Runs+1 // all of them depart from the plain one
	return true
}

// showUnsteady takes the classes of mistakes by which two replays in one build differ. Where no states are known but
// hashes, the checksum may be one that does not depend on the state alone: two instances show that.
func (b *bench) showUnsteady() bool {
	classes := []string{WallClock, IterationOrder, Uninitialized}
	if s := b.seen; s != nil && (s.traded > 0 || s.only[0] > 0 && s.only[0] == s.only[1]) {
		classes[0], classes[1], classes[2] = IterationOrder, ThreadTiming, Uninitialized
	}
	if b.c.Compared == nil {
		trial, x := b.try(bisect.Dual, false)
		switch {
		case trial == nil || trial.First == nil || trial.First.Diff == nil:
			classes = append(classes, ChecksumDefect)
		case !trial.First.Diff.RootsDiffer():
			x.Result, classes = DepartsSo, []string{ChecksumDefect}
		}
	}
	return b.take(Shown, slices.DeleteFunc(classes, b.c.excluded))
}

// repeats separates the classes of mistakes that the build makes again with the same orders.
func (b *bench) repeats(t *traits) bool {
	if b.so(bisect.CheckCaches, false) || b.so(bisect.CheckCaches, true) {
		return b.show(StaleCache)
	}
	trial, x := b.try(bisect.Against, false)
	s := b.seen
	if trial != nil && trial.First != nil && trial.First.Diff != nil {
		if trial.First.Point == b.c.Tick.Number+1 {
			x.Result = DepartsSo
		}
		if !trial.First.Diff.RootsDiffer() { // the states are equal, but the recorded data about them is not
			return b.show(ChecksumDefect)
		}
		b.c.exclude(x.sign(), ChecksumDefect)
		s = shapeOf(trial.First.Diff, nil)
	}
	saved := b.so(bisect.Serialize, false)
	if saved {
		b.control(false)
	}
	switch {
	case b.wavers || b.varies(false): // last, since it takes the most replays
		return b.showUnsteady()
	case b.unproven:
		return false
	case saved:
		// What has just loaded has clean buffers; and no number of replays excludes a rare race.
		return b.show(t.andHealed(s, Uninitialized, IterationOrder)...)
	}
	classes, alone := b.inBuild(s, t)
	if healed := t.andHealed(s, classes...); !alone {
		return b.left(healed...)
	} else if !b.show(healed...) {
		return false
	}
	for i := range b.c.Causes {
		b.c.Causes[i].Together = len(b.c.Causes) > 1
	}
	return true
}

// kept separates the classes of mistakes that the build makes again from the start, and not from
// the last state in which the peers were equal: it keeps something that the state lacks.
func (b *bench) kept(t *traits) bool {
	if b.so(bisect.CheckCaches, true) {
		return b.show(StaleCache)
	}
	if b.control(true); b.wavers {
		return b.showUnsteady()
	}
	classes := t.andHealed(b.seen, Uninitialized, SaveForgets, IterationOrder, StaleCache)
	return !b.unproven && b.take(Shown, slices.DeleteFunc(classes, b.c.excluded))
}

// mostClasses is how many classes may be named as not separated: a longer list is of no use.
const mostClasses = 3

// show takes classes as shown by the experiments that were made, the first of those that are not excluded.
func (b *bench) show(classes ...string) bool {
	classes = unique(slices.DeleteFunc(classes, b.c.excluded))
	return b.take(Shown, classes[:min(len(classes), mostClasses)])
}

// take takes classes, as far as they are not excluded.
func (b *bench) take(standing Standing, classes []string) bool {
	var signs []Sign
	var last *Experiment
	for i := range b.c.Experiments {
		if x := &b.c.Experiments[i]; x.Result == DepartsSo {
			signs, last = append(signs, x.sign()), x
		}
	}
	switch {
	case last == nil:
		signs = append(signs, signOf(OwnIsSound, b.lab.Own))
	case standing == Shown:
		last.Shows = classes
	}
	return b.c.caused(standing, nil, signs, classes...)
}

// sign returns the experiment as a sign of a cause.
func (x *Experiment) sign() Sign { return signOf(Experimented, string(x.Mode), x.Sim) }

// passing are the classes of mistakes that are not made by playing: testing, predicting, saving, and writes from
// outside of the game. A build that repeats the peer's state by playing does not need them.
var passing = []string{ImpureValidation, PredictionLeak, SaveForgets, TimerOff, ForeignWrite, BitFlip}

// excludes are the classes that one mode excludes if nothing departs in it, where the build is
// known to be the peer's.
var excludes = map[bisect.TrialMode][]string{
	bisect.CheckCaches: {StaleCache},
	bisect.CheckPurity: {ImpureValidation},
	bisect.Predict:     {PredictionLeak},
	bisect.Serialize:   {SaveForgets},
}

// anew is how often an experiment that departs in a pair of instances is repeated. It is believed only if it departs in
// the same tick each time, since a build that does not do the same twice may depart by chance. Such a build that comes
// to one of two states, to the rarer one with probability q, departs by chance with probability 2q(1-q), four times
// with (2q(1-q))⁴; and then the control must not notice, 24 replays that agree with each other: q²⁴+(1-q)²⁴. The
// product is largest for q = 1/8, 1 in 10,000, and smaller for more states. Without the repetition it would be 1 in 34,
// and 1 in 10 with six replays.
const anew = 3

// chancy are the modes that may depart by chance, since they compare two instances with each other.
var chancy = []bisect.TrialMode{bisect.CheckPurity, bisect.Predict, bisect.Serialize, bisect.Rollback}

// so makes an experiment and reports whether it departs where the peers diverged.
func (b *bench) so(mode bisect.TrialMode, whole bool) bool {
	if b.wavers || b.wide && b.spent { // no more can be learned from it
		return false
	}
	trial, x := b.try(mode, whole)
	if trial == nil {
		return false
	}
	if trial.First == nil {
		if b.own == ownRepeats || b.own == ownAgrees {
			x.Uncovered = slices.ContainsFunc(excludes[mode], b.c.open) && !(trial.Compared > 0 && b.covers(mode, whole))
			if !x.Uncovered {
				b.c.exclude(x.sign(), excludes[mode]...)
			}
		}
		return false
	}
	x.Result = Elsewhere
	switch tick := b.c.Tick.Number; {
	case mode == bisect.CheckCaches && trial.First.Point <= tick+1: // it is read later than it goes stale
		x.Result = DepartsSo
	case mode == bisect.Serialize && trial.First.Point == tick && b.meets(trial.First.Diff): // loading shows at once
		x.Result = DepartsSo
	case trial.First.Point == tick+1 && b.meets(trial.First.Diff):
		x.Result = DepartsSo
	case b.wide && b.seen != nil && trial.First.Diff != nil && b.meets(trial.First.Diff):
		x.Result = DepartsSo
	}
	return x.Result == DepartsSo && (!slices.Contains(chancy, mode) || b.again(x))
}

// covers reports whether a mode had to show its kind of mistake if that was the cause: a state
// that lacks a value departs only where the value has changed since. A replay knows all orders, so
// Predict does not show what the peer made of guesses that it compared with orders.
func (b *bench) covers(mode bisect.TrialMode, whole bool) bool {
	switch {
	case mode == bisect.CheckCaches || mode == bisect.CheckPurity:
		return true
	case mode == bisect.Predict:
		return false
	case whole: // how much has changed since the start is not looked at
		return false
	}
	changed, made := b.changed[b.wide]
	if !made {
		if t := b.trying(bisect.Changing, false); b.lab.Allowed(t) {
			if trial, err := b.lab.Try(t); err == nil {
				changed = trial.Changed
			}
		}
		if b.changed == nil {
			b.changed = map[bool]map[string]bool{}
		}
		b.changed[b.wide] = changed
	}
	if len(b.lost) == 0 { // what differs is not known
		return b.wide && len(changed) > 0
	}
	for place := range b.lost {
		if !changed[place] {
			return false
		}
	}
	return true
}

// again repeats an experiment that departed, and reports whether it departs each time.
func (b *bench) again(x *Experiment) bool {
	x.Hits, x.Runs = 1, 1
	for range anew {
		if !b.lab.Allowed(x.Trying) {
			b.unproven = true
			return false
		}
		trial, err := b.lab.Try(x.Trying)
		if err != nil {
			b.unproven = true
			return false
		}
		x.Runs++
		if trial.First == nil || trial.First.Point != x.trial.First.Point {
			b.wavers = true
			return false
		}
		x.Hits++
	}
	return true
}

// meets reports whether what departs in an experiment is among what differs between the
// peers, as far as both are known.
func (b *bench) meets(d *snapshot.Diff) bool {
	return d == nil || b.seen == nil || shapeOf(d, nil).meets(b.seen)
}

// trying is an experiment on the peer and the tick.
func (b *bench) trying(mode bisect.TrialMode, whole bool) Trying {
	return Trying{Mode: mode, Peer: b.peer, Tick: b.c.Tick.Number, Whole: whole, Wide: b.wide}
}

// made returns an experiment that was made already, nil if it was not.
func (b *bench) made(t Trying) *Experiment {
	for i := range b.c.Experiments {
		if x := &b.c.Experiments[i]; x.Trying == t && x.trial != nil {
			return x
		}
	}
	return nil
}

// try makes an experiment. The trial is nil if it could not be made.
func (b *bench) try(mode bisect.TrialMode, whole bool) (*bisect.Trial, *Experiment) {
	x := Experiment{Trying: b.trying(mode, whole), Sim: b.lab.Own, Result: Agrees}
	if mode == bisect.Against {
		x.Sim = b.lab.Sim + " against " + b.lab.Own
	}
	if y := b.made(x.Trying); y != nil {
		return y.trial, y
	}
	if b.wide && b.lab.Back != nil {
		x.Back = b.lab.Back(b.peer)
	}
	b.c.Experiments = append(b.c.Experiments, x)
	at := &b.c.Experiments[len(b.c.Experiments)-1]
	if !b.lab.Allowed(x.Trying) {
		at.Result, b.spent = NotMade, true
		return nil, at
	}
	trial, err := b.lab.Try(x.Trying)
	if err != nil {
		at.Result, at.Why, at.err = Impossible, err.Error(), err
		return nil, at
	}
	at.trial, at.Hits, at.Runs = trial, trial.Hits, trial.Runs
	if d := trial.First; d != nil {
		at.Result = Elsewhere
		if d.Point > 0 {
			at.At = b.c.tick(b.e, d.Point-1)
		}
		at.System = d.System
		if d.Diff != nil {
			at.Labels = changed(d.Diff)
		}
		slices.Sort(at.Labels)
	}
	return trial, at
}

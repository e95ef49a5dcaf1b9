package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Sums that peers and simulators come to at the end of the divergent tick.
var (
	soundSum = merkle.Short{1}
	peerSum  = merkle.Short{2}
	otherSum = merkle.Short{3}
)

// outcome is how one replay ends: at a point with a sum, 0 for one in which nothing departs.
type outcome struct {
	point uint64
	got   merkle.Short
	diff  *snapshot.Diff
	err   error
	blind bool         // nothing was compared
	end   merkle.Short // of plain replays and of repeated ones
	// then is how it ends from the nth time on, if n is not 0.
	n    int
	then *outcome
}

// fakeLab answers experiments from a table, and notes which were made.
type fakeLab struct {
	outcomes map[bisect.TrialMode]outcome
	made     []string
	left     int
	peers    [2]string // the one that is wrong first; client and host if empty
}

func (l *fakeLab) try(x Trying) (*bisect.Trial, error) {
	mode := string(x.Mode)
	if x.Whole {
		if o, ok := l.outcomes[x.Mode+" whole"]; ok {
			l.outcomes[x.Mode], mode = o, mode+" whole"
		}
	}
	l.made = append(l.made, mode)
	l.left--
	o := l.outcomes[x.Mode]
	made := 0
	for _, mode := range l.made {
		made += btoi(mode == string(x.Mode))
	}
	if o.n > 0 && made >= o.n {
		o = *o.then
	}
	if o.err != nil {
		return nil, o.err
	}
	t := &bisect.Trial{Mode: x.Mode, Compared: 5, To: 61, End: o.end}
	if o.end.IsZero() {
		t.End = peerSum
	}
	if x.Mode == bisect.Changing && !o.blind && (x.Wide || o.n == 0) {
		t.Changed = map[string]bool{"Tank/Health.hp": true}
	}
	if o.blind {
		t.Compared = 0
	}
	if o.point > 0 {
		t.First = &bisect.Departure{Point: o.point, Got: o.got, Diff: o.diff}
	}
	return t, nil
}

// experimented concludes on peers that diverged in tick 60 in Health.hp of Tank 7, the client being wrong.
func experimented(t *testing.T, l *fakeLab, given bool) *Conclusion {
	t.Helper()
	return experimentedOn(t, differAt(partedIn(60, 61), 61), l, given)
}

func experimentedOn(t *testing.T, e Evidence, l *fakeLab, given bool) *Conclusion {
	t.Helper()
	point := uint64(61)
	wrong, right := cmp.Or(l.peers[0], "client"), cmp.Or(l.peers[1], "host")
	e.Bisect.Replay = &bisect.Replay{Peers: []bisect.ReplayedPeer{
		{Name: wrong, Compared: 2, Departs: &point, Expected: soundSum, Got: peerSum}, {Name: right, Compared: 2},
	}}
	e.Lab = &Lab{Sim: "sound", Own: "own", Given: given, Try: l.try, Allowed: func(Trying) bool { return l.left > 0 }}
	c, err := Conclude(e)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExperiments pins which experiments are made after which outcomes, and what they show.
func TestExperiments(t *testing.T) {
	here := differAt(partedIn(60, 61), 61).Diff
	elsewhere := diffOf(change(1, "x", f64(1), f64(2)))
	agrees := outcome{point: 61, got: soundSum} // of the peer's own build: not what the peer recorded
	left := func(classes ...string) []string { return append([]string{"not excluded:"}, classes...) }
	type outcomes = map[bisect.TrialMode]outcome
	for _, test := range []struct {
		name     string
		given    bool
		outcomes outcomes
		left     int
		want     []string
		made     []string
	}{
		{"tests of orders change the state", false, outcomes{bisect.CheckPurity: {point: 61, diff: here}}, 50, []string{ImpureValidation}, []string{"check-purity", "check-purity", "check-purity", "check-purity"}},
		{"tests of orders change something else", false, outcomes{bisect.CheckPurity: {point: 61, diff: elsewhere}}, 50, nil, nil},
		{"nothing departs in the trusted build", false, outcomes{}, 50, nil, []string{"check-purity", "check-caches", "serialize", "predict", "rollback", "serialize", "predict", "rollback", "runs"}},
		{"a prediction is not taken back", true, outcomes{bisect.Plain: agrees, bisect.Predict: {point: 61, diff: here}}, 50, []string{PredictionLeak, Uninitialized}, nil},
		{"a prediction departs, and so does every replay", true, outcomes{bisect.Plain: agrees, bisect.Predict: {point: 61, diff: here}, bisect.Repeat: {point: 61}}, 50,
			[]string{WallClock, IterationOrder, Uninitialized}, nil},
		{"a prediction departs by chance", true, outcomes{bisect.Plain: agrees, bisect.Predict: {point: 61, diff: here, n: 4, then: &outcome{}}}, 50,
			[]string{WallClock, IterationOrder, Uninitialized}, []string{"plain", "plain", "check-purity", "check-caches", "serialize", "changing", "predict", "predict", "predict", "predict"}},
		{"a rollback departs in another tick the next time", true, outcomes{bisect.Plain: agrees, bisect.Rollback: {point: 61, diff: here, n: 2, then: &outcome{point: 60}}}, 50,
			[]string{WallClock, IterationOrder, Uninitialized}, nil},
		{"a prediction departs, and no more was allowed", true, outcomes{bisect.Plain: agrees, bisect.Predict: {point: 61, diff: here}}, 8, nil, nil},
		{"a prediction departs, and there was no control", true, outcomes{bisect.Plain: agrees, bisect.Predict: {point: 61, diff: here}}, 9, nil, nil},
		{"a save departs, and the next one breaks", true, outcomes{bisect.Plain: agrees, bisect.Serialize: {point: 60, diff: here, n: 2, then: &outcome{err: errors.New("no")}}}, 50, nil, nil},
		{"a save departs, and the control breaks", true, outcomes{bisect.Plain: agrees, bisect.Serialize: {point: 60, diff: here}, bisect.Repeat: {err: errors.New("no")}}, 50, nil, nil},
		{"a save departs, and the control comes to something else", true,
			outcomes{bisect.Plain: {point: 61, got: soundSum, end: soundSum}, bisect.Serialize: {point: 60, diff: here}, bisect.Repeat: {end: peerSum}}, 50,
			[]string{WallClock, IterationOrder, Uninitialized}, nil},
		{"a save forgets", true, outcomes{bisect.Plain: agrees, bisect.Serialize: {point: 60, diff: here}}, 50, []string{SaveForgets, Uninitialized}, nil},
		{"the own build repeats it, and caches are stale", true, outcomes{bisect.CheckCaches: {point: 50}}, 50, []string{StaleCache}, []string{"plain", "check-caches"}},
		{"the own build repeats it, and nothing else departs", true, outcomes{bisect.Against: {point: 61, diff: here}}, 50, left(DifferentData, UnstableSort, Locale, IterationOrder), nil},
		{"the own build repeats it, and rounds otherwise", true, outcomes{bisect.Against: {point: 61, diff: diffOf(change(1, "x", f64(1), f64(1+1e-12)))}}, 50, []string{Float}, nil},
		{"the own build repeats it only until it is loaded", true, outcomes{bisect.Serialize: {point: 61, diff: here}}, 50, []string{Uninitialized, IterationOrder}, nil},
		{"the own build repeats it until it is loaded, and the control breaks", true, outcomes{bisect.Serialize: {point: 61, diff: here}, bisect.Repeat: {err: errors.New("no")}}, 50, nil, nil},
		{"the own build repeats it, and never again", true, outcomes{bisect.Plain: {end: peerSum}, bisect.Repeat: {end: soundSum}}, 50, []string{WallClock, IterationOrder, Uninitialized}, nil},
		{"the own build comes to something else each time", true, outcomes{bisect.Plain: {point: 61, got: otherSum}, bisect.Repeat: {point: 61}}, 50,
			[]string{WallClock, IterationOrder, Uninitialized}, []string{"plain", "runs"}},
		{"what is predicted and what is saved forget the same", true, outcomes{bisect.Plain: agrees, bisect.Predict: {point: 61, diff: here}, bisect.Serialize: {point: 60, diff: here}}, 50,
			[]string{SaveForgets, PredictionLeak, Uninitialized}, nil},
		{"the own build repeats it from the start alone", true, outcomes{bisect.Plain: agrees, "plain whole": {}}, 50, []string{Uninitialized, SaveForgets, IterationOrder}, nil},
		{"the own build repeats it from the start alone, and has a stale cache", true, outcomes{bisect.Plain: agrees, "plain whole": {}, bisect.CheckCaches: {point: 60}}, 50, []string{StaleCache}, nil},
		{"the own build is sound in every way", true, outcomes{bisect.Plain: agrees}, 50, left(ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak), nil},
		{"the own build is sound, and what differs never changes", true, outcomes{bisect.Plain: agrees, bisect.Changing: {blind: true}}, 50, left(ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak, SaveForgets), nil},
		{"the own build is sound, and what differs changes near the tick", true, outcomes{bisect.Plain: agrees, bisect.Changing: {n: 9}}, 50, left(ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak), nil},
		{"the own build is sound, by chance", true, outcomes{bisect.Plain: agrees, bisect.Repeat: {point: 50}}, 50, []string{WallClock, IterationOrder, Uninitialized}, nil},
		{"the own build is sound, and there was no control", true, outcomes{bisect.Plain: agrees}, 7, nil, nil},
		{"the own build is sound, but nothing more was allowed", true, outcomes{bisect.Plain: agrees}, 3, nil, nil},
		{"the own build is sound, and cannot predict", true, outcomes{bisect.Plain: agrees, bisect.Predict: {err: errors.New("no")}}, 50, left(ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak), nil},
		{"the own build is sound, and can do little", true, outcomes{bisect.Plain: agrees, bisect.Predict: {err: errors.New("no")}, bisect.Serialize: {err: errors.New("no")}, bisect.CheckPurity: {err: errors.New("no")}}, 50,
			left(ForeignWrite, ThreadTiming, Uninitialized, ImpureValidation, PredictionLeak, SaveForgets), nil},
		{"the own build repeats it, but nothing more was allowed", true, outcomes{}, 3, nil, []string{"plain", "check-caches", "check-caches"}},
		{"the own build has another hash for the same state", true, outcomes{bisect.Against: {point: 61, diff: &snapshot.Diff{A: &snapshot.Info{}, B: &snapshot.Info{}}}}, 50, []string{ChecksumDefect}, nil},
		{"the own build repeats it, and its caches cannot be checked", true, outcomes{bisect.CheckCaches: {err: errors.New("no")}}, 50, left(DifferentData, UnstableSort, Locale, IterationOrder, StaleCache), nil},
		{"the own build repeats it, rounds otherwise, and its caches cannot be checked", true,
			outcomes{bisect.CheckCaches: {err: errors.New("no")}, bisect.Against: {point: 61, diff: diffOf(change(1, "x", f64(1), f64(1+1e-12)))}}, 50, []string{Float}, nil},
		{"the own build is another one", true, outcomes{bisect.Plain: {point: 12, got: otherSum}}, 50, nil, nil},
		{"the own build cannot replay it", true, outcomes{bisect.Plain: {err: fmt.Errorf("no: %w", bisect.ErrUnsupported)}}, 50, nil, nil},
		{"the own build breaks", true, outcomes{bisect.Plain: {err: errors.New("no")}}, 50, nil, []string{"plain"}},
	} {
		l := &fakeLab{outcomes: test.outcomes, left: test.left}
		c := experimented(t, l, test.given)
		var got []string
		for i := range c.Causes {
			got = append(got, c.Causes[i].Class)
			if c.Causes[i].Standing != c.Causes[0].Standing || len(c.Causes[i].Signs) == 0 {
				t.Errorf("%s: %+v", test.name, c.Causes[i])
			}
		}
		if len(got) > 0 && c.Causes[0].Standing == NotExcluded {
			got = append([]string{"not excluded:"}, got...)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, expected %v; made %v", test.name, got, test.want, l.made)
		}
		if test.made != nil && !slices.Equal(l.made, test.made) {
			t.Errorf("%s: made %v, expected %v", test.name, l.made, test.made)
		}
		if failed := test.outcomes[bisect.Plain].err != nil && len(test.made) == 1; c.OwnFailed != failed || (c.SimFailed != "") != failed {
			t.Errorf("%s: said to have failed: %q, %v", test.name, c.SimFailed, c.OwnFailed)
		}
		if n := len(c.Excluded); !test.given && n > 0 {
			t.Errorf("%s: %d classes are excluded, though nobody knows what the peer ran", test.name, n)
		}
	}
}

// TestExclusions: that nothing departs in a build excludes what it would show only if the build
// has been seen to be the peer's.
func TestExclusions(t *testing.T) {
	for _, test := range []struct {
		name  string
		plain outcome
		want  bool
	}{
		{"repeats what the peer has", outcome{}, true},
		{"comes to what the others have", outcome{point: 61, got: soundSum}, true},
		{"comes to neither", outcome{point: 61, got: otherSum}, false},
		{"departs from the peer before", outcome{point: 12, got: soundSum}, false},
		{"cannot replay the orders", outcome{err: fmt.Errorf("no: %w", bisect.ErrUnsupported)}, false},
		{"has nothing to be held against", outcome{blind: true}, false},
	} {
		c := experimented(t, &fakeLab{outcomes: map[bisect.TrialMode]outcome{bisect.Plain: test.plain}, left: 50}, true)
		if c.excluded(StaleCache) != test.want || c.excluded(SaveForgets) != test.want {
			t.Errorf("a build that %s: excluded are %+v", test.name, c.Excluded)
		}
	}
}

// TestHosts: what only the host does is excluded only if the peer is known not to be the host.
func TestHosts(t *testing.T) {
	stated := func(host string) []document.Fact {
		return []document.Fact{{Name: "host peer", Values: map[string]string{"ann": host}}}
	}
	for _, test := range []struct {
		guilty, other string
		facts         []document.Fact
		want          []string
	}{
		{"client", "host", nil, []string{ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak}},
		{"game-server2", "ann", nil, []string{HostOnly, ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak}},
		{"ann", "the host", nil, []string{ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak}},
		{"ann", "ghost", nil, []string{ForeignWrite, ThreadTiming, Uninitialized, HostOnly, PredictionLeak}},
		{"ann", "bo", stated("ann"), []string{HostOnly, ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak}},
		{"ann", "bo", stated("bo"), []string{ForeignWrite, ThreadTiming, Uninitialized, PredictionLeak}},
		{"ann", "bo", stated("someone else"), []string{ForeignWrite, ThreadTiming, Uninitialized, HostOnly, PredictionLeak}},
	} {
		e := differAt(partedIn(60, 61), 61)
		e.Stated = test.facts
		l := &fakeLab{outcomes: map[bisect.TrialMode]outcome{bisect.Plain: {point: 61, got: soundSum}}, left: 50, peers: [2]string{test.guilty, test.other}}
		if got := classesOf(experimentedOn(t, e, l, true)); !slices.Equal(got, test.want) {
			t.Errorf("%s departs from %s, %v: %v, expected %v", test.guilty, test.other, test.facts, got, test.want)
		}
	}
}

func classesOf(c *Conclusion) (list []string) {
	for i := range c.Causes {
		list = append(list, c.Causes[i].Class)
	}
	return list
}

// TestBudget checks that no more replays are made than are allowed, and that those left out
// are named.
func TestBudget(t *testing.T) {
	for left := range 6 {
		l := &fakeLab{left: left}
		c := experimented(t, l, false)
		notMade := 0
		for _, x := range c.Experiments {
			if x.Result == NotMade {
				notMade++
			}
		}
		want := 6 - left
		if left == 5 { // the first of those around the tick, and the control
			want = 2
		}
		if len(l.made) != left || notMade != want {
			t.Errorf("%s: %d made, %d said not to be", fmt.Sprint(left), len(l.made), notMade)
		}
	}
}

// TestHashesAlone: where hashes differ and no states are known, the checksum may be wrong.
func TestHashesAlone(t *testing.T) {
	same, other := &snapshot.Diff{A: &snapshot.Info{}, B: &snapshot.Info{}}, differAt(partedIn(60, 61), 61).Diff
	agrees := outcome{point: 61, got: soundSum}
	for _, test := range []struct {
		name     string
		outcomes map[bisect.TrialMode]outcome
		standing Standing
		has      bool
	}{
		{"the own build is sound", map[bisect.TrialMode]outcome{bisect.Plain: agrees}, NotExcluded, true},
		{"the own build repeats it in its state", map[bisect.TrialMode]outcome{bisect.Against: {point: 61, diff: other}}, NotExcluded, false},
		{"the own build varies", map[bisect.TrialMode]outcome{bisect.Plain: {point: 61, got: otherSum}, bisect.Repeat: {point: 61}}, Shown, true},
		{"the own build varies in its state", map[bisect.TrialMode]outcome{bisect.Plain: {point: 61, got: otherSum}, bisect.Repeat: {point: 61}, bisect.Dual: {point: 61, diff: other}}, Shown, false},
		{"the own build varies in its checksum", map[bisect.TrialMode]outcome{bisect.Plain: {point: 61, got: otherSum}, bisect.Repeat: {point: 61}, bisect.Dual: {point: 61, diff: same}}, Shown, true},
	} {
		c := experimentedOn(t, partedIn(60, 61), &fakeLab{outcomes: test.outcomes, left: 50}, true)
		i := slices.IndexFunc(c.Causes, func(x Cause) bool { return x.Class == ChecksumDefect })
		if len(c.Causes) == 0 || c.Causes[0].Standing != test.standing || (i >= 0) != test.has {
			t.Errorf("%s: %+v; excluded %+v", test.name, c.Causes, c.Excluded)
		}
	}
}

// TestLikenessAmongLeft: experiments that leave several classes do not take away the likeness of one
// of them, which is known without them.
func TestLikenessAmongLeft(t *testing.T) {
	e := differAt(partedIn(60, 61), 61)
	e.Facts = []document.Fact{{Name: "data", Must: true, Values: map[string]string{"client": "1", "host": "2"}}}
	against := map[bisect.TrialMode]outcome{bisect.Against: {point: 61, diff: e.Diff}}
	if c := experimentedOn(t, e, &fakeLab{outcomes: against, left: 50}, true); len(c.Causes) != 1 || c.Causes[0].Class != DifferentData || c.Causes[0].Standing != Looks {
		t.Errorf("the own build repeats it: %+v", c.Causes)
	}
	sound := map[bisect.TrialMode]outcome{bisect.Plain: {point: 61, got: soundSum}}
	if c := experimentedOn(t, e, &fakeLab{outcomes: sound, left: 50}, true); len(c.Causes) != 4 || c.Causes[0].Standing != NotExcluded || !c.excluded(DifferentData) {
		t.Errorf("the own build is sound: %+v, excluded %+v", c.Causes, c.Excluded)
	}
}

package verdict

import (
	"reflect"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// inSync is evidence of two peers with equal states.
func inSync() Evidence {
	return Evidence{Bisect: &bisect.Result{
		Peers:     []bisect.PeerInfo{{Name: "client", Snapshots: 3, Log: true}, {Name: "host", Snapshots: 3, Log: true}},
		Snapshots: 3, Probes: 3,
	}}
}

// partedIn is evidence of two peers that diverged between two state points.
func partedIn(good, bad uint64) Evidence {
	e := inSync()
	e.Bisect.Kind = bisect.StateDiffers
	e.Bisect.Bracket = &bisect.Bracket{Good: &snapshot.Point{Tick: good}, Bad: snapshot.Point{Tick: bad}, By: "snapshots", A: "client", B: "host"}
	e.Bisect.Exact, e.Bisect.Tick = bad == good+1, good
	e.Bisect.Groups = [][]string{{"client"}, {"host"}}
	return e
}

// differAt adds states of a state point that differ in one value.
func differAt(e Evidence, point uint64) Evidence {
	info := func() *snapshot.Info {
		return &snapshot.Info{Head: snapshot.Head{Point: snapshot.Point{Tick: point}}, Tables: []snapshot.TableInfo{{Label: "Tank", Rows: 10}}}
	}
	change := snapshot.Change{
		Key: snapshot.Key{A: 7}, Component: "Health", Field: "hp", Kind: snapshot.KindInteger, BitsChanged: 3,
		A: snapshot.Value{Type: snapshot.I32, Raw: []byte{5, 0, 0, 0}}, B: snapshot.Value{Type: snapshot.I32, Raw: []byte{8, 0, 0, 0}},
	}
	d := &snapshot.Diff{A: info(), B: info(), Tables: []snapshot.TableDiff{{
		Label: "Tank", Class: snapshot.Archetype, Changes: []snapshot.Change{change},
		Columns: []snapshot.ColumnDiff{{Component: "Health", Field: "hp", Tally: snapshot.Tally{Rows: 1}}},
	}}}
	d.B.Root[0] = 1
	e.Parted = &Parted{Names: [2]string{"client", "host"}, Diff: d}
	if point == e.Bisect.Bracket.Bad.Tick {
		e.Diff = d
	}
	return e
}

// loadedAt is differAt where the client was away from one state point to another, and came back with
// another state.
func loadedAt(away, back, point uint64) Evidence {
	e := partedIn(away, back)
	e.Bisect.Loaded = &bisect.Loaded{Peer: "client", After: &away}
	return differAt(e, point)
}

func conclude(t *testing.T, e Evidence) *Conclusion {
	t.Helper()
	c, err := Conclude(e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Conclude(e)
	if err != nil || !reflect.DeepEqual(c, again) {
		t.Errorf("the same evidence gives two conclusions (%v)", err)
	}
	return c
}

func states(c *Conclusion) map[Step]document.RungState {
	out := map[Step]document.RungState{}
	for _, a := range c.Answers {
		out[a.Step] = a.State
	}
	return out
}

// TestStatus pins the status and the first step for each kind of evidence.
func TestStatus(t *testing.T) {
	lost := inSync()
	lost.Lost = []string{"evil.zip: ../evil.sav was left out"}
	contradicts := inSync()
	contradicts.Contradictions = []string{"a: not b"}
	orders := inSync()
	orders.Orders = &orderlog.Comparison{Verdict: orderlog.InputsDiffer, DifferenceCount: 1, Differences: []orderlog.Difference{{Kind: orderlog.Missing, Tick: 4}}}
	nothing := inSync()
	nothing.Bisect.Snapshots = 0
	lostAndParted := partedIn(60, 90)
	lostAndParted.Lost = lost.Lost
	traced := inSync()
	traced.Bisect.Snapshots = 0
	traced.Bisect.Traces = []*tracediff.Result{{Traces: make([]tracediff.TraceInfo, 2), First: &tracediff.Difference{}}}
	for _, test := range []struct {
		name      string
		e         Evidence
		status    document.Status
		kind      bisect.Kind
		preflight document.RungState
	}{
		{"in sync", inSync(), document.InSync, "", document.RungFound},
		{"in sync, an entry of an archive lost", lost, document.Inconclusive, "", document.RungTrouble},
		{"in sync, a contradiction", contradicts, document.Inconclusive, "", document.RungTrouble},
		{"logs differ", orders, document.Inconclusive, "", document.RungFound},
		{"no states", nothing, document.Inconclusive, "", document.RungTrouble},
		{"parted", partedIn(60, 90), document.Diverged, bisect.StateDiffers, document.RungFound},
		{"diverged, and something lost", lostAndParted, document.Diverged, bisect.StateDiffers, document.RungTrouble},
		{"traces differ", traced, document.Diverged, bisect.StateDiffers, document.RungFound},
		{"one peer", Evidence{Covers: []Covered{{Name: "host"}}}, document.Inconclusive, "", document.RungTrouble},
	} {
		c := conclude(t, test.e)
		if got := document.StatusOf(c); got != test.status || c.Kind != test.kind {
			t.Errorf("%s: %s %q, expected %s %q", test.name, got, c.Kind, test.status, test.kind)
		}
		if got := states(c)[StepPreflight]; got != test.preflight {
			t.Errorf("%s: the first step is %s, expected %s", test.name, got, test.preflight)
		}
	}
}

// TestOneFactOfTheInputs checks that orders that differ are one fact, whatever found it.
func TestOneFactOfTheInputs(t *testing.T) {
	e := partedIn(60, 61)
	point := uint64(61)
	e.Bisect.Replay = &bisect.Replay{InputsDiffer: &point, Peers: []bisect.ReplayedPeer{{Name: "client"}, {Name: "host"}}}
	c := conclude(t, e)
	if !c.Inputs.Differ() || states(c)[StepInputs] != document.RungFound || states(c)[StepPeers] != document.RungFound {
		t.Errorf("the replays of two peers' orders differ: %+v, %v", c.Inputs, states(c))
	}
	if c.Kind != bisect.StateDiffers {
		t.Errorf("states that differ are called %q", c.Kind)
	}
}

// TestGuilty finds who is wrong by a replay.
func TestGuilty(t *testing.T) {
	e := partedIn(60, 61)
	point := uint64(61)
	e.Bisect.Replay = &bisect.Replay{Peers: []bisect.ReplayedPeer{{Name: "client", Departs: &point, Compared: 5, Borrowed: "host"}, {Name: "host", Compared: 5}}}
	c := conclude(t, e)
	if !slices.Equal(c.Guilty, []string{"client"}) || c.Borrowed == nil || *c.Borrowed != (Borrowed{"client", "host"}) {
		t.Errorf("guilty are %v, %+v", c.Guilty, c.Borrowed)
	}
	e.Bisect.Replay.Peers[1].Departs = &point
	if c = conclude(t, e); c.Guilty != nil || states(c)[StepPeers] != document.RungOpen {
		t.Errorf("both depart, and guilty are %v", c.Guilty)
	}
}

// TestLater counts the ticks from the divergence to the states that were compared.
func TestLater(t *testing.T) {
	for _, test := range []struct {
		name  string
		e     Evidence
		later uint64
	}{
		{"the end of the tick", differAt(partedIn(60, 61), 61), 0},
		{"hundreds of ticks later", differAt(partedIn(60, 61), 360), 299},
		{"the end of a wide bracket", differAt(partedIn(60, 90), 90), 29},
		{"the state that a peer loaded when it came back", loadedAt(60, 90, 90), 0},
		{"after that", loadedAt(60, 90, 100), 10},
		{"nothing to look at", partedIn(60, 61), 0},
	} {
		if c := conclude(t, test.e); c.Later != test.later {
			t.Errorf("%s: %d ticks later, expected %d", test.name, c.Later, test.later)
		}
	}
}

// TestCauseNeeds: nothing is asked for that is there, or was done.
func TestCauseNeeds(t *testing.T) {
	for _, test := range []struct {
		name string
		e    Evidence
		want []Artifact
	}{
		{"a wide bracket", differAt(partedIn(60, 90), 90), []Artifact{NearerStates, ColumnTraces, Simulator}},
		{"states of later", differAt(partedIn(60, 61), 360), []Artifact{States, ColumnTraces, Simulator}},
		{"states of the tick", differAt(partedIn(60, 61), 61), []Artifact{ColumnTraces, Simulator}},
	} {
		if got := causeNeeds(conclude(t, test.e)); !slices.Equal(got, test.want) {
			t.Errorf("%s: the cause needs %v, expected %v", test.name, got, test.want)
		}
	}
	c := conclude(t, differAt(partedIn(60, 61), 61))
	c.within = &Within{Tick: 60, System: "Combat", Scopes: []string{"Tank/Health.hp"}}
	if got := causeNeeds(c); !slices.Equal(got, []Artifact{Simulator}) {
		t.Errorf("with traces of columns the cause needs %v", got)
	}
	c.Replayed, c.Simulators.Sim = true, "good"
	if got := causeNeeds(c); !slices.Equal(got, []Artifact{OwnBuild}) {
		t.Errorf("replayed in one build: the cause needs %v", got)
	}
	c.Simulators.Own = "bad"
	if got := causeNeeds(c); len(got) > 0 {
		t.Errorf("replayed in both builds: the cause needs %v", got)
	}
}

// TestFirstCheckpointDiffers: traces that differ from their first checkpoint on do not show that the peers diverged in
// its tick; traces that agree after a system of the tick do.
func TestFirstCheckpointDiffers(t *testing.T) {
	for index, known := range []bool{false, true} {
		e := partedIn(0, 1)
		e.Bisect.Bracket.Good, e.Bisect.Exact = nil, false
		e.Traces = []*tracediff.Result{{First: &tracediff.Difference{System: "Combat"}}}
		e.Within = func(from, to uint64) (*Within, error) { return &Within{System: "Combat", Index: index}, nil }
		if c := conclude(t, e); (c.Tick != nil) != known || (c.System != "") != known {
			t.Errorf("the system %d differs first: tick %v, system %q", index, c.Tick, c.System)
		}
	}
}

// TestBlindNeeds: where every checksum agrees though the states differ, no more of them are asked for.
func TestBlindNeeds(t *testing.T) {
	e := differAt(partedIn(60, 90), 90)
	e.Bisect.Kind = bisect.BlindChecksum
	for _, a := range conclude(t, e).Open() {
		for _, n := range a.Needs {
			if n.What == TickHashes || n.What == Traces || n.What == ArchetypeTraces || n.What == SimulatorTrace {
				t.Errorf("the step %s asks for %v", a.Step, n.What)
			}
		}
	}
}

// TestProbableNoise: a value that alone differs in every state, while every checksum agrees, is no divergence, and no proof that
// the peers are in sync.
func TestProbableNoise(t *testing.T) {
	e := differAt(partedIn(60, 90), 90)
	e.Bisect.Kind = bisect.BlindChecksum
	e.Bisect.Blind = "every recorded checksum agrees: it does not cover what differs"
	e.Bisect.Notes = []string{e.Bisect.Blind}
	if !conclude(t, e).Diverged() {
		t.Error("not diverged without noise")
	}
	e.LikelyNoise = []string{"Health.hp"}
	if c := conclude(t, e); c.Diverged() || len(c.Lost) != 1 || len(c.Notes) > 0 || len(c.Locus) > 0 {
		t.Errorf("diverged %t, lost %q, notes %q, %v", c.Diverged(), c.Lost, c.Notes, c.Locus)
	}
	e.Bisect.Kind = bisect.StateDiffers
	if !conclude(t, e).Diverged() {
		t.Error("not diverged, though checksums differ or there are none")
	}
}

// TestStatesMayLack: states of an unknown game may lack what its checksums cover.
func TestStatesMayLack(t *testing.T) {
	for by, causes := range map[string]int{document.KnownByBytes: 1, document.KnownByItself: 0} {
		e := inSync()
		e.Bisect.Kind, e.Session.KnownBy = bisect.ChecksumOnly, []string{by}
		if c := conclude(t, e); len(c.Causes) != causes || !c.Diverged() {
			t.Errorf("%s: %v, diverged %t", by, c.Causes, c.Diverged())
		}
	}
}

// causeNeeds returns what would close the step of the cause if it is open.
func causeNeeds(c *Conclusion) (list []Artifact) {
	c.Causes, c.Answers = nil, nil
	c.answerCause()
	for _, n := range c.Answers[0].Needs {
		list = append(list, n.What)
	}
	return list
}

// TestOpenStepsNeedSomething checks that each open step names what would close it.
func TestOpenStepsNeedSomething(t *testing.T) {
	for name, e := range map[string]Evidence{
		"parted":     partedIn(60, 90),
		"one tick":   partedIn(60, 61),
		"later":      differAt(partedIn(60, 61), 360),
		"one peer":   {Covers: []Covered{{Name: "host", Spans: []document.Coverage{{What: CoversOrders, First: 0, Last: 99}}}}},
		"nobody":     {},
		"two apart":  {Covers: []Covered{{Name: "a", Points: []uint64{5}, Spans: []document.Coverage{{What: CoversStates, First: 5, Last: 5}}}, {Name: "b"}}},
		"no history": {Bisect: &bisect.Result{}},
	} {
		for _, a := range conclude(t, e).Open() {
			if len(a.Needs) == 0 {
				t.Errorf("%s: nothing closes the step %s", name, a.Step)
			}
		}
	}
}

// TestAlone checks that evidence that cannot be compared has the steps of any other.
func TestAlone(t *testing.T) {
	asked := 0
	c := conclude(t, Evidence{
		Covers: []Covered{{Name: "host", Spans: []document.Coverage{{What: CoversStates, Count: 3}, {What: CoversOrders, Last: 99}}}},
		Lost:   []string{"a: corrupt"},
		Ask:    func() string { asked++; return "please" },
	})
	var names []string
	for _, a := range c.Answers {
		names = append(names, string(a.Step))
	}
	if want := []string{"preflight", "inputs", "bracket", "tick", "system", "field"}; !slices.Equal(names, want) {
		t.Errorf("the steps are %v, expected %v", names, want)
	}
	if c.Ask != "please" || asked != 2 { // conclude concludes twice
		t.Errorf("asked %d times for %q", asked, c.Ask)
	}
	if want := []document.TriagedPeer{{Name: "host", Snapshots: 3, OrderLog: true}}; !reflect.DeepEqual(c.Peers, want) {
		t.Errorf("the peers are %+v", c.Peers)
	}
}

// TestProspects judges what evidence can answer before it is compared.
func TestProspects(t *testing.T) {
	span := func(what string, first, last uint64) document.Coverage {
		return document.Coverage{What: what, First: first, Last: last}
	}
	type can map[Step]bool
	for _, test := range []struct {
		name  string
		peers []Covered
		want  can
	}{
		{"nobody", nil, can{}},
		{"one", []Covered{{Name: "a", Spans: []document.Coverage{span(CoversOrders, 0, 9), span(CoversHashes, 0, 9)}}}, can{}},
		{
			"logs apart",
			[]Covered{{Name: "a", Spans: []document.Coverage{span(CoversOrders, 0, 9)}}, {Name: "b", Spans: []document.Coverage{span(CoversOrders, 10, 19)}}},
			can{},
		},
		{
			"logs to replay",
			[]Covered{{Name: "a", FromStart: true, Spans: []document.Coverage{span(CoversOrders, 0, 9)}}, {Name: "b", Spans: []document.Coverage{span(CoversOrders, 5, 19)}}},
			can{StepInputs: true, StepTick: true},
		},
		{
			"one state in common",
			[]Covered{{Name: "a", Points: []uint64{0, 30}, Spans: []document.Coverage{span(CoversStates, 0, 30)}}, {Name: "b", Points: []uint64{30, 60}, Spans: []document.Coverage{span(CoversStates, 30, 60)}}},
			can{StepBracket: true, StepField: true},
		},
		{
			"traces inside ticks",
			[]Covered{{Name: "a", Systems: true, Spans: []document.Coverage{span(CoversCheckpoints, 0, 9)}}, {Name: "b", Systems: true, Spans: []document.Coverage{span(CoversCheckpoints, 0, 9)}}},
			can{StepTick: true, StepSystem: true},
		},
		{
			"traces of whole ticks",
			[]Covered{{Name: "a", Spans: []document.Coverage{span(CoversCheckpoints, 0, 9)}}, {Name: "b", Systems: true, Spans: []document.Coverage{span(CoversCheckpoints, 0, 9)}}},
			can{StepTick: true},
		},
	} {
		var steps []Step
		for _, p := range Prospects(test.peers, nil) {
			steps = append(steps, p.Step)
			if p.Can != test.want[p.Step] {
				t.Errorf("%s: %s is %v", test.name, p.Step, p.Can)
			}
			if !p.Can && len(p.Needs) == 0 {
				t.Errorf("%s: nothing closes %s", test.name, p.Step)
			}
		}
		if want := []Step{StepInputs, StepBracket, StepTick, StepSystem, StepField}; !slices.Equal(steps, want) {
			t.Errorf("%s: the steps are %v", test.name, steps)
		}
	}
}

// TestMoment takes names apart and puts them together again.
func TestMoment(t *testing.T) {
	for name, want := range map[string]Moment{
		"":                 {Number: 13},
		"000adee0":         {Number: 13, Native: "000adee0"},
		"after turn 12":    {Number: 13, Native: "turn 12", Relation: snapshot.After},
		"end of frame 600": {Number: 13, Native: "frame 600", Relation: snapshot.EndOf},
	} {
		got := MomentOf(snapshot.Point{Tick: 13}.Named(name))
		if got != want || got.Words() != name {
			t.Errorf("%q is %+v, called %q", name, got, got.Words())
		}
	}
}

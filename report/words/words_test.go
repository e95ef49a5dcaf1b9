package words

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

func number(n uint64) *verdict.Moment { return &verdict.Moment{Number: n} }

func bracketOf(good, bad snapshot.Point) *bisect.Bracket {
	return &bisect.Bracket{Good: &good, Bad: bad, By: bisect.BySnapshots, A: "client", B: "host"}
}

// duel is a conclusion of two peers that diverged in tick 90.
func duel() *verdict.Conclusion {
	return &verdict.Conclusion{
		Kind: bisect.StateDiffers, Bracket: bracketOf(snapshot.Point{Tick: 90}, snapshot.Point{Tick: 91}), Exact: true, Tick: number(90),
		Peers: []document.TriagedPeer{{Name: "client"}, {Name: "host"}}, Groups: [][]string{{"client"}, {"host"}}, Held: verdict.Held{Logs: 2},
	}
}

// with returns a conclusion after a change.
func with(c *verdict.Conclusion, change func(c *verdict.Conclusion)) *verdict.Conclusion {
	change(c)
	return c
}

// later makes the states belong to a point some ticks after the divergent one.
func later(ticks uint64) func(c *verdict.Conclusion) {
	return func(c *verdict.Conclusion) {
		c.Later = ticks
		c.Compared = &document.Compared{Peers: [2]string{"client", "host"}, Point: c.Bracket.Bad.Tick + ticks}
		c.ComparedAt = verdict.Moment{Number: c.Compared.Point}
	}
}

// TestVerdict pins the first lines, for each way that a session can end.
func TestVerdict(t *testing.T) {
	frame := func(n uint64, name string, relation snapshot.Relation) snapshot.Point {
		return snapshot.Point{Tick: n, Native: name, Relation: relation}
	}
	missing := orderlog.Difference{Kind: orderlog.Missing, Tick: 90, Player: 1, Order: "move", Peer: "client", Base: "host"}
	agreed := uint64(300)
	for _, test := range []struct {
		name string
		c    *verdict.Conclusion
		want []string
	}{
		{"one peer", &verdict.Conclusion{Alone: true, Covers: []verdict.Covered{{Name: "host"}}}, []string{
			"Nothing can be compared: there is evidence of one peer only, host.",
		}},
		{"two peers apart", &verdict.Conclusion{Alone: true, Covers: make([]verdict.Covered, 2)}, []string{
			"Nothing can be compared: the evidence of 2 peers has nothing in common.",
		}},
		{"in sync", &verdict.Conclusion{Search: verdict.Search{Peers: 2, Opened: 3, Pairs: 3, Points: 3}}, []string{
			"No difference was found: 3 of 3 pairs of states opened.",
		}},
		{"in sync, and orders", &verdict.Conclusion{
			Search: verdict.Search{Hashes: 463}, Inputs: verdict.Inputs{State: verdict.InputsSame, Line: "equal", Window: &orderlog.Window{Orders: 20}},
		}, []string{
			"No difference was found: 463 pairs of recorded hashes; the orders are equal (20).",
		}},
		{"in sync, and something lost", &verdict.Conclusion{Search: verdict.Search{Recorded: 1}, Lost: []string{"evil.zip: ../evil.sav was left out"}}, []string{
			"No difference was found in what could be read: 1 recorded hash.",
			"1 piece of evidence is lost or lacking, which may hide a difference.",
		}},
		{"in sync, and the game disagrees", &verdict.Conclusion{
			Search:     verdict.Search{Recorded: 3},
			Statements: []verdict.Statement{{ClaimDocument: document.ClaimDocument{Text: "Out of sync!", Standing: tracediff.Unchecked}}},
		}, []string{
			"No difference was found: 3 recorded hashes.",
			"Yet the game reports “Out of sync!”, and nothing here confirms that.",
		}},
		{"in sync, and a contradiction", &verdict.Conclusion{Search: verdict.Search{Recorded: 3}, Contradictions: make([]verdict.Contradiction, 1)}, []string{
			"No difference was found: 3 recorded hashes.",
			"1 piece of evidence contradicts another, so that this is not certain.",
		}},
		{"no states", &verdict.Conclusion{Lacking: []verdict.Need{{What: verdict.StatesOrHashes}}}, []string{
			"Nothing can be compared: there are no states or hashes of two peers.",
		}},
		{"checksums only", &verdict.Conclusion{
			Kind: bisect.ChecksumOnly, Search: verdict.Search{Points: 151},
			Checksums: &verdict.Checksums{State: verdict.SumsOnly, By: "table of checksums", From: number(3500), To: number(4096), Again: number(4097), Groups: [][]string{{"Alice"}, {"Bob", "Carol"}}},
			Causes:    []verdict.Cause{{Class: verdict.ChecksumDefect, Standing: verdict.Seen}},
		}, []string{
			"Only checksums differ, the states are equal at all 151 common state points.",
			"The checksums differ from tick 3500 to 4096 and agree again from 4097 on: Alice ≠ Bob = Carol.",
			"Cause: the checksum is wrong, or does not cover what differs (checksum-defect).",
		}},
		{"orders only", &verdict.Conclusion{
			Kind: bisect.InputsDiffer, Inputs: verdict.Inputs{State: verdict.InputsOther, Count: 1, Differences: []orderlog.Difference{missing}, Parting: &missing},
			Causes: []verdict.Cause{{Class: verdict.InputDropped, Standing: verdict.Seen}},
		}, []string{
			"The peers were given different orders; no state was compared.",
			"The network layer is to blame: in tick 90 the order move of player 1 is missing on client.",
			"Cause: an order was lost on its way to a peer (input-dropped).",
		}},
		{"orders, some ticks before", with(duel(), func(c *verdict.Conclusion) {
			c.Inputs = verdict.Inputs{State: verdict.InputsOther, Count: 1, Parting: &missing, By: verdict.BorneByState, Lag: &verdict.Lag{Least: 3, Most: 3}}
		}), []string{
			"client and host diverged in tick 90.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"The network layer is to blame: in tick 90 the order move of player 1 is missing on client; the peers diverged 3 ticks after the order.",
		}},
		{"logs that differ, and states that do not", &verdict.Conclusion{
			Search: verdict.Search{Recorded: 300}, Inputs: verdict.Inputs{State: verdict.InputsLogs, Line: "x", Count: 1, Parting: &missing, AgreedTo: &agreed},
		}, []string{
			"No difference was found: 300 recorded hashes; the order logs differ.",
			"Nothing shows that the peers were given different orders: in tick 90 the order move of player 1 is missing on client; everything else agrees up to state point 300. A log may lack what its peer applied.",
		}},
		{"a simulator that fails, in sync", &verdict.Conclusion{Search: verdict.Search{Recorded: 3}, SimFailed: "exec:x cannot replay host: no such file"}, []string{
			"No difference was found: 3 recorded hashes.",
			"The simulator failed: exec:x cannot replay host: no such file.",
		}},
		{"a simulator that fails", with(duel(), func(c *verdict.Conclusion) { c.SimFailed = "exec:x cannot replay host: no such file" }), []string{
			"client and host diverged in tick 90.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: the simulator failed: exec:x cannot replay host: no such file.",
		}},
		{"a build of the peer that fails", with(duel(), func(c *verdict.Conclusion) {
			c.Replayed, c.Guilty, c.SimFailed, c.OwnFailed = true, []string{"client"}, "exec:x cannot replay client: no such file", true
		}), []string{
			"client and host diverged in tick 90.",
			"The simulator failed: exec:x cannot replay client: no such file.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Wrong: client, which departs from a replay of the orders.",
		}},
		{"a simulator that is not deterministic", with(duel(), func(c *verdict.Conclusion) { c.Replayed, c.Unsteady = true, true }), []string{
			"client and host diverged in tick 90.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: the simulator does not agree with itself, replays of the same orders differ.",
		}},
		{"a cache", &verdict.Conclusion{
			Kind: bisect.StaleCache, Cache: &orderlog.PeerClaim{Peer: "client", Text: "town cache mismatch", After: 52721152, NativeAfter: "000adf00;00"},
			Causes: []verdict.Cause{{Class: verdict.StaleCache, Standing: verdict.Shown}},
		}, []string{
			"Data that client derives from its state was stale: its game reports “town cache mismatch” after tick 000adf00;00 (52721152).",
			"The orders are equal, and no state was compared.",
			"Cause, by experiment: derived data was not brought up to date (stale-cache).",
		}},
		{"one tick", duel(), []string{
			"client and host diverged in tick 90.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: a replay of the orders would show it (--sim).",
		}},
		{"a system, and what differs", with(duel(), func(c *verdict.Conclusion) {
			c.System, c.Archetypes, c.Component = "Economy", []string{"Player"}, "Market"
			c.Compared = &document.Compared{Peers: [2]string{"client", "host"}, Point: 91, Values: 1}
			f := document.LocusField{Archetype: "Player"}
			f.Key, f.Component, f.Field, f.Values = "240", "Market", "index", map[string]string{"client": "1", "host": "2"}
			c.Locus = []document.LocusField{f}
			c.Causes = []verdict.Cause{{Class: verdict.IterationOrder, Rate: &verdict.Rate{Right: 49, Of: 50}}, {Class: verdict.UnstableSort}}
			c.Guilty, c.Replayed = []string{"client"}, true
		}), []string{
			"client and host diverged in tick 90, in Economy: Market.index of Player 240 is 1 on client and 2 on host.",
			"It looks like this: iteration-order or unstable-sort; of 50 measured sessions with such evidence that was right in 49; this evidence does not separate them.",
			"Wrong: client, which departs from a replay of the orders.",
		}},
		{"a checkpoint of one peer", with(duel(), func(c *verdict.Conclusion) {
			c.Bracket.Good, c.Tick, c.SystemBy = nil, nil, verdict.SystemByCheckpoint
			c.Checkpoint = &verdict.Checkpoint{CheckpointDocument: document.CheckpointDocument{System: "Ride 4"}, Values: []string{"exists only on host"}}
		}), []string{
			"client and host differ at state point 91, and nothing before is known to be equal: Ride 4 exists only on host.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: a replay of the orders would show it (--sim).",
		}},
		{"a state that was loaded", with(duel(), func(c *verdict.Conclusion) {
			after := uint64(60)
			c.Loaded, c.Tick = &bisect.Loaded{Peer: "client", After: &after}, nil
			c.Causes = []verdict.Cause{{Class: verdict.SaveForgets, Standing: verdict.Seen}, {Class: verdict.TimerOff, Standing: verdict.Seen}}
		}), []string{
			"client diverged by loading: it has another state than the others at state point 91, where it came back after it had been away from state point 60 on.",
			"Cause: save-forgets or timer-off; this evidence does not separate them.",
			"Which peer is wrong is not known: a replay of the orders would show it (--sim).",
		}},
		{"orders of another", with(duel(), func(c *verdict.Conclusion) {
			c.Guilty, c.Replayed, c.Borrowed = []string{"client"}, true, &verdict.Borrowed{Peer: "client", From: "host"}
		}), []string{
			"client and host diverged in tick 90.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Wrong, by the log of host alone: client, which departs from a replay of the orders of host; the log of client is not there, so it may have been given others.",
		}},
		{"states of later", with(duel(), later(299)), []string{
			"client and host diverged in tick 90.",
			"The cause is not known: the nearest states that differ were saved 299 ticks later.",
			"Which peer is wrong is not known: a replay of the orders would show it (--sim).",
		}},
		{"a wide bracket", with(duel(), func(c *verdict.Conclusion) {
			c.Tick, c.Exact, c.Held.Logs, c.Bracket = nil, false, 0, bracketOf(frame(600, "frame 600", snapshot.At), frame(630, "frame 630", snapshot.At))
			later(29)(c)
			c.Bracket.Bad.Tick = 630
			c.Suspects = nil
		}), []string{
			"client and host diverged between frame 600 and frame 630.",
			"The cause is not known: the states that differ were saved up to 29 ticks after the divergence.",
			"Which peer is wrong is not known: an order log and a replay of it would show it (--sim).",
		}},
		{"turns", with(duel(), func(c *verdict.Conclusion) {
			c.Tick, c.Exact, c.Bracket = nil, false, bracketOf(frame(12, "turn 11", snapshot.After), frame(20, "turn 19", snapshot.After))
			c.Parting = &document.Parting{Bad: 15, Native: "turn 15"}
		}), []string{
			"client and host diverged after turn 11, in turn 19 at the latest; checksums differ from turn 15 on.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: a replay of the orders would show it (--sim).",
		}},
		{"codes", with(duel(), func(c *verdict.Conclusion) {
			c.Tick, c.Exact, c.Bracket = nil, false, bracketOf(frame(52718784, "000adee0", snapshot.At), frame(52721152, "000adf00", snapshot.At))
			c.Healed = number(52721154)
		}), []string{
			"client and host diverged between state points 000adee0 (52718784) and 000adf00 (52721152); the hashes are equal again at state point 52721154.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: a replay of the orders would show it (--sim).",
		}},
		{"from the start", with(duel(), func(c *verdict.Conclusion) {
			c.Tick, c.InitialState, c.Archetypes, c.Replayed = nil, true, []string{""}, true
			c.Bracket.Good = nil
		}), []string{
			"client and host differ from the start, before any tick: the RNG.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: the replay departs from none there, or from every one.",
		}},
		{"nothing before", with(duel(), func(c *verdict.Conclusion) {
			c.Tick, c.Exact, c.Bracket.Good, c.Bracket.A = nil, false, nil, ""
			c.Peers, c.Groups = make([]document.TriagedPeer, 3), [][]string{{"a", "b"}, {"c"}}
		}), []string{
			"The peers differ at state point 91, and nothing before is known to be equal.",
			"The cause is not known: no states of the moment at which the peers diverged were compared.",
			"Which peer is wrong is not known: a = b ≠ c; a replay of the orders would show it (--sim).",
		}},
		{"a checksum that is blind", with(duel(), func(c *verdict.Conclusion) {
			c.Kind, c.Causes = bisect.BlindChecksum, []verdict.Cause{{Class: verdict.ChecksumDefect, Standing: verdict.Seen}}
		}), []string{
			"client and host diverged in tick 90; every checksum agrees, so none of them covers that.",
			"Cause: the checksum is wrong, or does not cover what differs (checksum-defect).",
			"Which peer is wrong is not known: a replay of the orders would show it (--sim).",
		}},
	} {
		if got := Verdict(test.c); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%s\nexpected\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
		if n := len(Verdict(test.c)); n > 4 || n > 3 && test.c.SimFailed == "" {
			t.Errorf("%s: the verdict has %d sentences", test.name, n)
		}
	}
}

// TestDifference pins how each kind of difference reads.
func TestDifference(t *testing.T) {
	d := orderlog.Difference{Tick: 12, Player: 1, Order: "move", Peer: "client", Base: "host", Lack: []string{"host"}}
	for kind, want := range map[orderlog.DifferenceKind]string{
		orderlog.Missing:    "in tick 12 the order move of player 1 is missing on client",
		orderlog.Extra:      "in tick 12 the order move of player 1 is on client and not on host",
		orderlog.Duplicated: "in tick 12 the order move of player 1 is there twice on client",
		orderlog.Reordered:  "in tick 12 the order move of player 1 comes in another order on client",
		orderlog.Late:       "the order move of player 1 is in tick 12 on host and in tick 13 on client",
		orderlog.Altered:    "in tick 12 the order move of player 1 is another one on client (byte 3: 0x04 on host, 0x05 on client)",
		orderlog.Failed:     "in tick 12 the order move of player 1 failed on client",
	} {
		d := d
		d.Kind = kind
		switch kind {
		case orderlog.Late:
			d.At = []orderlog.Place{{Peer: "host", Tick: 12}, {Peer: "client", Tick: 13}}
		case orderlog.Altered:
			d.Diff = &orderlog.PayloadDiff{Offset: 3, Base: orderlog.Bytes{4}, Peer: orderlog.Bytes{5}}
		}
		if got := Difference(&d); got != want {
			t.Errorf("%s: %q, expected %q", kind, got, want)
		}
	}
	d.Kind, d.Marker, d.Order, d.Native = orderlog.Missing, true, "join", "turn 12"
	if got, want := Difference(&d), "in turn 12 the marker join of player 1 is missing on client"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestLadder pins what is said of steps.
func TestLadder(t *testing.T) {
	bad := number(91)
	differs := document.LocusField{Archetype: "Tank"}
	differs.Key, differs.Component, differs.Field, differs.Kind = "7", "Health", "hp", snapshot.KindInteger
	for _, test := range []struct {
		name   string
		c      *verdict.Conclusion
		answer verdict.Answer
		want   string
	}{
		{"lost", with(duel(), func(c *verdict.Conclusion) { c.Lost = []string{"x"} }), verdict.Answer{Step: verdict.StepPreflight, State: document.RungTrouble},
			"preflight trouble: 2 peers, 1 piece of evidence lost or lacking | 0 states, 2 order logs, 0 traces"},
		{"no logs", duel(), verdict.Answer{Step: verdict.StepInputs, State: document.RungOpen, Needs: []verdict.Need{{What: verdict.OrderLogs}}},
			"inputs open: not compared | needs order logs of two peers"},
		{"short logs", with(duel(), func(c *verdict.Conclusion) {
			c.Inputs = verdict.Inputs{State: verdict.InputsSameSoFar, Logs: 2, Window: &orderlog.Window{From: 0, To: 9, Orders: 1}}
		}), verdict.Answer{Step: verdict.StepInputs, State: document.RungOpen, Needs: []verdict.Need{{What: verdict.WholeOrderLogs, Of: []string{"Bob"}}}},
			"inputs open: equal as far as they are there | needs the whole order log of Bob; 1 order in ticks 0 to 9 of 2 logs were compared"},
		{"replays differ", with(duel(), func(c *verdict.Conclusion) { c.Inputs = verdict.Inputs{State: verdict.InputsOther, Replayed: true} }),
			verdict.Answer{Step: verdict.StepInputs, State: document.RungFound}, "inputs found: differ | the replays of the peers' own orders differ from each other"},
		{"the bracket", duel(), verdict.Answer{Step: verdict.StepBracket, State: document.RungFound}, "bracket found: (90, 91] | by snapshots"},
		{"the tick", duel(), verdict.Answer{Step: verdict.StepTick, State: document.RungFound}, "tick found: 90 | the bracket is one tick wide"},
		{"no tick", duel(), verdict.Answer{Step: verdict.StepTick, State: document.RungOpen, Needs: []verdict.Need{{What: verdict.TickHashes}, {What: verdict.Traces}}},
			"tick open: within the bracket | needs order logs with a hash of every tick; or traces of two peers that diverged"},
		{"a difference that passed", with(duel(), func(c *verdict.Conclusion) {
			c.System, c.Passing = "Combat", &verdict.Passing{Tick: verdict.Moment{Number: 80}, System: "Fog"}
		}), verdict.Answer{Step: verdict.StepSystem, State: document.RungFound},
			"system found: Combat | the first after which the traces of two peers differ, to the end of the tick; in tick 80 the peers differed after Fog, and no longer at its end"},
		{"one of several", with(duel(), func(c *verdict.Conclusion) { c.Archetypes = []string{"", "Tank"} }),
			verdict.Answer{Step: verdict.StepArchetype, State: document.RungOpen, Needs: []verdict.Need{{What: verdict.ArchetypeTraces}}},
			"archetype open: one of RNG and Tank | needs traces that record each archetype"},
		{"no states", duel(), verdict.Answer{Step: verdict.StepField, State: document.RungOpen, Needs: []verdict.Need{{What: verdict.States, At: bad}}},
			"field open: not known | needs the states of two peers at state point 91"},
		{"entities of later", with(duel(), func(c *verdict.Conclusion) { later(30)(c); c.Locus = []document.LocusField{differs} }), verdict.Answer{Step: verdict.StepEntity, State: document.RungFound},
			"entity found: Tank 7 | state point 121 of client and host compared, 30 ticks after the first point that is known to differ: what followed is in it"},
		{"fields", with(duel(), func(c *verdict.Conclusion) { later(0)(c); c.Locus = []document.LocusField{differs} }), verdict.Answer{Step: verdict.StepField, State: document.RungFound},
			"field found: Health.hp | integer"},
		{"nobody departs", with(duel(), func(c *verdict.Conclusion) { c.Replayed = true }), verdict.Answer{Step: verdict.StepPeers, State: document.RungOpen},
			"peers open: client ≠ host | the replay departs from no peer there, or from every one"},
		{"a cause", with(duel(), func(c *verdict.Conclusion) {
			c.Causes = []verdict.Cause{{Class: verdict.Float, Signs: []verdict.Sign{{Kind: verdict.OnlyFloats, Numbers: []uint64{1}}, {Kind: verdict.EqualAgain}}}}
		}), verdict.Answer{Step: verdict.StepCause, State: document.RungFound},
			"cause found: float | only floats differ, by no more than rounding makes of them, in 1 entity; the states are equal again later"},
		{"a late statement", with(duel(), func(c *verdict.Conclusion) {
			n := uint64(95)
			c.Statements = []verdict.Statement{{ClaimDocument: document.ClaimDocument{Text: "desync", Tick: &n, Standing: tracediff.Late}}}
		}), verdict.Answer{Step: verdict.StepClaims, State: document.RungTrouble},
			"claims trouble: the engine noticed later | “desync”: tick 95 is an upper bound, the peers had diverged before"},
		{"a wrong statement", with(duel(), func(c *verdict.Conclusion) {
			n := uint64(50)
			c.Statements = []verdict.Statement{{ClaimDocument: document.ClaimDocument{Text: "desync", Tick: &n, Standing: tracediff.Contradicted}, Equal: number(90)}}
		}), verdict.Answer{Step: verdict.StepClaims, State: document.RungTrouble},
			"claims trouble: the engine is wrong | “desync”; the states are equal at state point 90, after that tick"},
	} {
		test.c.Answers = []verdict.Answer{test.answer}
		g := Ladder(test.c)[0]
		if got := g.Step + " " + string(g.State) + ": " + g.Found + " | " + g.Evidence; got != test.want {
			t.Errorf("%s:\n%s\nexpected\n%s", test.name, got, test.want)
		}
	}
}

// TestNext pins what to do next.
func TestNext(t *testing.T) {
	for _, test := range []struct {
		name string
		c    *verdict.Conclusion
		want []string
	}{
		{"in sync", &verdict.Conclusion{}, []string{}},
		{"lost, with a text", &verdict.Conclusion{Given: verdict.Given{Paths: []string{"my.zip"}}, Lost: []string{"x"}, Ask: "please"}, []string{"desynctool doctor my.zip  # ends with a text that asks the players for what is missing"}},
		{"lost, from stdin", &verdict.Conclusion{Given: verdict.Given{Paths: []string{"-"}}, Lost: []string{"x"}, Ask: "please"}, []string{"send the text for the players to them, which --all prints"}},
		{"lost", &verdict.Conclusion{Given: verdict.Given{Paths: []string{"-a b", "$(c)'d"}, Match: 2}, Lost: []string{"x"}}, []string{
			`desynctool doctor './-a b' '$(c)'\''d' --match 2  # what is missing, and a text that asks the players for it`,
		}},
		{"one peer", &verdict.Conclusion{Alone: true, Lacking: []verdict.Need{{What: verdict.OtherPeer, Of: []string{"host"}}}}, []string{
			"ask for the same files from another player: these are of host only",
		}},
		{"guesses", with(duel(), later(299)), []string{"triage with --sim, the game as a simulator, replays the orders and shows which peer is wrong (docs/extsim.md)"}},
		{"a cause", with(duel(), func(c *verdict.Conclusion) {
			c.Session.Game, c.Causes = "refsim", []verdict.Cause{{Class: verdict.StaleCache}}
			c.Peers, c.Paths = []document.TriagedPeer{{Name: "client", OrderLog: true}}, map[string]string{"client": "my games/client"}
			c.Given.Paths = []string{"my games"}
			c.Answers = []verdict.Answer{{Step: verdict.StepSystem, State: document.RungOpen, Needs: []verdict.Need{{What: verdict.Traces}}}}
		}), []string{
			"desynctool triage 'my games' --sim builtin  # replays the orders and shows which peer is wrong",
			"desynctool replay 'my games/client' --sim builtin --check-caches  # check for stale-cache",
			"to learn the system: get traces of two peers that diverged",
		}},
		{"replayed in one build", with(duel(), func(c *verdict.Conclusion) { c.Replayed, c.Simulators.Sim = true, "exec:game 1" }), []string{
			"triage with --sim and --own, the build that the peer had, makes the experiments in that build",
		}},
		{"a simulator that failed", with(duel(), func(c *verdict.Conclusion) { c.SimFailed, c.Simulators.Sim = "it hangs", "exec+tcp:game 'de DE'" }), []string{
			"desynctool sim check --transport tcp -- game 'de DE'  # tests the simulator, which failed (docs/extsim.md)",
		}},
		{"a build, and no log", with(duel(), func(c *verdict.Conclusion) {
			c.Replayed, c.Guilty, c.Causes = true, []string{"client"}, []verdict.Cause{{Class: verdict.BitFlip}}
			c.Simulators = verdict.Simulators{Sim: "exec:game", Own: "exec:game"}
		}), []string{
			"check for bit-flip: replay the orders of client in a build that is trusted, as --sim, and the one that the peer had, as --against; nothing departs; and a memory test of the machine",
		}},
		{"more values than listed", with(duel(), func(c *verdict.Conclusion) {
			c.Replayed, c.Simulators.Own, c.Compared, c.Files = true, "x", &document.Compared{Values: 3}, [2]string{"a; touch pwned #/x", "b"}
		}), []string{
			"desynctool diff 'a; touch pwned #/x' b --all  # lists all 3 values that differ",
		}},
	} {
		if got := document.StepLines(Next(test.c)); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%s\nexpected\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

// TestLostBeforeTheConclusion follows evidence in an archive that lost an entry: status, first line, first step and
// next step all report it.
func TestLostBeforeTheConclusion(t *testing.T) {
	c, err := verdict.Conclude(verdict.Evidence{
		Bisect: &bisect.Result{Peers: []bisect.PeerInfo{{Name: "client"}, {Name: "host"}}, Snapshots: 15, Probes: 15},
		Given:  verdict.Given{Paths: []string{"a.zip"}},
		Lost:   []string{"a.zip: ../evil.sav was left out: its name leads out of the archive"},
		Ask:    func() string { return "Hello!" },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := Report(c)
	if r.Status != document.Inconclusive || !strings.HasPrefix(r.Verdict[0], "No difference was found in what could be read") {
		t.Errorf("%s: %q", r.Status, r.Verdict)
	}
	if g := r.Ladder[0]; g.Step != "preflight" || g.State != document.RungTrouble {
		t.Errorf("the first step is %+v", g)
	}
	if !slices.Equal(r.Next, []string{"desynctool doctor a.zip  # ends with a text that asks the players for what is missing"}) || r.Ask != "Hello!" {
		t.Errorf("next is %q, ask is %q", r.Next, r.Ask)
	}
	if !slices.Equal(r.Missing, c.Lost) {
		t.Errorf("missing is %q", r.Missing)
	}
}

// TestEverythingHasWords checks that no class, sign, need, prospect or contradiction is mute,
// and that none speaks as nobody does.
func TestEverythingHasWords(t *testing.T) {
	stumble := regexp.MustCompile(`\bbehind\b|\btells?\b|\bis no [a-z]|, too\b|has .* alone`)
	say := func(what string, text string) {
		if text == "" || stumble.MatchString(text) {
			t.Errorf("%s: %q", what, text)
		}
	}
	for _, name := range verdict.Classes() {
		say(name, title(name))
		for _, c := range []*verdict.Conclusion{{}, {
			Guilty: []string{"a"}, Peers: []document.TriagedPeer{{Name: "a", OrderLog: true}}, Paths: map[string]string{"a": "a"},
			Given: verdict.Given{Paths: []string{"a"}}, Simulators: verdict.Simulators{Sim: "exec:x", Own: "exec:y"},
		}} {
			say(name, confirm(c, name, "").String())
		}
		say(name, classes[name].refute)
	}
	if len(classes) != len(verdict.Classes()) {
		t.Errorf("%d classes have words, of %d", len(classes), len(verdict.Classes()))
	}
	for kind := verdict.OnlySumsDiffer; kind <= verdict.RNGFirst; kind++ {
		say("sign", Sign(verdict.Sign{Kind: kind, Names: []string{"a", "b"}, Numbers: []uint64{1, 1, 1}, Order: orderlog.Missing}))
		Sign(verdict.Sign{Kind: kind}) // an incomplete one is no reason to fail
	}
	for what := verdict.OrderLogs; what <= verdict.OtherPeer; what++ {
		say("need", Need(verdict.Need{What: what, Of: []string{"a"}, At: number(3)}))
		say("need", Need(verdict.Need{What: what}))
	}
	for kind := verdict.InputHash; kind <= verdict.Collision; kind++ {
		say("contradiction", Contradiction(&verdict.Contradiction{Kind: kind, Peers: [2]string{"a", "b"}, Count: 2}))
	}
	for _, p := range verdict.Prospects([]verdict.Covered{{Name: "a", Spans: []document.Coverage{{What: verdict.CoversOrders}}}}, nil) {
		say(string(p.Step), Prospect(&p))
	}
}

// TestLine: the way to the line of source is a step where both builds are programs, and the peer that is wrong left a log.
func TestLine(t *testing.T) {
	c := with(duel(), func(c *verdict.Conclusion) {
		c.Guilty, c.Paths, c.Replayed = []string{"client"}, map[string]string{"client": "s/client"}, true
		c.Peers[0].OrderLog = true
		c.Simulators = verdict.Simulators{Sim: "exec:./sound", Own: "exec+unix:./own --fast"}
	})
	want := `replay s/client --sim exec:./sound --against exec+unix:./own --fast --writes`
	has := func() bool {
		return slices.ContainsFunc(Next(c), func(s document.Step) bool { return strings.Join(s.Command, " ") == want })
	}
	if !has() {
		t.Errorf("%+v", Next(c))
	}
	for _, other := range []string{"", "builtin", "wasm:game.wasm"} {
		if c.Simulators.Own = other; has() {
			t.Errorf("%q cannot run under a debugger", other)
		}
	}
	c.Simulators.Own, c.Guilty = "exec+unix:./own --fast", nil
	if has() {
		t.Error("which build is wrong is not known")
	}
}

// TestCode pins the sentence about the line of code, in the verdict and in its step.
func TestCode(t *testing.T) {
	tick, earlier := uint64(90), uint64(88)
	at := document.CodePlace{Function: "hit", File: "/src/combat.c", Line: 212}
	builds := &document.Branches{Builds: []string{"exec:./own game", "exec:./own game"}, StateFirst: "Move"}
	follows := &document.Branches{Builds: builds.Builds, StateFirst: "Move", Consequence: true}
	for _, test := range []struct {
		code document.Code
		want string
	}{
		{document.Code{Kind: document.CodeBranch, Tick: &tick, Equal: 1, By: "branches", CodePlace: at, Branches: builds}, "After 1 equal branch, the builds go different ways in hit (combat.c:212)."},
		{document.Code{Kind: document.CodeBranch, Tick: &earlier, Equal: 12, By: "lines", CodePlace: at, Branches: builds}, "After 12 equal lines, the builds go different ways in hit (combat.c:212), in tick 88 already."},
		{document.Code{Kind: document.CodeBranch, Tick: &tick, Equal: 2, By: "branches", CodePlace: at, Branches: follows}, "After 2 equal branches, the builds go different ways in hit (combat.c:212), since values differ before: Move wrote them."},
		{document.Code{Kind: document.CodeUnsteady, Tick: &tick, Equal: 2, By: "branches", CodePlace: at, Branches: builds}, "One build, “exec:./own game”, goes another way each time, in hit (combat.c:212)."},
		{document.Code{Kind: document.CodeUnsteady, Tick: &tick, Equal: 2, By: "branches", CodePlace: at, Branches: follows}, "One build, “exec:./own game”, goes another way each time, in hit (combat.c:212), since values differ before: Move wrote them."},
		{document.Code{Kind: document.CodeWrite, Tick: &tick, By: "writes", CodePlace: at, Values: map[string]string{"own": "40", "a sound": "41"}}, "After 0 equal writes, the builds write different values in hit (combat.c:212): 40 in own and 41 in “a sound”."},
		{document.Code{Kind: document.CodeData, Tick: &tick, Equal: 3, By: "branches"}, "Both builds take the same 3 branches in the tick: they compute other values by the same logic."},
	} {
		c := duel()
		c.Code = &test.code
		r := Report(with(c, func(c *verdict.Conclusion) {
			c.Answers = []verdict.Answer{{Step: verdict.StepCode, State: document.RungFound}}
		}))
		if !slices.Contains(r.Verdict, test.want) || r.Ladder[0].Evidence != test.want || r.Code != &test.code {
			t.Errorf("%+v: %q, the step has %q, expected %q", test.code, r.Verdict, r.Ladder[0].Evidence, test.want)
		}
	}
	c := duel()
	c.Code = &document.Code{Kind: document.CodeUnknown, Why: "gdb is not installed"}
	c.Answers = []verdict.Answer{{Step: verdict.StepCode, State: document.RungOpen}}
	if r := Report(c); len(r.Verdict) != 3 || r.Ladder[0].Found != "not known" || r.Ladder[0].Evidence != "gdb is not installed" {
		t.Errorf("nothing is known: %q, %+v", r.Verdict, r.Ladder)
	}
}

// TestSuspects: a peer that departs from another one's orders is not known to be wrong.
func TestSuspects(t *testing.T) {
	for _, borrowed := range []*verdict.Borrowed{nil, {Peer: "client", From: "host"}} {
		r := Report(with(duel(), func(c *verdict.Conclusion) { c.Guilty, c.Replayed, c.Borrowed = []string{"client"}, true, borrowed }))
		d := r.FirstDivergence
		if suspected := len(d.Wrong) == 0 && slices.Equal(d.Suspects, []string{"client"}); suspected != (borrowed != nil) {
			t.Errorf("borrowed %v: wrong %v, suspects %v", borrowed, d.Wrong, d.Suspects)
		}
	}
}

package verdict

import (
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// missingAt adds two logs; one lacks an order of a tick.
func missingAt(e Evidence, ticks ...uint64) Evidence {
	e.Orders = &orderlog.Comparison{Verdict: orderlog.InputsDiffer, Window: &orderlog.Window{To: 1000}, Peers: []orderlog.PeerRange{{Name: "client"}, {Name: "host"}}}
	for _, tick := range ticks {
		e.Orders.Differences = append(e.Orders.Differences, orderlog.Difference{Kind: orderlog.Missing, Tick: tick, Peer: "client", Base: "host", Order: "move"})
		e.Orders.DifferenceCount++
	}
	return e
}

// TestLogsAreNotInputs combines orders that differ between logs with everything else that may confirm them.
func TestLogsAreNotInputs(t *testing.T) {
	change := func(e Evidence, f func(e *Evidence)) Evidence {
		f(&e)
		return e
	}
	point := func(n uint64) *uint64 { return &n }
	replay := func(e Evidence, from uint64, differ *uint64, unsteady bool) Evidence {
		e.Bisect.Replay = &bisect.Replay{
			From: from, InputsDiffer: differ, Unsteady: unsteady,
			Peers: []bisect.ReplayedPeer{{Name: "client", Compared: 5}, {Name: "host", Compared: 5}},
		}
		return e
	}
	for _, test := range []struct {
		name   string
		e      Evidence
		status document.Status
		state  InputsState
		by     BorneBy
		at     uint64 // tick of the order that made the peers diverge
		lag    *Lag
		cause  string
	}{
		{"nothing else", missingAt(inSync(), 40), document.Inconclusive, InputsLogs, BorneByNothing, 40, nil, ""},
		{"states that agree later", change(missingAt(inSync(), 40), func(e *Evidence) { e.Bisect.Equal = point(300) }),
			document.Inconclusive, InputsLogs, BorneByNothing, 40, nil, ""},
		{"its tick parts the states", missingAt(partedIn(60, 61), 60), document.Diverged, InputsOther, BorneByState, 60, &Lag{0, 0}, InputDropped},
		{"three ticks before", missingAt(partedIn(60, 61), 57), document.Diverged, InputsOther, BorneByState, 57, &Lag{3, 3}, InputDropped},
		{"within the bracket", missingAt(partedIn(60, 90), 70), document.Diverged, InputsOther, BorneByState, 70, &Lag{0, 19}, InputDropped},
		{"long before", missingAt(partedIn(600, 601), 57), document.Diverged, InputsEarlier, BorneByNothing, 57, &Lag{543, 543}, ""},
		{"long before, in a game of milliseconds", change(missingAt(partedIn(2000, 2001), 57), func(e *Evidence) { e.Session.TickRate = 1000 }),
			document.Diverged, InputsOther, BorneByState, 57, &Lag{1943, 1943}, InputDropped},
		{"long before, and one at the split", missingAt(partedIn(600, 601), 57, 600), document.Diverged, InputsOther, BorneByState, 600, &Lag{0, 0}, InputDropped},
		{"after the split", missingAt(partedIn(60, 61), 61), document.Diverged, InputsSameUntil, BorneByNothing, 0, nil, ""},
		{"a hash of the logs", change(missingAt(inSync(), 40), func(e *Evidence) { e.Orders.State.First = &orderlog.HashDifference{Point: 44} }),
			document.Diverged, InputsOther, BorneByHash, 40, &Lag{0, 3}, InputDropped},
		{"a checksum of the game", change(missingAt(inSync(), 40), func(e *Evidence) {
			e.Bisect.Traces = []*tracediff.Result{{Traces: make([]tracediff.TraceInfo, 2), First: &tracediff.Difference{Tick: tracediff.Tick{Number: 41}}}}
		}), document.Diverged, InputsOther, BorneByHash, 40, &Lag{0, 1}, InputDropped},
		{"the game's word", change(missingAt(inSync(), 40), func(e *Evidence) {
			e.Orders.Claims = []orderlog.PeerClaim{{Peer: "client", Kind: orderlog.ClaimDesync, Text: "out of sync"}}
		}), document.Diverged, InputsOther, BorneByGame, 40, nil, InputDropped},
		{"a player's report", change(missingAt(inSync(), 40), func(e *Evidence) { e.Detected = point(50) }), document.Diverged, InputsOther, BorneByGame, 40, nil, InputDropped},
		{"replays that differ", replay(missingAt(partedIn(600, 601), 57), 0, point(601), false), document.Diverged, InputsOther, BorneByReplay, 57, &Lag{543, 543}, InputDropped},
		{"replays that do not", replay(missingAt(partedIn(60, 61), 57), 0, nil, false), document.Diverged, InputsHarmless, BorneByNothing, 57, &Lag{3, 3}, ""},
		{"replays from after the order", replay(missingAt(partedIn(60, 61), 57), 60, nil, false), document.Diverged, InputsOther, BorneByState, 57, &Lag{3, 3}, InputDropped},
		{"a simulator that is not deterministic", replay(missingAt(partedIn(60, 61), 57), 0, nil, true), document.Diverged, InputsOther, BorneByState, 57, &Lag{3, 3}, InputDropped},
		{"an order that failed", change(inSync(), func(e *Evidence) {
			e.Orders = &orderlog.Comparison{Verdict: orderlog.Simulation, DifferenceCount: 1, Differences: []orderlog.Difference{{Kind: orderlog.Failed, Tick: 4}}}
		}), document.Diverged, InputsSameUntil, BorneByNothing, 0, nil, ""},
	} {
		c := conclude(t, test.e)
		in := &c.Inputs
		if got := document.StatusOf(c); got != test.status || in.State != test.state || in.By != test.by {
			t.Errorf("%s: %s, inputs %d by %d, expected %s, %d by %d", test.name, got, in.State, in.By, test.status, test.state, test.by)
		}
		if (in.Parting != nil) != (test.at > 0) || in.Parting != nil && in.Parting.Tick != test.at {
			t.Errorf("%s: the order is %+v, expected that of tick %d", test.name, in.Parting, test.at)
		}
		if (in.Lag == nil) != (test.lag == nil) || in.Lag != nil && *in.Lag != *test.lag {
			t.Errorf("%s: the lag is %v, expected %v", test.name, in.Lag, test.lag)
		}
		got := ""
		if len(c.Causes) > 0 {
			got = c.Causes[0].Class
		}
		if got != test.cause {
			t.Errorf("%s: the cause is %q, expected %q", test.name, got, test.cause)
		}
	}
}

// TestEqualInputs: a simulator that is not deterministic shows nothing about the inputs.
func TestEqualInputs(t *testing.T) {
	e := partedIn(60, 61)
	e.Orders = &orderlog.Comparison{Verdict: orderlog.InputsEqual, Window: &orderlog.Window{}, Peers: []orderlog.PeerRange{{Name: "client"}, {Name: "host"}}}
	e.Bisect.Replay = &bisect.Replay{Unsteady: true, Peers: make([]bisect.ReplayedPeer, 2)}
	c := conclude(t, e)
	if c.Inputs.State != InputsSame || len(c.Guilty) > 0 || !c.Unsteady || states(c)[StepPeers] != document.RungOpen {
		t.Errorf("inputs %d, guilty %v, %v", c.Inputs.State, c.Guilty, states(c))
	}
}

// TestFailedSimulator: it is an unusable argument, unless the divergence is proven anyway; and
// nothing asks for a replay then.
func TestFailedSimulator(t *testing.T) {
	for name, test := range map[string]struct {
		e    Evidence
		want document.Status
	}{"in sync": {inSync(), document.Failed}, "parted": {partedIn(60, 61), document.Diverged}} {
		test.e.Bisect.SimFailed = "exec:x: no such file"
		c := conclude(t, test.e)
		if got := document.StatusOf(c); got != test.want {
			t.Errorf("%s: the status is %s, expected %s", name, got, test.want)
		}
		for _, a := range c.Answers {
			for _, n := range a.Needs {
				if n.What == Simulator || n.What == SimulatorOrders || n.What == SimulatorTrace {
					t.Errorf("%s: %v asks for a replay", name, a.Step)
				}
			}
		}
	}
}

package verdict

import (
	"slices"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
)

// restsOn returns the peers that a step of a conclusion depends on alone.
func restsOn(c *Conclusion, step Step) []string {
	for i := range c.Answers {
		if c.Answers[i].Step == step {
			return c.Answers[i].RestsOn
		}
	}
	return nil
}

// TestRestsOn: a line names the peer that it depends on alone, and none where two confirm it.
func TestRestsOn(t *testing.T) {
	e := partedIn(60, 70)
	c := conclude(t, e)
	for i := range c.Answers {
		if a := &c.Answers[i]; a.RestsOn != nil {
			t.Errorf("%s of states that differ rests on %v", a.Step, a.RestsOn)
		}
	}
	e.Bisect.OnlyHistories = true
	if got := restsOn(conclude(t, e), StepBracket); !slices.Equal(got, []string{"client", "host"}) {
		t.Errorf("histories that differ rest on %v", got)
	}
	point := uint64(61)
	e = partedIn(60, 61)
	e.Bisect.Replay = &bisect.Replay{Peers: []bisect.ReplayedPeer{{Name: "client", Departs: &point, Compared: 5}, {Name: "host", Compared: 5}}}
	if got := restsOn(conclude(t, e), StepPeers); !slices.Equal(got, []string{"client"}) {
		t.Errorf("a replay of one log that nobody bears out rests on %v", got)
	}
	e.Bisect.Replay.Peers[0].Borrowed = "host"
	if got := restsOn(conclude(t, e), StepPeers); !slices.Equal(got, []string{"host"}) {
		t.Errorf("a replay of the host's log for the client rests on %v", got)
	}
	e.Bisect.Replay.Peers[0].Borrowed = ""
	e.Orders = &orderlog.Comparison{Verdict: orderlog.InputsEqual, Window: &orderlog.Window{}, Peers: []orderlog.PeerRange{{Name: "client"}, {Name: "host"}}}
	if c := conclude(t, e); c.Inputs.State != InputsSame && c.Inputs.State != InputsSameUntil {
		t.Fatalf("inputs %d", c.Inputs.State)
	} else if got := restsOn(c, StepPeers); got != nil {
		t.Errorf("a replay of orders that both logs have rests on %v", got)
	}
	w := &Word{By: "host"}
	if got := w.alone(); !slices.Equal(got, []string{"host"}) {
		t.Errorf("a message rests on %v", got)
	}
	if w.Mutual = [][2]string{{"client", "host"}}; w.alone() != nil {
		t.Error("peers who accuse each other with the same checksums bear each other out")
	}
}

// TestOrderWord: an order that differs depends on the peer that alone reports that it was applied, or was not.
func TestOrderWord(t *testing.T) {
	for _, test := range []struct {
		d    orderlog.Difference
		logs int
		want []string
	}{
		{orderlog.Difference{Kind: orderlog.Missing, Have: []string{"host"}, Lack: []string{"client"}}, 2, []string{"client", "host"}},
		{orderlog.Difference{Kind: orderlog.Missing, Have: []string{"host", "relay"}, Lack: []string{"client"}}, 3, []string{"client"}},
		{orderlog.Difference{Kind: orderlog.Extra, Have: []string{"client"}, Lack: []string{"host", "relay"}}, 3, []string{"client"}},
		{orderlog.Difference{Kind: orderlog.Altered, Peer: "client", Base: "host"}, 2, []string{"client", "host"}},
		{orderlog.Difference{Kind: orderlog.Altered, Peer: "client", Base: "host"}, 3, []string{"client"}},
	} {
		c := Conclusion{Inputs: Inputs{State: InputsOther, Parting: &test.d, Logs: test.logs}}
		if got := c.orderWord(); !slices.Equal(got, test.want) {
			t.Errorf("%s among %d logs rests on %v, want %v", test.d.Kind, test.logs, got, test.want)
		}
	}
}

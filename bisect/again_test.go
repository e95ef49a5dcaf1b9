package bisect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// tester is the game in which the test of an order changes the value, from a tick on.
type tester struct{ *counting }

func (s tester) Test(o *orderlog.Order) (bool, error) {
	if s.on("impure") {
		s.value += uint64(o.Player) + 1
	}
	return true, nil
}

func testerSim(mistake string, from uint64) *Sim {
	sim := countingSim(mistake, from, 5)
	start := sim.Start
	sim.Start = func(h *orderlog.Header) (Simulator, error) {
		s, err := start(h)
		return tester{s.(*counting)}, err
	}
	return sim
}

// TestTrialSince: a mode does its extra work only from a tick on, so that an experiment on one tick is not ended by
// another.
func TestTrialSince(t *testing.T) {
	log := countingLog(t, countingSim("", 0, 5)) // orders in each third tick
	since := uint64(20)
	const none = 1 << 40
	for _, c := range []struct {
		what string
		sim  *Sim
		opts TrialOptions
		tick uint64
	}{
		{"a save that forgets", countingSim("forgets", 0, 5), TrialOptions{Mode: Serialize}, 20},
		{"a restore that forgets", countingSim("forgets", 0, 5), TrialOptions{Mode: Rollback, Depth: 3}, 20},
		{"a prediction that leaks", countingSim("leaks", 0, 5), TrialOptions{Mode: Predict, Predict: []uint32{0}}, 20},
		{"a prediction that leaks, later", countingSim("leaks", 25, 5), TrialOptions{Mode: Predict, Predict: []uint32{0}}, 25},
		{"nothing", countingSim("", 0, 5), TrialOptions{Mode: Predict, Predict: []uint32{0}}, none},
		{"tests of orders", testerSim("impure", 0), TrialOptions{Mode: CheckPurity}, 21},
		{"tests of orders that are played later", testerSim("impure", 0), TrialOptions{Mode: CheckPurity, Ahead: 4}, 20},
		{"tests of pure orders", testerSim("", 0), TrialOptions{Mode: CheckPurity, Ahead: 4}, none},
	} {
		c.opts.Since = &since
		trial := try(t, log, c.sim, c.opts)
		if d := trial.First; (d != nil) != (c.tick != none) || d != nil && d.Point != c.tick+1 && !(c.opts.Mode == Serialize && d.Point == c.tick) {
			t.Errorf("%s: departs at %+v, expected tick %d", c.what, d, c.tick)
		}
	}
	trial := try(t, log, testerSim("impure", 0), TrialOptions{Mode: CheckPurity, Since: &since, Ahead: 4})
	if want := "go of player 0, which is played up to 4 ticks later"; trial.First.Order != want {
		t.Errorf("the order is %q, expected %q", trial.First.Order, want)
	}
}

// overwritten is the game in which a tick overwrites the effects of a prediction.
type overwritten struct{ *counting }

func (s overwritten) Predict(uint32, []orderlog.Order) error {
	s.value += 1000
	return nil
}

func (s overwritten) Step(orders []orderlog.Order) error {
	s.value %= 1000
	return s.counting.Step(orders)
}

// TestTrialLasting: effects of a prediction that last until the tick is played are no divergence.
func TestTrialLasting(t *testing.T) {
	sim := countingSim("", 0, 5)
	log, start := countingLog(t, sim), sim.Start
	sim.Start = func(h *orderlog.Header) (Simulator, error) {
		s, err := start(h)
		return overwritten{s.(*counting)}, err
	}
	opts := TrialOptions{Mode: Predict, Predict: []uint32{0}}
	if trial := try(t, log, sim, opts); trial.First == nil {
		t.Error("nothing departs right after predicting")
	}
	opts.Lasting = true
	if trial := try(t, log, sim, opts); trial.First != nil {
		t.Errorf("%+v departs, though the tick puts it right", trial.First)
	}
}

// TestAgain replays a peer's orders again, from where the first replay began or from the start, and compares it with
// what the peer recorded.
func TestAgain(t *testing.T) {
	wrong := countingLog(t, countingSim("wrong", 17, 5))
	hashes := map[uint64]merkle.Short{}
	for _, tick := range wrong.Ticks {
		hashes[tick.Number] = merkle.Short(tick.Hashes[0].Bytes)
	}
	list, _ := playedOf(wrong, false)
	world := worldOf(&counting{tick: 10, value: 1, speed: 1})
	rep := &Replay{
		Peers: []ReplayedPeer{{Name: "p"}}, runs: []run{{log: wrong}}, known: [][]expectation{{{list[0], hashes}}},
		ref: &reference{part: part{played: list[0], from: origin{world: world}}},
	}
	for _, c := range []struct {
		sim  *Sim
		tick uint64 // of the departure
		ok   bool
	}{{countingSim("wrong", 17, 5), 0, false}, {countingSim("", 0, 5), 17, true}} {
		trial, err := rep.Again(c.sim, Again{Peer: "p", Whole: true, Until: 30, Options: TrialOptions{Mode: Plain}})
		if err != nil {
			t.Fatal(err)
		}
		if tick, ok := trial.Tick(); ok != c.ok || ok && tick != c.tick || trial.To != 30 {
			t.Errorf("departs %v in tick %d, until %d", ok, tick, trial.To)
		}
	}
	trial, err := rep.Again(countingSim("", 0, 5), Again{Peer: "p", Until: 300, Options: TrialOptions{Mode: Dual}})
	if err != nil || trial.From != 10 || trial.To != trialTicks {
		t.Errorf("%+v, %v: expected a replay from the state to the end of the orders", trial, err)
	}
	if _, err := rep.Again(nil, Again{Peer: "q"}); err == nil || !strings.Contains(err.Error(), "q has no orders") {
		t.Errorf("a peer that was not replayed: %v", err)
	}
	if got := rep.OrdersFrom("p", 1, 4); !slices.Equal(got, []uint32{0}) {
		t.Errorf("players %v give orders in ticks 1 to 3", got)
	}
	if got := rep.OrdersFrom("p", 1, 3); got != nil {
		t.Errorf("players %v give orders in ticks 1 and 2", got)
	}
}

// TestAgainWithoutLoad: a simulator that cannot load the state where the first replay began
// begins with the session, unless the log does not; one that breaks is not asked twice.
func TestAgainWithoutLoad(t *testing.T) {
	wrong := countingLog(t, countingSim("wrong", 17, 5))
	list, _ := playedOf(wrong, false)
	late := *wrong
	late.Ticks = slices.Clone(wrong.Ticks[5:])
	late.Header.FirstPoint = late.Ticks[0].Number
	late.Epochs = []orderlog.Epoch{{Ticks: late.Ticks}}
	lateList, _ := playedOf(&late, false)
	broken := errors.New("broken")
	for _, c := range []struct {
		what string
		log  *orderlog.Log
		list []*played
		err  error // of loading
		want error
	}{
		{"it cannot load", wrong, list, fmt.Errorf("load: %w", ErrUnsupported), nil},
		{"it breaks in loading", wrong, list, broken, broken},
		{"it cannot load, and the log begins later", &late, lateList, fmt.Errorf("load: %w", ErrUnsupported), ErrUnsupported},
	} {
		rep := &Replay{
			Peers: []ReplayedPeer{{Name: "p"}}, runs: []run{{log: c.log}}, known: [][]expectation{{{c.list[0], c.list[0].hashes}}},
			ref: &reference{part: part{played: c.list[0], from: origin{world: worldOf(&counting{tick: 10, value: 1, speed: 1})}}},
		}
		sim := countingSim("", 0, 5)
		sim.Resume = func(*snapshot.World, *orderlog.Header) (Simulator, error) { return nil, c.err }
		trial, err := rep.Again(sim, Again{Peer: "p", Until: 30, Options: TrialOptions{Mode: Plain}})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", c.what, err, c.want)
		}
		if c.want != nil {
			continue
		}
		if tick, ok := trial.Tick(); trial.From != 0 || !ok || tick != 17 {
			t.Errorf("%s: from %d, departs %v in tick %d", c.what, trial.From, ok, tick)
		}
	}
	rep := &Replay{Peers: []ReplayedPeer{{Name: "p"}}, runs: []run{{log: wrong}}, known: [][]expectation{{}}, ref: &reference{}}
	for _, a := range []Again{{Peer: "q"}, {Peer: "p", Options: TrialOptions{From: worldOf(&counting{tick: 40, speed: 1})}}} {
		if _, err := rep.Again(countingSim("", 0, 5), a); !errors.Is(err, ErrUnplayable) {
			t.Errorf("%+v: %v, expected that it cannot be replayed", a, err)
		}
	}
}

// TestTrialByStateHashes: a log with hashes of whole states only, now and then, shows a
// departure too, at the next of them.
func TestTrialByStateHashes(t *testing.T) {
	wrong := countingSim("wrong", 17, 5)
	log := countingLog(t, wrong)
	s, err := wrong.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Ticks {
		tick := &log.Ticks[i]
		if tick.Hashes = nil; i%10 == 0 {
			root := rootOf(s)
			tick.Hashes = []orderlog.Observed{{Point: tick.Number, Kind: orderlog.StateHash, Bytes: root[:]}}
		}
		if err := s.Step(tick.Orders); err != nil {
			t.Fatal(err)
		}
	}
	trial := try(t, log, countingSim("", 0, 5), TrialOptions{Mode: Plain})
	if trial.First == nil || trial.First.Point != 20 || trial.Agreed == nil || *trial.Agreed != 10 {
		t.Errorf("departs at %+v, agreed until %v; expected 20 after 10", trial.First, trial.Agreed)
	}
	if trial = try(t, log, wrong, TrialOptions{Mode: Plain}); trial.First != nil || trial.Compared != 4 {
		t.Errorf("the build that recorded it departs at %+v, %d hashes were compared", trial.First, trial.Compared)
	}
}

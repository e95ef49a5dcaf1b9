package bisect

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// counting is a game of one number, which grows by what it grew before and by the
// number of orders. Its mistakes are made from tick from on.
type counting struct {
	tick, value, speed uint64
	cache              uint64 // the value, if it is not stale
	mistake            string
	from               uint64
	clock              *atomic.Uint64 // what no replay has twice
	begun              []orderlog.Order
}

func (c *counting) on(mistake string) bool { return c.mistake == mistake && c.tick >= c.from }

func (c *counting) Point() uint64 { return c.tick }

func (c *counting) Step(orders []orderlog.Order) error {
	c.value += c.speed + uint64(len(orders))
	c.speed = c.speed%7 + 1
	switch {
	case c.on("wrong"):
		c.value++
	case c.on("clock"):
		c.value += c.clock.Add(1)
	case c.on("rare") && c.tick == c.from && c.clock.Add(1)%4 == 0:
		c.value++
	}
	if !c.on("stale") {
		c.cache = c.value
	}
	c.tick++
	return nil
}

// Begin and Next make it a Stepper with one system.
func (c *counting) Begin(orders []orderlog.Order) error {
	c.begun = orders
	return nil
}

func (c *counting) Next() (system string, more bool, err error) {
	return "Count", false, c.Step(c.begun)
}

func (c *counting) Validate(orders []orderlog.Order) (why []string, err error) {
	for _, o := range orders {
		if o.Player > 0 {
			why = append(why, "one plays alone")
		} else {
			why = append(why, "")
		}
	}
	return why, nil
}

// Predict plays a tick ahead and takes that back, but for what a mistake leaves.
func (c *counting) Predict(player uint32, orders []orderlog.Order) error {
	was := *c
	if err := c.Step(orders); err != nil {
		return err
	}
	value, speed := c.value, c.speed+uint64(player)
	*c = was
	switch {
	case c.on("leaks"):
		c.value = value
	case c.on("leaks unhashed"):
		c.speed = speed
	}
	return nil
}

func (c *counting) World() (*snapshot.World, error) {
	value := snapshot.NewColumn("Health", "value", snapshot.U64, 0)
	value.AppendUint(c.value)
	speed := snapshot.NewColumn("Health", "speed", snapshot.U64, 0)
	speed.AppendUint(c.speed)
	w := &snapshot.World{
		Head:   snapshot.Head{Seed: testSeed, Point: snapshot.Point{Tick: c.tick}},
		Tables: []snapshot.Table{{Label: "Infantry", Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{value}}},
	}
	if c.mistake != "forgets" { // the speed is not part of the state that is hashed
		w.Tables = append(w.Tables, snapshot.Table{Label: "Speed", Class: snapshot.Noise, Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{speed}})
	}
	return w, nil
}

func (c *counting) SyncHash() merkle.Short { return rootOf(c).Short() }

// rootOf returns the state hash of a game.
func rootOf(s Simulator) merkle.Hash {
	held, err := snapshot.Hold(worldOf(s))
	if err != nil {
		panic(err)
	}
	return held.Info().Root
}

func worldOf(s Simulator) *snapshot.World {
	w, err := s.(Saver).World()
	if err != nil {
		panic(err)
	}
	return w
}

func ptr(point uint64) *uint64 { return &point }

func (c *counting) StaleCaches() ([]string, error) {
	if c.cache != c.value {
		return []string{"value"}, nil
	}
	return nil, nil
}

// countingSim returns the game with a mistake.
func countingSim(mistake string, from, start uint64) *Sim {
	clock := new(atomic.Uint64)
	return &Sim{
		Name: "counting",
		Start: func(h *orderlog.Header) (Simulator, error) {
			return &counting{value: start, cache: start, speed: 1, mistake: mistake, from: from, clock: clock}, nil
		},
		Resume: func(w *snapshot.World, h *orderlog.Header) (Simulator, error) {
			value := w.Table(snapshot.Archetype, "Infantry").Columns[0].Uint(0)
			c := &counting{tick: w.Point.Tick, value: value, cache: value, speed: 1, mistake: mistake, from: from, clock: clock}
			if t := w.Table(snapshot.Noise, "Speed"); t != nil {
				c.speed = t.Columns[0].Uint(0)
			}
			return c, nil
		},
	}
}

const trialTicks = 40

// countingLog is what a peer with a mistake records, with an order in each third
// tick. The oracle is a loop over the game itself.
func countingLog(t *testing.T, sim *Sim) *orderlog.Log {
	t.Helper()
	s, err := sim.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: testSeed, Peer: "p", Peers: []string{"p"}, Kinds: []orderlog.OrderKind{{Name: "go"}}}}
	for i := range uint64(trialTicks) {
		tick := orderlog.Tick{Number: i}
		if i%3 == 0 {
			tick.Orders = []orderlog.Order{{Tick: i}}
		}
		h := s.SyncHash()
		tick.Hashes = []orderlog.Observed{{Point: i, Kind: orderlog.SyncHash, Bytes: h[:]}}
		log.Ticks = append(log.Ticks, tick)
		if err := s.Step(tick.Orders); err != nil {
			t.Fatal(err)
		}
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	return log
}

func try(t *testing.T, log *orderlog.Log, sim *Sim, opts TrialOptions) *Trial {
	t.Helper()
	trial, err := Try(log, sim, opts)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

// TestTrials: each mode finds the mistake that it is for, in the tick in which it is
// made, and nothing else.
func TestTrials(t *testing.T) {
	healthy := countingSim("", 0, 5)
	good := countingLog(t, healthy)
	dir := t.TempDir()
	for _, point := range []uint64{10, 20, 30} {
		s, _ := healthy.Start(nil)
		for s.Point() < point {
			_ = s.Step(good.Ticks[s.Point()].Orders)
		}
		if err := snapshot.WriteFile(filepath.Join(dir, snapshot.Name(testSeed, point)), worldOf(s), snapshot.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{snapshot.SnapFormat()})
	if err != nil {
		t.Fatal(err)
	}
	const none = 1 << 40
	for _, c := range []struct {
		what  string
		log   *orderlog.Log
		sim   *Sim
		opts  TrialOptions
		tick  uint64 // none: nothing departs
		means string
	}{
		{"plain", good, healthy, TrialOptions{Mode: Plain}, none, "are what the orders give"},
		{"plain, a peer that went wrong", countingLog(t, countingSim("wrong", 17, 5)), healthy, TrialOptions{Mode: Plain}, 17, "p departs from what its own orders give"},
		{"plain, a simulator that is not deterministic", good, countingSim("clock", 17, 5), TrialOptions{Mode: Plain}, 17, "itself is not deterministic"},
		{"against", good, healthy, TrialOptions{Mode: Against, Against: countingSim("wrong", 9, 5)}, 9, "come to different states"},
		{"against itself", good, healthy, TrialOptions{Mode: Against, Against: countingSim("", 0, 5)}, none, "the same at every point"},
		{"dual", good, healthy, TrialOptions{Mode: Dual}, none, "the same at every point"},
		{"dual, a clock", good, countingSim("clock", 11, 5), TrialOptions{Mode: Dual}, 11, "does not agree with itself"},
		{"serialize", good, healthy, TrialOptions{Mode: Serialize}, none, "the same at every point"},
		// The speed is 1 at first, so that a save that forgets it shows in tick 1.
		{"serialize, a save that forgets", good, countingSim("forgets", 0, 5), TrialOptions{Mode: Serialize}, 1, "a save forgets something"},
		{"rollback", good, healthy, TrialOptions{Mode: Rollback, Depth: 5}, none, "the same at every point"},
		// What is restored has the first speed, which shows in the first tick in
		// which the speed was another.
		{"rollback, a restore that forgets", good, countingSim("forgets", 0, 5), TrialOptions{Mode: Rollback, Depth: 1}, 1, "does not put everything back"},
		{"from each snapshot", good, healthy, TrialOptions{Mode: FromEachSnapshot, Snapshots: sets[0]}, none, "the same at every point"},
		{"runs", good, healthy, TrialOptions{Mode: Repeat, Runs: 5}, none, "would need 898 of them"},
		{"runs, a clock", good, countingSim("clock", 30, 5), TrialOptions{Mode: Repeat, Runs: 5}, 30, "depends on threads, time or memory"},
		{"caches", good, healthy, TrialOptions{Mode: CheckCaches}, none, "every cache is what its state gives"},
		{"caches, a stale one", good, countingSim("stale", 23, 5), TrialOptions{Mode: CheckCaches}, 23, "a cache was not updated"},
	} {
		trial := try(t, c.log, c.sim, c.opts)
		tick, ok := trial.Tick()
		if ok != (c.tick != none) || trial.Departed() != ok || ok && tick != c.tick {
			t.Errorf("%s: departs %v in tick %d: %+v", c.what, ok, tick, trial)
		}
		if !strings.Contains(trial.Means, c.means) {
			t.Errorf("%s: means %q", c.what, trial.Means)
		}
		if trial.To != trialTicks || trial.Compared == 0 || len(trial.Lost) != 0 {
			t.Errorf("%s: %+v", c.what, trial)
		}
		if d := trial.First; d != nil && (c.opts.Mode == Dual || c.opts.Mode == Against || c.opts.Mode == Serialize || c.opts.Mode == Rollback) {
			if d.Diff == nil || len(d.Diff.Tables) != 1 || d.Diff.Tables[0].Label != "Infantry" {
				t.Errorf("%s: what departs is %+v", c.what, d.Diff)
			}
		}
	}
}

// TestTrialPredict: an effect of a prediction departs in the tick in which it was made, or in the next if no hash
// covers it.
func TestTrialPredict(t *testing.T) {
	healthy := countingSim("", 0, 5)
	log := countingLog(t, healthy) // orders in each third tick
	log.Header.Kinds = append(log.Header.Kinds, orderlog.OrderKind{Name: "chat", Local: true})
	for i := range log.Ticks {
		for k := range log.Ticks[i].Orders {
			log.Ticks[i].Orders[k].Player = uint32(i % 2) // 0, 3, 6, …
		}
	}
	log.Ticks[1].Orders = []orderlog.Order{{Tick: 1, Player: 7, Kind: 1}}
	const none = 1 << 40
	for _, c := range []struct {
		mistake string
		players []uint32
		tick    uint64
		a, b    string
		means   string
	}{
		{"", []uint32{0, 1}, none, "", "", "makes no difference"},
		{"", []uint32{1}, none, "", "", "makes no difference"},
		{"leaks", []uint32{0, 1}, 12, "predicting player 0", "predicting player 1", "the taking back of a prediction forgets something"},
		{"leaks", []uint32{1}, 15, "predicting player 1", "predicting nobody", "the taking back of a prediction forgets something"},
		{"leaks unhashed", []uint32{1}, 15, "predicting player 1", "predicting nobody", "a prediction leaves something that no hash covers"},
		{"clock", []uint32{0, 1}, 10, "predicting player 0", "predicting player 1", "or the simulator does not agree with itself"},
	} {
		trial := try(t, log, countingSim(c.mistake, 10, 5), TrialOptions{Mode: Predict, Predict: c.players})
		tick, ok := trial.Tick()
		if ok != (c.tick != none) || ok && tick != c.tick || !strings.Contains(trial.Means, c.means) || trial.Compared == 0 {
			t.Errorf("%q, players %d: departs %v in tick %d: %+v", c.mistake, c.players, ok, tick, trial)
		}
		if d := trial.First; ok && (d.A != c.a || d.B != c.b || d.Diff == nil || d.Diff.Tables[0].Label != "Infantry") {
			t.Errorf("%q, players %d: %+v", c.mistake, c.players, d)
		}
	}
	mute := *healthy
	mute.Start = func(h *orderlog.Header) (Simulator, error) {
		s, err := healthy.Start(h)
		return struct{ Simulator }{s}, err
	}
	for want, c := range map[string]struct {
		sim     *Sim
		players []uint32
	}{
		"player 7 gives no orders between state points 0 and 40": {healthy, []uint32{0, 7}}, // only chat
		"expected one, or two":           {healthy, nil},
		"[1 1], expected one, or two":    {healthy, []uint32{1, 1}},
		"counting cannot predict orders": {&mute, []uint32{0, 1}},
	} {
		if _, err := Try(log, c.sim, TrialOptions{Mode: Predict, Predict: c.players}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestTrialStart: if a state is wrong from the start, no tick is at fault.
func TestTrialStart(t *testing.T) {
	trial := try(t, countingLog(t, countingSim("", 0, 6)), countingSim("", 0, 5), TrialOptions{Mode: Plain})
	if _, ok := trial.Tick(); ok || trial.First == nil || trial.First.Point != 0 || !strings.Contains(trial.Means, "the state at the start is not") {
		t.Errorf("%+v", trial)
	}
}

// TestTrialHeader: the state hash in a log's header is evidence of the start.
func TestTrialHeader(t *testing.T) {
	sim, other := countingSim("", 0, 5), countingSim("", 0, 6)
	log := countingLog(t, sim)
	s, _ := sim.Start(nil)
	o, _ := other.Start(nil)
	log.Header.Start = rootOf(o)
	trial := try(t, log, sim, TrialOptions{Mode: Plain})
	if trial.Departed() || len(trial.Lost) != 1 || !strings.Contains(trial.Lost[0], "log contradicts itself") {
		t.Errorf("%+v", trial)
	}
	for i := range log.Ticks {
		log.Ticks[i].Hashes = nil
	}
	if trial := try(t, log, sim, TrialOptions{Mode: Plain}); trial.First == nil || trial.First.Point != 0 || !strings.Contains(trial.Means, "not what the log's header gives") {
		t.Errorf("%+v", trial)
	}
	log.Header.Start = rootOf(s)
	if trial := try(t, log, sim, TrialOptions{Mode: Plain}); trial.Departed() || trial.Compared != 1 || len(trial.Lost) > 0 {
		t.Errorf("%+v", trial)
	}
}

// ticksTraced is a trace in memory.
type ticksTraced map[uint64][]TracedSystem

func (t ticksTraced) Tick(tick uint64) ([]TracedSystem, error) { return t[tick], nil }

func (t ticksTraced) Close() error { return nil }

// TestTrialDrill: with a trace the system is found, and a simulator that is not deterministic is found out before the
// peer is blamed.
func TestTrialDrill(t *testing.T) {
	healthy := countingSim("", 0, 5)
	wrong := countingSim("wrong", 17, 5)
	log := countingLog(t, wrong)
	s, _ := wrong.Start(nil)
	traced := ticksTraced{}
	for i := range log.Ticks {
		_ = s.Step(log.Ticks[i].Orders)
		traced[uint64(i)] = []TracedSystem{{System: "Count", Sums: map[string]merkle.Short{"": s.SyncHash()}}}
	}
	for _, c := range []struct {
		sim   *Sim
		tick  uint64
		means string
	}{
		{healthy, 17, "p departs from what its own orders give in Count"},
		{countingSim("clock", 17, 5), 18, "itself is not deterministic"},
	} {
		trial := try(t, log, c.sim, TrialOptions{Mode: Plain, Drill: true, Traced: traced})
		if tick, ok := trial.Tick(); !ok || tick != c.tick || trial.First.System != "Count" || !strings.Contains(trial.Means, c.means) {
			t.Errorf("%+v, want %s", trial, c.means)
		}
	}
}

// TestTrialIgnored: orders that the simulator ignores are reported.
func TestTrialIgnored(t *testing.T) {
	sim := countingSim("", 0, 5)
	log := countingLog(t, sim)
	log.Ticks[6].Orders[0].Player, log.Ticks[9].Orders[0].Player = 3, 3
	trial := try(t, log, sim, TrialOptions{Mode: Plain})
	if len(trial.Notes) != 1 || trial.Notes[0] != "counting ignores 2 of the orders, the first in tick 6, of player 3: one plays alone" {
		t.Errorf("%q", trial.Notes)
	}
}

// TestTrialFromSnapshot: snapshots that lack what later ticks read.
func TestTrialFromSnapshot(t *testing.T) {
	healthy := countingSim("", 0, 5)
	log := countingLog(t, healthy)
	s, _ := countingSim("forgets", 0, 5).Start(nil)
	for s.Point() < 12 {
		_ = s.Step(log.Ticks[s.Point()].Orders)
	}
	dir := t.TempDir()
	if err := snapshot.WriteFile(filepath.Join(dir, snapshot.Name(testSeed, 12)), worldOf(s), snapshot.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{snapshot.SnapFormat()})
	if err != nil {
		t.Fatal(err)
	}
	trial := try(t, log, healthy, TrialOptions{Mode: FromEachSnapshot, Snapshots: sets[0]})
	if tick, ok := trial.Tick(); !ok || tick != 12 || trial.First.From != 12 || trial.Snapshots != 1 || !strings.Contains(trial.Means, "the save lacks what later ticks read") {
		t.Errorf("%+v", trial)
	}
}

// TestTrialFromOtherBuilds: snapshots of another build are left out, and that is reported.
func TestTrialFromOtherBuilds(t *testing.T) {
	sim := countingSim("", 0, 5)
	log := countingLog(t, sim)
	log.Header.Build = "1.4"
	dir := t.TempDir()
	s, _ := sim.Start(nil)
	for _, build := range []string{"1.3", "1.4"} {
		for range 10 {
			_ = s.Step(log.Ticks[s.Point()].Orders)
		}
		w := worldOf(s)
		w.Meta = map[string]string{"build": build}
		if err := snapshot.WriteFile(filepath.Join(dir, snapshot.Name(testSeed, s.Point())), w, snapshot.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{snapshot.SnapFormat()})
	if err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		trial := try(t, log, sim, TrialOptions{Mode: FromEachSnapshot, Snapshots: sets[0], Force: force})
		said := trial.Lost
		if force {
			said = trial.Notes
		}
		want := map[bool]int{false: 1, true: 2}[force]
		if trial.Departed() || trial.Snapshots != want || len(said) != 1 || len(trial.Lost)+len(trial.Notes) != 1 || !strings.Contains(said[0], `build "1.3", the log has "1.4"`) {
			t.Errorf("force %v: %+v", force, trial)
		}
	}
}

// TestTrialRate: of what happens now and then the rate is reported.
func TestTrialRate(t *testing.T) {
	sim := countingSim("rare", 20, 5)
	log := countingLog(t, countingSim("", 0, 5))
	trial := try(t, log, sim, TrialOptions{Mode: Repeat, Runs: 41})
	if trial.Runs != 40 || trial.Hits != 10 || trial.Low >= 0.25 || trial.High <= 0.25 {
		t.Errorf("%d of %d, %g to %g", trial.Hits, trial.Runs, trial.Low, trial.High)
	}
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{{0, 10, 0, 0.2775}, {5, 10, 0.2366, 0.7634}, {10, 10, 0.7225, 1}, {1, 300, 0.0006, 0.0186}} { // from a table of Wilson's interval
		low, high := Wilson(c.hits, c.n)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %g to %g, want %g to %g", c.hits, c.n, low, high, c.low, c.high)
		}
	}
}

// TestTrialRange: a part of a log, from a state, and what cannot be replayed.
func TestTrialRange(t *testing.T) {
	sim := countingSim("", 0, 5)
	log := countingLog(t, sim)
	s, _ := sim.Start(nil)
	for s.Point() < 25 {
		_ = s.Step(log.Ticks[s.Point()].Orders)
	}
	from := worldOf(s)
	var seen []uint64
	trial := try(t, log, sim, TrialOptions{Mode: Plain, From: from, Until: ptr(30), Observe: func(point uint64, _ merkle.Short) error {
		seen = append(seen, point)
		return nil
	}})
	if trial.Departed() || trial.From != 25 || trial.To != 30 || trial.Ticks != 5 || !slices.Equal(seen, []uint64{25, 26, 27, 28, 29, 30}) {
		t.Errorf("%+v, %v", trial, seen)
	}
	other, built, mapped := *from, *from, *from
	other.Seed++
	log.Header.Build, log.Header.Params = "1.4", map[string]string{"map": "plains", "players": "2"}
	built.Meta = map[string]string{"build": "1.3", "map": "plains", "cpu": "x"}
	mapped.Meta = map[string]string{"build": "1.4", "map": "hills"}
	fits := *from
	fits.Meta = map[string]string{"build": "1.4", "map": "plains", "os": "linux"}
	if trial := try(t, log, sim, TrialOptions{Mode: Plain, From: &fits}); trial.Departed() || len(trial.Notes) > 0 {
		t.Errorf("%+v", trial)
	}
	for want, w := range map[string]*snapshot.World{
		"forced: the snapshot is of seed":                                   &other,
		`the snapshot is of a game with build "1.3", the log has "1.4", so`: &built,
		`the snapshot is of a game with map "hills", the log has "plains"`:  &mapped,
	} {
		if trial := try(t, log, sim, TrialOptions{Mode: Plain, From: w, Force: true}); len(trial.Notes) != 1 || !strings.Contains(trial.Notes[0], want) {
			t.Errorf("%q, want %s", trial.Notes, want)
		}
	}
	two := try(t, log, sim, TrialOptions{Mode: Against, Against: sim, From: &built})
	if len(two.Notes) != 1 || !strings.Contains(two.Notes[0], `build "1.3", the log has "1.4": the session went on in another build`) {
		t.Errorf("of two builds side by side: %q", two.Notes)
	}
	for want, opts := range map[string]TrialOptions{
		`map "hills", the log has "plains" (--force replays`: {Mode: Against, Against: sim, From: &mapped},
		"known up to state point 40 only, not to 41":         {Mode: Plain, Until: ptr(41)},
		"the snapshot is of seed":                            {Mode: Plain, From: &other},
		`build "1.3", the log has "1.4" (--force`:            {Mode: Plain, From: &built},
		`map "hills", the log has "plains" (--force`:         {Mode: Dual, From: &mapped},
		"is before 25":             {Mode: Plain, From: from, Until: ptr(20)},
		"expected at least 2":      {Mode: Repeat, Runs: 1},
		"rollback by 0 ticks":      {Mode: Rollback},
		"no snapshots to begin at": {Mode: FromEachSnapshot},
		"unknown mode":             {Mode: "x"},
	} {
		if _, err := Try(log, sim, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

package bisect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// TestRejoinVector reads a log with a join, a gap, a load and a resync. Its hashes chain as docs/orderlog.md describes.
func TestRejoinVector(t *testing.T) {
	text, err := os.ReadFile("../testdata/orderlog/rejoin.txt")
	if err != nil {
		t.Fatal(err)
	}
	var bin bytes.Buffer
	if err := orderlog.ParseText(&bin, bytes.NewReader(text), "rejoin.txt"); err != nil {
		t.Fatal(err)
	}
	encoded := bin.Bytes()
	log, err := orderlog.ReadAll(bytes.NewReader(encoded), "rejoin.bin")
	if err != nil {
		t.Fatal(err)
	}
	r, err := orderlog.NewReader(bytes.NewReader(encoded), "rejoin.bin")
	if err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if err := orderlog.WriteText(&again, r); err != nil || again.String() != string(text) {
		t.Errorf("another text, %v:\n%s", err, &again)
	}
	want := "ticks 100 to 102, after a join, epoch 1; ticks 106 to 108, after a load, epoch 2; ticks 109 to 110, after a resync, epoch 3"
	if got := listed(LogOf(log).Stretches); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	list, _ := playedOf(log, false)
	for i, last := range []uint64{103, 109, 111} {
		s := list[i]
		history := log.Epochs[i].Opening.History
		for point := s.From + 1; point <= last; point++ {
			hash, ok := s.hashes[point]
			if !ok {
				t.Fatalf("no hash of point %d", point)
			}
			history = merkle.NextHistory(history, hash)
			if b := log.Epochs[i].Hash(point, 2, orderlog.HistoryHash, orderlog.Full); b != nil && !bytes.Equal(b, history[:]) {
				t.Errorf("history hash of point %d is %x, the chain has %x", point, b, history)
			}
		}
	}
	// What the resync put right: the peer had come to another state by then.
	if list[1].hashes[109] == list[2].hashes[109] {
		t.Error("the resync changed nothing")
	}
}

func listed(list []Stretch) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s, epoch %d", s.String(), s.Epoch))
	}
	return strings.Join(out, "; ")
}

// TestGapRule: ticks without a record are a gap if the log does not leave out ticks without orders, or if the peer
// reports that it went or came.
func TestGapRule(t *testing.T) {
	type tick struct {
		n       uint64
		orders  int
		hash    bool
		markers []orderlog.Marker
	}
	dense := func(from, to uint64) (list []tick) {
		for n := from; n < to; n++ {
			list = append(list, tick{n: n, hash: true, orders: int(n % 3 / 2)})
		}
		return list
	}
	sparse := func(from, to, step uint64, hash bool) (list []tick) {
		for n := from; n < to; n += step {
			list = append(list, tick{n: n, hash: hash, orders: 1})
		}
		return list
	}
	with := func(list []tick, markers ...orderlog.Marker) []tick {
		list[0].markers = markers
		return list
	}
	marker := func(kind orderlog.MarkerKind, peer uint32) orderlog.Marker {
		return orderlog.Marker{Kind: kind, Peer: peer}
	}
	join := func(lists ...[]tick) (all []tick) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	for name, c := range map[string]struct {
		first    uint64
		ticks    []tick
		observed []uint64
		want     string
	}{
		"no ticks":                       {want: "state point 0, epoch 0"},
		"every tick":                     {ticks: dense(0, 40), want: "ticks 0 to 39, epoch 0"},
		"some are missing":               {ticks: join(dense(0, 20), dense(25, 40)), want: "ticks 0 to 19, epoch 0; ticks 25 to 39, after a gap, epoch 0"},
		"missing, but hashed":            {ticks: join(dense(0, 20), dense(25, 40)), observed: []uint64{22}, want: "ticks 0 to 39, epoch 0"},
		"the beginning is missing":       {ticks: dense(5, 40), want: "ticks 5 to 39, after a gap, epoch 0"},
		"only ticks with orders":         {ticks: sparse(0, 400, 10, false), want: "ticks 0 to 390, epoch 0"},
		"hashes stop and go on":          {ticks: join(sparse(0, 200, 10, true), sparse(300, 400, 10, true)), want: "ticks 0 to 190, epoch 0; ticks 300 to 390, after a gap, epoch 0"},
		"no orders for long":             {ticks: join(sparse(0, 200, 10, false), sparse(300, 400, 10, false)), want: "ticks 0 to 390, epoch 0"},
		"no orders for days":             {ticks: join(sparse(0, 200, 10, false), sparse(9000000, 9000100, 10, false)), want: "ticks 0 to 190, epoch 0; ticks 9000000 to 9000090, after a gap, epoch 0"},
		"it came back":                   {ticks: join(sparse(0, 200, 10, false), with(sparse(230, 400, 10, false), marker(orderlog.Reconnect, 1))), want: "ticks 0 to 190, epoch 0; ticks 230 to 390, after a reconnect, epoch 0"},
		"it left":                        {ticks: join(sparse(0, 190, 10, false), with(sparse(190, 200, 10, false), marker(orderlog.Leave, 1)), sparse(230, 400, 10, false)), want: "ticks 0 to 190, epoch 0; ticks 230 to 390, after a gap, epoch 0"},
		"another came back":              {ticks: join(sparse(0, 200, 10, false), with(sparse(230, 400, 10, false), marker(orderlog.Reconnect, 2))), want: "ticks 0 to 390, epoch 0"},
		"a load without a gap":           {ticks: join(dense(0, 20), with(dense(20, 40), orderlog.Marker{Kind: orderlog.Load, NewEpoch: true})), want: "ticks 0 to 19, epoch 0; ticks 20 to 39, after a load, epoch 1"},
		"a load of an older state":       {ticks: join(dense(0, 20), with(dense(10, 40), orderlog.Marker{Kind: orderlog.Load, NewEpoch: true})), want: "ticks 0 to 19, epoch 0; ticks 10 to 39, after a load, epoch 1"},
		"a load that is no new epoch":    {ticks: join(dense(0, 20), with(dense(20, 40), marker(orderlog.Load, 1))), want: "ticks 0 to 39, epoch 0"},
		"joins late, without a word":     {first: 7, ticks: dense(7, 40), want: "ticks 7 to 39, after a join, epoch 0"},
		"joins late, and opens an epoch": {ticks: with(dense(7, 40), orderlog.Marker{Kind: orderlog.Resync, NewEpoch: true}), want: "ticks 7 to 39, after a resync, epoch 0"},
		"very many ticks with orders":    {ticks: sparse(0, 90000, 3, false), want: "ticks 0 to 89997, epoch 0"},
		"the last tick there is":         {ticks: []tick{{n: 0}, {n: 1}, {n: 1<<64 - 1}}, want: "ticks 0 to 1, epoch 0"},
	} {
		var b bytes.Buffer
		w, err := orderlog.NewWriter(&b, orderlog.Header{Peer: "b", Peers: []string{"a", "b", "c"}, FirstPoint: c.first, Kinds: []orderlog.OrderKind{{Name: "go"}}}, orderlog.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hash := func(point uint64) []orderlog.Observed {
			return []orderlog.Observed{{Point: point, Peer: 1, Kind: orderlog.SyncHash, Bytes: make([]byte, merkle.ShortSize)}}
		}
		for _, x := range c.ticks {
			tick := orderlog.Tick{Number: x.n, Markers: x.markers}
			for range x.orders {
				tick.Orders = append(tick.Orders, orderlog.Order{Tick: x.n})
			}
			if x.hash {
				tick.Hashes = hash(x.n)
			}
			if err := w.WriteTick(&tick); err != nil {
				t.Fatal(name, err)
			}
		}
		for _, point := range c.observed {
			if err := w.WriteObserved(hash(point)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := orderlog.NewReader(&b, name)
		if err != nil {
			t.Fatal(err)
		}
		log, err := ReadLog(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(log.Stretches); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// gapLog is the record of a peer that is away in ticks from to until - 1, and then has the state that load makes of the
// right one. A marker reports it.
func gapLog(t *testing.T, sim *Sim, from, until uint64, load func(s *counting)) (log *orderlog.Log, worlds map[uint64]*snapshot.World) {
	t.Helper()
	log = countingLog(t, sim)
	healthy, err := countingSim("", 0, 5).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	for healthy.Point() < until {
		_ = healthy.Step(log.Ticks[healthy.Point()].Orders)
	}
	s := healthy.(*counting)
	if load != nil {
		load(s)
	}
	first, _ := sim.Start(nil)
	own := *first.(*counting)
	s.mistake, s.from, s.clock = own.mistake, own.from, own.clock
	worlds = map[uint64]*snapshot.World{until: worldOf(s)}
	for n := until; n < trialTicks; n++ {
		h := s.SyncHash()
		log.Ticks[n].Hashes[0].Bytes = h[:]
		_ = s.Step(log.Ticks[n].Orders)
	}
	log.Ticks[until].Markers = []orderlog.Marker{{Kind: orderlog.Load, Point: until, NewEpoch: true}}
	ticks := append(log.Ticks[:from:from], log.Ticks[until:]...)
	log.Ticks = ticks
	log.Epochs = []orderlog.Epoch{{Ticks: ticks[:from]}, {Number: 1, Ticks: ticks[from:], Opening: &ticks[from].Markers[0]}}
	return log, worlds
}

func setOf(t *testing.T, worlds map[uint64]*snapshot.World) *snapshot.Set {
	t.Helper()
	dir := t.TempDir()
	for point, w := range worlds {
		if err := snapshot.WriteFile(filepath.Join(dir, snapshot.Name(testSeed, point)), w, snapshot.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{snapshot.SnapFormat()})
	if err != nil {
		t.Fatal(err)
	}
	return sets[0]
}

var everyMode = []TrialOptions{
	{Mode: Plain}, {Mode: Dual}, {Mode: Serialize}, {Mode: Rollback, Depth: 2}, {Mode: FromEachSnapshot}, {Mode: Repeat, Runs: 3},
	{Mode: CheckCaches}, {Mode: Predict, Predict: []uint32{0}}, {Mode: Against, Against: countingSim("", 0, 5)},
}

// TestTrialGap: a gap is not played in any mode, and what follows is judged from the state
// that was loaded, or not at all.
func TestTrialGap(t *testing.T) {
	sim := countingSim("", 0, 5)
	log, worlds := gapLog(t, sim, 12, 20, nil)
	set := setOf(t, worlds)
	for _, opts := range everyMode {
		opts.Snapshots = set
		trial := try(t, log, sim, opts)
		if trial.Departed() || trial.Incomplete() || trial.To != trialTicks || opts.Mode != FromEachSnapshot && trial.Stretches != 2 {
			t.Errorf("%s: %+v", opts.Mode, trial)
		}
		if !strings.Contains(strings.Join(trial.Notes, "\n"), "ticks 12 to 19 are not in the log") {
			t.Errorf("%s: %q", opts.Mode, trial.Notes)
		}
		if opts.Mode == FromEachSnapshot {
			continue
		}
		opts.Snapshots = nil
		trial = try(t, log, sim, opts)
		if trial.Departed() || !trial.Incomplete() || trial.To != 12 || len(trial.Lost) != 1 || !strings.Contains(trial.Lost[0], "ticks 20 to 39, after a load is not judged") {
			t.Errorf("%s: %+v", opts.Mode, trial)
		}
	}
}

// TestTrialCannotLoad: a simulator that cannot load states judges what it can.
func TestTrialCannotLoad(t *testing.T) {
	sim := *countingSim("", 0, 5)
	sim.Resume = func(*snapshot.World, *orderlog.Header) (Simulator, error) {
		return nil, fmt.Errorf("load: %w", ErrUnsupported)
	}
	log, worlds := gapLog(t, &sim, 12, 20, nil)
	trial := try(t, log, &sim, TrialOptions{Mode: Plain, Snapshots: setOf(t, worlds)})
	if trial.Departed() || !trial.Incomplete() || trial.Compared != 12 || len(trial.Lost) != 1 || !strings.Contains(trial.Lost[0], "counting cannot load the state at point 20") {
		t.Errorf("%+v", trial)
	}
}

// TestTrialManyStretches: a log that opens an epoch in every tick takes no long time.
func TestTrialManyStretches(t *testing.T) {
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: testSeed, Peer: "p", Peers: []string{"p"}}}
	const n = 20000
	for i := range uint64(n) {
		log.Ticks = append(log.Ticks, orderlog.Tick{Number: 2 * i, Markers: []orderlog.Marker{{Kind: orderlog.Load, NewEpoch: true}}})
	}
	for i := range log.Ticks {
		log.Epochs = append(log.Epochs, orderlog.Epoch{Number: uint32(i), Ticks: log.Ticks[i : i+1], Opening: &log.Ticks[i].Markers[0]})
	}
	trial := try(t, log, countingSim("", 0, 5), TrialOptions{Mode: Plain})
	if trial.Departed() || !trial.Incomplete() || !strings.Contains(strings.Join(trial.Lost, "\n"), "20000 stretches") || len(trial.Lost) != shownGaps+2 || len(trial.Notes) != shownGaps+1 {
		t.Errorf("%d lost, notes %q", len(trial.Lost), trial.Notes)
	}
}

// TestTrialOlderLoad: the result of an older state is judged by the result of the orders before; loading that loses
// something shows.
func TestTrialOlderLoad(t *testing.T) {
	sim := countingSim("", 0, 5)
	build := func(loaded uint64) *orderlog.Log {
		log, _ := gapLog(t, sim, 20, 20, func(s *counting) { s.value += loaded })
		return log
	}
	trial := try(t, build(0), sim, TrialOptions{Mode: Plain})
	if trial.Departed() || trial.Incomplete() || trial.Stretches != 2 || trial.Compared != trialTicks {
		t.Errorf("%+v", trial)
	}
	if trial := try(t, build(0), sim, TrialOptions{Mode: Rollback, Depth: 3}); trial.Departed() || trial.Incomplete() || trial.Stretches != 2 {
		t.Errorf("%+v", trial)
	}
	trial = try(t, build(3), sim, TrialOptions{Mode: Plain})
	if d := trial.First; d == nil || !d.Loaded || d.Point != 20 || !strings.Contains(trial.Means, "loading loses something") {
		t.Errorf("%+v", trial)
	}
	if _, ok := trial.Tick(); ok {
		t.Errorf("a load is no tick: %+v", trial)
	}
}

// TestTrialStretches draws gaps and mistakes. The oracle is the game itself: a replay
// departs where the peer's own game, started with what it loaded, does.
func TestTrialStretches(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		from := rapid.Uint64Range(1, trialTicks-2).Draw(r, "away from")
		until := rapid.Uint64Range(from, trialTicks-1).Draw(r, "until")
		mistake := rapid.SampledFrom([]string{"", "wrong"}).Draw(r, "mistake")
		at := rapid.Uint64Range(0, trialTicks-1).Draw(r, "in tick")
		log, worlds := gapLog(t, countingSim(mistake, at, 5), from, until, nil)
		trial := try(t, log, countingSim("", 0, 5), TrialOptions{Mode: Plain, Snapshots: setOf(t, worlds)})
		// Hashes are of points before ticks: the last ones of a stretch are not known.
		want, wrong := uint64(0), false
		for point := uint64(1); point < trialTicks && !wrong && mistake != ""; point++ {
			played := point < from || point > until
			if tick := point - 1; played && tick >= at {
				want, wrong = point, true
			}
		}
		if from == until && mistake != "" && at < from && !wrong {
			return // it loads what it had not come to
		}
		switch d := trial.First; {
		case wrong && d == nil, !wrong && d != nil && !d.Loaded:
			r.Fatalf("%+v, want %v at %d", trial, wrong, want)
		case wrong && !d.Loaded && d.Point != want:
			r.Fatalf("departs at %d, want %d", d.Point, want)
		}
	})
}

// TestPiecesOfLoads: of a log in which each tick is a load nothing can be put together, and it is
// looked for no more often than the number of ticks doubles.
func TestPiecesOfLoads(t *testing.T) {
	c := newCutter(&orderlog.Header{})
	const ticks = 8 * maxPieces
	looks, room := 0, c.room
	for i := range ticks {
		c.add(uint32(i+1), &orderlog.Tick{Number: uint64(i), Markers: []orderlog.Marker{{Kind: orderlog.Load, NewEpoch: true}}})
		if c.room != room {
			looks, room = looks+1, c.room
		}
	}
	if looks == 0 || looks > 4 {
		t.Errorf("%d looks for pieces to put together in %d ticks", looks, ticks)
	}
	if n := len(c.stretches(func(uint32) []Hash { return nil })); n != ticks {
		t.Errorf("%d stretches, want %d", n, ticks)
	}
}

// TestPartOfMany: the hashes of each kind and coverage are found among many.
func TestPartOfMany(t *testing.T) {
	h := NewHashes(orderlog.Header{Peer: "a", Peers: []string{"a"}})
	for i := range 300 {
		h.Add(&orderlog.Record{Kind: orderlog.ObservedRecord, Observed: []orderlog.Observed{{Point: uint64(i), Kind: orderlog.HashKind(fmt.Sprint("k", i*7%300/10)), Coverage: orderlog.Coverage(fmt.Sprint("c", i*7%10)), Bytes: []byte{1}}}})
	}
	log := h.Log()
	for k := range 31 {
		for c := range 11 {
			kind, coverage := orderlog.HashKind(fmt.Sprint("k", k)), orderlog.Coverage(fmt.Sprint("c", c))
			i := slices.IndexFunc(log.Parts, func(p PartHashes) bool { return p.Kind == kind && p.Coverage == coverage })
			switch got := log.part(kind, coverage); {
			case (i < 0) != (got == nil), (i < 0) != (k == 30 || c == 10), got != nil && got != &log.Parts[i]:
				t.Errorf("%s of %s: %v, entry %d of %d", kind, coverage, got, i, len(log.Parts))
			}
		}
	}
}

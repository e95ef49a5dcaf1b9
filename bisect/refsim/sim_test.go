package refsim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

func newTestSim(tb testing.TB, c Config, mistakes ...Fault) *Sim {
	tb.Helper()
	s, err := New(c, mistakes...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestHashIsThatOfTheWorld compares the incremental hash with a full one, and
// the caches with fresh ones, on every tick: both catch a forgotten mark.
func TestHashIsThatOfTheWorld(t *testing.T) {
	ticks := effort.Of(40, 1500)
	for _, c := range []Config{{Seed: 1, Entities: 100, Players: 2}, {Seed: 2, Entities: 600}, {Seed: 3, Entities: 300, Players: 8}, {Seed: 4, Entities: 200, Names: 9}} {
		t.Run(fmt.Sprint(c.Entities), func(t *testing.T) {
			t.Parallel()
			s, script := newTestSim(t, c), NewScript(c.Seed)
			for range ticks {
				w := s.World()
				state, err := snapshot.Hold(w)
				if err != nil {
					t.Fatalf("point %d: %v", s.Point(), err)
				}
				if got, want := s.StateHash(), state.Info().Root; got != want {
					t.Fatalf("point %d: state hash %s, the world's is %s", s.Point(), got, want)
				}
				checkCaches(t, s)
				step(t, s, script.Orders(s))
			}
		})
	}
}

func checkCaches(t *testing.T, s *Sim) {
	t.Helper()
	fresh, err := s.FreshCaches()
	if err != nil {
		t.Fatal(err)
	}
	if label := staleCacheOf(s.Caches(), fresh); label != "" {
		t.Fatalf("point %d: cache %s does not follow from the state", s.Point(), label)
	}
}

// staleCacheOf returns the label of the first of two lists' caches that
// differ.
func staleCacheOf(have, fresh []snapshot.Table) string {
	for i := range have {
		if !reflect.DeepEqual(have[i].Keys, fresh[i].Keys) || !bytes.Equal(have[i].Columns[0].Data, fresh[i].Columns[0].Data) {
			return have[i].Label
		}
	}
	return ""
}

// TestAgreement plays a game twice, once with another number of processors and
// saved and loaded at random ticks.
func TestAgreement(t *testing.T) {
	ticks := effort.Of(100, 2500)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range effort.Of[uint64](3, 6) {
		c := Config{Seed: seed, Entities: 150 + 250*int(seed), Players: 2 + int(seed)}
		a, b := newTestSim(t, c), newTestSim(t, c)
		script := NewScript(seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for range ticks {
			orders := script.Orders(a)
			step(t, a, orders)
			runtime.GOMAXPROCS(1 + random.IntN(4))
			step(t, b, orders)
			if a.SyncHash() != b.SyncHash() || !Equal(a, b) {
				t.Fatalf("seed %d: differ at point %d: %v", seed, a.Point(), Differences(a, b))
			}
			if random.IntN(40) == 0 {
				loaded, err := Load(b.World())
				if err != nil {
					t.Fatalf("seed %d, point %d: %v", seed, b.Point(), err)
				}
				b = loaded
			}
		}
	}
}

// TestLoadKeepsStaleCaches checks that a game that was saved with a stale cache
// plays on as the saved one does.
func TestLoadKeepsStaleCaches(t *testing.T) {
	for _, place := range faultKinds[staleCache].Places {
		f := Fault{Name: "stale-cache", Place: place, From: 20}
		a := newTestSim(t, Config{Seed: 4, Entities: 400}, f)
		script := NewScript(4)
		for range 101 {
			step(t, a, script.Orders(a))
		}
		fresh, err := a.FreshCaches()
		if err != nil {
			t.Fatal(err)
		}
		if staleCacheOf(a.Caches(), fresh) == "" {
			t.Errorf("%s: no cache is stale", place)
		}
		b, err := Load(a.World(), f)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			orders := script.Orders(a)
			step(t, a, orders)
			step(t, b, orders)
			if !Equal(a, b) {
				t.Fatalf("%s: differ at point %d: %v", place, a.Point(), Differences(a, b))
			}
		}
	}
}

// TestBattleGoesOn checks that a long game neither runs dry nor explodes.
func TestBattleGoesOn(t *testing.T) {
	ticks := effort.Of(2000, 20_000)
	const stage = 1000
	for _, entities := range []int{100, 200, 1000} {
		s := newTestSim(t, Config{Seed: 9, Entities: entities})
		script := NewScript(9)
		lost := uint32(0)
		for i := range ticks {
			step(t, s, script.Orders(s))
			if (i+1)%stage != 0 {
				continue
			}
			rows, archetypesUsed := 0, 0
			for _, t := range s.tables {
				rows += t.rows()
				if t.rows() > 0 {
					archetypesUsed++
				}
			}
			if rows < entities/2 || rows > entities*5/4+30*DefaultPlayers {
				t.Errorf("%d entities, point %d: %d are left", entities, s.Point(), rows)
			}
			if archetypesUsed < 25 {
				t.Errorf("%d entities, point %d: only %d archetypes have rows", entities, s.Point(), archetypesUsed)
			}
			sum := uint32(0)
			for _, n := range s.tables[player].score.Losses.v {
				sum += n
			}
			if fell := sum - lost; int(fell)*20 < entities*3 {
				t.Errorf("%d entities, point %d: %d fell in %d ticks", entities, s.Point(), fell, stage)
			}
			lost = sum
		}
	}
}

// TestGolden pins the state that a game reaches, on every platform.
func TestGolden(t *testing.T) {
	s, script := newTestSim(t, Config{Seed: 11, Entities: 300}), NewScript(11)
	for range 500 {
		step(t, s, script.Orders(s))
	}
	const want = "99fa452029bd0ed9"
	if got := s.SyncHash().String(); got != want {
		t.Errorf("sync hash at point %d is %s, expected %s", s.Point(), got, want)
	}
}

func TestStepRefusesOtherTicks(t *testing.T) {
	s := newTestSim(t, Config{Entities: 100})
	before := s.StateHash()
	if err := s.Step([]orderlog.Order{{Tick: 1}}); err == nil {
		t.Error("an order of tick 1 was taken in tick 0")
	}
	if s.StateHash() != before || s.Point() != 0 {
		t.Error("a refused step changed the state")
	}
}

// TestBadOrders checks that what cannot be applied changes nothing.
func TestBadOrders(t *testing.T) {
	a, b := newTestSim(t, Config{Seed: 5, Entities: 200}), newTestSim(t, Config{Seed: 5, Entities: 200})
	unit := int64(a.tables[infantry].id[0]) // of player 0
	bad := []orderlog.Order{
		{Kind: 99, Payload: appendPayload(nil, 1)},
		{Kind: OrderMove},
		{Kind: OrderMove, Payload: []byte{0xdd, 0xff, 0xff, 0xff, 0xff}},
		{Kind: OrderMove, Payload: appendPayload(nil, unit, 1)},
		{Kind: OrderMove, Payload: append(appendPayload(nil, unit, 1, 1), 0)},
		{Kind: OrderMove, Player: 1, Payload: appendPayload(nil, unit, 1, 1)},
		{Kind: OrderMove, Player: 200, Payload: appendPayload(nil, unit, 1, 1)},
		{Kind: OrderMove, Payload: appendPayload(nil, 0, 1, 1)},
		{Kind: OrderMove, Payload: appendPayload(nil, -1, 1, 1)},
		{Kind: OrderAttack, Payload: appendPayload(nil, unit, 31)},
		{Kind: OrderTrain, Payload: appendPayload(nil, unit, int64(tank))},
		{Kind: OrderTrain, Payload: appendPayload(nil, int64(a.tables[barracks].id[0]), int64(tank))},
		{Kind: OrderRegroup, Payload: appendPayload(nil, 5000, 0, 0)},
		{Kind: OrderRegroup, Payload: appendPayload(nil, -1, 0, 0)},
		{Kind: OrderChat, Payload: []byte("not MessagePack")},
	}
	step(t, a, bad)
	step(t, b, nil)
	if !Equal(a, b) {
		t.Errorf("bad orders changed %v", Differences(a, b))
	}
}

func TestLoadRefuses(t *testing.T) {
	s := newTestSim(t, Config{Seed: 5, Entities: 200})
	for name, spoil := range map[string]func(w *snapshot.World){
		"no RNG":            func(w *snapshot.World) { w.RNG = nil },
		"after orders":      func(w *snapshot.World) { w.Point.Phase = snapshot.AfterOrders },
		"missing archetype": func(w *snapshot.World) { w.Tables = w.Tables[1:] },
		"missing column": func(w *snapshot.World) {
			w.Tables[0].Columns = w.Tables[0].Columns[1:]
		},
		"owner": func(w *snapshot.World) {
			w.Table(snapshot.Archetype, "Infantry").Column("Owner", "player").Data[0] = 7
		},
		"position": func(w *snapshot.World) {
			w.Table(snapshot.Archetype, "Tank").Column("Position", "x").Data[7] = 0x80
		},
		"squad": func(w *snapshot.World) {
			w.Table(snapshot.Archetype, "Tank").Column("Member", "squad").Data[1] = 9
		},
		"players": func(w *snapshot.World) {
			w.Table(snapshot.Archetype, "Match").Column("Rules", "players").Data[0] = 9
		},
		"id":     func(w *snapshot.World) { w.Table(snapshot.Archetype, "Tank").Keys.A[0]-- },
		"serial": func(w *snapshot.World) { w.Table(snapshot.Archetype, "Match").Column("Serial", "next").Data[0] = 0 },
		"grid": func(w *snapshot.World) {
			w.Table(snapshot.Cache, "SpatialGrid").Keys.B[0] = 1 << 40
		},
	} {
		w := s.World()
		spoil(w)
		if _, err := Load(w); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

func TestParams(t *testing.T) {
	want := Config{Seed: 1<<64 - 1, Entities: 777, Players: 3, Names: 12}
	got, err := ParseParams(want.Params())
	if err != nil || got != want {
		t.Errorf("got %v, %v, expected %v", got, err, want)
	}
	for _, bad := range []map[string]string{
		{"sim": "chess"}, {"seed": "x"}, {"names": "x"}, {"entities": "7"}, {"players": "1"}, {"players": "9"}, {"entities": "many"},
	} {
		if c, err := ParseParams(bad); err == nil {
			t.Errorf("%v: accepted as %v", bad, c)
		}
	}
	if c, err := ParseParams(nil); err != nil || c != (Config{Entities: DefaultEntities, Players: DefaultPlayers}) {
		t.Errorf("no parameters: got %v, %v", c, err)
	}
}

// TestAllocations bounds what a tick allocates: the goroutines' and the
// orders' small change.
func TestAllocations(t *testing.T) {
	s, script := newTestSim(t, Config{Seed: 1, Entities: 1000}), NewScript(1)
	for range 400 {
		step(t, s, script.Orders(s))
	}
	if n := testing.AllocsPerRun(200, func() { step(t, s, nil) }); n > 8 {
		t.Errorf("%v allocations a tick", n)
	}
}

package refsim

import (
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// TestFaultsBite makes every mistake in every place next to a healthy game: it must show soon after its tick, whatever
// the seed.
func TestFaultsBite(t *testing.T) {
	seeds := effort.Of[uint64](2, 20)
	bites := map[string][]bite{}
	for seed := range seeds {
		for name, b := range playFaults(t, seed, mix(seed)%2700) {
			bites[name] = append(bites[name], b)
		}
	}
	for _, kind := range faultKinds {
		for _, place := range kind.Places {
			name := kind.Name + "/" + place
			bitten, latest := 0, uint64(0)
			for _, b := range bites[name] {
				if b.ok {
					bitten++
					latest = max(latest, b.after)
				}
				if kind.Name == "reconverge" && b.ok && (b.healed < 10 || b.healed > 100) {
					t.Errorf("%s: heals after %d ticks", name, b.healed)
				}
			}
			t.Logf("%s: shows with %d of %d seeds, after at most %d ticks", name, bitten, seeds, latest)
			if uint64(bitten)*10 < seeds*9 {
				t.Errorf("%s: shows with %d of %d seeds only", name, bitten, seeds)
			}
		}
	}
}

// bite is where a mistake shows.
type bite struct {
	ok     bool
	after  uint64 // ticks from the mistake's first to the point that differs
	healed uint64 // ticks until the states are the same again, 0 if they never are
}

// playFaults plays a healthy game up to tick from, and from there on once for
// each mistake in each place.
func playFaults(t *testing.T, seed, from uint64) map[string]bite {
	config := Config{Seed: seed, Entities: 200}
	base, script := newTestSim(t, config), NewScript(seed)
	for base.Point() < from {
		step(t, base, script.Orders(base))
	}
	w := base.World()
	bites := map[string]bite{}
	for _, kind := range faultKinds {
		for _, place := range kind.Places {
			f := Fault{Name: kind.Name, Place: place, From: from}
			healthy, faulty := newTestSim(t, config), newTestSim(t, config, f)
			if kind.Name != "initial-state" {
				healthy, faulty = load(t, w), load(t, w, f)
			}
			b := findBite(t, healthy, faulty, script, 300, kind.Name == "reconverge", kind.Name == "checksum-only")
			bites[kind.Name+"/"+place] = b
		}
	}
	return bites
}

func load(t *testing.T, w *snapshot.World, mistakes ...Fault) *Sim {
	t.Helper()
	s, err := Load(w, mistakes...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// findBite plays two peers until they differ; if that heals, on until they are
// the same again, and some more to see that they stay so. With sums their sync hashes
// also count.
func findBite(t *testing.T, a, b *Sim, script *Script, within uint64, heals, sums bool) (found bite) {
	play := func() {
		orders := script.Orders(a)
		giveOrders(orders, a, b)
		step(t, a, a.Receive(orders))
		step(t, b, b.Receive(orders))
	}
	// A checksum that is wrong shows nowhere else.
	agree := func() bool { return Equal(a, b) && (!sums || a.SyncHash() == b.SyncHash()) }
	start := a.Point()
	for agree() {
		if a.Point() == start+within {
			return found
		}
		play()
	}
	found.ok, found.after = true, a.Point()-start
	if sums && !Equal(a, b) {
		t.Errorf("seed %d: the states differ at point %d, not only the checksums", a.config.Seed, a.Point())
	}
	if !heals {
		return found
	}
	bitten := a.Point()
	for !Equal(a, b) {
		if a.Point() == bitten+120 {
			return found
		}
		play()
	}
	found.healed = a.Point() - bitten
	for range 150 {
		if play(); !Equal(a, b) {
			t.Fatalf("seed %d: differ again at point %d", a.config.Seed, a.Point())
		}
	}
	return found
}

// giveOrders has peers test and predict all orders, as if each had all players.
func giveOrders(orders []orderlog.Order, peers ...*Sim) {
	for i := range orders {
		for _, s := range peers {
			s.Test(&orders[i])
		}
	}
	for _, s := range peers {
		for p := range s.config.Players {
			s.Predict(uint32(p), orders)
		}
	}
}

// TestFaultsWait checks that nothing happens before a mistake's tick.
func TestFaultsWait(t *testing.T) {
	const from = 120
	for _, kind := range faultKinds {
		if kind.Name == "initial-state" {
			continue
		}
		var mistakes []Fault
		for _, place := range kind.Places {
			mistakes = append(mistakes, Fault{Name: kind.Name, Place: place, From: from})
		}
		c := Config{Seed: 8, Entities: 150}
		healthy, faulty, script := newTestSim(t, c), newTestSim(t, c, mistakes...), NewScript(8)
		for range from {
			orders := script.Orders(healthy)
			giveOrders(orders, healthy, faulty)
			step(t, healthy, healthy.Receive(orders))
			step(t, faulty, faulty.Receive(orders))
		}
		if !Equal(healthy, faulty) {
			t.Errorf("%s: shows before tick %d", kind.Name, from)
		}
	}
}

func TestParseFault(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Fault
		peer string
		err  string
	}{
		{in: "map-order", want: Fault{Name: "map-order"}},
		{in: "map-order/Combat@1234", want: Fault{Name: "map-order", Place: "Combat", From: 1234}},
		{in: "map-order/Combat@1234:client2", want: Fault{Name: "map-order", Place: "Combat", From: 1234}, peer: "client2"},
		{in: "bit-flip:host", want: Fault{Name: "bit-flip"}, peer: "host"},
		{in: "initial-state/OreField:a:b", want: Fault{Name: "initial-state", Place: "OreField"}, peer: "a:b"},
		{in: "map-ordre", err: `unknown fault "map-ordre"; did you mean map-order?`},
		{in: "gremlins", err: "available are rng-leak, map-order"},
		{in: "map-order/Fog", err: "only in Combat, Economy, Production"},
		{in: "map-order@soon", err: `tick is "soon"`},
		{in: "map-order@-1", err: `tick is "-1"`},
		{in: "map-order:", err: "no peer"},
		{in: "", err: "unknown fault"},
	} {
		f, peer, err := ParseFault(test.in)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: error %v, expected one with %q", test.in, err, test.err)
			}
			continue
		}
		if err != nil || f != test.want || peer != test.peer {
			t.Errorf("%q: got %v, %q, %v", test.in, f, peer, err)
		}
		if again, _, err := ParseFault(f.String()); err != nil || again != f {
			t.Errorf("%q: String is %q", test.in, f)
		}
	}
}

// TestResolve checks that every place is chosen for some seed.
func TestResolve(t *testing.T) {
	for _, k := range Faults() {
		var places []string
		for seed := range uint64(100) {
			f, err := Fault{Name: k.Name}.Resolve(seed)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(places, f.Place) {
				places = append(places, f.Place)
			}
		}
		if len(places) != len(k.Places) || len(places) < 3 {
			t.Errorf("%s: places %v of %v were chosen", k.Name, places, k.Places)
		}
	}
}

// TestFaultTable checks that every place is a system, or an archetype.
func TestFaultTable(t *testing.T) {
	for _, k := range Faults() {
		for _, place := range k.Places {
			names := Systems()
			if k.Name == "initial-state" {
				names = Archetypes()
			}
			if !slices.Contains(names, place) {
				t.Errorf("%s: unknown place %s", k.Name, place)
			}
		}
		if k.Doc == "" {
			t.Errorf("%s: not described", k.Name)
		}
	}
}

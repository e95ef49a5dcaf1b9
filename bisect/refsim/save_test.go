package refsim

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// fullRestore is compared with Restore: a new sim that is loaded from a World without caches.
func fullRestore(t *testing.T, s *Sim) *Sim {
	t.Helper()
	w := s.World()
	w.Tables = slices.DeleteFunc(w.Tables, func(t snapshot.Table) bool { return t.Class == snapshot.Cache })
	return load(t, w, s.mistakes...)
}

// memory is where two sims may differ: memory that is only there to be used again, and functions.
var memory = map[string]bool{
	"Sim.base": true, "pool.run": true, "pool.task": true, "pool.done": true, "pool.n": true, "scratch.hashed": true,
	"tableDigests.hasher": true, "refs.present": true, "texts.data": true, "texts.ends": true,
	"Column.Data": true, "Column.Ends": true, "Column.Present": true, "Sim.mistakes": true,
}

// unlike returns the paths at which two values are not the same, whatever they are made
// of. Slices are the same if their elements are.
func unlike(path string, a, b reflect.Value, seen map[[2]uintptr]bool) (list []string) {
	differs := func() []string { return []string{fmt.Sprintf("%s: %v, %v", path, a, b)} }
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return differs()
			}
			return nil
		}
		pair := [2]uintptr{a.Pointer(), b.Pointer()}
		if seen[pair] {
			return nil
		}
		seen[pair] = true
		return unlike(path, a.Elem(), b.Elem(), seen)
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return nil
		}
		return unlike(path, a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Name() + "." + a.Type().Field(i).Name
			if base, _, ok := strings.Cut(name, "["); ok { // of a generic type
				name = base + "." + a.Type().Field(i).Name
			}
			field := path + "." + a.Type().Field(i).Name
			// Of the cells no digest is kept: nobody reads whether it is out of date.
			if memory[name] || strings.HasSuffix(field, "Cell.dirty") {
				continue
			}
			list = append(list, unlike(field, a.Field(i), b.Field(i), seen)...)
		}
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return []string{fmt.Sprintf("%s: %d and %d elements", path, a.Len(), b.Len())}
		}
		for i := range a.Len() {
			list = append(list, unlike(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i), seen)...)
		}
	case reflect.Map:
		if a.Len() != b.Len() {
			return differs()
		}
		for _, k := range a.MapKeys() {
			if !b.MapIndex(k).IsValid() {
				return differs()
			}
			list = append(list, unlike(fmt.Sprintf("%s[%v]", path, k), a.MapIndex(k), b.MapIndex(k), seen)...)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
	case reflect.Float32, reflect.Float64:
		if math.Float64bits(a.Float()) != math.Float64bits(b.Float()) {
			return differs()
		}
	default:
		if !a.Equal(b) {
			return differs()
		}
	}
	return list
}

// sameAll fails the test if two sims are not the same in anything but memory, once both
// are hashed.
func sameAll(t *testing.T, what string, got, want *Sim) {
	t.Helper()
	if a, b := got.StateHash(), want.StateHash(); a != b {
		t.Errorf("%s: hash %s, want %s", what, a, b)
	}
	list := unlike("sim", reflect.ValueOf(got), reflect.ValueOf(want), map[[2]uintptr]bool{})
	if len(list) > 0 {
		t.Fatalf("%s: %d values are not those of a full restore, the first: %s", what, len(list), list[:min(5, len(list))])
	}
}

// TestRestore restores random states into sims that were at random other ones and made
// whatever mistake there is: nothing of these must be left, nor must anything be wrong
// that follows from the state, caches and digests included.
func TestRestore(t *testing.T) {
	rounds := effort.Of(3, 12)
	var lists [][]Fault
	lists = append(lists, nil)
	for _, kind := range faultKinds {
		for _, place := range kind.Places[:effort.Of(1, len(kind.Places))] {
			lists = append(lists, []Fault{{Name: kind.Name, Place: place, From: 12}})
		}
	}
	for n, mistakes := range lists {
		if n%effort.Of(2, 1) != 0 {
			continue
		}
		t.Run(fmt.Sprint(mistakes), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(n), 8))
			config := Config{Seed: uint64(n), Entities: 100 + random.IntN(300), Players: 2 + random.IntN(7), Names: uint64(n % 3)}
			a, b := newTestSim(t, config, mistakes...), newTestSim(t, config, mistakes...)
			script := NewScript(config.Seed)
			play := func(s *Sim, ticks int) {
				for range ticks {
					orders := script.Orders(s)
					giveOrders(orders, s)
					step(t, s, s.Receive(orders))
					if random.IntN(2) == 0 {
						s.SyncHash()
					}
				}
			}
			var saves [][]byte
			var wants []*Sim
			for i := range rounds {
				play(a, random.IntN(12))
				save, err := a.Save()
				if err != nil {
					t.Fatal(err)
				}
				saves, wants = append(saves, save), append(wants, fullRestore(t, a))
				play(b, random.IntN(12)) // from what was restored before
				if random.IntN(3) == 0 { // in the middle of a step
					if err := b.Begin(nil); err != nil {
						t.Fatal(err)
					}
					for range random.IntN(int(numSystems)) {
						b.Next()
					}
				}
				k := i
				if random.IntN(2) == 0 {
					k = random.IntN(len(saves)) // back
				}
				if err := b.Restore(saves[k]); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("round %d, point %d", i, b.Point())
				sameAll(t, what, b, wants[k])
				if label := staleCacheOf(b.Caches(), naiveCaches(b)); label != "" {
					t.Fatalf("%s: cache %s does not follow from the state", what, label)
				}
				again, err := b.Save()
				if err != nil || !slices.Equal(again, saves[k]) && len(b.faulty(saveOmitsField, &unsaved)) == 0 {
					t.Fatalf("%s: saved again it is another save, %v", what, err)
				}
			}
			if a.Restore(saves[0]) == nil && random.IntN(2) == 0 {
				sameAll(t, "the first one", a, wants[0])
			}
		})
	}
}

// naiveCaches computes the caches entity by entity, by their definitions.
func naiveCaches(s *Sim) []snapshot.Table {
	grid, f, path := spatialGrid{}, fog{}, make([]uint16, s.cells)
	grid.init(s.cells)
	f.init(s.config.Players, s.cells)
	for cell, cost := range s.terrain {
		path[cell] = uint16(cost)
	}
	other := &Sim{config: s.config, names: s.names, width: s.width, cells: s.cells}
	for a, t := range s.tables {
		copied := *t
		copied.sightCell.v = make([]uint32, t.rows())
		other.tables[a] = &copied
		if !t.solid() {
			continue
		}
		for i, id := range t.id {
			x, y := int(t.position.X.v[i]/cellSize), int(t.position.Y.v[i]/cellSize)
			cell, p := y*s.width+x, t.owner.Player.v[i]
			grid.add(uint32(cell), id, p)
			copied.sightCell.v[i] = uint32(cell)
			for other := range s.cells {
				if abs(int32(other%s.width-x)) <= t.sight && abs(int32(other/s.width-y)) <= t.sight {
					f.viewers[p][other]++
				}
			}
			switch {
			case kinds[a].structure():
				path[cell] += structureCost
			case t.corpse.Expires.v[i] > 0:
				path[cell] += wreckCost
			}
		}
	}
	other.grid, other.fog, other.path.cost = grid, f, path
	return other.Caches()
}

// TestStaleCaches: a cache that differs in one value is reported, by its name, and no other.
func TestStaleCaches(t *testing.T) {
	for _, names := range []uint64{0, 5} {
		s := newTestSim(t, Config{Seed: 3, Entities: 200, Names: names})
		script := NewScript(3)
		for range 40 {
			step(t, s, script.Orders(s))
		}
		var d derived
		for want, spoil := range map[int]func() (mend func()){
			cacheFog:  func() func() { s.fog.viewers[1][17]++; return func() { s.fog.viewers[1][17]-- } },
			cachePath: func() func() { s.path.cost[20]++; return func() { s.path.cost[20]-- } },
			cacheView: func() func() {
				v := &s.tables[tank].sightCell.v[1]
				old := *v
				*v++
				return func() { *v = old }
			},
			cacheGrid: func() func() {
				cell := slices.IndexFunc(s.grid.entries, func(list []gridEntry) bool { return len(list) > 0 })
				list := s.grid.entries[cell]
				s.grid.entries[cell] = list[1:]
				return func() { s.grid.entries[cell] = list }
			},
		} {
			if stale, err := s.staleCaches(&d); err != nil || stale != nil {
				t.Errorf("%v, %v", stale, err)
			}
			mend := spoil()
			label := s.names.caches[cacheKinds[want].label]
			stale, err := s.staleCaches(&d)
			if err != nil || !slices.Equal(stale, []string{label}) {
				t.Errorf("%v, %v, want %s", stale, err, label)
			}
			fresh, err := s.FreshCaches()
			if err != nil || staleCacheOf(s.Caches(), fresh) != label {
				t.Errorf("compared as tables: %v, want %s", err, label)
			}
			mend()
		}
	}
}

// TestRestoreLosesWhatASaveOmits: of the field that a save lacks nothing is left, though
// the sim that restores has it.
func TestRestoreLosesWhatASaveOmits(t *testing.T) {
	for place, column := range map[string]string{"Movement": "Fatigue.level", "Combat": "Weapon.ready", "Production": "Production.ready"} {
		s := newTestSim(t, Config{Seed: 6, Entities: 300}, Fault{Name: "save-omits-field", Place: place, From: 50})
		other := newTestSim(t, s.config, s.mistakes...)
		script := NewScript(6)
		for range 80 {
			orders := script.Orders(s)
			step(t, s, orders)
			step(t, other, orders)
			save, err := s.Save()
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Restore(save); err != nil {
				t.Fatal(err)
			}
			saved, left := nonzero(s, column), nonzero(other, column)
			if s.Point() < 50 {
				if left != saved || !Equal(s, other) {
					t.Fatalf("%s, point %d: %v", place, s.Point(), Differences(s, other))
				}
				continue
			}
			if saved == 0 || left > 0 {
				t.Fatalf("%s, point %d: %s has %d bytes that are not zero, before it had %d", place, s.Point(), column, left, saved)
			}
		}
	}
}

// nonzero returns how many bytes of a column's values are not zero.
func nonzero(s *Sim, column string) (n int) {
	for _, t := range s.tables {
		for i := range t.fields {
			if f := &t.fields[i]; f.own == column {
				f.view(&f.Column)
				n += len(f.Data) - bytes.Count(f.Data, []byte{0})
			}
		}
	}
	return n
}

// TestRestoreRefuses: bytes that are not a save of the game are refused, and nothing worse happens.
func TestRestoreRefuses(t *testing.T) {
	s := newTestSim(t, Config{Seed: 6, Entities: 100, Players: 2})
	save, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	for n := range save {
		if err := s.Restore(save[:n]); err == nil {
			t.Fatalf("%d bytes of %d are taken for a save", n, len(save))
		}
	}
	if err := s.Restore(append(slices.Clone(save), 0)); err == nil {
		t.Error("a byte too many is taken")
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		bad := slices.Clone(save)
		bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
		if err := s.Restore(bad); err == nil {
			step(t, s, nil)
			s.SyncHash()
		}
	}
	if err := s.Restore(save); err != nil {
		t.Fatal(err)
	}
	sameAll(t, "after bad saves", s, fullRestore(t, newTestSim(t, s.config)))
	other := newTestSim(t, Config{Seed: 7, Entities: 100, Players: 2})
	if err := other.Restore(save); err == nil || !strings.Contains(err.Error(), "the save belongs to the game") {
		t.Errorf("%v", err)
	}
	if err := s.Begin(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(); err == nil || !strings.Contains(err.Error(), "is not finished") {
		t.Errorf("saved in the middle of a step: %v", err)
	}
}

// TestRollback: going back departs where it does in a sim that takes a hash of each tick
// on the way, and counts as many ticks.
func TestRollback(t *testing.T) {
	s := newTestSim(t, Config{Seed: 9, Entities: 150})
	log := recorded(t, s, 60)
	for _, name := range []string{"", "save-omits-field", "stale-cache", "uninitialized/Combat", "checksum-only/Movement"} {
		var mistakes []Fault
		if name != "" {
			f, _, err := ParseFault(name + "@20")
			if err != nil {
				t.Fatal(err)
			}
			mistakes = []Fault{f}
		}
		one := *Simulator(mistakes...)
		one.Start = func(h *orderlog.Header) (bisect.Simulator, error) {
			s, err := Simulator(mistakes...).Start(h)
			return &batched{s.(*replayed)}, err
		}
		for _, depth := range []int{1, 2, 5} {
			opts := bisect.TrialOptions{Mode: bisect.Rollback, Depth: depth}
			want, err := bisect.Try(log, &one, opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := bisect.Try(log, Simulator(mistakes...), opts)
			if err != nil {
				t.Fatal(err)
			}
			// Between two points no hash is taken, so that none takes over a digest that
			// is out of date: a wrong checksum departs earlier, if anything.
			if name == "checksum-only/Movement" && depth > 1 && got.First != nil && got.First.Point < want.First.Point && got.Means == want.Means {
				continue
			}
			if !reflect.DeepEqual(got, want) || got.Departed() != (name != "") {
				t.Errorf("%q, depth %d: %+v, want %+v", name, depth, got, want)
			}
		}
	}
}

// batched is a sim that plays many ticks at once, as those outside of this process do.
type batched struct{ *replayed }

func (b *batched) Run(dst []merkle.Short, ticks [][]orderlog.Order) ([]merkle.Short, error) {
	for _, orders := range ticks {
		if err := b.Step(orders); err != nil {
			return dst, err
		}
		dst = append(dst, b.SyncHash())
	}
	return dst, nil
}

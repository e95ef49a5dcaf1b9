package hunt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
)

func hunter(t testing.TB, target Target) *Hunter {
	t.Helper()
	h, err := New(target)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// hunts plays sessions without a store.
func hunts(t testing.TB, h *Hunter, opts Options) *Result {
	t.Helper()
	r, err := h.Run(context.Background(), h.Begin(1), nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// network are the faults of the reference sim that are of what its network does. A simulator
// plays the orders that it is given, so that it has none of them.
var network = []string{"order-dropped", "order-altered", "order-late", "order-duplicated", "order-reordered"}

// within is how many sessions each fault of the reference sim may take, beginning with seed 1; and the
// mode that shows it. Those that two healthy copies of one build do alike need a second simulator.
var within = []struct {
	fault    string
	mode     bisect.TrialMode
	sessions uint64
}{
	{"map-order", bisect.Dual, 4}, {"wall-clock", bisect.Dual, 4}, {"unsorted-merge", bisect.Dual, 24},
	{"stale-cache", bisect.CheckCaches, 4}, {"impure-validation", bisect.CheckPurity, 6}, {"prediction-leak", bisect.Predict, 6},
	{"save-omits-field", bisect.Serialize, 4}, {"uninitialized", bisect.Serialize, 6},
	{"checksum-only", Checksum, 4}, {"blind-checksum", Checksum, 4},
	{"rng-leak", bisect.Against, 4}, {"float-fma", bisect.Against, 4}, {"initial-state", bisect.Against, 2}, {"bit-flip", bisect.Against, 4},
	{"reconverge", bisect.Against, 4}, {"data-mismatch", bisect.Against, 6}, {"unstable-sort", bisect.Against, 6}, {"float-reassoc", bisect.Against, 6},
	{"locale-sort", bisect.Against, 6},
}

// TestFaults: every fault of the reference sim except network faults is found by a session of the first seeds, in the
// fault's mode, and its session becomes smaller.
func TestFaults(t *testing.T) {
	var all []string
	for _, k := range refsim.Faults() {
		all = append(all, k.Name)
	}
	for _, w := range within {
		all = slices.DeleteFunc(all, func(name string) bool { return name == w.fault })
	}
	slices.Sort(all)
	if want := slices.Sorted(slices.Values(network)); !slices.Equal(all, want) {
		t.Errorf("faults without a bound: %q, expected those of the network: %q", all, want)
	}
	for i, w := range within {
		if i%6 != 3 && effort.Of(0, 1) == 0 {
			continue
		}
		target := Target{Sim: refsim.Simulator(refsim.Fault{Name: w.fault}), Modes: []bisect.TrialMode{w.mode}}
		if w.mode == bisect.Against {
			target.Against = refsim.Simulator()
		}
		h := hunter(t, target)
		found := false
		for seed := uint64(1); seed <= w.sessions && !found; seed++ {
			state := h.Begin(seed)
			r, err := h.Run(context.Background(), state, nil, Options{Sessions: 1, MaxReplays: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				found = true
				if f.Mode != w.mode || f.Seed != seed || f.Smaller.Ticks > f.Smaller.GivenTicks || f.Smaller.Orders > f.Smaller.GivenOrders {
					t.Errorf("%s: found as %+v", w.fault, f)
				}
				m := f.Smaller
				t.Logf("| `%s` | `%s` | %d of %d | %s | %d of %d | %d of %d |", w.fault, f.Mode, seed, w.sessions, f.Signature, m.Orders, m.GivenOrders, m.Ticks, m.GivenTicks)
			}
		}
		if !found {
			t.Errorf("%s: not found in %d sessions", w.fault, w.sessions)
		}
	}
}

// TestNoFalseAlarm: a healthy simulator has no failure, also against another one.
func TestNoFalseAlarm(t *testing.T) {
	h := hunter(t, Target{Sim: refsim.Simulator(), Against: refsim.Simulator()})
	if len(h.Modes) != len(Modes()) {
		t.Fatalf("it plays %q", h.Modes)
	}
	r := hunts(t, h, Options{Sessions: effort.Of[uint64](3, 60)})
	for _, f := range r.Findings {
		t.Errorf("%s: seed %d", f.Name(), f.Seed)
	}
	never := r.Coverage.Never()
	if len(never.Given)+len(never.Possible)+len(never.Archetypes) > 0 {
		t.Errorf("never: %+v", never)
	}
	if len(h.Systems) != len(refsim.Systems()) {
		t.Errorf("systems are %q", h.Systems)
	}
}

// faulty is a target that fails in several modes, the same way each time.
func faulty() Target {
	return Target{Sim: refsim.Simulator(refsim.Fault{Name: "save-omits-field", From: 9}, refsim.Fault{Name: "stale-cache", From: 20}), MaxTicks: effort.Of[uint64](40, 64)}
}

// TestSameWhateverJobs: findings, coverage and what is kept do not depend on how many sessions are played at once.
func TestSameWhateverJobs(t *testing.T) {
	var states, kept []string
	for _, jobs := range []int{1, 3} {
		dir := t.TempDir()
		h := hunter(t, faulty())
		store, err := OpenStore(dir, h, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.Run(context.Background(), store.State, store, Options{Sessions: effort.Of[uint64](4, 6), Jobs: jobs})
		if err != nil || store.Close() != nil {
			t.Fatal(err)
		}
		if len(r.Findings) < 2 {
			t.Errorf("%d findings", len(r.Findings))
		}
		states, kept = append(states, read(t, dir, stateName)), append(kept, tree(t, dir))
	}
	if states[0] != states[1] || kept[0] != kept[1] {
		t.Errorf("with 3 at once\n%s\n%s\nwith 1\n%s\n%s", states[1], kept[1], states[0], kept[0])
	}
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tree returns the names and digests of all files below a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum := sha256.Sum256([]byte(read(t, path)))
		name, err := filepath.Rel(dir, path)
		out.WriteString(filepath.ToSlash(name) + " " + hex.EncodeToString(sum[:4]) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestGoesOn: a hunt that was stopped, and one that was interrupted, go on to the same end.
func TestGoesOn(t *testing.T) {
	effort.Whole(t)
	hunt := func(dir string, sessions uint64, after int64) *Result {
		h := hunter(t, faulty())
		store, err := OpenStore(dir, h, 1)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		opts := Options{Sessions: sessions}
		if after > 0 {
			opts.Progress = func(done, _ int64) {
				if done == after {
					cancel()
				}
			}
		}
		r, err := h.Run(ctx, store.State, store, opts)
		if err != nil || store.Close() != nil {
			t.Fatal(err)
		}
		return r
	}
	straight := t.TempDir()
	hunt(straight, 5, 0)
	want := tree(t, straight)
	stopped := t.TempDir()
	for _, n := range []uint64{1, 3, 3, 5} {
		hunt(stopped, n, 0)
	}
	if got := tree(t, stopped); got != want {
		t.Errorf("having stopped\n%s\nstraight\n%s", got, want)
	}
	interrupted := t.TempDir()
	if r := hunt(interrupted, 5, 2); !r.Interrupted || r.Done < 2 || r.Done > 3 {
		t.Errorf("interrupted after %d sessions: %v", r.Done, r.Interrupted)
	}
	if hunt(interrupted, 5, 0); tree(t, interrupted) != want {
		t.Errorf("having been interrupted\n%s\nstraight\n%s", tree(t, interrupted), want)
	}
}

// TestStoreOfAnother: a store belongs to one hunt, and to one process.
func TestStoreOfAnother(t *testing.T) {
	dir := t.TempDir()
	h := hunter(t, faulty())
	store, err := OpenStore(dir, h, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Run(context.Background(), store.State, store, Options{Sessions: 4}); err != nil || store.Close() != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(dir, h, 2); !errors.Is(err, ErrOtherHunt) {
		t.Errorf("other seeds: %v", err)
	}
	other := faulty()
	other.MaxTicks = 65
	if _, err := OpenStore(dir, hunter(t, other), 1); !errors.Is(err, ErrOtherHunt) {
		t.Errorf("longer sessions: %v", err)
	}
	found := regexp.MustCompile(`"fingerprint": "[0-9a-f]{16}"`)
	if !found.MatchString(read(t, dir, stateName)) {
		t.Error("nothing was found")
	}
	elsewhere := found.ReplaceAllString(read(t, dir, stateName), `"fingerprint": "../../elsewhere"`)
	for _, damaged := range []string{"", "{", elsewhere, strings.Replace(read(t, dir, stateName), `"findings": [`, `"findings": [null, `, 1), `{"schema": "desynctool.hunt-state/9"}`, strings.Replace(read(t, dir, stateName), `"done"`, `"ended"`, 1)} {
		if err := os.WriteFile(filepath.Join(dir, stateName), []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(dir, h, 1); err == nil || !strings.Contains(err.Error(), stateName) {
			t.Errorf("state %.20q: %v", damaged, err)
		}
	}
}

// log returns a session of the reference sim as a recorded log.
func log(t testing.TB, seed uint64, ticks int) *orderlog.Log {
	t.Helper()
	sim, err := refsim.New(refsim.Config{Seed: seed, Entities: 100, Players: 2})
	if err != nil {
		t.Fatal(err)
	}
	script := refsim.NewScript(seed)
	l := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: seed, Kinds: refsim.OrderKinds(), Params: sim.Config().Params()}}
	for range ticks {
		tick := orderlog.Tick{Number: sim.Point(), Orders: script.Orders(sim)}
		if err := sim.Step(tick.Orders); err != nil {
			t.Fatal(err)
		}
		l.Ticks = append(l.Ticks, tick)
	}
	l.Epochs = []orderlog.Epoch{{Ticks: l.Ticks}}
	return l
}

// TestSessionsStay: the session of a seed is a promise within a Version: these are the digests of whole logs.
func TestSessionsStay(t *testing.T) {
	told := hunter(t, Target{Sim: refsim.Simulator(), Modes: []bisect.TrialMode{bisect.Dual}})
	silent := refsim.Simulator()
	start := silent.Start
	silent.Start = func(h *orderlog.Header) (bisect.Simulator, error) {
		s, err := start(h)
		return struct{ bisect.Simulator }{s}, err
	}
	changed := hunter(t, Target{Sim: silent, Logs: []*orderlog.Log{log(t, 1, 80), log(t, 2, 60)}})
	for _, c := range []struct {
		h    *Hunter
		want string
	}{{told, "13d7be28a82fc88e"}, {changed, "ddf695bf75eb85b0"}} {
		sum := sha256.New()
		for seed := range uint64(4) {
			s, err := c.h.Session(context.Background(), seed)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := writeLog(&b, s.Log); err != nil {
				t.Fatal(err)
			}
			sum.Write(b.Bytes())
		}
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != c.want {
			t.Errorf("sessions have digest %s, expected %s", got, c.want)
		}
	}
}

// TestChangedOrdersAreALog: whatever is done to recorded orders, they are an order log that is read back as it is, with
// orders in their order, of kinds and players that there are.
func TestChangedOrdersAreALog(t *testing.T) {
	a, b := log(t, 3, 90), log(t, 4, 50)
	slices.Reverse(b.Header.Kinds) // of another build
	for i := range b.Ticks {
		for k := range b.Ticks[i].Orders {
			o := &b.Ticks[i].Orders[k]
			o.Kind = uint32(len(b.Header.Kinds)) - 1 - o.Kind
		}
	}
	var base []recorded
	same := true
	for _, l := range []*orderlog.Log{a, b} {
		r, err := recordedOf(l)
		if err != nil {
			t.Fatal(err)
		}
		base = append(base, r)
	}
	for seed := range effort.Of[uint64](100, 2000) {
		from, orders, ticks := changed(stream(seed, changeStream), base, 70)
		l := &orderlog.Log{Header: from.header}
		for tick := range ticks {
			list := orders[tick]
			if !slices.IsSortedFunc(list, func(a, b orderlog.Order) int { return a.Compare(&b) }) {
				t.Fatalf("seed %d: orders of tick %d stand in no order", seed, tick)
			}
			for _, o := range list {
				if !slices.Contains(from.players, o.Player) && !slices.Contains(base[0].players, o.Player) {
					t.Fatalf("seed %d: order of player %d", seed, o.Player)
				}
			}
			same = same && reflect.DeepEqual(list, from.orders[tick])
			l.Ticks = append(l.Ticks, orderlog.Tick{Number: tick, Orders: list})
		}
		for tick := range orders {
			if tick >= ticks {
				t.Fatalf("seed %d: orders of tick %d, after the end", seed, tick)
			}
		}
		var file bytes.Buffer
		if err := writeLog(&file, l); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		back, err := orderlog.ReadAll(&file, "changed")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range back.Ticks {
			if len(back.Ticks[i].Orders) != len(l.Ticks[i].Orders) {
				t.Fatalf("seed %d: tick %d is read back with %d orders", seed, i, len(back.Ticks[i].Orders))
			}
		}
	}
	if same {
		t.Error("nothing was changed")
	}
}

// TestCannot: modes that a simulator does not allow are reported.
func TestCannot(t *testing.T) {
	bare := refsim.Simulator()
	start := bare.Start
	bare.Start = func(h *orderlog.Header) (bisect.Simulator, error) {
		s, err := start(h)
		return struct{ bisect.Simulator }{s}, err
	}
	if _, err := New(Target{Sim: bare}); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), `capability "orders"`) {
		t.Errorf("neither orders nor logs: %v", err)
	}
	logs := []*orderlog.Log{log(t, 1, 40)}
	if _, err := New(Target{Sim: bare, Logs: logs, Modes: []bisect.TrialMode{bisect.Serialize}}); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), `capability "save"`) {
		t.Errorf("only a mode that it does not allow: %v", err)
	}
	h := hunter(t, Target{Sim: bare, Logs: logs})
	if !slices.Equal(h.Modes, []bisect.TrialMode{bisect.Dual}) || len(h.Cannot) != len(Modes())-1 {
		t.Errorf("it plays %q, not %v", h.Modes, h.Cannot)
	}
	r := hunts(t, h, Options{Sessions: 3})
	if len(r.Findings) > 0 || r.Coverage.Orders() == 0 {
		t.Errorf("%+v", r.State)
	}
	b, err := json.Marshal(r.Coverage)
	if err != nil || bytes.Contains(b, []byte(`"possible":1`)) {
		t.Errorf("coverage %s, %v", b, err)
	}
}

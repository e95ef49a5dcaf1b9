package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// recording is a session in memory.
type recording struct {
	truth  *Truth
	heads  []orderlog.Header
	ticks  [][]orderlog.Tick
	last   [][]orderlog.Observed
	worlds []map[uint64]*snapshot.World // by peer and point
	points [][]uint64                   // of the worlds, in order
}

func record(t *testing.T, o Options) *recording {
	t.Helper()
	peers := max(len(o.Peers), 2)
	r := &recording{
		heads: make([]orderlog.Header, peers), ticks: make([][]orderlog.Tick, peers), last: make([][]orderlog.Observed, peers),
		worlds: make([]map[uint64]*snapshot.World, peers), points: make([][]uint64, peers),
	}
	for i := range r.worlds {
		r.worlds[i] = map[uint64]*snapshot.World{}
	}
	truth, err := Record(o, Sink{
		Header:   func(p int, h orderlog.Header) error { r.heads[p] = h; return nil },
		Tick:     func(p int, tick orderlog.Tick) error { r.ticks[p] = append(r.ticks[p], tick); return nil },
		Observed: func(p int, hashes []orderlog.Observed) error { r.last[p] = hashes; return nil },
		Snapshot: func(p int, w *snapshot.World) error {
			r.worlds[p][w.Point.Tick] = w
			r.points[p] = append(r.points[p], w.Point.Tick)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.truth = truth
	return r
}

// syncHash returns what a peer logged of a point.
func (r *recording) syncHash(peer int, point uint64) []byte {
	if point < uint64(len(r.ticks[peer])) {
		return r.ticks[peer][point].Hashes[0].Bytes
	}
	return r.last[peer][0].Bytes
}

// firstDifference returns the first point at which two peers' logged sync
// hashes differ.
func (r *recording) firstDifference(a, b int) (point uint64, ok bool) {
	for point := range uint64(len(r.ticks[a]) + 1) {
		if !bytes.Equal(r.syncHash(a, point), r.syncHash(b, point)) {
			return point, true
		}
	}
	return 0, false
}

// TestTruth makes every mistake in every place and checks the truth against
// the logged hashes, which it does not come from, and against what is known of
// each mistake.
func TestTruth(t *testing.T) {
	for i, kind := range refsim.Faults() {
		for n, place := range kind.Places {
			if (n > 0 || i%3 != 0) && !effort.Full() {
				continue
			}
			t.Run(kind.Name+"/"+place, func(t *testing.T) {
				t.Parallel()
				f := Fault{Fault: refsim.Fault{Name: kind.Name, Place: place, From: 101}}
				r := record(t, Options{Config: refsim.Config{Seed: 3, Entities: 250, Players: 3}, Ticks: 500, Faults: []Fault{f}})
				point, ok := r.firstDifference(0, 1)
				if strings.HasSuffix(kind.Name, "checksum") || kind.Name == "checksum-only" {
					checkChecksum(t, r, kind.Name, place, point, ok)
					return
				}
				if r.truth.Checksum != nil {
					t.Errorf("the checksum is wrong: %s", marshal(r.truth))
				}
				if !ok {
					t.Fatalf("does not show: %s", marshal(r.truth))
				}
				checkTruth(t, r, kind.Name, place, point)
			})
		}
	}
}

func checkTruth(t *testing.T, r *recording, name, place string, point uint64) {
	t.Helper()
	truth := r.truth
	text := marshal(truth)
	if truth.Fault != name || truth.Place != place || truth.Peer != "client" || truth.From != 101 {
		t.Errorf("blames another mistake: %s", text)
	}
	if truth.Bracket == nil || truth.Bracket.Bad != point {
		t.Fatalf("hashes differ first at point %d: %s", point, text)
	}
	if r.worlds[0][point] == nil || r.worlds[1][point] == nil {
		t.Errorf("no snapshots at point %d", point)
	}
	system, archetype, component := "", *truth.Archetype, *truth.Component
	if truth.System != nil {
		system = *truth.System
	}
	if (component == "RNG") != (archetype == "") || (len(truth.Entities) == 0) != (archetype == "") {
		t.Errorf("locus is incomplete: %s", text)
	}
	switch name {
	case "initial-state":
		if point != 0 || truth.Bracket.Good != nil || !*truth.InitialState || truth.System != nil || archetype != place {
			t.Errorf("unexpected %s", text)
		}
		return
	case "rng-leak", "bit-flip", "reconverge", "float-fma", "map-order", "unsorted-merge":
		if system != place {
			t.Errorf("unexpected system: %s", text)
		}
	case "order-dropped", "order-altered", "order-late", "order-duplicated", "order-reordered", "save-omits-field":
		if system != "Orders" {
			t.Errorf("unexpected system: %s", text)
		}
	case "stale-cache":
		if readers := map[string]string{"SpatialGrid": "Movement Combat", "PathCost": "Movement", "Fog": "Fog AI"}[place]; !strings.Contains(readers, system) {
			t.Errorf("unexpected system: %s", text)
		}
	}
	if *truth.InitialState || truth.Bracket.Good == nil || *truth.Bracket.Good != point-1 || point <= 101 {
		t.Errorf("unexpected bracket: %s", text)
	}
	if truth.HealedAt == nil && name == "reconverge" {
		t.Errorf("does not heal: %s", text)
	}
	if truth.HealedAt != nil && name == "rng-leak" {
		t.Errorf("unexpected healing: %s", text)
	}
	if name == "rng-leak" && component != "RNG" {
		t.Errorf("unexpected component: %s", text)
	}
	checkEntities(t, r, point)
}

// checkChecksum checks the truth about checksums that do not follow the states.
func checkChecksum(t *testing.T, r *recording, name, place string, point uint64, differs bool) {
	t.Helper()
	truth, text := r.truth, marshal(r.truth)
	if truth.Fault != name || truth.Place != place || truth.Peer != "client" || truth.Checksum == nil || truth.Checksum.Kind != name {
		t.Fatalf("unexpected %s", text)
	}
	if name == "checksum-only" {
		if !differs || truth.Bracket != nil || truth.Checksum.DiffersAt == nil || *truth.Checksum.DiffersAt != point || point <= 101 {
			t.Errorf("hashes differ first at point %d: %s", point, text)
		}
		for point, w := range r.worlds[0] {
			if !slices.EqualFunc(w.Tables, r.worlds[1][point].Tables, func(a, b snapshot.Table) bool { return reflect.DeepEqual(a, b) }) {
				t.Errorf("states differ at point %d", point)
			}
		}
		return
	}
	if differs || truth.Checksum.DiffersAt != nil || truth.Bracket == nil || *truth.System != place || *truth.Bracket.Good < 101 {
		t.Errorf("hashes differ %v at point %d: %s", differs, point, text)
	}
	want := map[string]string{"Movement": "Heading.turn", "Morale": "Morale.rank", "Fog": "Sweep.angle"}[place]
	differ := map[string]bool{}
	for i, a := range r.worlds[0][500].Tables {
		for c := range a.Columns {
			if !reflect.DeepEqual(a.Columns[c], r.worlds[1][500].Tables[i].Columns[c]) {
				differ[a.Columns[c].Name()] = true
			}
		}
	}
	if len(differ) != 1 || !differ[want] {
		t.Errorf("%v differ, not only %s", differ, want)
	}
}

// checkEntities looks for the truth's entities in the snapshots.
func checkEntities(t *testing.T, r *recording, point uint64) {
	t.Helper()
	if *r.truth.Archetype == "" {
		return
	}
	a := r.worlds[0][point].Table(snapshot.Archetype, *r.truth.Archetype)
	b := r.worlds[1][point].Table(snapshot.Archetype, *r.truth.Archetype)
	for _, key := range r.truth.Entities {
		i, j := rowOf(a, key), rowOf(b, key)
		differs := i < 0 || j < 0
		for c := range a.Columns {
			if a.Columns[c].Component == *r.truth.Component && !differs {
				differs = !bytes.Equal(a.Columns[c].Raw(i), b.Columns[c].Raw(j))
			}
		}
		if !differs {
			t.Errorf("%s %s does not differ in %s", *r.truth.Archetype, key, *r.truth.Component)
		}
	}
}

func rowOf(t *snapshot.Table, key string) int {
	for i := range t.Rows() {
		if t.Keys.At(i).String() == key {
			return i
		}
	}
	return -1
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestAgreement records a session without mistakes, and checks all that is
// written.
func TestAgreement(t *testing.T) {
	o := Options{Config: refsim.Config{Seed: 5, Entities: 200}, Ticks: 650, Peers: []string{"a", "b", "c"}}
	r := record(t, o)
	const want = `{"fault":"","place":"","peer":"","from_tick":0,"bracket":null,"initial_state":null,"system":null,` +
		`"archetype":null,"component":null,"entities":null,"healed_at":null}`
	if got := marshal(r.truth); got != want {
		t.Errorf("truth is\n%s, expected\n%s", got, want)
	}
	for p := range r.ticks {
		if !slices.Equal(r.points[p], []uint64{0, 300, 600, 650}) {
			t.Errorf("%s: snapshots at %v", o.Peers[p], r.points[p])
		}
		if point, ok := r.firstDifference(0, p); ok {
			t.Errorf("%s: hash differs at point %d", o.Peers[p], point)
		}
		for i, tick := range r.ticks[p] {
			if tick.InputHash != r.ticks[0][i].InputHash {
				t.Errorf("%s: input hash differs at tick %d", o.Peers[p], i)
			}
		}
		checkLog(t, r, p)
		checkSnapshots(t, r, p)
	}
	if reflect.DeepEqual(r.ticks[0], r.ticks[1]) {
		t.Error("chat is the same on all peers")
	}
}

// checkLog writes a peer's log, which checks its values.
func checkLog(t *testing.T, r *recording, p int) {
	t.Helper()
	w, err := orderlog.NewWriter(io.Discard, r.heads[p], orderlog.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.ticks[p] {
		if err := w.WriteTick(&r.ticks[p][i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteObserved(r.last[p]); err != nil {
		t.Fatal(err)
	}
}

// checkSnapshots compares the snapshots with the log, and replays the log from
// the first to the last.
func checkSnapshots(t *testing.T, r *recording, p int) {
	t.Helper()
	for _, point := range r.points[p] {
		state, err := snapshot.Hold(r.worlds[p][point])
		if err != nil {
			t.Fatal(err)
		}
		root := state.Info().Root
		if !bytes.Equal(root[:8], r.syncHash(p, point)) {
			t.Errorf("peer %d, point %d: the snapshot's root is %s, logged was %x", p, point, root, r.syncHash(p, point))
		}
	}
	history := r.worlds[p][600].History
	if logged := r.ticks[p][600].Hashes[2]; logged.Kind != orderlog.HistoryHash || !bytes.Equal(logged.Bytes, history[:]) {
		t.Errorf("peer %d: history at point 600 is %s, logged was %x", p, history, logged.Bytes)
	}
	sim, err := refsim.Load(r.worlds[p][300])
	if err != nil {
		t.Fatal(err)
	}
	for _, tick := range r.ticks[p][300:] {
		if err := sim.Step(tick.Orders); err != nil {
			t.Fatal(err)
		}
	}
	if sync := sim.SyncHash(); !bytes.Equal(sync[:], r.last[p][0].Bytes) {
		t.Errorf("peer %d: a replay from point 300 ends with %s", p, sync)
	}
}

// TestFirstPeerIsWrong checks who is blamed when all others part from the
// first peer, and when several make mistakes.
func TestFirstPeerIsWrong(t *testing.T) {
	parse := func(s string) Fault {
		f, err := ParseFault(s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	o := Options{Config: refsim.Config{Seed: 5, Entities: 200}, Ticks: 120, Peers: []string{"a", "b", "c"}}
	o.Faults = []Fault{parse("bit-flip/Movement@50:a")}
	r := record(t, o)
	if r.truth.Peer != "a" || *r.truth.System != "Movement" || r.truth.Bracket.Bad != 51 {
		t.Errorf("unexpected %s", marshal(r.truth))
	}
	o.Faults = []Fault{parse("bit-flip/Movement@50:b"), parse("rng-leak/Movement@40:c"), parse("initial-state:b")}
	o.Faults = o.Faults[:2]
	r = record(t, o)
	if r.truth.Peer != "c" || r.truth.Fault != "rng-leak" || r.truth.Bracket.Bad > 45 {
		t.Errorf("unexpected %s", marshal(r.truth))
	}
}

func TestNeverBites(t *testing.T) {
	f := Fault{Fault: refsim.Fault{Name: "rng-leak", From: 1000}}
	r := record(t, Options{Config: refsim.Config{Seed: 5, Entities: 200}, Ticks: 20, Faults: []Fault{f}})
	if r.truth.Fault != "rng-leak" || r.truth.Peer != "client" || r.truth.Bracket != nil || r.truth.Entities != nil {
		t.Errorf("unexpected %s", marshal(r.truth))
	}
}

// TestDetectEvery checks that a difference is saved where it is first noticed,
// and not twice if that is where snapshots are due.
func TestDetectEvery(t *testing.T) {
	for _, test := range []struct {
		every uint64
		want  []uint64
	}{{1, []uint64{0, 51, 100, 120}}, {7, []uint64{0, 56, 100, 120}}, {100, []uint64{0, 100, 120}}, {1000, []uint64{0, 100, 120}}} {
		f := Fault{Fault: refsim.Fault{Name: "bit-flip", Place: "Movement", From: 50}}
		r := record(t, Options{
			Config: refsim.Config{Seed: 5, Entities: 200}, Ticks: 120, Faults: []Fault{f},
			SnapshotEvery: 100, DetectEvery: test.every,
		})
		if !slices.Equal(r.points[1], test.want) {
			t.Errorf("every %d: snapshots at %v, expected %v", test.every, r.points[1], test.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{}, "0 ticks"},
		{Options{Ticks: 1, Peers: []string{"a"}}, "at least 2"},
		{Options{Ticks: 1, Peers: []string{"a", "a"}}, "taken"},
		{Options{Ticks: 1, Faults: []Fault{{Fault: refsim.Fault{Name: "map-order"}, Peer: "x"}}}, "only host, client"},
		{Options{Ticks: 1, Faults: []Fault{{Fault: refsim.Fault{Name: "x"}}}}, "unknown fault"},
		{Options{Ticks: 1, Config: refsim.Config{Entities: 1}}, "1 entities"},
	} {
		if _, err := Record(test.o, Sink{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, expected one with %q", test.o, err, test.want)
		}
	}
}

func TestSinkErrors(t *testing.T) {
	full := errors.New("disk full")
	systems := 0
	for name, sink := range map[string]Sink{
		"header":   {Header: func(int, orderlog.Header) error { return full }},
		"tick":     {Tick: func(int, orderlog.Tick) error { return full }},
		"observed": {Observed: func(int, []orderlog.Observed) error { return full }},
		"snapshot": {Snapshot: func(int, *snapshot.World) error { return full }},
		"system": {System: func(_ int, _ uint64, system string, _ *refsim.Sim) error {
			systems++
			if system == "Combat" {
				return full
			}
			return nil
		}},
	} {
		if _, err := Record(Options{Config: refsim.Config{Entities: 100}, Ticks: 2}, sink); !errors.Is(err, full) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if systems != 13 {
		t.Errorf("stopped after %d systems, expected 13", systems)
	}
}

// BenchmarkRecord plays two peers with the search for the truth.
func BenchmarkRecord(b *testing.B) {
	for _, entities := range []int{500, 5000} {
		b.Run(fmt.Sprintf("entities=%d", entities), func(b *testing.B) {
			o := Options{Config: refsim.Config{Seed: 1, Entities: entities}, Ticks: 200}
			for b.Loop() {
				if _, err := Record(o, Sink{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(uint64(b.N)*o.Ticks)/b.Elapsed().Seconds(), "ticks/s")
		})
	}
}

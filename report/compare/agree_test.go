package compare_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// game is a generated session of two peers: its truth, and the files that they leave.
type game struct {
	ticks   int
	parted  []bool // by state point, 0 to ticks
	inside  []bool // by tick: the client differs after its first system, and not at its end
	stale   []bool // by state point: the client's cache is wrong
	snaps   []bool // by state point: both left a snapshot
	history bool   // the snapshots have history hashes
	sync    []bool // by state point: both logs have the sync hash
	state   int    // every so many points the logs have the state hash, 0 never
	past    int    // the history hash in the same form
	logs    bool
	traces  bool
	chat    bool // the client's log has chat that the host's lacks
}

func drawGame(t *rapid.T) *game {
	g := &game{ticks: rapid.IntRange(2, 40).Draw(t, "ticks")}
	flag := func(name string, one int) bool { return rapid.IntRange(0, one-1).Draw(t, name) == 0 }
	points := g.ticks + 1
	g.parted, g.stale, g.snaps, g.sync, g.inside = make([]bool, points), make([]bool, points), make([]bool, points), make([]bool, points), make([]bool, g.ticks)
	calm := flag("calm", 4)
	apart, stale := false, false
	snapEvery, syncEvery := rapid.SampledFrom([]int{0, 1, 2, 5, 9}).Draw(t, "snapshots every"), rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "sync hashes every")
	holes := flag("holes", 3)
	for i := range points {
		if !calm && flag("turn", 9) {
			apart = !apart
		}
		if flag("cache turns", 14) {
			stale = !stale
		}
		g.parted[i], g.stale[i] = apart, stale
		g.snaps[i] = snapEvery > 0 && i%snapEvery == 0 && !(holes && flag("hole", 3))
		g.sync[i] = syncEvery > 0 && i%syncEvery == 0
	}
	for i := range g.ticks {
		g.inside[i] = !g.parted[i] && !g.parted[i+1] && flag("inside", 30)
	}
	g.history, g.logs, g.traces, g.chat = flag("history", 2), flag("logs", 2), flag("traces", 3), flag("chat", 2)
	g.state, g.past = rapid.SampledFrom([]int{0, 0, 4}).Draw(t, "state hashes every"), rapid.SampledFrom([]int{0, 0, 6}).Draw(t, "history hashes every")
	return g
}

// String shows a game, a digit for each point or tick.
func (g *game) String() string {
	digits := func(list []bool) string {
		out := make([]byte, len(list))
		for i, b := range list {
			if out[i] = '0'; b {
				out[i] = '1'
			}
		}
		return string(out)
	}
	return fmt.Sprintf("diverged %s\ninside %s\nstale  %s\nsnaps  %s history %v\nsync   %s logs %v, state every %d, history every %d\ntraces %v", digits(g.parted), digits(g.inside),
		digits(g.stale), digits(g.snaps), g.history, digits(g.sync), g.logs, g.state, g.past, g.traces)
}

// world is a peer's state at a point.
func (g *game) world(client bool, point int) *snapshot.World {
	value, cache := uint64(point), uint64(1)
	if client && g.parted[point] {
		value += 1000
	}
	if client && g.stale[point] {
		cache = 2
	}
	column := func(component, field string, v uint64) []snapshot.Column {
		c := snapshot.NewColumn(component, field, snapshot.U64, 0)
		c.AppendUint(v)
		return []snapshot.Column{c}
	}
	return &snapshot.World{
		Head: snapshot.Head{Seed: 5, Point: snapshot.Point{Tick: uint64(point)}},
		Tables: []snapshot.Table{
			{Label: "Unit", Keys: snapshot.Keys{A: []uint64{1}}, Columns: column("Health", "hp", value)},
			{Label: "Paths", Class: snapshot.Cache, Keys: snapshot.Keys{A: []uint64{1}}, Columns: column("Path", "cost", cache)},
		},
	}
}

// write writes what one peer leaves.
func (g *game) write(t *rapid.T, dir, peer string) {
	must := func(err error) {
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	client := peer == "client"
	must(os.MkdirAll(dir, 0o777))
	roots := make([]merkle.Hash, g.ticks+1)
	for i := range roots {
		s, err := snapshot.Hold(g.world(client, i))
		must(err)
		roots[i] = s.Info().Root
	}
	histories := make([]merkle.Hash, len(roots))
	h := merkle.Hash(sha256.Sum256(roots[0][:]))
	for i := range roots {
		if i > 0 {
			h = sha256.Sum256(append(slices.Clone(h[:]), roots[i][:8]...))
		}
		histories[i] = h
	}
	for i := range roots {
		if g.snaps[i] {
			w := g.world(client, i)
			if w.Peer = peer; g.history {
				w.History = histories[i]
			}
			must(snapshot.WriteFile(filepath.Join(dir, snapshot.Name(5, uint64(i))), w, snapshot.WriteOptions{Plain: true}))
		}
	}
	if g.logs {
		var out bytes.Buffer
		kinds := []orderlog.OrderKind{{Name: "move"}, {Name: "chat", Local: true}}
		w, err := orderlog.NewWriter(&out, orderlog.Header{Seed: 5, Peer: peer, Peers: []string{"host", "client"}, Kinds: kinds}, orderlog.WriterOptions{})
		must(err)
		number := uint32(0)
		if client {
			number = 1
		}
		hashes := func(i int) (list []orderlog.Observed) {
			add := func(kind orderlog.HashKind, b []byte) {
				list = append(list, orderlog.Observed{Point: uint64(i), Peer: number, Kind: kind, Bytes: b})
			}
			if g.sync[i] {
				add(orderlog.SyncHash, roots[i][:8])
			}
			if g.state > 0 && i%g.state == 0 {
				add(orderlog.StateHash, roots[i][:])
			}
			if g.past > 0 && i%g.past == 0 {
				add(orderlog.HistoryHash, histories[i][:])
			}
			return list
		}
		for i := range g.ticks {
			tick := orderlog.Tick{Number: uint64(i), Hashes: hashes(i)}
			if i%3 == 0 {
				tick.Orders = append(tick.Orders, orderlog.Order{Tick: uint64(i), Player: 1, Sequence: uint32(i), Payload: binary.LittleEndian.AppendUint32(nil, uint32(i))})
			}
			if client && g.chat && i%4 == 0 {
				tick.Orders = append(tick.Orders, orderlog.Order{Tick: uint64(i), Player: 2, Sequence: uint32(i), Kind: 1, Payload: []byte("hi")})
			}
			tick.InputHash = orderlog.InputHash(kinds, tick.Orders)
			must(w.WriteTick(&tick))
		}
		if last := hashes(g.ticks); len(last) > 0 {
			must(w.WriteObserved(last))
		}
		must(w.Close())
		must(os.WriteFile(filepath.Join(dir, bisect.LogName), out.Bytes(), 0o666))
	}
	if g.traces {
		var text bytes.Buffer
		fmt.Fprintf(&text, "%%desynctool trace 1\n%%seed 5\n%%peer %q\n", peer)
		for i := range g.ticks {
			middle := roots[i+1]
			if client && g.inside[i] {
				middle[0] ^= 1
			}
			fmt.Fprintf(&text, "tick=%d system=Move sum=0x%x\ntick=%d system=End sum=0x%x\n", i, middle[:8], i, roots[i+1][:8])
		}
		text.WriteString("%end\n")
		must(os.WriteFile(filepath.Join(dir, "checkpoints.trace"), text.Bytes(), 0o666))
	}
}

// seen reports whether evidence shows that the peers differ at a state point.
func (g *game) seen(i int) bool { return g.stateSeen(i) || g.parted[i] && g.traces && i > 0 }

// stateSeen is seen without the traces.
func (g *game) stateSeen(i int) bool {
	return g.parted[i] && (g.snaps[i] || g.logs && (g.sync[i] || g.state > 0 && i%g.state == 0))
}

// hidden reports whether history hashes of two points between which they are equal and not
// equal show a split that no state does.
func (g *game) hidden() bool {
	known := func(i int) bool { return g.history && g.snaps[i] || g.logs && g.past > 0 && i%g.past == 0 }
	apart := false
	for i := range g.parted {
		if apart = apart || g.parted[i]; apart && known(i) {
			return true
		}
	}
	return false
}

// TestCommandsAgree compares the output of the commands for generated sessions with the truth, and so with each other.
func TestCommandsAgree(t *testing.T) {
	effort.Checks(t, 8)
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawGame(t)
		t.Logf("%s", g)
		n++
		base := filepath.Join(dir, fmt.Sprint(n))
		defer os.RemoveAll(base)
		host, client := filepath.Join(base, "host"), filepath.Join(base, "client")
		g.write(t, host, "host")
		g.write(t, client, "client")
		g.check(t, host, client)
	})
}

func (g *game) check(t *rapid.T, paths ...string) {
	open := func() *bundle.Session {
		s, err := bundle.OpenPaths(paths...)
		if err != nil {
			t.Fatalf("%v", err)
		}
		return s
	}
	seen := slices.ContainsFunc(g.points(), g.seen)
	stale := slices.ContainsFunc(g.points(), func(i int) bool { return g.snaps[i] && g.stale[i] && !g.parted[i] })
	inside := g.traces && slices.Contains(g.inside, true)
	snaps := slices.ContainsFunc(g.points(), func(i int) bool { return g.snaps[i] })
	if !snaps && !g.logs && !g.traces {
		return
	}

	s := open()
	defer s.Close()
	r, err := compare.Triage(s, compare.Builds{}, nil)
	if err != nil {
		t.Fatalf("triage: %v", err)
	}
	b, err := compare.Bisect(s, compare.Builds{}, compare.BisectOptions{})
	if err != nil {
		t.Fatalf("bisect: %v", err)
	}
	hidden := g.hidden()
	wanted := seen || hidden || stale || inside
	if got := r.Status == document.Diverged; got != wanted {
		t.Fatalf("triage says %s (%q), seen %v, hidden %v, stale %v, inside %v", r.Status, r.Verdict, seen, hidden, stale, inside)
	}
	if got := document.StatusOf(b); got != r.Status {
		t.Fatalf("bisect says %s, triage %s: %q, %q", got, r.Status, b.Lost, r.Missing)
	}
	if (b.Bracket == nil) != (r.FirstDivergence == nil) || b.Bracket != nil && (b.Bracket.Bad.Tick != r.FirstDivergence.Bracket.Bad) {
		t.Fatalf("bisect and triage have other brackets: %+v, %+v", b.Bracket, r.FirstDivergence)
	}
	if wanted && !seen && !hidden && !inside && (b.Kind != bisect.StaleCache || r.Kind != b.Kind || !g.firstStale(b.Caches)) {
		t.Fatalf("kinds %q and %q, caches %+v", b.Kind, r.Kind, b.Caches)
	}
	g.checkSplits(t, b, seen || hidden)

	if g.traces {
		traces, err := s.Traces(bundle.TraceOptions{})
		if err != nil {
			t.Fatalf("tracediff: %v", err)
		}
		list, err := traces.Compare(tracediff.Options{})
		if err != nil {
			t.Fatalf("tracediff: %v", err)
		}
		g.checkTraces(t, list[0])
	}
	if g.logs {
		logs, err := s.Logs(nil)
		if err != nil {
			t.Fatalf("orders: %v", err)
		}
		defer logs.Close()
		c, err := orderlog.Compare(logs.Named, orderlog.CompareOptions{})
		if err != nil {
			t.Fatalf("orders: %v", err)
		}
		if c.DifferenceCount > 0 || c.Diverged() && r.Status != document.Diverged {
			t.Fatalf("orders says %s", c.Line())
		}
	}
	if snaps {
		pair, err := bundle.OpenPair(s.Tree(), paths[0], paths[1])
		if err != nil {
			t.Fatalf("diff: %v", err)
		}
		defer pair.Close()
		d, err := snapshot.Compare(pair.A, pair.B, snapshot.DiffOptions{})
		if err != nil {
			t.Fatalf("diff: %v", err)
		}
		if d.Diverged() && r.Status != document.Diverged {
			t.Fatalf("diff says diverged at %s, triage %s", d.A.Point, r.Status)
		}
		if in := slices.ContainsFunc(g.points(), func(i int) bool { return g.snaps[i] && g.parted[i] }); in && !d.Diverged() {
			t.Fatalf("diff finds nothing at %s", d.A.Point)
		}
	}
	checkup, err := bundle.Examine(s, nil)
	if err != nil {
		t.Fatalf("doctor: %v", err)
	}
	if r.Status == document.InSync && document.StatusOf(checkup) != document.InSync {
		t.Fatalf("triage says in sync, doctor lacks %q", checkup.Lost)
	}
}

func (g *game) points() []int {
	list := make([]int, len(g.parted))
	for i := range list {
		list[i] = i
	}
	return list
}

// firstStale reports whether caches are reported at the first point at which they are seen to be wrong.
func (g *game) firstStale(c *bisect.CacheSplit) bool {
	i := slices.IndexFunc(g.points(), func(i int) bool { return g.snaps[i] && g.stale[i] && !g.parted[i] })
	return c != nil && int(c.Bad.Tick) == i
}

// checkSplits compares splits with the truth: each begins where the peers diverge, ends where they are equal, and
// everything that is seen is in one.
func (g *game) checkSplits(t *rapid.T, b *bisect.Result, any bool) {
	if !any {
		return // at most one that lies inside a tick
	}
	if len(b.Splits) == 0 || !b.Splits[0].Bad.Same(b.Bracket.Bad) {
		t.Fatalf("bracket %+v, splits %+v", b.Bracket, b.Splits)
	}
	in, near := make([]bool, len(g.parted)), make([]bool, len(g.parted))
	for _, s := range b.Splits {
		from, bad := 0, int(s.Bad.Tick)
		if s.Good != nil {
			if from = int(s.Good.Tick) + 1; g.parted[from-1] {
				t.Fatalf("%d is called equal, of %+v", from-1, s)
			}
		}
		if from > bad || !slices.Contains(g.parted[from:bad+1], true) {
			t.Fatalf("nothing parts in %+v", s)
		}
		end := len(in)
		if s.Healed != nil {
			if end = int(s.Healed.Tick); end < bad || g.parted[end] {
				t.Fatalf("%d is not where %+v heals", end, s)
			}
		}
		for i := from; i < end; i++ {
			in[i], near[i] = i >= bad, true
		}
	}
	for i := range in {
		if g.seen(i) && (!near[i] || !in[i] && g.stateSeen(i)) { // traces may show more than the bracket of the states
			t.Fatalf("that the peers differ at %d is in no split of %+v", i, b.Splits)
		}
	}
	// The first equal point that anything shows ends a split.
	for _, s := range b.Splits {
		for i := int(s.Bad.Tick) + 1; i < len(in) && in[i] && (s.Healed == nil || i < int(s.Healed.Tick)); i++ {
			if !g.parted[i] && (g.snaps[i] || g.logs && g.sync[i]) {
				t.Fatalf("%d is equal, and inside %+v", i, s)
			}
		}
	}
}

// checkTraces compares a comparison of traces with the truth.
func (g *game) checkTraces(t *rapid.T, r *tracediff.Result) {
	first := -1
	for i := range g.ticks {
		if g.parted[i+1] || g.inside[i] {
			first = i
			break
		}
	}
	switch {
	case first < 0 && r.Diverged():
		t.Fatalf("tracediff finds tick %v", r.First.Tick)
	case first >= 0 && (r.First == nil || int(r.First.Tick.Number) != first):
		t.Fatalf("tracediff finds %+v, expected tick %d", r.First, first)
	case first > 0 && !r.Bracket.Exact():
		t.Fatalf("tracediff is not sure of tick %d: %+v", first, r.Bracket)
	}
}

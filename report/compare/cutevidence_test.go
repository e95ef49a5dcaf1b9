package compare_test

import (
	"bytes"
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
)

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface{ Fatalf(string, ...any) }

// match is a generated session of two to four peers. A peer that diverges stays so.
type match struct {
	ticks int
	peers []player
}

// player is one peer's truth, and what it left.
type player struct {
	name  string
	apart int // the first state point at which its state is not the common one, above the ticks for never
	as    uint64
	snaps []bool // by state point
	log   run    // of state points with a sync hash
	trace run    // of ticks
	cut   bool   // the log has no other ticks
}

// run is a range of points or ticks, both ends included; empty if To is before From.
type run struct{ From, To int }

func (r run) empty() bool { return r.To < r.From }

func drawMatch(t *rapid.T) *match {
	m := &match{ticks: rapid.IntRange(3, 14).Draw(t, "ticks")}
	runOf := func(name string) run {
		if rapid.IntRange(0, 3).Draw(t, name) == 0 {
			return run{0, -1}
		}
		from := rapid.IntRange(0, m.ticks-1).Draw(t, name+" from")
		return run{from, rapid.IntRange(from, m.ticks-1).Draw(t, name+" to")}
	}
	for i := range rapid.IntRange(2, 4).Draw(t, "peers") {
		p := player{name: []string{"host", "client", "guest", "other"}[i], apart: m.ticks + 1, as: uint64(i), snaps: make([]bool, m.ticks+1)}
		if i > 0 && rapid.Bool().Draw(t, "diverges") {
			p.apart = rapid.IntRange(0, m.ticks).Draw(t, "apart")
		}
		if i > 1 && rapid.Bool().Draw(t, "like the one before") { // as peers of one platform
			p.apart, p.as = m.peers[i-1].apart, m.peers[i-1].as
		}
		every := rapid.SampledFrom([]int{0, 1, 3, 5}).Draw(t, "snapshots every")
		for k := range p.snaps {
			p.snaps[k] = every > 0 && k%every == 0
		}
		p.log, p.trace = runOf("log"), runOf("trace")
		p.cut = rapid.IntRange(0, 3).Draw(t, "cut log") == 0
		m.peers = append(m.peers, p)
	}
	return m
}

// String shows the truth and the evidence.
func (m *match) String() (s string) {
	for i := range m.peers {
		p := &m.peers[i]
		s += fmt.Sprintf("%s: differs from %d on as %d; snapshots", p.name, p.apart, p.as)
		for k, there := range p.snaps {
			if there {
				s += fmt.Sprint(" ", k)
			}
		}
		s += fmt.Sprintf("; log %v cut %v trace %v\n", p.log, p.cut, p.trace)
	}
	return s
}

// without takes a piece of evidence away.
func (m *match) without(t *rapid.T) *match {
	less := &match{ticks: m.ticks}
	for _, p := range m.peers {
		p.snaps = append([]bool{}, p.snaps...)
		less.peers = append(less.peers, p)
	}
	p := &less.peers[rapid.IntRange(0, len(m.peers)-1).Draw(t, "of")]
	switch rapid.IntRange(0, 6).Draw(t, "what") {
	case 0:
		p.log = run{0, -1}
	case 1:
		p.trace = run{0, -1}
	case 2:
		p.log.From += rapid.IntRange(1, 5).Draw(t, "by")
	case 3:
		p.log.To -= rapid.IntRange(1, 5).Draw(t, "by")
	case 4:
		p.trace.From += rapid.IntRange(1, 5).Draw(t, "by")
	case 5:
		p.trace.To -= rapid.IntRange(1, 5).Draw(t, "by")
	default:
		one := rapid.IntRange(0, len(p.snaps)-1).Draw(t, "snapshot")
		if all := rapid.Bool().Draw(t, "all"); !all {
			p.snaps[one] = false
		} else {
			clear(p.snaps)
		}
	}
	return less
}

// value is the value in it.
func (p *player) value(point int) uint64 {
	if point >= p.apart {
		return uint64(point) + 1000*p.as
	}
	return uint64(point)
}

// world is a peer's state at a point.
func (p *player) world(point int) *snapshot.World {
	c := snapshot.NewColumn("Health", "hp", snapshot.U64, 0)
	c.AppendUint(p.value(point))
	return &snapshot.World{
		Head:   snapshot.Head{Seed: 5, Point: snapshot.Point{Tick: uint64(point)}, Peer: p.name},
		Tables: []snapshot.Table{{Label: "Unit", Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{c}}},
	}
}

// write writes what the peers left, and returns the paths of those that left something.
func (m *match) write(t fataler, dir string) (paths []string) {
	must := func(err error) {
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	var names []string
	for i := range m.peers {
		names = append(names, m.peers[i].name)
	}
	for i := range m.peers {
		p := &m.peers[i]
		own := filepath.Join(dir, p.name)
		must(os.MkdirAll(own, 0o777))
		any := false
		for point, there := range p.snaps {
			if there {
				any = true
				must(snapshot.WriteFile(filepath.Join(own, snapshot.Name(5, uint64(point))), p.world(point), snapshot.WriteOptions{Plain: true}))
			}
		}
		if !p.log.empty() {
			any = true
			var out bytes.Buffer
			h := orderlog.Header{Seed: 5, Peer: p.name, Peers: names, Kinds: []orderlog.OrderKind{{Name: "move"}}}
			w, err := orderlog.NewWriter(&out, h, orderlog.WriterOptions{})
			must(err)
			for point := range m.ticks {
				here := point >= p.log.From && point <= p.log.To
				if !here && p.cut {
					continue
				}
				s, err := snapshot.Hold(p.world(point))
				must(err)
				root := s.Info().Root.Short()
				tick := &orderlog.Tick{Number: uint64(point), InputHash: orderlog.InputHash(h.Kinds, nil)}
				if here {
					tick.Hashes = []orderlog.Observed{{Point: tick.Number, Peer: uint32(i), Kind: orderlog.SyncHash, Bytes: root[:]}}
				}
				must(w.WriteTick(tick))
			}
			must(w.Close())
			must(os.WriteFile(filepath.Join(own, bisect.LogName), out.Bytes(), 0o666))
		}
		if !p.trace.empty() {
			any = true
			var text bytes.Buffer
			fmt.Fprintf(&text, "%%desynctool trace 1\n%%seed 5\n%%peer %q\n", p.name)
			for tick := p.trace.From; tick <= p.trace.To; tick++ {
				fmt.Fprintf(&text, "tick=%d system=Move sum=0x%x\ntick=%d system=End sum=0x%x\n", tick, p.value(tick), tick, p.value(tick+1))
			}
			text.WriteString("%end\n")
			must(os.WriteFile(filepath.Join(own, "checkpoints.trace"), text.Bytes(), 0o666))
		}
		if any {
			paths = append(paths, own)
		}
	}
	return paths
}

// place is what triage finds of a session: the last point known to be equal, -1 if none is, the first known to
// differ, and the tick, each -1 if it is not known. Of are the peers whose states there
// are known, in so many groups.
type place struct {
	good, bad, tick int
	of              []string
	groups          int
}

// judge runs triage, and compares what it finds with the truth.
func (m *match) judge(t fataler, dir string) (k place, text string) {
	k = place{-1, -1, -1, nil, 0}
	defer os.RemoveAll(dir)
	paths := m.write(t, dir)
	if len(paths) < 2 {
		return k, "no evidence"
	}
	s, err := bundle.OpenPaths(paths...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer s.Close()
	r, err := compare.Triage(s, compare.Builds{}, nil)
	if err != nil {
		t.Fatalf("triage: %v", err)
	}
	text = fmt.Sprintf("%s: %q", r.Status, r.Verdict)
	f := r.FirstDivergence
	if r.Status != document.Diverged || f == nil || f.Bracket == nil {
		if r.Status == document.Diverged {
			t.Fatalf("diverged and no bracket: %q", r.Verdict)
		}
		return k, text
	}
	k.bad = int(f.Bracket.Bad)
	if f.Bracket.Good != nil {
		k.good = int(*f.Bracket.Good)
	}
	if f.Tick != nil {
		k = place{int(*f.Tick), int(*f.Tick) + 1, int(*f.Tick), nil, 0}
	}
	if f.Loaded != "" {
		t.Fatalf("%s loaded nothing: %s", f.Loaded, text)
	}
	wrong, pairs := 0, 0
	for i := range r.Peers {
		for j := range i {
			x, y := &r.Peers[i], &r.Peers[j]
			if x.Group == 0 || y.Group == 0 || x.Group == y.Group {
				continue
			}
			pairs++
			k.of, k.groups = append(k.of, x.Name, y.Name), max(k.groups, x.Group, y.Group)
			a, b := m.player(x.Name), m.player(y.Name)
			if at := func(i int) bool { return a.value(i) != b.value(i) }; !at(k.bad) || k.good >= 0 && at(k.good) || k.tick >= 0 && (at(k.tick) || !at(k.tick+1)) {
				wrong++
			}
		}
	}
	if wrong == pairs || wrong > 0 && k.groups == 2 { // of three groups, two diverged there
		t.Fatalf("%+v is not so of %d of %d pairs: %s\n%s", k, wrong, pairs, text, m)
	}
	return k, text
}

// player returns the player of a name.
func (m *match) player(name string) *player {
	return &m.peers[slices.IndexFunc(m.peers, func(p player) bool { return p.name == name })]
}

// TestCutEvidence takes pieces of evidence away one by one: what is known with more evidence lies within what is known
// with less, and never contradicts the truth.
func TestCutEvidence(t *testing.T) {
	effort.Checks(t, 20)
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		n++
		more, text := m.judge(t, filepath.Join(dir, fmt.Sprint(n)))
		for range rapid.IntRange(1, 6).Draw(t, "pieces") {
			less := m.without(t)
			n++
			fewer, its := less.judge(t, filepath.Join(dir, fmt.Sprint(n)))
			switch {
			case fewer.bad < 0: // nothing is known
			case more.bad >= 0 && more.bad <= fewer.good: // of other peers, which diverged before
			case more.bad >= 0 && more.bad <= fewer.bad && (fewer.groups > 2 || !samePeers(more.of, fewer.of)):
				// Other peers differ there, which may have diverged before.
			case more.bad < 0, more.bad > fewer.bad, more.good < fewer.good, fewer.tick >= 0 && more.tick < 0:
				t.Fatalf("%+v with more: %s\n%s%+v with less: %s\n%s", more, text, m, fewer, its, less)
			}
			m, more, text = less, fewer, its
		}
	})
}

// samePeers reports whether two lists contain the same names, in any order and as often as they like.
func samePeers(a, b []string) bool {
	absent := func(list []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(list, name) }
	}
	return !slices.ContainsFunc(a, absent(b)) && !slices.ContainsFunc(b, absent(a))
}

// TestEqualByEither: states are known to be equal by the order logs before traces begin that differ, and by the traces
// before order logs begin that differ.
func TestEqualByEither(t *testing.T) {
	for _, c := range []struct {
		apart      int
		log, trace run
		good       int
	}{{8, run{0, 5}, run{7, 9}, 5}, {8, run{8, 9}, run{0, 4}, 5}} {
		for peers := 2; peers <= 3; peers++ {
			m := &match{ticks: 10}
			for i := range peers {
				p := player{name: []string{"host", "client", "guest"}[i], apart: 99, snaps: make([]bool, 11), log: c.log, trace: c.trace}
				if i == 1 {
					p.apart, p.as = c.apart, 1
				}
				m.peers = append(m.peers, p)
			}
			dir := t.TempDir()
			if p, text := m.judge(t, dir); p.good != c.good || p.bad != c.apart {
				t.Errorf("(%d, %d], expected (%d, %d]: %s\n%s", p.good, p.bad, c.good, c.apart, text, m)
			}
		}
	}
}

package compare_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

// left are the files of a session by their peers, and what is odd about it.
type left struct {
	fault string
	files map[string][]string
	heals bool
	lies  bool // its recorded hashes do not show where the states differ
}

// play plays a session with a random mistake, and writes the hashes of the order logs as logs of an unknown game too.
func play(t *rapid.T, dir string) *left {
	kind := rapid.SampledFrom(refsim.Faults()).Draw(t, "kind")
	l := &left{fault: kind.Name, files: map[string][]string{}}
	if len(kind.Places) > 0 {
		l.fault += "/" + rapid.SampledFrom(kind.Places).Draw(t, "place")
	}
	l.fault += fmt.Sprintf("@%d:client", rapid.IntRange(2, 50).Draw(t, "tick"))
	fault, err := session.ParseFault(l.fault)
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{
		Config: refsim.Config{Seed: uint64(rapid.IntRange(1, 1000).Draw(t, "seed")), Entities: 100}, Ticks: 60, SnapshotEvery: 8,
		Peers: session.PeerNames(rapid.IntRange(2, 3).Draw(t, "peers")), Faults: []session.Fault{fault},
	}
	level := rapid.SampledFrom([]session.TraceLevel{session.TraceNone, session.TraceSystem, session.TraceColumn}).Draw(t, "trace")
	r, err := session.RecordTo(dir, o, level)
	if err != nil {
		t.Fatal(err)
	}
	l.heals, l.lies = r.Truth.HealedAt != nil, r.Truth.Checksum != nil
	for _, p := range r.Peers {
		log, err := orderlog.ReadFile(p.Log)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, tick := range log.Ticks {
			for _, h := range tick.Hashes {
				if h.Kind == orderlog.SyncHash && log.Header.Peers[h.Peer] == p.Name {
					fmt.Fprintf(&text, "tick %d checksum=%x\n", h.Point, h.Bytes)
				}
			}
		}
		own := filepath.Join(p.Dir, "game.log")
		if err := os.WriteFile(own, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		l.files[p.Name] = append([]string{p.Log, own}, p.Snapshots...)
		if p.Trace != "" {
			l.files[p.Name] = append(l.files[p.Name], p.Trace)
		}
	}
	return l
}

// bundleOf links some files of peers into folders.
func bundleOf(t *rapid.T, dir string, files map[string][]string) string {
	for peer, list := range files {
		if err := os.MkdirAll(filepath.Join(dir, peer), 0o777); err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			if err := os.Link(file, filepath.Join(dir, peer, filepath.Base(file))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// fewer returns some of the files, and at least one of each peer but the third.
func (l *left) fewer(t *rapid.T, files map[string][]string, name string) map[string][]string {
	some := map[string][]string{}
	way := rapid.IntRange(0, 4).Draw(t, name)
	for i, peer := range session.PeerNames(len(l.files)) {
		some[peer] = slices.Clone(files[peer])
		n := 0
		some[peer] = slices.DeleteFunc(some[peer], func(file string) bool {
			ext := filepath.Ext(file)
			n++
			switch way {
			case 0:
				return ext == ".snap" && n%2 == 0
			case 1:
				return ext == ".trace" && i > 0
			case 2:
				return ext == ".bin"
			case 3:
				return ext == ".log"
			}
			return rapid.IntRange(0, 2).Draw(t, "drop") == 0
		})
		if i == 2 && rapid.Bool().Draw(t, "no third") || len(some[peer]) == 0 {
			delete(some, peer)
		}
	}
	return some
}

// answer triages a bundle, nil if nothing in it can be compared.
func answer(t *rapid.T, dir string, builds compare.Builds) *document.Report {
	s, err := bundle.OpenPaths(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := compare.Triage(s, builds, nil)
	if alone := (*bundle.AloneError)(nil); errors.As(err, &alone) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMoreEvidence takes true evidence from a bundle: the place in the larger bundle lies in the place in the smaller
// one, the causes of one are not all excluded in the other, and nothing that diverged is in sync.
func TestMoreEvidence(t *testing.T) {
	effort.Checks(t, 2)
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		base := filepath.Join(dir, fmt.Sprint(n))
		defer os.RemoveAll(base)
		l := play(t, filepath.Join(base, "all"))
		var builds compare.Builds
		if rapid.IntRange(0, 3).Draw(t, "sim") == 0 {
			builds.Sim = refsim.Simulator()
			own, _, _ := strings.Cut(l.fault, ":")
			outside := strings.HasPrefix(own, "order-") || strings.HasPrefix(own, "bit-flip")
			if sim, err := refsim.ParseSimulator("builtin:fault=" + own); err == nil && !outside && rapid.Bool().Draw(t, "own") {
				builds.Own = sim
			}
		}
		files := l.files
		more := answer(t, bundleOf(t, filepath.Join(base, "0"), files), builds)
		for i := range 3 {
			before := files
			files = l.fewer(t, files, "less")
			if len(files) == 0 {
				return
			}
			less := answer(t, bundleOf(t, filepath.Join(base, fmt.Sprint(i+1)), files), builds)
			if less == nil {
				return
			}
			for _, text := range l.worse(less, more) {
				t.Errorf("%s: %s\nless: %s %s\nmore: %s %s", l.fault, text, names(files), less.Verdict, names(before), more.Verdict)
			}
			more = less
		}
	})
}

// names returns the names of files by their peers.
func names(files map[string][]string) string {
	var out []string
	for peer, list := range files {
		for _, file := range list {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "desync_"), ".snap")
			out = append(out, peer+" "+name[max(0, len(name)-12):])
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// worse returns how the report with more evidence contradicts the report with less.
func (l *left) worse(less, more *document.Report) (list []string) {
	fail := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if less.Status == document.Diverged && more.Status != document.Diverged {
		fail("%s with less evidence is %s", less.Status, more.Status)
	}
	for _, both := range [][2]*document.Report{{less, more}, {more, less}} {
		named := slices.DeleteFunc(slices.Clone(both[0].Causes), func(c document.Cause) bool { return c.Standing == "looks-like" || c.Standing == "not-excluded" })
		open := slices.ContainsFunc(named, func(c document.Cause) bool { _, excluded := both[1].Excluded[c.Class]; return !excluded })
		if len(named) > 0 && !open { // classes that evidence does not separate may become fewer
			fail("the cause is %v in one, and excluded in the other: %v", named, both[1].Excluded)
		}
	}
	a, b := less.FirstDivergence, more.FirstDivergence
	if a == nil || b == nil || a.Bracket == nil || b.Bracket == nil {
		return list
	}
	place := func(d *document.FirstDivergence) (good, bad int) {
		if d.Tick != nil {
			return int(*d.Tick), int(*d.Tick) + 1
		}
		if good = -1; d.Bracket.Good != nil {
			good = int(*d.Bracket.Good)
		}
		return good, int(d.Bracket.Bad)
	}
	good, bad := place(a)
	goodNow, badNow := place(b)
	if badNow > bad || goodNow < good && !l.heals {
		fail("the place is (%d, %d], not in (%d, %d]", goodNow, badNow, good, bad)
	}
	if badNow != bad || l.lies {
		return list
	}
	if a.Tick != nil && (b.Tick == nil || *a.Tick != *b.Tick) {
		fail("the tick %d is lost", *a.Tick)
	}
	if a.System != "" && a.System != b.System {
		fail("the system is %q, and was %q", b.System, a.System)
	}
	if a.Root && (!b.Root || a.Archetypes[0] != b.Archetypes[0]) {
		fail("the first archetype is %v, and was %v", b.Archetypes, a.Archetypes)
	}
	if len(a.Wrong) > 0 && !slices.Equal(a.Wrong, b.Wrong) {
		fail("wrong are %v, and were %v", b.Wrong, a.Wrong)
	}
	return list
}

// kept plays a session with a mistake of the client, and keeps some files: snapshots are named by their points, order
// logs and traces by their names.
func kept(t *testing.T, fault string, o session.Options, level session.TraceLevel, host, client string) string {
	t.Helper()
	f, err := session.ParseFault(fault + ":client")
	if err != nil {
		t.Fatal(err)
	}
	o.Faults, o.Config.Entities = []session.Fault{f}, 100
	dir := filepath.Join(t.TempDir(), "s")
	r, err := session.RecordTo(dir, o, level)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range r.Peers {
		keep := strings.Fields([]string{host, client}[i])
		for k, file := range append([]string{p.Log, p.Trace}, p.Snapshots...) {
			name := filepath.Base(file)
			if k > 1 {
				name = fmt.Sprint(p.Points[k-2])
			}
			if file == "" || slices.Contains(keep, name) {
				continue
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestLaterStates: states of later ticks do not show what differed first, with and without order logs.
func TestLaterStates(t *testing.T) {
	o := session.Options{Config: refsim.Config{Seed: 1}, Ticks: 30, SnapshotEvery: 24}
	for _, log := range []string{session.LogName, ""} {
		left := session.TraceName + " 0 24 " + log
		r := judged(t, compare.Builds{}, kept(t, "float-fma/Economy@9", o, session.TraceSystem, left, left))
		if d := r.FirstDivergence; *d.Tick != 14 || d.Root || d.Component != "" || d.System != "Economy" || !strings.Contains(r.Verdict[0], "; what differs 9 ticks later: ") {
			t.Errorf("with %q: %q, %+v", left, r.Verdict, d)
		}
	}
}

// TestOwnSumsOfOne: hashes that are no roots are not compared with the states of a replay, also if only one peer left
// them.
func TestOwnSumsOfOne(t *testing.T) {
	o := session.Options{Config: refsim.Config{Seed: 14}, Ticks: 40, SnapshotEvery: 8}
	for _, host := range []string{"8 16 24 32 40", "32"} {
		dir := kept(t, "blind-checksum/Morale@3", o, session.TraceNone, host, session.LogName+" 0 32 40")
		d := judged(t, compare.Builds{Sim: refsim.Simulator()}, dir).FirstDivergence
		if d.InitialState || d.Bracket.Good == nil || *d.Bracket.Good != 0 || d.Bracket.Bad != 32 {
			t.Errorf("host %s: %+v, %+v", host, d, d.Bracket)
		}
	}
}

// TestFirstWritten: an RNG that a trace shows to differ first counts, though it is equal again at the end of the tick.
// With the second seed a unit differs too, and still does.
func TestFirstWritten(t *testing.T) {
	for seed := range uint64(2) {
		o := session.Options{Config: refsim.Config{Seed: seed + 1}, Ticks: 9, SnapshotEvery: 8}
		for _, left := range []string{session.TraceName + " 0 6 8", session.TraceName + " 0 8"} {
			d := judged(t, compare.Builds{}, kept(t, "rng-leak/Production@3", o, session.TraceColumn, left, left)).FirstDivergence
			if !d.Root || d.Archetypes[0] != "" || d.System != "Production" || *d.Tick != 5 {
				t.Errorf("seed %d with %q: %+v", o.Config.Seed, left, d)
			}
		}
	}
}

// TestBlindAtOnePoint: recorded hashes that are equal where the only two states differ do not show when the peers were equal.
func TestBlindAtOnePoint(t *testing.T) {
	o := session.Options{Config: refsim.Config{Seed: 15}, Ticks: 60, SnapshotEvery: 8}
	left := session.LogName + " " + session.TraceName
	dir := kept(t, "blind-checksum/Morale@5", o, session.TraceSystem, left+" 16 40 48", left+" 0 32 40 56")
	d := judged(t, compare.Builds{}, dir).FirstDivergence
	if d.Bracket.Good != nil || d.Bracket.Bad != 40 || d.Tick != nil {
		t.Errorf("%+v, %+v", d, d.Bracket)
	}
}

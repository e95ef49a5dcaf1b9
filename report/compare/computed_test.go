package compare_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// judged returns the report of triage on some paths with builds.
func judged(t interface {
	Helper()
	Fatal(args ...any)
}, builds compare.Builds, paths ...string) *document.Report {
	t.Helper()
	s, err := bundle.OpenPaths(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := compare.Triage(s, builds, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// entities lists what differs, as a set of texts.
func entities(r *document.Report) (list []string) {
	if r.Compared == nil {
		return nil
	}
	for _, e := range r.Compared.Entities {
		list = append(list, e.Kind+" "+e.Key)
	}
	slices.Sort(list)
	return list
}

// TestComputedStates: with the two builds at hand the report is the same whether the peers left the states of the divergent
// tick or not. The recording that has them is the oracle.
func TestComputedStates(t *testing.T) {
	for _, fault := range effort.Of([]string{"rng-leak@90"}, []string{"rng-leak@90", "float-reassoc@60", "data-mismatch@80"}) {
		f, err := session.ParseFault(fault + ":client")
		if err != nil {
			t.Fatal(err)
		}
		own, err := refsim.ParseSimulator("builtin:fault=" + f.Name + "/" + f.Place + "@" + strings.Split(fault, "@")[1])
		if err != nil {
			t.Fatal(err)
		}
		var reports []*document.Report
		var last string
		for _, every := range []uint64{1, 40} { // when a difference is noticed, and states are saved
			dir := filepath.Join(t.TempDir(), "s")
			o := session.Options{Config: refsim.Config{Seed: 7, Entities: 150}, Ticks: 160, SnapshotEvery: 40, DetectEvery: every, Faults: []session.Fault{f}}
			if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
				t.Fatal(err)
			}
			last = dir
			reports = append(reports, judged(t, compare.Builds{Sim: refsim.Simulator(), Own: own, Replays: 4}, dir))
		}
		left, computed := reports[0], reports[1]
		if left.FirstDivergence.Tick == nil {
			continue // the fault does not show in so few ticks
		}
		if *computed.FirstDivergence.Tick != *left.FirstDivergence.Tick || len(entities(left)) == 0 || !slices.Equal(entities(computed), entities(left)) {
			t.Errorf("%s: tick %d, %q; with the states tick %d, %q", fault, *computed.FirstDivergence.Tick, entities(computed), *left.FirstDivergence.Tick, entities(left))
		}
		if !slices.ContainsFunc(computed.Notes, func(n string) bool { return strings.Contains(n, "is computed in builtin") }) {
			t.Errorf("%s: no note that states are computed: %q", fault, computed.Notes)
		}
		written(t, last, own, left)
	}
}

// written checks the files of the states that bisect computes: they differ as in the report of recorded states.
func written(t *testing.T, dir string, own *bisect.Sim, want *document.Report) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	builds := compare.Builds{Sim: refsim.Simulator(), Own: own}
	for range 2 { // the second time the same files are there
		r := bisected(t, builds, out, dir)
		if len(r.Computed) != 2 || !r.Computed[0].Confirmed || !r.Computed[1].Confirmed {
			t.Fatalf("computed %+v", r.Computed)
		}
	}
	if r := judged(t, compare.Builds{}, out); !slices.Equal(entities(r), entities(want)) {
		t.Errorf("%q differ in the files, with recorded states %q", entities(r), entities(want))
	}
}

// bisected returns what bisect finds with builds, and leaves states in a folder.
func bisected(t *testing.T, builds compare.Builds, out string, paths ...string) *bisect.Result {
	t.Helper()
	r, err := bisectInto(builds, out, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bisectInto(builds compare.Builds, out string, paths ...string) (*bisect.Result, error) {
	s, err := bundle.OpenPaths(paths...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return compare.Bisect(s, builds, compare.BisectOptions{Write: out})
}

// TestComputedFiles: a state is written only in the build that its peer had, and said to be confirmed only by a hash that
// the peer recorded.
func TestComputedFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	f, err := session.ParseFault("rng-leak@30:client")
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 60, SnapshotEvery: 60, DetectEvery: 60, Peers: session.PeerNames(3), Faults: []session.Fault{f}}
	recording, err := session.RecordTo(dir, o, session.TraceNone)
	if err != nil {
		t.Fatal(err)
	}
	bad := recording.Truth.Bracket.Bad
	path := filepath.Join(dir, "client2", bundle.LogName)
	log, err := orderlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log.Epochs {
		for i := range e.Ticks {
			if e.Ticks[i].Number == bad {
				e.Ticks[i].Hashes = nil
			}
		}
	}
	if err := files.Replace(path, func(w *os.File) error { return orderlog.WriteLog(w, log) }); err != nil {
		t.Fatal(err)
	}
	own, err := refsim.ParseSimulator("builtin:fault=rng-leak@30")
	if err != nil {
		t.Fatal(err)
	}
	trusted := refsim.Simulator()
	for _, test := range []struct {
		what, want string
		builds     compare.Builds
	}{
		{"both builds", "client confirmed, client2, host confirmed", compare.Builds{Sim: trusted, Own: own}},
		{"the trusted build", "client2, host confirmed; no state of client is computed: it departs from builtin", compare.Builds{Sim: trusted}},
		{"another build than the peer's", "client2, host confirmed; no state of client is computed: builtin computes hash", compare.Builds{Sim: trusted, Own: trusted}},
	} {
		r := bisected(t, test.builds, filepath.Join(t.TempDir(), "out"), dir)
		var list []string
		for _, c := range r.Computed {
			text := c.Peer
			if c.Confirmed {
				text += " confirmed"
			}
			if s, err := snapshot.OpenFile(c.File); err != nil || s.Info().Root.Short() != c.Hash || s.Info().Point.Tick != bad || s.Info().Peer != c.Peer || s.Close() != nil {
				t.Errorf("%s: %s: %v", test.what, c.File, err)
			}
			list = append(list, text)
		}
		got := strings.Join(list, ", ")
		for _, n := range r.Notes {
			if strings.HasPrefix(n, "no state of") {
				got += "; " + n
			}
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	out := t.TempDir()
	if _, err := bisectInto(compare.Builds{}, out, dir); err == nil || !strings.Contains(err.Error(), "nothing is computed") {
		t.Errorf("without a build: %v", err)
	}
	if err := os.WriteFile(filepath.Join(out, "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := bisectInto(compare.Builds{Sim: trusted}, out, dir); err == nil || !strings.Contains(err.Error(), "folder of their own") {
		t.Errorf("into a folder with other files: %v", err)
	}
}

// TestOnePeer: one peer's folder and a simulator show what two folders do, and a folder without a mistake is in sync.
func TestOnePeer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	f, err := session.ParseFault("rng-leak@60:client")
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 120}, Ticks: 120, SnapshotEvery: 40, Faults: []session.Fault{f}}
	recording, err := session.RecordTo(dir, o, session.TraceSystem)
	if err != nil {
		t.Fatal(err)
	}
	builds := compare.Builds{Sim: refsim.Simulator(), Replays: 2}
	r := judged(t, builds, filepath.Join(dir, "client"))
	if d := r.FirstDivergence; r.Status != document.Diverged || d.Tick == nil || *d.Tick+1 != recording.Truth.Bracket.Bad || recording.Truth.System == nil || d.System != *recording.Truth.System {
		t.Errorf("%s, %+v, want point %d in %s", r.Status, r.FirstDivergence, recording.Truth.Bracket.Bad, *recording.Truth.System)
	}
	if wrong := wrong(r); !slices.Equal(wrong, []string{"client"}) {
		t.Errorf("%q are wrong", wrong)
	}
	if both := judged(t, builds, dir); !slices.Equal(entities(r), entities(both)) {
		t.Errorf("%q differ, with both peers %q", entities(r), entities(both))
	}
	host := filepath.Join(dir, "host")
	alone := judged(t, builds, host)
	if said := strings.Join(alone.Verdict, " "); !strings.HasPrefix(said, "No difference was found between what host recorded and a replay of its own ") || !strings.Contains(said, "does not show whether other peers had the same orders") {
		t.Errorf("host: %s", said)
	}
	if i := slices.IndexFunc(alone.Ladder, func(r document.Rung) bool { return r.Step == "inputs" }); i < 0 || alone.Ladder[i].State != document.RungOpen {
		t.Errorf("host: %+v", alone.Ladder)
	}
	if r := alone; r.Status != document.InSync || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "evidence of one peer, host") }) {
		t.Errorf("host: %s, %q", r.Status, r.Notes)
	}
	if err := os.Remove(filepath.Join(host, bundle.LogName)); err != nil {
		t.Fatal(err)
	}
	if r := judged(t, builds, host); r.Status != document.Inconclusive || !slices.ContainsFunc(r.Missing, func(n string) bool { return strings.HasPrefix(n, "no replay: ") }) {
		t.Errorf("without a log: %s, %q", r.Status, r.Missing)
	}

	// What a peer played after it loaded a state is not compared, and not called in sync.
	t.Setenv("TMPDIR", t.TempDir())
	away, err := session.ParseRejoin("client@40+20")
	if err != nil {
		t.Fatal(err)
	}
	late, err := session.ParseJoin("client@40")
	if err != nil {
		t.Fatal(err)
	}
	for what, absence := range map[string]session.Absence{"0 to 40": away, "nothing": late} {
		dir := filepath.Join(t.TempDir(), "s")
		o := session.Options{Config: refsim.Config{Seed: 7, Entities: 120}, Ticks: 120, SnapshotEvery: 40, Absences: []session.Absence{absence}}
		if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
			t.Fatal(err)
		}
		if r := judged(t, builds, filepath.Join(dir, "client")); r.Status != document.Inconclusive || !slices.ContainsFunc(r.Missing, func(n string) bool { return strings.Contains(n, "a state from elsewhere") }) {
			t.Errorf("compared with %s: %s, %q", what, r.Status, r.Missing)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

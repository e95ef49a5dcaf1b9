package compare_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/snapshot"
)

// bare hides all that a simulator can do except playing ticks.
type bare struct{ bisect.Simulator }

// TestTriageWithoutSystems: a target that cannot be stepped system by system names who is wrong
// as any other does, in triage as in bisect.
func TestTriageWithoutSystems(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	f, err := session.ParseFault("rng-leak/Combat@40:client")
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 60, SnapshotEvery: 50, Peers: []string{"host", "client"}, Faults: []session.Fault{f}}
	recording, err := session.RecordTo(dir, o, session.TraceSystem)
	if err != nil || recording.Truth.Bracket == nil {
		t.Fatalf("%v, %+v", err, recording)
	}
	sim := *refsim.Simulator()
	start, resume := sim.Start, sim.Resume
	sim.Can = nil
	sim.Resume = func(w *snapshot.World, h *orderlog.Header) (bisect.Simulator, error) {
		s, err := resume(w, h)
		return bare{s}, err
	}
	sim.Start = func(h *orderlog.Header) (bisect.Simulator, error) {
		s, err := start(h)
		return bare{s}, err
	}
	s, err := bundle.OpenPaths(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := compare.Bisect(s, compare.Builds{Sim: &sim}, compare.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	departs := func(p bisect.ReplayedPeer) bool {
		return p.Name == "client" && p.Departs != nil && *p.Departs == recording.Truth.Bracket.Bad
	}
	if b.Replay == nil || !slices.ContainsFunc(b.Replay.Peers, departs) {
		t.Errorf("bisect: %+v, %q", b.Replay, b.Lost)
	}
	r, err := compare.Triage(s, compare.Builds{Sim: &sim}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Peers {
		if p.MatchesReference == nil || *p.MatchesReference != (p.Name == "host") {
			t.Errorf("triage: %s matches %v; %q, %q", p.Name, p.MatchesReference, r.Verdict, r.Missing)
		}
	}
}

package compare_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// full is a simulator that can do everything but save itself.
type full interface {
	bisect.Saver
	bisect.Stepper
	bisect.CacheChecker
	bisect.Validator
	bisect.Tester
	bisect.Predictor
}

// limited is a simulator that can be asked for some of what it can do.
type limited struct {
	full
	can []bisect.Capability
}

func (l *limited) Can(c bisect.Capability) bool { return slices.Contains(l.can, c) }

// limit returns the reference sim with some capabilities only.
func limit(can []bisect.Capability) *bisect.Sim {
	whole := refsim.Simulator()
	wrap := func(s bisect.Simulator, err error) (bisect.Simulator, error) {
		if err != nil {
			return nil, err
		}
		return &limited{s.(full), can}, nil
	}
	return &bisect.Sim{
		Name: "limited", Can: can,
		Start: func(h *orderlog.Header) (bisect.Simulator, error) { return wrap(whole.Start(h)) },
		Resume: func(w *snapshot.World, h *orderlog.Header) (bisect.Simulator, error) {
			if !slices.Contains(can, bisect.CanLoad) {
				return nil, fmt.Errorf("load: %w", bisect.ErrUnsupported)
			}
			return wrap(whole.Resume(w, h))
		},
	}
}

// playedWith plays a session with a fault, "" for none, and returns its folder.
func playedWith(t *testing.T, fault string) string {
	t.Helper()
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 120}, Ticks: 150, SnapshotEvery: 50}
	if fault != "" {
		f, err := session.ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = []session.Fault{f}
	}
	dir := filepath.Join(t.TempDir(), "s")
	if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
	return dir
}

// withSim triages a folder with a simulator, and bisects it.
func withSim(t *testing.T, dir string, sim *bisect.Sim) (*document.Report, *bisect.Result) {
	t.Helper()
	s, err := bundle.Open(archivetest.Open(t, dir), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare.Triage(s, compare.Builds{Sim: sim}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := compare.Bisect(walked(t, archivetest.Open(t, dir), []string{dir}), compare.Builds{Sim: sim}, compare.BisectOptions{Drill: true})
	if err != nil {
		t.Fatal(err)
	}
	return r, b
}

// guilty returns the peers that departed according to a triage.
func guilty(r *document.Report) (names []string) {
	for _, p := range r.Peers {
		if p.MatchesReference != nil && !*p.MatchesReference {
			names = append(names, p.Name)
		}
	}
	return names
}

// TestCapabilities: a simulator that can do little still gives all that this allows, in each command: who is wrong and
// in which tick needs nothing but steps.
func TestCapabilities(t *testing.T) {
	dir := playedWith(t, "rng-leak/Movement@70:client")
	optional := []bisect.Capability{bisect.CanState, bisect.CanLoad, bisect.CanSystems, bisect.CanCaches, bisect.CanValidate, bisect.CanTest, bisect.CanPredict}
	whole, _ := withSim(t, dir, limit(optional))
	for set := 0; set < 1<<3; set += effort.Of(7, 1) { // of state, load and systems every set, of the others all or none
		can := []bisect.Capability{}
		for i, c := range optional {
			if set>>i&1 == 1 || i > 2 && set%2 == 0 {
				can = append(can, c)
			}
		}
		r, b := withSim(t, dir, limit(can))
		if got := guilty(r); !slices.Equal(got, []string{"client"}) || r.SimFailed != "" || !slices.Equal(r.Verdict, whole.Verdict) {
			t.Errorf("%v: guilty are %v, it failed: %q, the verdict is %q", can, got, r.SimFailed, r.Verdict)
		}
		if b.Replay == nil || b.SimFailed != "" || len(b.Lost) > 0 || !b.Exact {
			t.Errorf("%v: bisect has %+v, lost %q", can, b.Replay, b.Lost)
			continue
		}
		for _, p := range b.Replay.Peers {
			if systems := slices.Contains(can, bisect.CanSystems); (p.Name == "client") != (p.Departs != nil) || (p.Drilled != nil) != (systems && p.Departs != nil) {
				t.Errorf("%v: bisect says of %s %+v", can, p.Name, p)
			}
		}
	}
}

// dying is a simulator that fails in a tick.
type dying struct {
	bisect.Simulator
	in uint64
}

func (d *dying) Step(orders []orderlog.Order) error {
	if d.Point() == d.in {
		return errors.New("segmentation fault")
	}
	return d.Simulator.Step(orders)
}

// TestFailedSimulators: the first lines report a simulator that does not start, refuses or dies. It is an unusable
// argument unless the peers are known to have diverged, and the report asks for no further replay.
func TestFailedSimulators(t *testing.T) {
	whole := refsim.Simulator()
	sims := map[string]*bisect.Sim{
		"no such file": {Start: func(*orderlog.Header) (bisect.Simulator, error) { return nil, errors.New("no such file") }},
		"segmentation fault": {Start: func(h *orderlog.Header) (bisect.Simulator, error) {
			s, err := whole.Start(h)
			return &dying{s, 3}, err
		}},
	}
	for why, sim := range sims {
		sim.Name = "broken"
		sim.Resume = func(*snapshot.World, *orderlog.Header) (bisect.Simulator, error) { return nil, bisect.ErrUnsupported }
		for fault, want := range map[string]document.Status{"": document.Failed, "rng-leak/Movement@70:client": document.Diverged} {
			if fault == "" && why == "segmentation fault" {
				continue // nothing has it play where the peers agree
			}
			r, b := withSim(t, playedWith(t, fault), sim)
			if r.Status != want || document.StatusOf(b) != want {
				t.Errorf("%s, %q: triage says %s and bisect %s, expected %s", why, fault, r.Status, document.StatusOf(b), want)
			}
			if !strings.Contains(strings.Join(r.Verdict, " "), why) || !strings.Contains(r.SimFailed, why) || !strings.Contains(b.SimFailed, why) {
				t.Errorf("%s, %q: the verdict is %q", why, fault, r.Verdict)
			}
			var text, other strings.Builder
			if err := errors.Join(r.Text(&text, document.NewStyle(false), true), document.Bisect(b).Text(&other, document.NewStyle(false), true)); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text.String(), "(--sim)") {
				t.Errorf("%s, %q: asks for what was given:\n%s", why, fault, text.String())
			}
			if lines := strings.SplitN(other.String(), "\n", 3); !strings.Contains(lines[1], why) {
				t.Errorf("%s, %q: bisect begins with %q", why, fault, lines[:2])
			}
		}
	}
}

// salted is a simulator with other hashes in each instance.
type salted struct {
	bisect.Simulator
	salt byte
}

func (s *salted) SyncHash() merkle.Short {
	h := s.Simulator.SyncHash()
	if s.Point() > 60 {
		h[0] ^= s.salt
	}
	return h
}

// TestUnsteadySimulator: one that is not deterministic shows nothing, least of all that the peers
// were given different orders.
func TestUnsteadySimulator(t *testing.T) {
	var n atomic.Int32
	whole := refsim.Simulator()
	sim := &bisect.Sim{
		Name: "unsteady",
		Start: func(h *orderlog.Header) (bisect.Simulator, error) {
			s, err := whole.Start(h)
			return &salted{s, byte(n.Add(1))}, err
		},
		Resume: func(*snapshot.World, *orderlog.Header) (bisect.Simulator, error) { return nil, bisect.ErrUnsupported },
	}
	r, b := withSim(t, playedWith(t, "rng-leak/Movement@70:client"), sim)
	verdict := strings.Join(r.Verdict, " ")
	if r.Status != document.Diverged || strings.Contains(verdict, "different orders") || strings.Contains(verdict, "network") || !strings.Contains(verdict, "does not agree with itself") {
		t.Errorf("the verdict is %q", r.Verdict)
	}
	if b.Replay.InputsDiffer != nil || !b.Replay.Unsteady || guilty(r) != nil {
		t.Errorf("the replay is %+v, guilty are %v", b.Replay, guilty(r))
	}
}

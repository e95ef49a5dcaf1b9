package simulators_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/snapshot"
)

// elsewhere are the mistakes that a plain replay need not make: mistakes of the network, of saving, of a single
// player's machine, of chance, and of checksums.
var elsewhere = []string{
	"order-dropped", "order-altered", "order-late", "order-duplicated", "order-reordered", "save-omits-field", "impure-validation", "prediction-leak",
	"map-order", "unsorted-merge", "uninitialized", "checksum-only", "blind-checksum",
}

// TestGolden compares the findings of a check with a mistake with the truth of a session in which the client makes that
// mistake. The truth comes from comparing columns: the tick, and the system.
func TestGolden(t *testing.T) {
	kinds := slices.DeleteFunc(refsim.Faults(), func(k refsim.FaultKind) bool { return slices.Contains(elsewhere, k.Name) })
	if len(kinds) < 9 {
		t.Errorf("only %d kinds of mistakes", len(kinds))
	}
	every := effort.Of(3, 1)
	for i, kind := range kinds {
		if i%every == 0 {
			t.Run(kind.Name, func(t *testing.T) { goldenFault(t, kind.Name+"@20") })
		}
	}
}

func goldenFault(t *testing.T, name string) {
	dir := t.TempDir()
	fault, err := session.ParseFault(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.RecordTo(filepath.Join(dir, "s"), session.Options{Config: refsim.Config{Seed: 7, Entities: 300}, Ticks: 90, Faults: []session.Fault{fault}}, session.TraceNone)
	if err != nil {
		t.Fatal(err)
	}
	folder, systems := &golden.Folder{Path: filepath.Join(dir, "golden")}, true
	source := golden.Source{Tree: files.Disk, Path: s.Peers[0].Log, Usual: true}
	kept, err := folder.Record(context.Background(), []golden.Source{source}, golden.RecordOptions{Play: simulators.Play(refsim.Simulator()), Systems: &systems})
	if err != nil || kept.Replays[0].Result != golden.Recorded || kept.Replays[0].Departs != "" || kept.Replays[0].Replay != "host" || kept.Game != refsim.SimName {
		t.Fatalf("%v %+v", err, kept)
	}
	if folder, err = golden.Open(folder.Path); err != nil {
		t.Fatal(err)
	}
	check := func(sim golden.Play) golden.Outcome {
		run, err := folder.Check(context.Background(), golden.Options{Play: sim})
		if err != nil {
			t.Fatal(err)
		}
		return run.Replays[0]
	}
	if o := check(simulators.Play(refsim.Simulator())); o.Result != golden.Same {
		t.Errorf("without the mistake: %+v", o)
	}
	o := check(simulators.Play(refsim.Simulator(fault.Fault)))
	truth := s.Truth
	switch {
	case truth.Bracket == nil && o.Result == golden.Same: // it does not show in this session
	case truth.Bracket == nil || o.Result != golden.Diverged:
		t.Fatalf("%+v, the truth is %+v", o, truth)
	case truth.InitialState != nil && *truth.InitialState:
		if !o.First.Start || o.First.Tick != nil {
			t.Errorf("%+v, the truth is the initial state", o.First)
		}
	case o.First.Tick == nil || *o.First.Tick+1 != truth.Bracket.Bad || *o.First.Equal != *truth.Bracket.Good-1:
		t.Errorf("%+v, the truth is state point %d", o.First, truth.Bracket.Bad)
	case truth.System == nil || o.First.System != *truth.System:
		t.Errorf("after %q, the truth is %v", o.First.System, truth.System)
	}
	// A clock may show the same twice, but not every time.
	for range 20 {
		if fault.Name != "wall-clock" || o.Again != golden.AgainSame {
			break
		}
		o = check(simulators.Play(refsim.Simulator(fault.Fault)))
	}
	if again := o.Again == golden.AgainOther; again != (fault.Name == "wall-clock") && o.Again != "" {
		t.Errorf("a second replay is %s", o.Again)
	}
}

// told is a simulator of states with facts.
type told struct{ *refsim.Sim }

func (told) Identity() (game, build string)       { return "mine", "" }
func (t told) Step(orders []orderlog.Order) error { return t.Sim.Step(orders) }
func (t told) World() (*snapshot.World, error) {
	w := t.Sim.World()
	w.Meta = map[string]string{"build": "1.3", "compiler": "gcc 13", "hostname": "secret", "engine": strings.Repeat("x", 300)}
	return w, nil
}

// TestToldFacts: the facts about the machine in a state that golden results name are kept.
func TestToldFacts(t *testing.T) {
	dir := t.TempDir()
	s, err := session.RecordTo(filepath.Join(dir, "s"), session.Options{Config: refsim.Config{Seed: 7, Entities: 200}, Ticks: 3}, session.TraceNone)
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	sim := &bisect.Sim{Name: "mine", Can: []bisect.Capability{bisect.CanState}, Start: func(h *orderlog.Header) (bisect.Simulator, error) {
		started++
		config, err := refsim.ParseParams(h.Params)
		if err != nil {
			return nil, err
		}
		game, err := refsim.New(config)
		return told{game}, err
	}}
	folder := &golden.Folder{Path: filepath.Join(dir, "golden")}
	var sources []golden.Source
	for _, p := range s.Peers {
		sources = append(sources, golden.Source{Tree: files.Disk, Path: p.Log, Usual: true})
	}
	r, err := folder.Record(context.Background(), sources, golden.RecordOptions{Play: simulators.Play(sim)})
	want := golden.Build{Game: "mine", Build: "1.3", Facts: map[string]string{"compiler": "gcc 13", "engine": strings.Repeat("x", 199) + "…"}}
	if err != nil || !reflect.DeepEqual(r.Build, want) || started != 3 { // once for each log, and once to ask
		t.Errorf("%v, %d started: %+v", err, started, r)
	}
	if folder, err = golden.Open(folder.Path); err != nil || !reflect.DeepEqual(folder.Entries[1].Manifest.Build, want) {
		t.Errorf("%v %+v", err, folder.Entries[1].Manifest)
	}
}

// plain is a simulator that only steps.
type plain struct{ bisect.Simulator }

// TestWithoutSystems: a golden trace with systems is not compared with a simulator that has none.
func TestWithoutSystems(t *testing.T) {
	dir := t.TempDir()
	s, err := session.RecordTo(filepath.Join(dir, "s"), session.Options{Config: refsim.Config{Seed: 7, Entities: 200}, Ticks: 3}, session.TraceNone)
	if err != nil {
		t.Fatal(err)
	}
	whole := refsim.Simulator()
	sim := &bisect.Sim{Name: "mine", Start: func(h *orderlog.Header) (bisect.Simulator, error) {
		game, err := whole.Start(h)
		return plain{game}, err
	}}
	for _, systems := range []bool{false, true} {
		folder := &golden.Folder{Path: filepath.Join(dir, fmt.Sprint(systems))}
		source := golden.Source{Tree: files.Disk, Path: s.Peers[0].Log, Usual: true}
		if _, err := folder.Record(context.Background(), []golden.Source{source}, golden.RecordOptions{Play: simulators.Play(whole), Systems: &systems}); err != nil {
			t.Fatal(err)
		}
		if folder, err = golden.Open(folder.Path); err != nil {
			t.Fatal(err)
		}
		run, err := folder.Check(context.Background(), golden.Options{Play: simulators.Play(sim)})
		if err != nil {
			t.Fatal(err)
		}
		switch o := run.Replays[0]; {
		case !systems && o.Result != golden.Same:
			t.Errorf("%+v", o)
		case systems && (o.Result != golden.NotPlayed || !strings.Contains(o.Why, "the simulator cannot be stepped system by system")):
			t.Errorf("%+v", o)
		}
	}
}

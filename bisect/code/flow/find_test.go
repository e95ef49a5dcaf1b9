package flow

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// recorderObject compiles the recorder, which is not instrumented, once.
var recorderObject = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "branches-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "recorder.c")
	sdk, err := filepath.Abs("../../../docs/sdk/c")
	if err != nil {
		return "", err
	}
	text := "#define DESYNCTOOL_BRANCHES_IMPLEMENTATION\n#include \"desynctool_branches.h\"\n#define DESYNCTOOL_IMPLEMENTATION\n#include \"desynctool.h\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	object := filepath.Join(dir, "recorder.o")
	out, err := exec.Command("cc", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-I", sdk, "-c", file, "-o", object).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return object, err
})

func TestMain(m *testing.M) {
	status := m.Run()
	if object, err := recorderObject(); err == nil {
		_ = os.RemoveAll(filepath.Dir(object))
	}
	os.Exit(status)
}

// build compiles the game in C with a mistake, and returns it as a simulator.
func build(t *testing.T, compiler string, fault int, flags ...string) *bisect.Sim {
	t.Helper()
	return inC.build(t, compiler, fault, flags...)
}

// session is a log without orders.
func session(ticks uint64) *orderlog.Log {
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: 5, Peer: "p", Peers: []string{"p"}}}
	for i := range ticks {
		log.Ticks = append(log.Ticks, orderlog.Tick{Number: i})
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	return log
}

// marked returns the lines of the source that name a mistake.
func marked(t *testing.T, source string, fault int) (list []int) {
	t.Helper()
	content, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(content), "\n") {
		if strings.Contains(line, fmt.Sprintf("FAULT %d:", fault)) || strings.Contains(line, fmt.Sprintf("SOUND %d:", fault)) {
			list = append(list, i+1)
		}
	}
	return list
}

// find finds where a build goes another way than the sound one.
func find(t *testing.T, sound, own *bisect.Sim) *Finding {
	t.Helper()
	f := departing(t, sound, own)
	if f == nil {
		t.Fatal("the builds do not depart")
	}
	return f
}

// departing is find; it returns nil if the builds do not depart.
func departing(t *testing.T, sound, own *bisect.Sim) *Finding {
	t.Helper()
	log := session(90)
	trial, err := bisect.Try(log, sound, bisect.TrialOptions{Mode: bisect.Against, Against: own})
	if err != nil {
		t.Fatal(err)
	}
	tick, ok := trial.Tick()
	if !ok {
		return nil
	}
	f, err := Find(log, [2]*bisect.Sim{sound, own}, Options{Tick: tick, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// expect checks that a finding names one of the marked lines; of builds that were compiled alike, also the system.
func expect(t *testing.T, f *Finding, fault int, alike bool) {
	t.Helper()
	if call := map[int]string{6: "clock_gettime"}[fault]; call != "" {
		if named := func(name string) bool { return strings.HasPrefix(name, call) }; !slices.ContainsFunc(f.Calls, named) {
			t.Errorf("the code that decides calls %q, expected %s", f.Calls, call)
		}
	}
	lines := marked(t, inC.source, fault)
	names := func(list []code.Place) bool { return len(list) > 0 && slices.Contains(lines, list[0].Line) }
	if !names(f.At) && !names(f.Next[0]) && !names(f.Next[1]) {
		t.Errorf("%s: at %v, then %v; expected a line of %v", f.Kind, f.At, f.Next, lines)
	}
	system := "Morale"
	if fault < 7 {
		system = []string{"", "Combat", "Combat", "Move", "Orders", "Rank", "Move"}[fault]
	}
	if f.Kind == Branch && alike && (f.System != system || f.StateFirst != system || f.Consequence || !strings.Contains(f.Stack.String(), "next")) {
		t.Errorf("system %q, the state differs after %q, stack %s; expected %s", f.System, f.StateFirst, f.Stack, system)
	}
}

// TestFind: mistakes in the logic of a game are found at their line, whatever compiled it.
func TestFind(t *testing.T) {
	for _, c := range []struct{ compiler, sound, own string }{
		{"gcc", "-O2", "-O2"}, {"gcc", "-O0", "-O0"}, {"clang", "-O0", "-O0"}, {"clang", "-O2", "-O2"}, {"gcc", "-O0", "-O2"},
	}[:effort.Of(1, 5)] {
		sound := build(t, c.compiler, 0, c.sound)
		for fault := 1; fault <= 5; fault++ {
			if fault > 1 && fault < effort.Of(4, 0) {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %s %d", c.compiler, c.sound, c.own, fault), func(t *testing.T) {
				expect(t, find(t, sound, build(t, c.compiler, fault, c.own)), fault, c.sound == c.own)
			})
		}
	}
}

// TestUnsteady: a build that takes other branches each time is found, and no other build is blamed.
func TestUnsteady(t *testing.T) {
	sim := build(t, "gcc", 6, "-O0")
	f, err := Find(session(90), [2]*bisect.Sim{sim, sim}, Options{Tick: 40, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != Unsteady {
		t.Errorf("%+v", f)
	}
	expect(t, f, 6, true)
}

// TestSameBranches: builds that only compute other values take the same branches.
func TestSameBranches(t *testing.T) {
	sim := build(t, "gcc", 0, "-O0")
	f, err := Find(session(90), [2]*bisect.Sim{sim, sim}, Options{Tick: 40, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != Data || f.Equal < 1000 || f.At != nil {
		t.Errorf("%+v", f)
	}
}

// TestUnrecorded: a simulator that does not record its branches is an error with its name.
func TestUnrecorded(t *testing.T) {
	sim := &bisect.Sim{Name: "plain", Start: func(*orderlog.Header) (bisect.Simulator, error) { return &plain{}, nil }}
	_, err := Find(session(90), [2]*bisect.Sim{sim, sim}, Options{Tick: 40, Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "plain does not record its branches") {
		t.Error(err)
	}
}

// plain is a simulator without capabilities.
type plain struct{ point uint64 }

func (p *plain) Point() uint64                 { return p.point }
func (p *plain) Step(_ []orderlog.Order) error { p.point++; return nil }
func (p *plain) SyncHash() merkle.Short        { return merkle.Short{} }

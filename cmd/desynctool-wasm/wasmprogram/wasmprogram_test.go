package wasmprogram

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/wasmsim"
	"github.com/desynctool/desynctool/internal/programs"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

const skirmish = "../../../testdata/wasm/skirmish.wasm"

// asProgram has this test's process be the program.
const asProgram = "DESYNCTOOL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// install has simulators find the program, and gives it a separate cache.
func install(t testing.TB) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(simulators.ModuleVar, self)
	t.Setenv(asProgram, "1")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

// sims returns the same module in a process and in this one, under the same name.
func sims(t testing.TB) (there, here *bisect.Sim) {
	t.Helper()
	there, err := simulators.Parse(t.Context(), "wasm:"+skirmish, simulators.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if here, err = wasmsim.New(t.Context(), there.Name, skirmish, extsim.Options{}); err != nil {
		t.Fatal(err)
	}
	return there, here
}

// TestSameAsHere compares a module in a process with the same one in this process, in ways of replaying that ask for different things.
func TestSameAsHere(t *testing.T) {
	install(t)
	there, here := sims(t)
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: 7, Peer: "p", Peers: []string{"p"}}}
	for tick := range uint64(effort.Of(60, 600)) {
		log.Ticks = append(log.Ticks, orderlog.Tick{Number: tick})
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	for _, opts := range []bisect.TrialOptions{
		{Mode: bisect.Plain}, {Mode: bisect.Dual}, {Mode: bisect.Serialize}, {Mode: bisect.Rollback, Depth: 3}, {Mode: bisect.CheckCaches}, {Mode: bisect.Against, Against: here, Drill: true},
	} {
		got, err := bisect.Try(log, there, opts)
		if err != nil {
			t.Errorf("%s: %v", opts.Mode, err)
			continue
		}
		want, err := bisect.Try(log, here, opts)
		if err != nil {
			t.Fatal(err)
		}
		if got.Departed() || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: in a process %+v\nhere %+v", opts.Mode, got, want)
		}
	}
}

// TestSaves: another process restores the saves that one process made after steps of every kind, at the right point.
func TestSaves(t *testing.T) {
	install(t)
	there, here := sims(t)
	var saves [2][]byte
	for i, sim := range []*bisect.Sim{there, here} {
		s := start(t, sim)
		for range 3 {
			if err := s.Step(nil); err != nil {
				t.Fatal(err)
			}
		}
		stepper := s.(bisect.Stepper)
		if err := stepper.Begin(nil); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			var err error
			if _, more, err = stepper.Next(); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if saves[i], err = s.(bisect.Restorer).Save(); err != nil {
			t.Fatal(err)
		}
		other := start(t, sim)
		if err := other.(bisect.Restorer).Restore(saves[i]); err != nil {
			t.Fatal(err)
		}
		if other.Point() != 4 || other.SyncHash() != s.SyncHash() {
			t.Errorf("restored at state point %d with hash %s, expected 4 with %s", other.Point(), other.SyncHash(), s.SyncHash())
		}
	}
	if !slices.Equal(saves[0][:16], saves[1][:16]) {
		t.Errorf("a save in a process begins with %x, in this process with %x", saves[0][:16], saves[1][:16])
	}
	err := start(t, there).(bisect.Restorer).Restore([]byte("no save"))
	if err == nil || !strings.Contains(err.Error(), "the target refuses: restore: a save of 7 bytes, expected more") {
		t.Errorf("error is %v", err)
	}
}

func start(t testing.TB, sim *bisect.Sim) bisect.Simulator {
	t.Helper()
	s, err := sim.Start(&orderlog.Header{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.(io.Closer).Close() })
	return s
}

// module assembles a module of three functions: desynctool_alloc, desynctool_request and _initialize, the last two with the bodies given.
func module(t *testing.T, request, initialize string) string {
	t.Helper()
	section := func(id byte, content string) string { return string(id) + string(rune(len(content))) + content }
	code := func(body string) string { return string(rune(len(body)+2)) + "\x00" + body + "\x0b" }
	export := func(name, what string) string { return string(rune(len(name))) + name + what }
	path := filepath.Join(t.TempDir(), "m.wasm")
	content := "\x00asm\x01\x00\x00\x00" +
		section(1, "\x03\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7e\x60\x00\x00") +
		section(3, "\x03\x00\x01\x02") +
		section(5, "\x01\x00\x01") +
		section(7, "\x04"+export("memory", "\x02\x00")+export("desynctool_alloc", "\x00\x00")+export("desynctool_request", "\x00\x01")+export("_initialize", "\x00\x02")) +
		section(10, "\x03"+code("\x41\x08")+code(request)+code(initialize))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBroken: a module that goes wrong gives the same line in a process as in this one, and none goes on after its time.
func TestBroken(t *testing.T) {
	effort.Whole(t)
	install(t)
	const loop, nothing = "\x03\x40\x0c\x00\x0b", "\x42\x00"
	for name, c := range map[string]struct{ path, want string }{
		"traps":            {module(t, "\x00", ""), "wasm error: unreachable"},
		"outside":          {module(t, "\x42\x7f", ""), "its reply of 4294967295 bytes at 0xffffffff lies outside of its memory"},
		"nothing":          {module(t, nothing, ""), "its answer is not MessagePack: msgpack at byte 0: buffer ends, 1 more values expected"},
		"a request":        {module(t, "\x42\x95\x80\x80\x80\x80\x01", ""), "the target refuses: hello"},
		"traps at first":   {module(t, nothing, "\x00"), "wasm error: unreachable"},
		"hangs":            {module(t, loop+"\x00", ""), "no answer within 2s"},
		"hangs at first":   {module(t, nothing, loop), "no answer within 2s"},
		"is not there":     {filepath.Join(t.TempDir(), "gone.wasm"), "gone.wasm: no such file"},
		"is not a module":  {"wasmprogram_test.go", "wasmprogram_test.go: invalid magic number"},
		"is only a header": {write(t, "\x00asm\x01\x00\x00\x00"), `the module exports no memory as "memory"`},
	} {
		for where, run := range map[string]func(context.Context, string, string, extsim.Options) (*bisect.Sim, error){"in a process": nil, "here": wasmsim.New} {
			began := time.Now()
			sim, err := simulators.Parse(t.Context(), "wasm:"+c.path, simulators.Options{Timeout: 2 * time.Second, Module: run})
			if err == nil {
				_, err = sim.Start(&orderlog.Header{})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %s: error is %v, expected %s", name, where, err, c.want)
			}
			if d := time.Since(began); d > 30*time.Second {
				t.Errorf("%s %s: it took %v", name, where, d)
			}
		}
	}
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.wasm")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMissing: without the program there is one line, which shows how to get it.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := simulators.Parse(t.Context(), "wasm:"+skirmish, simulators.Options{})
	missing, ok := err.(*programs.MissingError)
	if !ok || missing.Name != "desynctool-wasm" || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v", err)
	}
}

// TestKept: a module is compiled once.
func TestKept(t *testing.T) {
	install(t)
	if code := Main([]string{simulators.CompileModule, skirmish}, nil, os.Stdout, os.Stderr); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	entries := func() []string {
		list, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "desynctool", "wasm", "*", "content", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := entries()
	if len(before) != 1 {
		t.Skipf("%d compiled modules: this system has another folder for caches, or no compiler", len(before))
	}
	stat, err := os.Stat(before[0])
	if err != nil {
		t.Fatal(err)
	}
	there, _ := sims(t)
	start(t, there)
	again, err := os.Stat(before[0])
	if err != nil || !again.ModTime().Equal(stat.ModTime()) || len(entries()) != 1 {
		t.Errorf("it was compiled again: %v, %v", entries(), err)
	}
}

// BenchmarkReplay plays ticks in batches, by a module in a process and by the same one in this process.
func BenchmarkReplay(b *testing.B) {
	install(b)
	there, here := sims(b)
	const ticks = 3_000
	for _, c := range []struct {
		name string
		sim  *bisect.Sim
	}{{"process", there}, {"here", here}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				s := start(b, c.sim)
				if _, err := s.(bisect.Batcher).Run(make([]merkle.Short, 0, ticks), make([][]orderlog.Order, ticks)); err != nil {
					b.Fatal(err)
				}
				s.(io.Closer).Close()
			}
			b.ReportMetric(float64(ticks*b.N)/b.Elapsed().Seconds(), "ticks/s")
		})
	}
}

package wasmsim

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
)

// refsimModule compiles the reference sim to a module, with a mistake unless fault is empty.
func refsimModule(t *testing.T, fault string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "refsim.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags", "-X main.fault="+fault, "-o", path, "./testdata/refsim")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// sessionLog is a session of the reference sim.
func sessionLog(t *testing.T, ticks int) *orderlog.Log {
	t.Helper()
	config := refsim.Config{Seed: 5, Entities: 200}
	sim, err := refsim.New(config)
	if err != nil {
		t.Fatal(err)
	}
	script := refsim.NewScript(config.Seed)
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: config.Seed, Peer: "p", Peers: []string{"p"}, Kinds: refsim.OrderKinds(), Params: sim.Config().Params(), Start: sim.StateHash()}}
	for range ticks {
		h := sim.SyncHash()
		tick := orderlog.Tick{Number: sim.Point(), Orders: script.Orders(sim), Hashes: []orderlog.Observed{{Point: sim.Point(), Kind: orderlog.SyncHash, Bytes: h[:]}}}
		if err := sim.Step(tick.Orders); err != nil {
			t.Fatal(err)
		}
		log.Ticks = append(log.Ticks, tick)
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	return log
}

// skirmishModule is the example game of docs/sdk/c.
const skirmishModule = "../../testdata/wasm/skirmish.wasm"

// TestReplays replays the example game's recording in the module that recorded it, in all ways of replaying.
func TestReplays(t *testing.T) {
	sim, err := New(context.Background(), "skirmish", skirmishModule, extsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: 7, Peer: "p", Peers: []string{"p"}}}
	s, err := sim.Start(&log.Header)
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		h := s.SyncHash()
		log.Ticks = append(log.Ticks, orderlog.Tick{Number: s.Point(), Hashes: []orderlog.Observed{{Point: s.Point(), Kind: orderlog.SyncHash, Bytes: h[:]}}})
		if err := s.Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	for _, opts := range []bisect.TrialOptions{
		{Mode: bisect.Plain}, {Mode: bisect.Dual}, {Mode: bisect.Serialize}, {Mode: bisect.Rollback, Depth: 3}, {Mode: bisect.CheckCaches}, {Mode: bisect.CheckPurity},
	} {
		if got, err := bisect.Try(log, sim, opts); err != nil || got.Departed() {
			t.Errorf("%s: %+v, %v", opts.Mode, got, err)
		}
	}
	wrong := log.Ticks[40].Hashes[0]
	wrong.Bytes = []byte("12345678")
	log.Ticks[40].Hashes = []orderlog.Observed{wrong}
	if got, err := bisect.Try(log, sim, bisect.TrialOptions{Mode: bisect.Plain}); err != nil || !got.Departed() {
		t.Errorf("a wrong hash: %+v, %v", got, err)
	}
}

// TestSameAsNative compares the reference sim as a module with the one in this process,
// in all ways of replaying. It takes seconds to make code of that module, so that only the whole sample has it.
func TestSameAsNative(t *testing.T) {
	effort.Whole(t)
	log := sessionLog(t, 200)
	path := refsimModule(t, "")
	start, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	there := extsim.Over("wasm", extsim.Options{}, start)
	until := uint64(30)
	for _, opts := range []bisect.TrialOptions{
		{Mode: bisect.Plain}, {Mode: bisect.Dual}, {Mode: bisect.Serialize, Until: &until}, {Mode: bisect.Rollback, Depth: 3, Until: &until},
		{Mode: bisect.CheckCaches, Until: &until}, {Mode: bisect.CheckPurity, Until: &until}, {Mode: bisect.Against, Against: refsim.Simulator(), Drill: true, Until: &until},
	} {
		got, err := bisect.Try(log, there, opts)
		if err != nil {
			t.Errorf("%s: %v", opts.Mode, err)
			continue
		}
		here := refsim.Simulator()
		here.Name = there.Name
		want, err := bisect.Try(log, here, opts)
		if err != nil {
			t.Fatal(err)
		}
		if got.Departed() || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: as a module %+v\nnative %+v", opts.Mode, got, want)
		}
	}
	orders, recorded, _ := bisect.Recorded(log)
	c, err := extsim.CheckOver("module", extsim.Options{}, start, extsim.Session{Header: log.Header, Orders: orders, Recorded: recorded, Ticks: 60})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Findings {
		if f.Outcome == extsim.Wrong {
			t.Errorf("%s: %s", f.Name, f.Detail)
		}
	}
}

// TestBadModules checks that what is not a module, or does not fit, gives one line.
func TestBadModules(t *testing.T) {
	header := "\x00asm\x01\x00\x00\x00"
	memory := "\x05\x03\x01\x00\x01" // one memory of a page
	for name, c := range map[string]struct{ code, want string }{
		"empty":     {"", "invalid magic number"},
		"text":      {"hello, world", "invalid magic number"},
		"cut":       {header + "\x05\x03", "section memory: error reading size"},
		"nothing":   {header, `the module exports no memory as "memory"`},
		"no alloc":  {header + memory + "\x07\x0a\x01\x06memory\x02\x00", "the module exports no function desynctool_alloc"},
		"too large": {header + "\x05\x05\x01\x00\xff\xff\x03", "memory"},
	} {
		path := filepath.Join(t.TempDir(), "m.wasm")
		if err := os.WriteFile(path, []byte(c.code), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(context.Background(), "wasm", path, extsim.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v, expected %s", name, err, c.want)
		}
	}
}

// module assembles a module with a body for its request function, and a function that never returns: its start function,
// or the function that it exports by a name.
func module(body, endless string) string {
	section := func(id byte, content string) string { return string(id) + string(rune(len(content))) + content }
	code := func(body string) string { return string(rune(len(body)+2)) + "\x00" + body + "\x0b" }
	export := func(name, what string) string { return string(rune(len(name))) + name + what }
	exports, start := "\x04"+export("memory", "\x02\x00")+export(allocName, "\x00\x00")+export(requestName, "\x00\x01")+export(endless, "\x00\x02"), ""
	if endless == "start" {
		start = section(8, "\x02")
	}
	return "\x00asm\x01\x00\x00\x00" +
		section(1, "\x03\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7e\x60\x00\x00") +
		section(3, "\x03\x00\x01\x02") +
		section(5, "\x01\x00\x01") +
		section(7, exports) + start +
		section(10, "\x03"+code("\x41\x08")+code(body)+code("\x03\x40\x0c\x00\x0b"))
}

// TestBrokenModules checks that a module that goes wrong in a call gives one line.
func TestBrokenModules(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"start":       {"\x42\x00", "no answer within 100ms"},
		"_initialize": {"\x42\x00", "no answer within 100ms"},

		"traps":     {"\x00", "wasm error: unreachable"},
		"hangs":     {"\x03\x40\x0c\x00\x0b\x00", "no answer within 100ms"},
		"outside":   {"\x42\x7f", "its reply of 4294967295 bytes at 0xffffffff lies outside of its memory"},
		"nothing":   {"\x42\x00", "its answer is not MessagePack: msgpack at byte 0: buffer ends, 1 more values expected"},
		"a request": {"\x42\x95\x80\x80\x80\x80\x01", "the target refuses: hello"}, // 21 bytes at 8: the request itself
	} {
		path := filepath.Join(t.TempDir(), "m.wasm")
		if err := os.WriteFile(path, []byte(module(c.body, name)), 0o600); err != nil {
			t.Fatal(err)
		}
		timeout := time.Minute // on a busy machine the others take a while as well
		if strings.Contains(c.want, "100ms") {
			timeout = 100 * time.Millisecond
		}
		sim, err := New(context.Background(), "wasm", path, extsim.Options{Timeout: timeout})
		if err == nil {
			_, err = sim.Start(&orderlog.Header{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v, expected %s", name, err, c.want)
		}
	}
}

// TestSkirmish tests the example game of docs/sdk/c as a module.
func TestSkirmish(t *testing.T) {
	start, err := Open(context.Background(), skirmishModule, Options{})
	if err != nil {
		t.Fatal(err)
	}
	session := extsim.Session{Header: orderlog.Header{Seed: 7}, Ticks: effort.Of[uint64](60, 200)}
	c, err := extsim.CheckOver("skirmish", extsim.Options{}, start, session)
	if err != nil {
		t.Fatal(err)
	}
	ok := 0
	for _, f := range c.Findings {
		switch f.Outcome {
		case extsim.Wrong:
			t.Errorf("%s: %s", f.Name, f.Detail)
		case extsim.Passed:
			ok++
		}
	}
	if ok < 14 {
		t.Errorf("%d parts are supported: %+v", ok, c.Findings)
	}
}

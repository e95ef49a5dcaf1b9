package extsim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
)

func newSim(t testing.TB, argv []string, opts Options) *bisect.Sim {
	t.Helper()
	sim, err := New(context.Background(), "target", argv, opts)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// TestSameAsInProcess replays in every mode, with the sim in this process and in
// another one: the results must not differ in anything but the name.
func TestSameAsInProcess(t *testing.T) {
	t.Parallel()
	log := recordedLog(t, effort.Of(205, 300))
	wrong := *log // one hash in the middle of a batch is not what the orders give
	wrong.Ticks = append([]orderlog.Tick(nil), log.Ticks...)
	other := wrong.Ticks[171].Hashes[0]
	other.Bytes = []byte("12345678")
	wrong.Ticks[171].Hashes = []orderlog.Observed{other}
	wrong.Epochs = []orderlog.Epoch{{Ticks: wrong.Ticks}}
	faulty := refsim.Simulator(refsim.Fault{Name: "rng-leak", Place: "Combat", From: 201})
	faulty.Name = "faulty"
	for _, transport := range []Transport{Stdio, Unix, TCP} {
		there := newSim(t, targetCommand(t, "good"), Options{Transport: transport})
		for name, c := range map[string]struct {
			log  *orderlog.Log
			opts bisect.TrialOptions
		}{
			"plain":     {log, bisect.TrialOptions{Mode: bisect.Plain}},
			"wrong":     {&wrong, bisect.TrialOptions{Mode: bisect.Plain}},
			"against":   {log, bisect.TrialOptions{Mode: bisect.Against, Against: faulty}},
			"drill":     {log, bisect.TrialOptions{Mode: bisect.Against, Against: faulty, Drill: true}},
			"dual":      {log, bisect.TrialOptions{Mode: bisect.Dual}},
			"serialize": {log, bisect.TrialOptions{Mode: bisect.Serialize, Until: until(40)}},
			"rollback":  {log, bisect.TrialOptions{Mode: bisect.Rollback, Depth: 4, Until: until(40)}},
			"runs":      {log, bisect.TrialOptions{Mode: bisect.Repeat, Runs: 3}},
			"caches":    {log, bisect.TrialOptions{Mode: bisect.CheckCaches, Until: until(40)}},
			"purity":    {log, bisect.TrialOptions{Mode: bisect.CheckPurity, Until: until(40)}},
			"predict":   {log, bisect.TrialOptions{Mode: bisect.Predict, Predict: []uint32{0, 1}, Until: until(40)}},
		} {
			if few := name == "plain"; !effort.Of(transport == Stdio || few, true) {
				continue // of the transports other than the first some modes
			}
			t.Run(string(transport)+name, func(t *testing.T) {
				here := refsim.Simulator()
				here.Name = there.Name
				want, err := bisect.Try(c.log, here, c.opts)
				if err != nil {
					t.Fatal(err)
				}
				got, err := bisect.Try(c.log, there, c.opts)
				if err != nil {
					t.Fatal(err)
				}
				if name == "against" { // where one cannot go back, both are played again
					got.Ticks -= want.Ticks
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("in another process\n%+v\nin this one\n%+v", got, want)
				}
				if departs := name == "wrong" || name == "against" || name == "drill"; departs != got.Departed() {
					t.Errorf("departed: %v", got.Departed())
				}
			})
		}
	}
}

func until(point uint64) *uint64 { return &point }

// TestBadTargets checks that a target that goes wrong gives one clear line, in bounded
// time and memory.
func TestBadTargets(t *testing.T) {
	t.Parallel() // it waits most of the time
	log := recordedLog(t, 60)
	// All are waited for at once: those that do not answer take the longest.
	try := func(mode string, opts Options) <-chan error {
		sim := newSim(t, targetCommand(t, mode, file(t, "mark")), opts)
		result := make(chan error, 1)
		go func() {
			_, err := bisect.Try(log, sim, bisect.TrialOptions{Mode: bisect.Plain})
			result <- err
		}()
		return result
	}
	results := map[string]<-chan error{}
	deaf := map[Transport]<-chan error{}
	for _, transport := range []Transport{Unix, TCP} {
		deaf[transport] = try("deaf", Options{Transport: transport, Timeout: silence})
	}
	wants := map[string]string{
		"refuses":       ": the target refuses: step: tick 37: no such map",
		"crashes":       `in tick 37: it exited with status 7, having said "assertion failed: hp >= 0"`,
		"hangs":         "in tick 37: no answer within 3s",
		"crashes once":  ": it exited with status 9; started again it got through them, so that it does not do the same twice",
		"floods":        `it printed "Engine 1.0 starting up, version of the renderer is unknown" where only replies belong: a target prints everything else to stderr`,
		"a word":        `it printed "Hi" where only replies belong: a target prints everything else to stderr`,
		"deaf":          "no answer within 3s",
		"greedy":        "a frame of 4294967280 bytes, at most 16777216 were expected",
		"short":         "no answer within 3s",
		"garbage":       `its answer, which begins with "\x93\xc1\xc0\xc0", is not MessagePack: msgpack at byte 1: reserved code 0xc1`,
		"huge array":    `its answer, which begins with "\xdd\xff\xff\xff\xff", is not MessagePack: msgpack at byte 0: container of 4294967295 values, 0 bytes left`,
		"other id":      "it answers request 99, which is out of order: 1 was the last",
		"other version": "it speaks version 2 of the protocol, expected 1",
		"nothing":       "it exited early, with status 0",
	}
	for mode, want := range wants {
		opts := Options{leave: time.Minute} // a loaded machine takes its time
		if strings.HasPrefix(want, "no answer") || mode == "hangs" {
			opts.Timeout = silence
		}
		results[mode] = try(mode, opts)
	}
	for mode, want := range wants {
		t.Run(mode, func(t *testing.T) {
			err := <-results[mode]
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v\nexpected        %s", err, want)
			}
		})
	}
	for transport, result := range deaf {
		if err := <-result; err == nil || !strings.Contains(err.Error(), "did not connect to DESYNCTOOL_SIM within 3s") {
			t.Errorf("%s: error is %v", transport, err)
		}
	}
	if _, err := bisect.Try(log, newSim(t, []string{"./no-such-command"}, Options{}), bisect.TrialOptions{Mode: bisect.Plain}); err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("error is %v", err)
	}
}

// TestChildrenAreKilled checks that nothing of a target's process group outlives it.
func TestChildrenAreKilled(t *testing.T) {
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip("no sleep on this system")
	}
	mark := file(t, "pid")
	sim := newSim(t, targetCommand(t, "leaves a child", mark), Options{Timeout: time.Minute})
	start := time.Now()
	if _, err := bisect.Try(recordedLog(t, 60), sim, bisect.TrialOptions{Mode: bisect.Plain}); err == nil || !strings.Contains(err.Error(), "it exited with status 1") {
		t.Errorf("error is %v", err)
	}
	if took := time.Since(start); took > 50*time.Second {
		t.Errorf("took %v", took)
	}
	pid, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // a killed child is a zombie until its parent waits for it
		state, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", pid))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %s still runs", pid)
}

// TestCancel checks that what runs is killed when its context ends.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	sim, err := New(ctx, "target", targetCommand(t, "hangs"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(500*time.Millisecond, cancel)
	if _, err := bisect.Try(recordedLog(t, 60), sim, bisect.TrialOptions{Mode: bisect.Plain}); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error is %v", err)
	}
}

// silence is how long tests wait for a target that will not answer.
const silence = 3 * time.Second

func checkSession(t *testing.T, ticks int) Session {
	log := recordedLog(t, ticks)
	orders, recorded, _ := bisect.Recorded(log)
	return Session{Header: log.Header, Orders: orders, Recorded: recorded, Ticks: uint64(ticks)}
}

// TestCheck checks the output of the conformance test for targets, good and bad.
func TestCheck(t *testing.T) {
	session := checkSession(t, 60)
	for mode, want := range map[string]struct{ part, msg string }{
		"good":        {},
		"stays":       {"leaves", "it still runs 100ms after its connection was closed"},
		"exits badly": {"leaves", "when its connection is closed it exited with status 4"},
		"crashes":     {"step", "in tick 37: it exited with status 7"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			opts := Options{leave: time.Minute}
			if mode == "stays" {
				opts.leave = 100 * time.Millisecond
			}
			c, err := Check(context.Background(), mode, targetCommand(t, mode), opts, session)
			if err != nil {
				t.Fatal(err)
			}
			var bad []string
			for _, f := range c.Findings {
				if f.Outcome == Wrong {
					bad = append(bad, f.Name+": "+f.Detail)
				}
			}
			if want.part == "" && (len(bad) > 0 || !c.Passed() || len(c.Findings) != 19) {
				t.Errorf("%d parts, wrong are %q", len(c.Findings), bad)
			}
			if want.part != "" && (c.Passed() || len(bad) != 1 || !strings.HasPrefix(bad[0], want.part+": ") || !strings.Contains(bad[0], want.msg)) {
				t.Errorf("wrong are %q, expected %s: %s", bad, want.part, want.msg)
			}
		})
	}
	if _, err := Check(context.Background(), "nothing", targetCommand(t, "nothing"), Options{}, session); err == nil {
		t.Error("a target that exits at once passes")
	}
}

// TestLoadWithoutHeader checks that a state without a header begins a session, here and in a target.
func TestLoadWithoutHeader(t *testing.T) {
	log := recordedLog(t, 20)
	s, err := refsim.Simulator().Start(&log.Header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Ticks[:10] {
		if err := s.Step(log.Ticks[i].Orders); err != nil {
			t.Fatal(err)
		}
	}
	w, err := s.(bisect.Saver).World()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := newSim(t, targetCommand(t, "good"), Options{}).Resume(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 10; i < 20; i++ {
		if err := errors.Join(s.Step(log.Ticks[i].Orders), loaded.Step(log.Ticks[i].Orders)); err != nil {
			t.Fatal(err)
		}
	}
	if loaded.Point() != 20 || loaded.SyncHash() != s.SyncHash() {
		t.Errorf("state point %d with hash %s, expected 20 with %s", loaded.Point(), loaded.SyncHash(), s.SyncHash())
	}
	if err := loaded.(*simulator).Close(); err != nil {
		t.Error(err)
	}
}

package sdk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// arena builds the second example in C.
func arena(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("threads are POSIX")
	}
	return compile(t, "c/arena.c", "-O2", "-pthread")
}

func TestArena(t *testing.T) {
	thorough(t)
	program := arena(t)
	sim := "exec:" + program + " serve"
	for _, peers := range []int{2, 3} {
		dir, _ := play(t, program, "--peers", fmt.Sprint(peers), "--ticks", "200", "--trace", "column")
		wants(t, run(t, 0, "bisect", dir, "--sim", sim), "IN SYNC", "201 recorded hashes")
		wants(t, run(t, 0, "triage", dir), "IN SYNC")
		wants(t, run(t, 0, "tracediff", dir), "IN SYNC")
		wants(t, run(t, 0, "orders", dir), "IN SYNC")
		for _, file := range filesOf(t, dir, "*/desync_*.snap", 3*peers) {
			wants(t, run(t, 0, "verify", file), "VERIFIED")
		}
		if peers > 2 {
			continue
		}
		conforms(t, nil, "--log", filepath.Join(dir, "host"), "--", program, "serve")
		client := filepath.Join(dir, "client")
		out := run(t, 0, "replay", client, "--sim", sim, "--serialize", "--rollback", "3", "--check-caches", "--check-purity", "--dual", "--drill")
		if n := strings.Count(out, "IN SYNC"); n != 5 {
			t.Errorf("%d ways of replaying are in sync, expected 5:\n%s", n, out)
		}
		wants(t, run(t, 0, "replay", client, "--sim", sim, "--from-each-snapshot", "--predict", "0,1"), "IN SYNC  from-each-snapshot", "IN SYNC  predict")
		wants(t, run(t, 0, "dump", filepath.Join(client, "order-log.bin")), `= player 1 seq `, `"chat"`, "= save player 0 peer 1 seq 0 point 100")
	}
}

// TestArenaCompilers: two compilers' builds of the game play the same.
func TestArenaCompilers(t *testing.T) {
	thorough(t)
	needTool(t, "clang")
	program, other := arena(t), filepath.Join(t.TempDir(), "other")
	if out, err := exec.Command("clang", "-std=c99", "-O3", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", other, "c/arena.c").CombinedOutput(); err != nil {
		t.Fatalf("clang: %v\n%s", err, out)
	}
	dir, _ := play(t, program, "--ticks", "150", "--trace", "none")
	wants(t, run(t, 0, "replay", filepath.Join(dir, "host"), "--sim", "exec:"+other+" serve"), "IN SYNC", "151 compared")
}

// replays are the ways of replaying that show a fault in the build that makes it, where a
// plain replay of the sound build does not.
var replays = map[string][]string{
	"impure-validation": {"--check-purity"},
	"prediction-leak":   {"--predict", "0,1"},
	"save-omits-field":  {"--serialize"},
}

// TestArenaFaults: each fault shows in most sessions, and what really happened first is what
// is found out from the files.
func TestArenaFaults(t *testing.T) {
	thorough(t)
	program := arena(t)
	said, err := exec.Command(program, "faults").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(strings.TrimSpace(string(said)), "\n")
	if len(list) < 18 {
		t.Fatalf("%d faults, expected 18 at least", len(list))
	}
	for _, line := range list {
		name, rest, _ := strings.Cut(line, "\t")
		places, what, ok := strings.Cut(rest, "\t")
		if !ok || places == "" || what == "" {
			t.Fatalf("a fault is described as %q", line)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bit, sessions := 0, 0
			for seed := range effort.Long(1, 3) {
				if arenaFault(t, program, name, seed+1) {
					bit++
				}
				sessions++
			}
			if sessions > 1 && 3*bit < 2*sessions {
				t.Errorf("it shows in %d of %d sessions", bit, sessions)
			}
		})
	}
}

// arenaFault plays a session with a fault, and checks that bisect finds the truth. It reports whether the fault showed.
func arenaFault(t *testing.T, program, fault string, seed int) bool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	tick := 40 + seed%10
	named := fmt.Sprintf("%s@%d", fault, tick)
	if _, stderr, exit := execute(t, nil, program, "record", dir, "--seed", fmt.Sprint(seed), "--ticks", "160", "--fault", named); exit != 0 {
		t.Fatalf("record: exit status %d: %s", exit, stderr)
	}
	b, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth session.Truth
	if err := json.Unmarshal(b, &truth); err != nil {
		t.Fatal(err)
	}
	if truth.Fault != fault || truth.From != uint64(tick) {
		t.Errorf("seed %d: the truth is of %s from tick %d", seed, truth.Fault, truth.From)
	}
	sim := "exec:" + program + " serve"
	switch {
	case truth.Checksum != nil:
		words := map[string]string{"checksum-only": "checksum", "blind-checksum": "blind"}
		wants(t, run(t, 1, "bisect", dir), words[truth.Checksum.Kind])
		return true
	case truth.Bracket == nil:
		wants(t, run(t, 0, "bisect", dir, "--sim", sim), "IN SYNC")
		return false
	case *truth.InitialState:
		wants(t, run(t, 1, "bisect", dir, "--sim", sim), "DIVERGED  in the initial state")
		return true
	}
	if *truth.Bracket.Good < uint64(tick) {
		t.Errorf("seed %d: it shows in tick %d already", seed, *truth.Bracket.Good)
	}
	out := run(t, 1, "bisect", dir, "--sim", sim, "--drill")
	wants(t, out, fmt.Sprintf("DIVERGED  in tick %d\n", *truth.Bracket.Good))
	if !strings.HasPrefix(fault, "order-") { // else each peer replays as it played
		wants(t, out, truth.Peer+" departs at state point ", "system   "+*truth.System+"\n")
	}
	if modes := replays[fault]; modes != nil {
		peer := filepath.Join(dir, truth.Peer)
		wants(t, run(t, 1, append([]string{"replay", peer, "--sim", sim + " --fault " + fault + "/" + truth.Place}, modes...)...), "DIVERGED  "+strings.TrimPrefix(modes[0], "--"))
	}
	return true
}

// TestArenaMistreated: bytes that are not a request, a save or a state end in one line.
func TestArenaMistreated(t *testing.T) {
	thorough(t)
	if runtime.GOOS != "linux" {
		t.Skip("sanitizers are tried on Linux")
	}
	program := compile(t, "c/arena.c", append(slices.Clone(sanitized), "-pthread")...)
	dir, _ := play(t, program, "--ticks", "120", "--peers", "4")
	damagedLoads(t, effort.Long(60, 600), dir, program, "serve")
	for _, args := range [][]string{
		{}, {"record"}, {"record", dir, "--seed", "x"}, {"record", dir, "--peers", "5"}, {"record", dir, "--fault", "no-such"},
		{"record", dir, "--fault", "rng-leak/Nowhere"}, {"record", dir, "--fault", "rng-leak@5:nobody"}, {"serve", "--ticks", "5"}, {"record", dir, "--ticks"},
	} {
		_, stderr, exit := execute(t, nil, program, args...)
		if exit != 2 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit status %d, %q", args, exit, stderr)
		}
	}
}

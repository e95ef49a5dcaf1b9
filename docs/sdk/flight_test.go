package sdk_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// flights builds the peers with flight recorders; the whole sample has sanitizers.
func flights(t *testing.T) string {
	t.Helper()
	return buildOnce(t, append([]string{"cc", "-std=gnu99", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-Ic"}, effort.Of([]string{"-O1"}, sanitized)...), "testdata/flight.c")
}

// TestFlight: on networks that lose, double, delay and reorder packets every peer has the same report, of the first tick, the
// system and all values that differ. The program compares it with both states, value by value. Peers that load one of
// the states then stay in sync.
func TestFlight(t *testing.T) {
	program := flights(t)
	each := effort.Of(8, 20)
	var wait sync.WaitGroup
	for i := range effort.Of(1, 4) {
		wait.Go(func() {
			out, stderr, exit := execute(t, nil, program, "sessions", strconv.Itoa(1+i*each), strconv.Itoa(each))
			if exit != 0 {
				t.Errorf("exit status %d:\n%s%s", exit, out, stderr)
			}
			m := regexp.MustCompile(`(\d+) without the wrong peer, at most (\d+) bytes .*, (\d+) healed`).FindStringSubmatch(out)
			if m == nil || m[1] != "0" && m[1] != "1" {
				t.Errorf("too many peers did not answer:\n%s", out)
			} else if n, _ := strconv.Atoi(m[3]); n < each/4 {
				t.Errorf("only %d sessions could be healed", n)
			} else if n, _ := strconv.Atoi(m[2]); n > 100_000 {
				t.Errorf("a peer sends %d bytes at a desync", n)
			}
		})
	}
	wait.Wait()
}

// TestFlightSlow: a report is not repeated as a whole on a network that answers late, nor to a peer that left.
func TestFlightSlow(t *testing.T) {
	for _, seed := range []string{"100337", "101574"} {
		out, stderr, exit := execute(t, nil, flights(t), "sessions", seed, "1")
		m := regexp.MustCompile(`at most (\d+) bytes`).FindStringSubmatch(out)
		if exit != 0 || m == nil {
			t.Fatalf("exit status %d:\n%s%s", exit, out, stderr)
		}
		if n, _ := strconv.Atoi(m[1]); n > 100_000 {
			t.Errorf("session %s: a peer sends %d bytes", seed, n)
		}
	}
}

// TestFlightPeers: 64 peers find the same, and none sends more than 100 kB for it.
func TestFlightPeers(t *testing.T) {
	effort.Whole(t)
	out, stderr, exit := execute(t, nil, flights(t), "sessions", "3", "1", "64")
	m := regexp.MustCompile(`at most (\d+) bytes`).FindStringSubmatch(out)
	if exit != 0 || m == nil {
		t.Fatalf("exit status %d:\n%s%s", exit, out, stderr)
	}
	if n, _ := strconv.Atoi(m[1]); n > 100_000 {
		t.Errorf("a peer sends %d bytes", n)
	}
}

// TestFlightInSync: peers in sync never stop, though they roll back; they send at most 40 bytes a tick.
func TestFlightInSync(t *testing.T) {
	for peers, ticks := range map[string]string{"2": effort.Of("500", "8000"), "64": effort.Of("100", "200")} {
		out, stderr, exit := execute(t, nil, flights(t), "sync", ticks, peers)
		m := regexp.MustCompile(`, ([0-9.]+) bytes a tick`).FindStringSubmatch(out)
		if exit != 0 || m == nil {
			t.Fatalf("%s peers: exit status %d:\n%s%s", peers, exit, out, stderr)
		}
		if n, _ := strconv.ParseFloat(m[1], 64); n > 40 && ticks != "100" {
			t.Errorf("%s peers: each sends %v bytes a tick", peers, n)
		}
	}
}

// TestFlightCases: strings without a fixed size, other orders, other builds, many groups, a difference that is no longer
// kept, and calls in the wrong order.
func TestFlightCases(t *testing.T) {
	dir := t.TempDir()
	if out, stderr, exit := execute(t, nil, flights(t), "cases", filepath.Join(dir, "left")); exit != 0 {
		t.Errorf("exit status %d:\n%s%s", exit, out, stderr)
	}
	around, _ := filepath.Glob(filepath.Join(dir, "*"))
	within, _ := filepath.Glob(filepath.Join(dir, "left", "*"))
	if len(around) != 1 || len(within) != 2 || filepath.Base(within[1]) != "peer-1" {
		t.Errorf("a peer's name is a path: %v, %v", around, within)
	}
}

// TestFlightHostile: packets of any content do no harm.
func TestFlightHostile(t *testing.T) {
	for seed := range effort.Of(1, 3) {
		if out, stderr, exit := execute(t, nil, flights(t), "hostile", strconv.Itoa(seed), effort.Of("3000", "20000")); exit != 0 {
			t.Errorf("seed %d: exit status %d:\n%s%s", seed, exit, out, stderr)
		}
	}
}

// TestFlightFuzz: libFuzzer finds no packets that harm a peer.
func TestFlightFuzz(t *testing.T) {
	program := filepath.Join(t.TempDir(), "fuzz")
	if out, _, exit := execute(t, nil, "sh", "-c", "clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Wall -Wextra -Ic -o "+program+" testdata/fuzz_flight.c"); exit != 0 {
		t.Skip("clang has no libFuzzer here: " + out)
	}
	if _, stderr, exit := execute(t, nil, program, "-max_len=4000", "-timeout=20", "-max_total_time="+effort.Of("3", "120")); exit != 0 {
		t.Errorf("exit status %d:\n%s", exit, stderr)
	}
}

// TestFlightFiles: one peer's folder is enough for a verdict with the tick, the system and the values of both sides.
func TestFlightFiles(t *testing.T) {
	for seed := range effort.Of(2, 10) {
		dir := filepath.Join(t.TempDir(), "left")
		out, stderr, exit := execute(t, nil, flights(t), "files", strconv.Itoa(seed+1), "3", dir)
		if exit != 0 {
			t.Fatalf("seed %d: exit status %d:\n%s%s", seed+1, exit, out, stderr)
		}
		said := regexp.MustCompile(`since tick (\d+), system (\w+)`).FindStringSubmatch(out)
		row := regexp.MustCompile(`(?m)^  #(\d+) (\S+) on (peer\d)`).FindStringSubmatch(out)
		if said == nil {
			continue
		}
		if strings.Contains(out, "More differs") { // then the state of another peer is not known
			if states, _ := filepath.Glob(filepath.Join(dir, "*", "*.snap")); len(states) > 3 {
				t.Errorf("seed %d: a state of another peer is written that is not known: %v", seed+1, states)
			}
			continue
		}
		verdict := run(t, 1, "triage", dir)
		wants(t, verdict, "diverged in tick "+said[1]+", in "+said[2], "= inputs         equal")
		if silent := strings.Contains(out, "Not known of"); !silent && !strings.Contains(verdict, " = peer") {
			t.Errorf("seed %d: of three peers two have the same states:\n%s", seed+1, verdict)
		}
		if row != nil && !strings.HasPrefix(out[strings.Index(out, "\n")+1:], "RNG") && !strings.Contains(out, " entities") && !strings.Contains(verdict, "left out") {
			wants(t, verdict, row[1])
		}
		if strings.Contains(verdict, "contradiction") {
			t.Errorf("seed %d:\n%s", seed+1, verdict)
		}
	}
}

// TestFlightCompilers: the header is C99 and C++11, without warnings.
func TestFlightCompilers(t *testing.T) {
	include := "#define DESYNCTOOL_IMPLEMENTATION\n#include \"desynctool.h\"\n#include \"desynctool_flight.h\"\nint main(void) { return 0; }\n"
	for _, c := range [][]string{
		append([]string{"cc", "-x", "c"}, strict...),
		{"c++", "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror"},
	} {
		needTool(t, c[0])
		if _, stderr, exit := execute(t, []byte(include), c[0], append(c[1:], "-Ic", "-fsyntax-only", "-")...); exit != 0 {
			t.Errorf("%v: %s", c, stderr)
		}
	}
}

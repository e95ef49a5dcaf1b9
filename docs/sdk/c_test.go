package sdk_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/peers"
)

var strict = []string{"-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"}

var sanitized = []string{"-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// compile builds a C program.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	return buildOnce(t, append(append([]string{"cc"}, strict...), flags...), source)
}

// skirmish builds the game in C.
func skirmish(t *testing.T) string {
	t.Helper()
	return compile(t, "c/skirmish.c", effort.Of("-O1", "-O2"))
}

// faultTick is the tick from which the client of the sessions goes wrong.
const faultTick = "100"

// play lets a program play a session, and returns its folder and what it said.
func play(t *testing.T, program string, args ...string) (dir, said string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "session")
	said, stderr, exit := execute(t, nil, program, append([]string{"record", dir}, args...)...)
	if exit != 0 {
		t.Fatalf("record: exit status %d: %s", exit, stderr)
	}
	return dir, said
}

func TestC(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the socket part is POSIX")
	}
	program := skirmish(t)
	dir := skirmishes(t, program, true)
	t.Run("module", func(t *testing.T) {
		effort.Whole(t) // bisect/wasmsim plays the module by default
		module := "wasm:" + filepath.Join("..", "..", "testdata", "wasm", "skirmish.wasm")
		conforms(t, nil, "--log", filepath.Join(dir, "host"), "--ticks", effort.Long("100", "600"), module)
		wants(t, run(t, 0, "replay", filepath.Join(dir, "client"), "--sim", module, "--from-each-snapshot", "--predict", "0,1"),
			"IN SYNC  from-each-snapshot", "6 snapshots resumed", "IN SYNC  predict")
	})
}

// skirmishes judges a program that plays the skirmish and serves it: its files, its replays, and what is found of its fault.
// It returns the folder of a session without a fault. Addresses: the program answers `where`.
func skirmishes(t *testing.T, program string, addresses bool) (clean string) {
	t.Helper()
	clean, said := play(t, program)
	if said != "" {
		t.Errorf("the clean session says %q", said)
	}
	faulty, said := play(t, program, "--fault", faultTick)
	tick, system := parted(t, said)
	host, client := filepath.Join(faulty, "host"), filepath.Join(faulty, "client")
	sim := "exec:" + program + " serve"

	t.Run("files", func(t *testing.T) {
		for _, dir := range effort.Of([]string{faulty}, []string{clean, faulty}) {
			files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
			if err != nil || len(files) < 2*9 {
				t.Fatalf("%s: only %v, %v", dir, files, err)
			}
			for i, file := range files {
				if i%3 > 0 && !effort.Full() { // snapshots are alike
					continue
				}
				if filepath.Ext(file) != ".trace" {
					wants(t, run(t, 0, "verify", file), "VERIFIED")
				}
				dump := run(t, 0, "dump", file)
				if strings.Contains(dump, "%torn") || strings.Contains(dump, "%corrupt") {
					t.Errorf("%s is damaged", file)
				}
			}
		}
		wants(t, run(t, 0, "dump", filepath.Join(host, "order-log.bin")),
			`header.params["map"] = "plain"`, "hash[30].history.peer[0]", "hash[600].state.peer[0]", "%end\n")
		wants(t, run(t, 0, "dump", filepath.Join(client, "checkpoints.trace")), "tick=599 system=Combat scope=Tank/Weapon.target sum=0x")
		wants(t, run(t, 0, "dump", filepath.Join(client, "desync_0000000000000001_0000000600.snap")),
			`%peer "client"`, "%history ", "cache Grid[0].Cell.units = ", ".Weapon.target = absent", ".Weapon.target = @")
	})

	t.Run("in sync", func(t *testing.T) {
		host, client := filepath.Join(clean, "host"), filepath.Join(clean, "client")
		wants(t, run(t, 0, "bisect", host, client), "IN SYNC", "601 recorded hashes")
		wants(t, run(t, 0, "tracediff", host, client), "IN SYNC")
		wants(t, run(t, 0, "orders", host, client), "IN SYNC")
		for _, peer := range []string{host, client} {
			out := run(t, 0, "replay", peer, "--sim", sim)
			wants(t, out, "IN SYNC", "601 compared")
			if strings.Contains(out, "ignores") {
				t.Errorf("orders are ignored:\n%s", out)
			}
		}
		out := run(t, 0, "replay", host, "--sim", sim, "--serialize", "--rollback", effort.Of("1", "3"), "--check-caches", "--check-purity", "--drill")
		if n := strings.Count(out, "IN SYNC"); n != 4 {
			t.Errorf("%d ways of replaying are in sync, expected 4:\n%s", n, out)
		}
	})

	t.Run("diverged", func(t *testing.T) {
		wants(t, run(t, 1, "bisect", host, client), "DIVERGED  in tick "+tick+"\n")
		wants(t, run(t, 1, "bisect", host, client, "--sim", sim, "--drill"),
			"DIVERGED  in tick "+tick+"\n", "host agrees at every point compared", "drill    client, tick "+tick+"\n", "system   "+system+"\n",
			"Infantry/Position.x", "cache Grid")
		wants(t, run(t, 1, "tracediff", host, client), "DIVERGED  in tick "+tick+", after system "+system+", in Infantry/Position.x")
		wants(t, run(t, 1, "replay", client, "--sim", sim, "--drill"), "plain: departs in tick "+tick+"\n", "system   "+system+"\n")
		wants(t, run(t, 0, "replay", host, "--sim", sim, "--drill"), "IN SYNC")
		wants(t, run(t, 1, "replay", host, "--sim", sim, "--against", sim+" --fault "+faultTick, "--drill"), "against: departs in tick "+tick+"\n", "system   "+system+"\n")

		// The cache is stale before anything that is hashed differs.
		out := run(t, 1, "replay", client, "--sim", sim+" --fault "+faultTick, "--check-caches")
		wants(t, out, "stale Grid")
		var stale int
		if _, err := fmt.Sscanf(out, "DIVERGED  check-caches: departs in tick %d", &stale); err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		if n, _ := strconv.Atoi(tick); stale > n || stale < 100 {
			t.Errorf("the cache is stale in tick %d, expected 100 to %s", stale, tick)
		}
	})

	t.Run("protocol", func(t *testing.T) {
		for _, transport := range []string{"stdio", "unix", "tcp"} {
			conforms(t, nil, "--log", filepath.Join(clean, "host"), "--transport", transport, "--ticks", effort.Of("30", "300"), "--", program, "serve")
		}
		conforms(t, nil, "--ticks", effort.Of("100", "300"), "--", program, "serve")
		if check := run(t, 0, "sim", "check", "--ticks", "30", "--", program, "serve"); addresses {
			wants(t, check, "  ok     where             15 columns")
		}
	})

	t.Run("load", func(t *testing.T) {
		other, _ := play(t, program, "--seed", "2", "--ticks", "200")
		loads(t, sim, clean, other, faulty, tick)
	})
	return clean
}

// TestCForgets: a field that a save leaves out is noticed.
func TestCForgets(t *testing.T) {
	thorough(t)
	source, err := os.ReadFile("c/skirmish.c")
	if err != nil {
		t.Fatal(err)
	}
	header, err := filepath.Abs("c/desynctool.h")
	if err != nil {
		t.Fatal(err)
	}
	// The grid is the last member: a save without it keeps the current one.
	broken := strings.Replace(string(source), ".memory_size = sizeof served.s,", ".memory_size = offsetof(state, grid),", 1)
	broken = strings.Replace(broken, `"desynctool.h"`, strconv.Quote(header), 1)
	file := filepath.Join(t.TempDir(), "broken.c")
	if err := os.WriteFile(file, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	if broken == string(source) {
		t.Fatal("nothing was broken")
	}
	program := compile(t, file)
	dir, _ := play(t, program)
	wants(t, run(t, 1, "sim", "check", "--log", filepath.Join(dir, "host"), "--", program, "serve"), "WRONG  save and restore")
	wants(t, run(t, 1, "replay", filepath.Join(dir, "host"), "--sim", "exec:"+program+" serve", "--rollback", "3"), "DIVERGED  rollback")
}

// TestCSource: the example stays short, and the header is also valid C++.
func TestCSource(t *testing.T) {
	b, err := os.ReadFile("c/skirmish.c")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b, []byte("\n")); n >= 320 {
		t.Errorf("skirmish.c has %d lines, expected less than 320", n)
	}
	needTool(t, "c++")
	dir := t.TempDir()
	for _, define := range []string{"#define DESYNCTOOL_IMPLEMENTATION\n", ""} {
		header, err := filepath.Abs("c/desynctool.h")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "header.cpp")
		if err := os.WriteFile(file, []byte(define+"#include "+strconv.Quote(header)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("c++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "-o", filepath.Join(dir, "header.o"), file).CombinedOutput()
		if err != nil {
			t.Errorf("c++: %v\n%s", err, out)
		}
	}
}

// TestCVectors: the examples of the documentation come out byte for byte.
func TestCVectors(t *testing.T) {
	flags := []string{effort.Of("-O0", "-O2")}
	if runtime.GOOS == "linux" && effort.Full() { // which take long to compile
		flags = sanitized
	}
	program := compile(t, "testdata/vectors.c", flags...)
	dir := t.TempDir()
	if _, stderr, exit := execute(t, nil, program, dir); exit != 0 {
		t.Fatalf("exit status %d: %s", exit, stderr)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	reversed := func(text, name string) []byte {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file+".txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, 0, "dump", "--reverse", file+".txt", "-o", file)
		return read(name)
	}
	if want := reversed(example(t, "orderlog.md", "```order-log-text"), "want.bin"); !bytes.Equal(read("order-log.bin"), want) {
		t.Errorf("order log:\n%x, expected\n%x", read("order-log.bin"), want)
	}
	// A sum that is text is nothing that the header writes.
	text := strings.Replace(example(t, "trace.md", "```trace-text"), " sum=3C6EF372", "", 1)
	if want := reversed(text, "want.trace"); !bytes.Equal(read("host.trace"), want) {
		t.Errorf("trace:\n%x, expected\n%x", read("host.trace"), want)
	}
	const snap = "desync_0000000000000007_0000001242.snap"
	want := bytesIn(t, "../snapshot.md", "<!-- example hex -->\n```\n")
	if !bytes.Equal(read(snap), want) {
		t.Errorf("snapshot:\n%x, expected\n%x", read(snap), want)
	}
	wants(t, run(t, 0, "verify", filepath.Join(dir, "epochs.bin")), "VERIFIED", "3 ticks")
	// The history goes on from the point that was loaded: two steps from the start, not three.
	first := sha256.Sum256(append([]byte{1}, make([]byte, 31)...))
	adopted := sha256.Sum256(append(first[:], 1, 0, 0, 0, 0, 0, 0, 0))
	last := sha256.Sum256(append(adopted[:], 1, 0, 0, 0, 0, 0, 0, 0))
	wants(t, run(t, 0, "dump", filepath.Join(dir, "epochs.bin")),
		fmt.Sprintf("tick[1].marker[0] = load player 0 peer 0 seq 0 point 1 epoch 0x%x \"quicksave\"\n", adopted),
		fmt.Sprintf("observed.hash[2].history.peer[0] = 0x%x\n", last))
	everything := filepath.Join(dir, "desync_0000000000000063_0000000005.snap")
	wants(t, run(t, 0, "verify", everything), "VERIFIED", "5 tables")
	wants(t, run(t, 0, "dump", everything), `%phase "after-orders"`, `%native "frame 9"`, "%epoch 2", "%meta \"build\" \"1.0\"\n%meta \"os\" \"linux\"\n", `%table archetype "Pairs" 2`, `.A.string = "grün"`, "\nKeys[2]\n", "\nnoise Noise[2].Cell.units = ")
}

// TestCRecorder: a log with a gap and a new epoch, a snapshot with facts of the machine, and
// the peer's own reports are what other readers of them expect.
func TestCRecorder(t *testing.T) {
	thorough(t)
	flags := []string{"-O2"}
	if runtime.GOOS == "linux" {
		flags = sanitized
	}
	dir := t.TempDir()
	if _, stderr, exit := execute(t, nil, compile(t, "testdata/vectors.c", flags...), dir); exit != 0 {
		t.Fatalf("exit status %d: %s", exit, stderr)
	}
	client := filepath.Join(dir, "client")
	if _, err := os.Stat(filepath.Join(client, "checkpoints.trace")); !os.IsNotExist(err) {
		t.Errorf("a recorder without a trace writes one: %v", err)
	}
	snap := filepath.Join(client, "desync_000000000000000b_0000000009.snap")
	wants(t, run(t, 0, "verify", filepath.Join(client, "order-log.bin"), snap), "VERIFIED", "73 ticks")
	// The header counts where a fact has the same name.
	wants(t, run(t, 0, "dump", snap), "%epoch 1\n", fmt.Sprintf("%%history 09%062d\n", 0), `%meta "build" "1.0"`, `%meta "locale" "de_DE.UTF-8"`,
		`%meta "map" "green valley"`, `%meta "os" "linux"`)
	// The state before the gap belongs to the epoch that ends, that after it to the new one.
	log := run(t, 0, "dump", filepath.Join(client, "order-log.bin"))
	before, after, ok := strings.Cut(log, "tick[9].input_hash")
	if !ok || !strings.Contains(before, "observed.hash[2].sync.peer[1]") || strings.Contains(before, "hash[9]") {
		t.Errorf("the states around the gap are not where they belong:\n%s", log)
	}
	wants(t, after, "tick[9].hash[9].sync.peer[1]", fmt.Sprintf(`.marker[0] = reconnect player 0 peer 1 seq 0 point 9 epoch 0x09%062d "from the host"`, 0))

	read := func(point int) *peers.Report {
		t.Helper()
		name := fmt.Sprintf("desync_report_000000000000000b_%010d.json", point)
		f, err := os.Open(filepath.Join(client, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := peers.Read(f, name)
		if err != nil {
			t.Fatal(err)
		}
		if list := r.Contradictions(); len(list) > 0 {
			t.Errorf("%s contradicts itself: %q", name, list)
		}
		if r.Seed != "000000000000000b" || r.Peer != "client" || r.Tick != uint64(point) || r.Status != "diverged" {
			t.Errorf("%s is of seed %s, peer %q, tick %d, status %s", name, r.Seed, r.Peer, r.Tick, r.Status)
		}
		if len(r.Nodes) != 3 || r.Nodes[0][0] != "" || r.Nodes[1][0] != "Cell" || r.Nodes[2][0] != "Unit" {
			t.Errorf("%s: nodes %q", name, r.Nodes)
		}
		return r
	}
	first, last := read(2), read(80)
	if first.Player != 1 || len(first.Archetypes) != 0 || first.Window == nil || *first.Window != (peers.Window{From: 0, To: 1}) {
		t.Errorf("the first report: player %d, %d archetypes, window %v", first.Player, len(first.Archetypes), first.Window)
	}
	wantOrder := document.ReportedOrder{Tick: 1, Player: 1, Kind: "move", Payload: "0aff00"}
	if len(first.Excerpt) != 1 || first.Excerpt[0] != wantOrder {
		t.Errorf("the first report has the orders %+v, expected %+v", first.Excerpt, wantOrder)
	}
	if last.Player != -1 || len(last.Archetypes) != 2 || last.RNGState != "5000000000000000" {
		t.Errorf("the last report: player %d, %d archetypes, RNG %s", last.Player, len(last.Archetypes), last.RNGState)
	}
	// 64 ticks: each third has none and each third two orders.
	if last.Window == nil || *last.Window != (peers.Window{From: 16, To: 79}) || len(last.Excerpt) != 64 {
		t.Errorf("the last report has %d orders of the ticks %v", len(last.Excerpt), last.Window)
	}
	wantOrder = document.ReportedOrder{Tick: 17, SubTick: 2, Player: 1, Sequence: 1, Kind: "chat\n\"", Local: true}
	if !slices.Contains(last.Excerpt, wantOrder) {
		t.Errorf("the last report does not have %+v, but %+v", wantOrder, last.Excerpt)
	}
	if _, err := last.World("Unit"); err != nil {
		t.Error(err)
	}
}

// TestCMalformed: bytes that are not a request end the target with one line, a wrong request is refused, and nothing
// reads or writes where it must not.
func TestCMalformed(t *testing.T) {
	thorough(t)
	if runtime.GOOS != "linux" {
		t.Skip("sanitizers are tried on Linux")
	}
	malformed(t, compile(t, "c/skirmish.c", sanitized...), true)
}

// malformed asks a program that serves the skirmish what nobody may ask.
func malformed(t *testing.T, program string, addresses bool) {
	t.Helper()
	dir, _ := play(t, program, "--ticks", "200")
	damagedLoads(t, effort.Long(150, 1500), dir, program, "serve")
	hello := []byte("\x93\x01\xa5hello\x92\x01\xaadesynctool")
	header := "\x9a\x07\xa0\xa0\x92\x00\x00\xc4\x20" + strings.Repeat("\x00", 32) + "\x00\x00\x91\x92\xa4move\xc2\x90\x90"
	start := []byte("\x93\x02\xa5start\x91" + header)
	payload := "\xc4\x18" + strings.Repeat("\x51", 24)
	short := "\x95\x00\x01\x00\x00\xc4\x01Q"
	order := "\x95\x00\x01\x00\x00" + payload
	whole := [][]byte{
		hello, start,
		[]byte("\x93\x03\xa4step\x92\x00\x92\x90\x91" + order),
		[]byte("\x93\x04\xa5state\x90"),
		[]byte("\x93\x05\xa4save\x90"),
		[]byte("\x93\x06\xa5begin\x92\x02\x91" + order),
		[]byte("\x93\x07\xa4next\x90"),
		[]byte("\x93\x08\xa7restore\x91\xc4\x03abc"),
		[]byte("\x93\x09\xa4next\x90"), []byte("\x93\x0a\xa4next\x90"), []byte("\x93\x0b\xa4next\x90"), []byte("\x93\x0c\xa4next\x90"),
		[]byte("\x93\x0d\xa6caches\x90"),
		[]byte("\x93\x0e\xa8validate\x92\x03\x92" + order + short),
		[]byte("\x93\x0f\xa4test\x92\x03" + order),
		[]byte("\x93\x10\xa7predict\x93\x03\x01\x91" + order),
		[]byte("\x93\x11\xa5where\x94\xa8Infantry\xadHealth.points\xcd\x01\x00\x00"), []byte("\x93\x12\xa5where\x94\xa0\xa0\x00\x00"),
	}
	serve := func(stdin []byte) (stdout, stderr string, exit int) {
		t.Helper()
		stdout, stderr, exit = execute(t, stdin, program, "serve")
		if exit != 0 && exit != 2 || strings.Contains(stderr, "Sanitizer") || strings.Contains(stderr, "runtime error") {
			t.Fatalf("exit status %d for %q:\n%s", exit, stdin, stderr)
		}
		if exit == 2 && strings.Count(stderr, "\n") != 1 || exit == 0 && stderr != "" {
			t.Fatalf("exit status %d and stderr %q for %q", exit, stderr, stdin)
		}
		return stdout, stderr, exit
	}
	var all []byte
	for _, value := range whole {
		all = append(all, frameOf(value)...)
	}
	stdout, _, exit := serve(all)
	if exit != 0 {
		t.Fatalf("exit status %d for requests that are right", exit)
	}
	wants(t, stdout, "SNAP.END", "DSV1", "not a save", "Reinforcement", "its payload")
	if addresses {
		wants(t, stdout, "no row with this key", "\x93\x12\xc0\x92")
	}

	for _, bad := range []struct{ name, stdin, said string }{
		{"half a length", "\x01\x00", "inside the length"},
		{"a huge length", "\xff\xff\xff\xff", "at most 1073741824"},
		{"a length that nothing follows", "\x00\x00\x00\x40", "inside a request"},
		{"half a request", "\x05\x00\x00\x00\x93\x01", "inside a request"},
		{"nothing", "\x00\x00\x00\x00", "makes no sense"},
		{"no array", string(frameOf([]byte("\x01"))), "makes no sense"},
		{"an extension", string(frameOf([]byte("\x93\x01\xa4step\x91\xc7\x01\x01\x01"))), "makes no sense"},
		{"a code that does not exist", string(frameOf([]byte("\x93\x01\xa4step\x91\xc1"))), "makes no sense"},
		{"more behind it", string(frameOf(append(bytes.Clone(hello), 0))), "makes no sense"},
		{"more elements than bytes", string(frameOf([]byte("\x93\x01\xa4step\xdd\xff\xff\xff\xff"))), "makes no sense"},
		{"a map of four billion", string(frameOf([]byte("\x93\x01\xa4step\xdf\xff\xff\xff\xff\x00"))), "makes no sense"},
		{"a string that is longer", string(frameOf([]byte("\x93\x01\xdb\xff\xff\xff\xffstep\x90"))), "makes no sense"},
		{"arrays in arrays", string(frameOf([]byte("\x93\x01\xa4step\x91" + strings.Repeat("\x91", 1<<20)))), "makes no sense"},
	} {
		if _, stderr, exit := serve([]byte(bad.stdin)); exit != 2 || !strings.Contains(stderr, bad.said) {
			t.Errorf("%s: exit status %d, %q, expected 2 and %q", bad.name, exit, stderr, bad.said)
		}
	}

	// Wrong requests of the right shape are refused, and the session goes on.
	next := string(frameOf([]byte("\x93\x20\xa4step\x92\x00\x91\x90")))
	for _, bad := range []string{
		"\x93\x01\xa4nope\x90", "\x93\x01\xa5start\x91\x90", "\x93\x01\xa5start\x90", "\x93\x01\xa4step\x92\x01\x90", "\x93\x01\xa4step\x92\xff\x90",
		"\x93\x01\xa4step\x92\x00\x91\x91\x01", "\x93\x01\xa4step\x92\x00\x91\x91\x95\x00\x01\x00\x00\xa1x", "\x93\x01\xa4step\x92\x00\xc0",
		"\x93\x01\xa4next\x90", "\x93\x01\xa7restore\x91\x01", "\x93\x01\xa7predict\x93\x00\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x90", "\x93\x01\xa4test\x92\x00\x01",
		"\x93\x01\xa4load\x92\x01\xc0", "\x93\x01\xa5start\x91" + strings.Replace(header, "move", "mo\x00e", 1), "\x93\x01\xa5start\x91" + strings.Replace(header, "move", "fly!", 1),
	} {
		stdout, _, exit := serve(append(append(frameOf(start), frameOf([]byte(bad))...), next...))
		if exit != 0 || !strings.HasSuffix(stdout[:len(stdout)-8], "\x93\x20\xc0\xc6\x00\x00\x00\x08") {
			t.Errorf("behind %q: exit status %d, %q", bad, exit, stdout)
		}
	}

	// Whatever else comes.
	random := rand.New(rand.NewPCG(1, 2))
	for range effort.Long(30, 150) {
		var stdin []byte
		for _, value := range whole {
			value = bytes.Clone(value)
			for range random.IntN(3) {
				value[random.IntN(len(value))] = byte(random.Uint32() >> random.IntN(24))
			}
			if random.IntN(8) == 0 {
				value = value[:random.IntN(len(value))]
			}
			stdin = append(stdin, frameOf(value)...)
		}
		serve(stdin)
	}
}

// TestCWebAssembly: the module that is kept imports nothing, and what a compiler makes of
// the example now is one that does what it does.
func TestCWebAssembly(t *testing.T) {
	thorough(t)
	kept, err := os.ReadFile("../../testdata/wasm/skirmish.wasm")
	if err != nil {
		t.Fatal(err)
	}
	module(t, kept)
	if len(kept) > 100<<10 {
		t.Errorf("it has %d bytes, expected at most 100 KiB", len(kept))
	}
	needTool(t, "clang")
	needTool(t, "wasm-ld")
	file := filepath.Join(t.TempDir(), "skirmish.wasm")
	out, err := exec.Command("clang", "--target=wasm32-wasi", "-mexec-model=reactor", "-std=c99", "-O2", "-Wall", "-Wextra", "-s", "-o", file, "c/skirmish.c").CombinedOutput()
	if err != nil {
		lack(t, fmt.Sprintf("clang: %v\n%s", err, out))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	module(t, b)
	conforms(t, nil, "wasm:"+file)
}

// module checks a WebAssembly module's sections of imports and exports.
func module(t *testing.T, b []byte) {
	t.Helper()
	if !bytes.HasPrefix(b, []byte("\x00asm\x01\x00\x00\x00")) {
		t.Fatal("no WebAssembly module")
	}
	const importSection, exportSection = 2, 7
	for b = b[8:]; len(b) > 0; {
		n, size := binary.Uvarint(b[1:])
		body := b[1+size:][:n]
		switch b[0] {
		case importSection:
			t.Errorf("it imports %q", body)
		case exportSection:
			for _, name := range []string{"memory", "_initialize", "desynctool_alloc", "desynctool_request"} {
				if !bytes.Contains(body, []byte(name)) {
					t.Errorf("it does not export %s", name)
				}
			}
		}
		b = b[1+size+int(n):]
	}
}

// TestCHunt: recorded orders that are changed show the fault of the game, and a game without it has none.
func TestCHunt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the game in C is built with cc")
	}
	program := skirmish(t)
	recorded, _ := play(t, program, "--ticks", "300", "--seed", "3")
	host := filepath.Join(recorded, "host")
	wants(t, run(t, 0, "hunt", host, "--sim", "exec:"+program+" serve", "--seed", "2", "--ticks", "100"), "IN SYNC", "check-purity 1, check-caches 1", "of 3 kinds")
	out := run(t, 1, "hunt", host, "--sim", "exec:"+program+" serve --fault 30", "--modes", "check-caches", "--seed", "2", "--max-replays", "30")
	wants(t, out, "check-caches, stale cache Grid")
}

package sdk_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/orderlog"
)

// compileCSharp compiles sources for mono and returns the program.
func compileCSharp(t *testing.T, sources ...string) string {
	t.Helper()
	needTool(t, "mcs")
	needTool(t, "mono")
	exe := filepath.Join(t.TempDir(), "program.exe")
	args := append([]string{"-langversion:7", "-warn:4", "-warnaserror", "-out:" + exe}, sources...)
	if out, err := exec.Command("mcs", args...).CombinedOutput(); err != nil {
		t.Fatalf("mcs: %v\n%s", err, out)
	}
	return exe
}

const csharpSDK, csharpGame = "csharp/Desynctool.cs", "csharp/Skirmish.cs"

// recordCSharp plays a session and returns its folder and what the game said.
func recordCSharp(t *testing.T, exe string, args ...string) (dir, said string) {
	t.Helper()
	dir = t.TempDir()
	out, err := exec.Command("mono", append([]string{exe, "record", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("record: %v\n%s", err, out)
	}
	return dir, string(out)
}

// filesOf returns the files below a folder; none may be missing.
func filesOf(t *testing.T, dir, pattern string, want int) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) != want {
		t.Fatalf("%s: %d files, %v, expected %d", pattern, len(files), err, want)
	}
	return files
}

func TestCSharpVectors(t *testing.T) {
	whole(t)
	exe := compileCSharp(t, csharpSDK, "testdata/Vectors.cs")
	dir := t.TempDir()
	packed := filepath.Join(t.TempDir(), "packed")
	run(t, 0, "record", "-o", packed, "--ticks", "1", "--entities", "2000")
	compressed := filesOf(t, packed, "host/desync_*_0000000000.snap", 1)[0]
	if out, err := exec.Command("mono", exe, dir, compressed).CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, example := range []struct{ file, doc, fence string }{
		{"example.snap", "../snapshot.md", "<!-- example hex -->\n```\n"},
		{"order-log.bin", "../orderlog.md", "```order-log-hex\n"},
		{"checkpoints.trace", "../trace.md", "```trace-hex\n"},
	} {
		got, err := os.ReadFile(filepath.Join(dir, example.file))
		if err != nil {
			t.Fatal(err)
		}
		if want := bytesIn(t, example.doc, example.fence); !bytes.Equal(got, want) {
			t.Errorf("%s is not the example of %s:\n%x\n%x", example.file, example.doc, got, want)
		}
	}
	for _, name := range []string{"types.snap", "large.snap", "order-log.bin"} {
		wants(t, run(t, 0, "verify", filepath.Join(dir, name)), "VERIFIED")
	}
	wants(t, run(t, 0, "dump", filepath.Join(dir, "types.snap")),
		"%tick 1099511627776\n%phase \"after-orders\"\n%native \"frame 9\"\n%peer \"clïent\"\n%epoch 3\n%rng 0x\n%history 00",
		"%meta \"os\" \"linux\"\n%meta \"\uFFFD\" \"second by bytes\"\n%meta \"\U0001F600\" \"third\"\n",
		"Pair[0:7].T.bool = absent\n", "Pair[1:0].T.Bytes = 0x00ff\n", "Pair[1:0].T.F32 = 0.1\n", "Pair[1:0].T.F64 = -0\n", "Pair[1:0].T.Fixed = -1.5\n",
		"Pair[1:0].T.I8 = -128\n", "Pair[1:0].T.I64 = -9223372036854775808\n", "Pair[1:0].T.U64 = 18446744073709551615\n",
		"Pair[1:0].T.String = \"größe\"\n", "Pair[1:0].T.Ref = @18446744073709551615\n", "Pair[18446744073709551615:0].T.Bytes = 0x00010203\n",
		"cache Grid[5].C.d = 9\n", "noise Clock[1]\n")
}

// TestCSharpRecorder reads all that a peer leaves that was away for some ticks.
func TestCSharpRecorder(t *testing.T) {
	whole(t)
	exe := compileCSharp(t, csharpSDK, "testdata/Vectors.cs")
	dir := t.TempDir()
	if out, err := exec.Command("mono", exe, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir = filepath.Join(dir, "gap")
	snap := filepath.Join(dir, "desync_ffffffffffffffff_0000000006.snap")
	if _, err := os.Stat(snap); err == nil {
		t.Error("the snapshot has the seed of the state, not that of the session")
	}
	snap = filepath.Join(dir, "desync_0000000000000007_0000000006.snap")
	for _, file := range []string{snap, filepath.Join(dir, "order-log.bin")} {
		wants(t, run(t, 0, "verify", file), "VERIFIED")
	}
	adopted := append([]byte{1}, make([]byte, 31)...)
	log := readLog(t, filepath.Join(dir, "order-log.bin"))
	sync := log.Epochs[1].Hash(6, 0, orderlog.SyncHash, "")
	history := sha256.Sum256(append(bytes.Clone(adopted), sync...))
	text := run(t, 0, "dump", filepath.Join(dir, "order-log.bin"))
	wants(t, text, fmt.Sprintf("observed = 1\nobserved.hash[1].sync.peer[0] = 0x%x\ntick[5].input_hash", sync),
		"tick[5].marker[0] = reconnect player 1 peer 0 seq 0 point 5 \"\"\n",
		fmt.Sprintf("tick[5].marker[1] = load player 0 peer 0 seq 0 point 5 epoch 0x%x \"save of the host\"\n", adopted))
	wants(t, run(t, 0, "dump", snap), "%epoch 1\n", fmt.Sprintf("%%history %x\n", history), "%meta \"build\" \"1.0\"\n%meta \"locale\" \"de_DE\"\n%meta \"map\" \"green valley\"\n")
	if len(log.Header.Params) != 1 || log.Epochs[0].Hash(1, 0, orderlog.SyncHash, "") == nil || log.Epochs[1].Hash(1, 0, orderlog.SyncHash, "") != nil {
		t.Errorf("parameters %v, or a hash in the wrong epoch:\n%s", log.Header.Params, text)
	}

	trace := run(t, 0, "dump", filepath.Join(dir, "checkpoints.trace"))
	run(t, 0, "verify", snap)
	for _, scope := range []string{"RNG", "Empty", "Empty/A.b", "Pair", "Pair/T.Fixed"} {
		if n := strings.Count(trace, " system=Movement scope="+scope+" "); n != 2 {
			t.Errorf("%d checkpoints of %s, expected 2:\n%s", n, scope, trace)
		}
	}
	wants(t, trace, fmt.Sprintf("tick=5 system=Movement sum=0x%x\n", sync))

	file := filepath.Join(dir, "desync_report_0000000000000007_0000000006.json")
	out := run(t, 0, "report", file)
	if strings.Contains(out, "contradict") {
		t.Errorf("the report contradicts itself:\n%s", out)
	}
	var report map[string]any
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &report)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(report["order_log_window"], report["player"], report["order_log_excerpt"]); got != "map[from:5 to:5] 2 "+
		"[map[kind:chat local:true payload:67 player:1 sequence:4 sub_tick_time:5 tick:5] map[kind:move payload:9301 player:2 sequence:17 sub_tick_time:0 tick:5]]" {
		t.Errorf("the excerpt of orders is %s", got)
	}
	if nodes := report["merkle_nodes"].([]any); len(nodes) != 5 || fmt.Sprint(nodes[0].([]any)[0]) != "" {
		t.Errorf("the nodes are %v", nodes)
	}
}

func TestCSharpReads(t *testing.T) {
	whole(t)
	exe := compileCSharp(t, csharpSDK, "testdata/Vectors.cs")
	for _, file := range readable(t) {
		judges(t, mutants(t, file), "mono", exe, "--read")
	}
	judges(t, forgeries(t), "mono", exe, "--read")
}

// dumped matches a line of an example with the offset, the bytes and what they are; hexComment matches the end of other lines.
var dumped, hexComment = regexp.MustCompile(`^[0-9a-f]{8}  ([0-9a-f].{47})`), regexp.MustCompile(`#.*`)

// bytesIn returns the bytes of an example in a document.
func bytesIn(t *testing.T, doc, fence string) []byte {
	t.Helper()
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), fence)
	block, _, ok2 := strings.Cut(block, "```")
	if !ok || !ok2 {
		t.Fatalf("%s has no example %q", doc, fence)
	}
	var digits strings.Builder
	for line := range strings.Lines(block) {
		if m := dumped.FindStringSubmatch(line); m != nil {
			line = m[1]
		}
		digits.WriteString(hexComment.ReplaceAllString(line, ""))
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits.String()), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCSharpExampleIsShort(t *testing.T) {
	source, err := os.ReadFile(csharpGame)
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := bytes.Cut(source, []byte("\n\n")) // after licence and copyright
	if n := bytes.Count(code, []byte("\n")); n >= 300 {
		t.Errorf("%s has %d lines, expected less than 300", csharpGame, n)
	}
}

func TestCSharpCleanSession(t *testing.T) {
	whole(t)
	exe := compileCSharp(t, csharpGame, csharpSDK)
	dir, said := recordCSharp(t, exe, "--seed", "11")
	if said != "" {
		t.Errorf("record says %q", said)
	}
	host, client := filepath.Join(dir, "host"), filepath.Join(dir, "client")
	sim := "exec:mono " + exe + " serve"

	for _, transport := range []string{"stdio", "tcp", "unix"} {
		out := run(t, 0, "sim", "check", "--transport", transport, "--ticks", "400", "--log", filepath.Join(host, "order-log.bin"), "--", "mono", exe, "serve")
		wants(t, out, "CONFORMS: 16 parts, all it supports", "401 hashes match the log",
			`5 of them: ["Orders" "Targeting" "Movement" "Combat" "Reinforcements"]`)
	}
	for _, file := range append(filesOf(t, dir, "*/*.snap", 10), filesOf(t, dir, "*/order-log.bin", 2)...) {
		wants(t, run(t, 0, "verify", file), "VERIFIED")
		run(t, 0, "dump", file)
	}
	wants(t, run(t, 0, "dump", filepath.Join(host, "desync_000000000000000b_0000000100.snap")), "%peer \"host\"", "Soldier[", "cache Crowd[", "%history ")
	wants(t, run(t, 0, "dump", filepath.Join(client, "checkpoints.trace")), "%peer \"client\"", "tick=399 system=Reinforcements sum=0x", "\n%end\n")
	wants(t, run(t, 0, "bisect", dir), "IN SYNC")
	wants(t, run(t, 0, "tracediff", dir), "IN SYNC")
	wants(t, run(t, 0, "orders", host, client), "inputs equal")
	out := run(t, 0, "replay", client, "--sim", sim, "--serialize", "--rollback", "3", "--check-caches", "--check-purity", "--drill")
	wants(t, out, "IN SYNC  serialize", "IN SYNC  rollback", "IN SYNC  check-caches", "IN SYNC  check-purity")
	wants(t, run(t, 0, "replay", client, "--sim", sim, "--drill"), "IN SYNC")
	wants(t, run(t, 0, "replay", client, "--sim", sim, "--dual"), "IN SYNC")
	csharpHistory(t, filepath.Join(host, "order-log.bin"), 14)
}

// csharpHistory computes the history hashes of a log again, from its sync hashes and from
// what its epochs adopt, and expects so many.
func csharpHistory(t *testing.T, path string, want int) {
	t.Helper()
	log, err := orderlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var history [32]byte
	compared, loaded := 0, uint64(0)
	for _, tick := range log.Ticks {
		if m := tick.NewEpoch(); m != nil {
			history, loaded = m.History, m.Point
		}
		for _, h := range tick.Hashes {
			switch h.Kind {
			case orderlog.SyncHash:
				if h.Point > 0 && h.Point == loaded {
					// the history that was adopted includes it
				} else if h.Point == 0 {
					history = sha256.Sum256(log.Header.Start[:])
				} else {
					history = sha256.Sum256(append(history[:], h.Bytes...))
				}
			case orderlog.HistoryHash:
				if compared++; !bytes.Equal(h.Bytes, history[:]) {
					t.Errorf("history hash at point %d is %x, expected %x", h.Point, h.Bytes, history)
				}
			}
		}
	}
	if compared != want {
		t.Errorf("%s: %d history hashes, expected %d", path, compared, want)
	}
}

func TestCSharpFault(t *testing.T) {
	whole(t)
	exe := compileCSharp(t, csharpGame, csharpSDK)
	dir, said := recordCSharp(t, exe, "--fault", "150")
	var tick int
	if _, err := fmt.Sscanf(said, "the first spark flew in tick %d, system Combat", &tick); err != nil || tick < 150 {
		t.Fatalf("record says %q: %v", said, err)
	}
	sim := "exec:mono " + exe + " serve"
	here := fmt.Sprintf("DIVERGED  in tick %d", tick)
	filesOf(t, dir, fmt.Sprintf("*/desync_*_%010d.snap", tick+1), 2)

	wants(t, run(t, 1, "bisect", filepath.Join(dir, "host"), filepath.Join(dir, "client")), here, "host  ≠  client")
	wants(t, run(t, 1, "bisect", dir, "--sim", sim, "--drill"), here, "client departs at state point "+fmt.Sprint(tick+1),
		"host agrees", "system   Combat", "RNG.state", "from the snapshots at 100 to state point ")
	wants(t, run(t, 1, "tracediff", dir), here+", after system Combat")
	wants(t, run(t, 1, "replay", filepath.Join(dir, "client"), "--sim", sim, "--drill"), "Combat", fmt.Sprintf("tick %d", tick))
	wants(t, run(t, 0, "replay", filepath.Join(dir, "host"), "--sim", sim), "IN SYNC")
	wants(t, run(t, 1, "orders", filepath.Join(dir, "host"), filepath.Join(dir, "client")), "orders are equal, sync hashes differ from state point "+fmt.Sprint(tick+1))

	clean, _ := recordCSharp(t, exe)
	other, _ := recordCSharp(t, exe, "--seed", "8", "--ticks", "200")
	loads(t, sim, clean, other, dir, fmt.Sprint(tick))
	damagedLoads(t, 500, clean, "mono", exe, "serve")
}

func TestCSharpMinimal(t *testing.T) {
	whole(t)
	exe := compileCSharp(t, csharpSDK, "testdata/Minimal.cs")
	for _, transport := range []string{"stdio", "tcp"} {
		out := run(t, 0, "sim", "check", "--transport", transport, "--", "mono", exe)
		wants(t, out, "CONFORMS: 8 parts", "-      state ", "-      predict ")
	}
}

// TestCSharpMistakes makes mistakes in the example, one at a time, and sees whether they
// are found.
func TestCSharpMistakes(t *testing.T) {
	thorough(t)
	good := compileCSharp(t, csharpGame, csharpSDK)
	dir, _ := recordCSharp(t, good, "--ticks", "200")
	host := filepath.Join(dir, "host")
	source, err := os.ReadFile(csharpGame)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, old, new string
		part           string   // of sim check
		replay         []string // that finds it too
		says           string
	}{
		{"save forgets a field", "w.Write(u.Wait);", "w.Write((ushort)0);", "WRONG  save and restore", []string{"--rollback", "3"}, "DIVERGED  rollback"},
		{"save forgets the RNG", "rng = r.ReadUInt64();", "r.ReadUInt64();", "WRONG  save and restore", []string{"--rollback", "3"}, "DIVERGED  rollback"},
		{"cache is not updated", "            crowd[CellOf(u)]--;\n", "", "WRONG  caches", []string{"--check-caches"}, "DIVERGED  check-caches"},
		{"a test draws", "if (Validate(o) != \"\") return false;", "Random(2); if (Validate(o) != \"\") return false;", "WRONG  test", []string{"--check-purity"}, "DIVERGED  check-purity"},
		{"a session leaves something", "units.Clear(); Array", "if (units.Count > 90) units.Clear(); Array", "WRONG  start again", nil, ""},
		{"a clock", "u.Wait = (ushort)(12 + Random(8));", "u.Wait = (ushort)(12 + Random(8) + (ulong)System.Diagnostics.Stopwatch.GetTimestamp() % 2);", "WRONG  same run twice", []string{"--dual"}, "DIVERGED  dual"},
		{"a prediction stays", "Step(tick, orders); Restore(before);", "Step(tick, orders); if (before == null) Restore(before);", "WRONG  predict", nil, ""},
		{"systems in another order", "RunSystem(i, tick, orders); }\n", "RunSystem(Systems.Count - 1 - i, tick, orders); }\n", "WRONG  systems", nil, ""},
		{"a load forgets a field", "Wait = (ushort)c.wait.UInt(i), ", "", "WRONG  load", []string{"--from-each-snapshot"}, "DIVERGED  from-each-snapshot"},
		{"a load leaves a cache", "Count().ToArray().CopyTo(crowd, 0); //", "//", "WRONG  load", []string{"--from-each-snapshot"}, "DIVERGED  from-each-snapshot"},
		{"the state lacks a field", "c.wait.Set(u.Wait);", "c.wait.Set(0);", "WRONG  recorded hashes", []string{"--until", "200"}, "DIVERGED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := string(source)
			if strings.Count(text, test.old) != 1 {
				t.Fatalf("%q stands in the example %d times", test.old, strings.Count(text, test.old))
			}
			bad := filepath.Join(t.TempDir(), "Bad.cs")
			if err := os.WriteFile(bad, []byte(strings.Replace(text, test.old, test.new, 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			exe := compileCSharp(t, bad, csharpSDK)
			wants(t, run(t, 1, "sim", "check", "--ticks", "200", "--log", host, "--", "mono", exe, "serve"), test.part)
			if test.replay != nil {
				args := append([]string{"replay", host, "--sim", "exec:mono " + exe + " serve"}, test.replay...)
				wants(t, run(t, 1, args...), test.says)
			}
		})
	}
}

func TestCSharpCrash(t *testing.T) {
	thorough(t)
	source, err := os.ReadFile(csharpGame)
	if err != nil {
		t.Fatal(err)
	}
	good := compileCSharp(t, csharpGame, csharpSDK)
	dir, _ := recordCSharp(t, good, "--ticks", "100")
	for what, how := range map[string]string{
		"InvalidOperationException: ran out of arrows": `if (tick == 37) throw new InvalidOperationException("ran out of arrows");`,
		"in tick 37: it exited with status 5":          "if (tick == 37) Environment.Exit(5);",
	} {
		bad := filepath.Join(t.TempDir(), "Bad.cs")
		text := strings.Replace(string(source), "if (number == 0) foreach", how+"\n        if (number == 0) foreach", 1)
		if err := os.WriteFile(bad, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		exe := compileCSharp(t, bad, csharpSDK)
		path, err := desynctool()
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(path, "replay", filepath.Join(dir, "host"), "--sim", "exec:mono "+exe+" serve").CombinedOutput()
		if err == nil {
			t.Error("no error")
		}
		wants(t, string(out), what)
	}
}

// request is the frame of a request.
func request(t *testing.T, id any, method any, params any) []byte {
	t.Helper()
	b, err := msgpack.Marshal([]any{id, method, params})
	if err != nil {
		t.Fatal(err)
	}
	return frameOf(b)
}

func TestCSharpMalformedRequests(t *testing.T) {
	thorough(t)
	exe := compileCSharp(t, csharpGame, csharpSDK)
	header := orderlog.Header{Seed: 7, Kinds: []orderlog.OrderKind{{Name: "move"}}}
	start := request(t, 1, "start", []any{msgpack.RawMessage(orderlog.AppendHeader(nil, &header))})
	order := func(fields ...any) []any { return []any{uint64(0), []any{[]any{fields}}} }
	short := header
	for name, b := range map[string][]byte{
		"a length of 4 GiB":       {0xff, 0xff, 0xff, 0xff, 0x93},
		"a length that is a lie":  {0x00, 0x00, 0x00, 0x10, 0x93, 0x01},
		"half a length":           {0x05, 0x00},
		"no value":                {0x00, 0x00, 0x00, 0x00},
		"half a value":            frameOf([]byte{0x93, 0x01, 0xa5, 'h'}),
		"bytes behind the value":  append(frameOf([]byte{0xc0, 0xc0}), start...),
		"an array of 4 Gi":        frameOf([]byte{0x93, 0x01, 0xa4, 's', 't', 'e', 'p', 0xdd, 0xff, 0xff, 0xff, 0xff}),
		"a string of 4 GiB":       frameOf([]byte{0x93, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}),
		"a map of 4 Gi":           frameOf([]byte{0x93, 0x01, 0xa1, 'x', 0xdf, 0xff, 0xff, 0xff, 0xff}),
		"an extension":            frameOf([]byte{0x93, 0x01, 0xa1, 'x', 0x91, 0xd4, 0x01, 0x00}),
		"a code that is none":     frameOf([]byte{0xc1}),
		"a deep value":            frameOf(bytes.Repeat([]byte{0x91}, 3_000_000)),
		"a deep value that ends":  frameOf(append(bytes.Repeat([]byte{0x91}, 3_000_000), 0xc0)),
		"no array":                frameOf([]byte{0x01}),
		"two elements":            frameOf([]byte{0x92, 0x01, 0xa1, 'x'}),
		"a negative id":           request(t, -1, "hello", []any{1, "x"}),
		"an id that is text":      request(t, "1", "hello", []any{1, "x"}),
		"a method that is none":   request(t, 1, 2, []any{}),
		"parameters that are nil": request(t, 1, "hello", nil),
		"too few parameters":      request(t, 1, "hello", []any{1}),
		"a version that is text":  request(t, 1, "hello", []any{"1", "x"}),
		"a header that is none":   request(t, 1, "start", []any{"header"}),
		"a header cut short":      request(t, 1, "start", []any{[]any{1, "host"}}),
		"a start hash of 3 bytes": request(t, 1, "start", []any{[]any{1, "", "", []any{1, 1}, []byte{1, 2, 3}, 0, 0, []any{}, []any{}, []any{}}}),
		"an epoch over 2^32":      request(t, 1, "start", []any{[]any{1, "", "", []any{1, 1}, short.Start[:], 0, uint64(1) << 32, []any{}, []any{}, []any{}}}),
		"a tick that is text":     append(bytes.Clone(start), request(t, 2, "step", []any{"0", []any{}})...),
		"ticks that are a map":    append(bytes.Clone(start), request(t, 2, "step", []any{uint64(0), map[string]int{}})...),
		"a tick that is nil":      append(bytes.Clone(start), request(t, 2, "step", []any{uint64(0), []any{nil}})...),
		"10 million ticks":        append(bytes.Clone(start), request(t, 2, "step", []any{uint64(0), make([]any, 10_000_000)})...),
		"10 million orders":       append(bytes.Clone(start), request(t, 2, "step", []any{uint64(0), []any{make([]any, 10_000_000)}})...),
		"an order of 4":           append(bytes.Clone(start), request(t, 2, "step", order(0, 0, 0, 0))...),
		"a player over 2^32":      append(bytes.Clone(start), request(t, 2, "step", order(0, uint64(1)<<32, 0, 0, []byte{}))...),
		"a player below 0":        append(bytes.Clone(start), request(t, 2, "step", order(0, -3, 0, 0, []byte{}))...),
		"a payload that is text":  append(bytes.Clone(start), request(t, 2, "step", order(0, 0, 0, 0, "payload"))...),
		"a payload of 5 MiB":      append(bytes.Clone(start), request(t, 2, "step", order(0, 0, 0, 0, make([]byte, 5<<20)))...),
		"a save that is text":     append(bytes.Clone(start), request(t, 2, "restore", []any{"save"})...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := serveCSharp(t, exe, b)
			if code != 2 {
				t.Errorf("exit status %d, expected 2", code)
			}
			if !strings.HasPrefix(stderr, "desynctool: malformed request: ") || strings.Count(stderr, "\n") != 1 {
				t.Errorf("stderr is %q, expected one line", stderr)
			}
			if answers := bytes.HasPrefix(b, start); answers != (len(stdout) > 0) {
				t.Errorf("%d bytes of replies", len(stdout))
			}
		})
	}
}

// TestCSharpRefusals checks what is not a mistake in the protocol: the target answers with
// an error and goes on.
func TestCSharpRefusals(t *testing.T) {
	whole(t)
	exe := compileCSharp(t, csharpGame, csharpSDK)
	header := orderlog.Header{Seed: 7, Kinds: []orderlog.OrderKind{{Name: "move"}, {Name: "dance"}}}
	plain := []any{msgpack.RawMessage(orderlog.AppendHeader(nil, &header))}
	header.Params = map[string]string{"arena": "volcano"}
	volcano := []any{msgpack.RawMessage(orderlog.AppendHeader(nil, &header))}
	odd := []any{[]any{0, 0, 0, 1, []byte{}}, []any{0, 9, 0, 0, make([]byte, 24)}, []any{0, 0, 0, 77, []byte{1}}, []any{0, 1, 0, 0, make([]byte, 24)}}
	var in []byte
	want := []string{}
	for i, r := range []struct {
		method string
		params []any
		err    string
	}{
		{"step", []any{0, []any{}}, "step: no session is running"},
		{"load", []any{[]byte{}, nil}, "load: the state is unusable: not a .snap"},
		{"start", volcano, "start: there is no arena volcano"},
		{"start", plain, ""},
		{"step", []any{3, []any{}}, "step: tick 3, the state is at point 0"},
		{"restore", []any{[]byte("no save")}, "restore: not a save"},
		{"restore", []any{make([]byte, 40)}, "restore: not a save"},
		{"next", []any{}, "next: no tick has been begun"},
		{"begin", []any{0, []any{}}, ""},
		{"step", []any{0, []any{}}, "step: in the middle of tick 0"},
		{"save", []any{}, "save: in the middle of tick 0"},
		{"next", []any{}, ""},
		{"state", []any{}, ""},
		{"start", plain, ""},
		{"next", []any{}, "next: no tick has been begun"},
		{"step", []any{0, []any{odd, []any{}}}, ""},
		{"validate", []any{2, odd}, ""},
		{"start", volcano, "start: there is no arena volcano"},
		{"step", []any{2, []any{[]any{}}}, ""},
	} {
		in = append(in, request(t, 100+i, r.method, r.params)...)
		want = append(want, r.err)
	}
	code, stdout, stderr := serveCSharp(t, exe, in)
	if code != 0 || stderr != "" {
		t.Errorf("exit status %d, stderr %q", code, stderr)
	}
	for i, err := range want {
		if len(stdout) < 4 {
			t.Fatalf("only %d replies", i)
		}
		n := binary.LittleEndian.Uint32(stdout)
		var reply []any
		if err := msgpack.Unmarshal(stdout[4:4+n], &reply); err != nil {
			t.Fatal(err)
		}
		stdout = stdout[4+n:]
		got, _ := reply[1].(string)
		if id := fmt.Sprint(reply[0]); id != fmt.Sprint(100+i) || got != err {
			t.Errorf("reply %d has id %s and error %q, expected %q", i, id, got, err)
		}
		if list, ok := reply[2].([]any); ok && len(list) == 4 {
			if said := fmt.Sprint(list...); said != "no such kind of orderno such playerno such kind of order" {
				t.Errorf("validate says %q", said)
			}
		}
	}
	if len(stdout) > 0 {
		t.Errorf("%d bytes behind the last reply", len(stdout))
	}
}

// serveCSharp gives a target its whole input at once. Its heap is kept small, so that a
// length that is believed shows.
func serveCSharp(t *testing.T, exe string, in []byte) (code int, stdout []byte, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	cmd := exec.Command("mono", exe, "serve")
	cmd.Env = append(os.Environ(), "MONO_GC_PARAMS=max-heap-size=96m")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	_ = cmd.Wait() // that it leaves its input unread is not an error
	return cmd.ProcessState.ExitCode(), out.Bytes(), log.String()
}

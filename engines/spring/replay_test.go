package spring

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"

	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

func TestMain(m *testing.M) {
	if how := os.Getenv("SPRING_STANDIN"); how != "" {
		os.Exit(standIn(how, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// standIn is a program in the place of spring-headless. It prints what the real one printed, for the demo that it is
// given: the checksum of each frame that has a response in it.
func standIn(how string, args []string) int {
	if slices.Contains(args, "--version") {
		fmt.Println("spring-headless version 106.0 (Headless)\n[gflags::flush_exit]")
		return 0
	}
	if slices.Contains(args, "--sync-version") {
		if how == "another version" {
			fmt.Println("105.0")
		}
		fmt.Println()
		return 0
	}
	folder := ""
	for _, a := range args {
		if dir, ok := strings.CutPrefix(a, "--write-dir="); ok {
			folder = dir
		}
	}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(os.WriteFile(filepath.Join(folder, "arguments"), []byte(strings.Join(args, "\n")), 0o644))
	server, client := "85f5", "85f5"
	switch how {
	case "silent":
		return 0
	case "other data":
		client = "90aa"
	case "no map":
		fmt.Println(`[t=00:00:02.130181][f=-000001] Error: [ExitSpringProcess] errorMsg="Dependent archive "witness field 1" not found" msgCaption="Spring: caught content_error: " mainThread=1`)
		return 21
	}
	fmt.Printf("[t=00:00:02.71][f=-000001] [Game::ClientReadNet][LOGMSG] sender=\"replay\" string=\"[PreGame::GameDataReceived][map-checksums]\n\tserver=%s\n\tclient=%s\"\n", server, client)
	if how == "other data" {
		select {} // it loads for a long time, and is ended
	}
	computed := computedSums()
	d, err := openRecording(args[len(args)-1])
	check(err)
	states, err := os.Open(os.Getenv("SPRING_STATES"))
	check(err)
	unpacked, err := gzip.NewReader(states)
	check(err)
	all, err := io.ReadAll(unpacked)
	check(err)
	frames, err := os.ReadFile(filepath.Join(folder, "games", "desynctool.sdd", "desynctool_frames.lua"))
	check(err)
	for {
		m, err := d.Next()
		if err == io.EOF {
			break
		}
		check(err)
		if m.Type == MsgNewFrame || m.Type == MsgKeyFrame {
			if bytes.Contains(frames, fmt.Appendf(nil, "%d,", m.Frame)) {
				check(os.WriteFile(filepath.Join(folder, "desynctool-state.txt"), all, 0o644))
				fmt.Printf("[t=00:00:03.00][f=%07d] [desynctool] state of frame %d written\n", m.Frame, m.Frame)
			}
			continue
		}
		s, ok := m.SyncResponse()
		if !ok {
			continue
		}
		sum := computed[s.Frame]
		switch {
		case how == "differs" && s.Frame >= 100:
			sum ^= 1
		case how == "crash" && s.Frame == 100:
			self, _ := os.FindProcess(os.Getpid())
			self.Signal(syscall.SIGKILL)
			select {}
		case how == "forged" && s.Frame == 7:
			fmt.Println("[t=00:00:03.00][f=0000007] <Eve> hello\n[t=00:00:03.00][f=0000007] Error: [DESYNC WARNING] checksum 1 from demo player 0 (Alice) does not match our checksum bad for frame-number 6")
		}
		if s.Frame == 100 && how == "own states" {
			check(os.WriteFile(filepath.Join(folder, "Game states.txt"), all, 0o644))
		}
		fmt.Printf("[t=00:00:03.00][f=%07d] Error: [DESYNC WARNING] checksum %x from demo player %d (Alice) does not match our checksum %x for frame-number %d\n", s.Frame, s.Checksum, s.Player, sum, s.Frame)
	}
	select {} // the game stays open after the end of a demo
}

// computedSums are the checksums that the real engine computed.
func computedSums() map[uint64]uint32 {
	f, err := os.Open(os.Getenv("SPRING_COMPUTED"))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	sums := map[uint64]uint32{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		number, sum, _ := strings.Cut(lines.Text(), " ")
		n, err1 := strconv.ParseUint(number, 10, 64)
		s, err2 := strconv.ParseUint(sum, 16, 32)
		if err1 != nil || err2 != nil {
			panic(lines.Text())
		}
		sums[n] = uint32(s)
	}
	return sums
}

// fixture is a folder with the data of the demo's game and map, and a stand-in.
type fixture struct {
	data, program string
}

func newFixture(t *testing.T, how string) fixture {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	t.Helper()
	dir := t.TempDir()
	f := fixture{data: filepath.Join(dir, "data"), program: filepath.Join(dir, "spring-headless")}
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(f.data, "games/tanks.sdd/modinfo.lua"), `return {name = "Witness Tanks", version = "1"}`, 0o644)
	write(filepath.Join(f.data, "games/tanks.sdd/LuaUI.lua"), "-- theirs", 0o644)
	write(filepath.Join(f.data, "maps/field.sdd/mapinfo.lua"), "return {\n\tname = 'Witness Field',\n\tversion = '1',\n}", 0o644)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	write(f.program, fmt.Sprintf("#!/bin/sh\nSPRING_STANDIN='%s' SPRING_COMPUTED='%s/computed.txt' SPRING_STATES='%s/GameState.txt.gz' exec '%s' \"$@\"\n", how, here, here, self), 0o755)
	return f
}

func (f fixture) play(t *testing.T, file string, ask engine.Ask, force bool) (*gamereplay.Replay, *gamereplay.Witness, error) {
	t.Helper()
	w := &gamereplay.Witness{Game: Game(), Spec: "spring", Program: engine.Program{Path: f.program, Options: map[string]string{"data": f.data}}, Force: force}
	rec := &engine.Recording{Peer: "Alice", Path: "Alice/demo.sdfz", File: file, Format: "spring-demo", Last: 190}
	r, err := w.Play(context.Background(), rec, ask)
	if r != nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, w, err
}

// left reads the demo that a replay left: its checksums, and its orders as text.
func left(t *testing.T, path string) (sums map[uint64]uint32, orders []string) {
	t.Helper()
	in, err := openRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.file.Close()
	sums = map[uint64]uint32{}
	for {
		m, err := in.Next()
		if err != nil {
			break
		}
		if s, ok := m.SyncResponse(); ok {
			sums[s.Frame] = s.Checksum
		}
	}
	f, err := openRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.file.Close()
	f.file.Seek(0, io.SeekStart)
	z, err := gzip.NewReader(f.file)
	if err != nil {
		t.Fatal(err)
	}
	log, err := NewReader(z, path)
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := log.Next()
		if err != nil {
			break
		}
		for _, o := range rec.Tick.Orders {
			orders = append(orders, fmt.Sprintf("%d %d %d %d %x", o.Tick, o.Player, o.Sequence, o.Kind, o.Payload))
		}
	}
	return sums, orders
}

// wantComputed are the checksums that the real engine computed up to a frame.
func wantComputed(t *testing.T, until uint64) map[uint64]uint32 {
	t.Setenv("SPRING_COMPUTED", "testdata/computed.txt")
	want := computedSums()
	for n := range want {
		if n > until {
			delete(want, n)
		}
	}
	return want
}

func TestReplay(t *testing.T) {
	f := newFixture(t, "good")
	r, w, err := f.play(t, "testdata/demo.sdfz", engine.Ask{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if w.Program.Version != "106.0 (Headless)" {
		t.Errorf("version %q", w.Program.Version)
	}
	sums, orders := left(t, filepath.Join(r.Folder, "demo.sdfz"))
	want := wantComputed(t, 190)
	if len(want) != 191 || fmt.Sprint(sums) != fmt.Sprint(want) {
		t.Errorf("%d checksums, expected the %d that the engine computed", len(sums), len(want))
	}
	recorded, wantOrders := left(t, "testdata/demo.sdfz")
	if !slices.Equal(orders, wantOrders) || len(orders) < 8 {
		t.Errorf("%d orders, expected the %d that were recorded", len(orders), len(wantOrders))
	}
	for n, sum := range recorded { // the results of the player's machine, which was not disturbed
		if sums[n] != sum {
			t.Errorf("frame %d: %08x, recorded %08x", n, sums[n], sum)
		}
	}
	if len(recorded) != 3 {
		t.Errorf("%d recorded checksums", len(recorded))
	}
	if names, err := os.ReadDir(r.Folder); err != nil || len(names) != 1 {
		t.Errorf("left: %v, %v", names, err)
	}
}

func TestMismatch(t *testing.T) {
	r, _, err := newFixture(t, "differs").play(t, "testdata/demo.sdfz", engine.Ask{}, false)
	if err != nil {
		t.Fatal(err)
	}
	sums, _ := left(t, filepath.Join(r.Folder, "demo.sdfz"))
	for n, sum := range wantComputed(t, 190) {
		if n >= 100 {
			sum ^= 1
		}
		if sums[n] != sum {
			t.Fatalf("frame %d: %08x, expected %08x", n, sums[n], sum)
		}
	}
}

// A replay to a frame plays no more, and one to the end of a torn recording plays what there is.
func TestUntil(t *testing.T) {
	until := uint64(99)
	r, _, err := newFixture(t, "good").play(t, "testdata/demo.sdfz", engine.Ask{Until: &until}, false)
	if err != nil {
		t.Fatal(err)
	}
	if sums, _ := left(t, filepath.Join(r.Folder, "demo.sdfz")); fmt.Sprint(sums) != fmt.Sprint(wantComputed(t, 99)) {
		t.Errorf("%d checksums", len(sums))
	}
	torn := filepath.Join(t.TempDir(), "torn.sdfz")
	whole, err := os.ReadFile("testdata/demo.sdfz")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, whole[:len(whole)*9/10], 0o644); err != nil {
		t.Fatal(err)
	}
	r, _, err = newFixture(t, "good").play(t, torn, engine.Ask{}, false)
	if err != nil {
		t.Fatal(err)
	}
	sums, _ := left(t, filepath.Join(r.Folder, "demo.sdfz"))
	if len(sums) < 50 || len(sums) >= 191 || fmt.Sprint(sums) != fmt.Sprint(wantComputed(t, uint64(len(sums)-1))) {
		t.Errorf("%d checksums of a torn recording", len(sums))
	}
}

func TestStates(t *testing.T) {
	r, _, err := newFixture(t, "good").play(t, "testdata/demo.sdfz", engine.Ask{Dump: []uint64{60, 120, 191}}, false)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(r.Folder, "GameState-replay.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Parts(f, info.Size(), "state")
	if err != nil {
		t.Fatal(err)
	}
	var points []uint64
	for _, p := range parts {
		points = append(points, p.Point.Tick)
		w, err := Read(io.NewSectionReader(f, p.Offset, p.Size), p.Size, "state")
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(w.Tables, func(t snapshot.Table) bool { return t.Label == "Unit" }); i < 0 {
			t.Errorf("state %d has no units", p.Point.Tick)
		}
	}
	if !slices.Equal(points, []uint64{60, 120, 191}) {
		t.Errorf("states %v", points)
	}
	// A game with scripts that leave states: peers leave the same, so that ours are not taken.
	r, _, err = newFixture(t, "own states").play(t, "testdata/demo.sdfz", engine.Ask{Dump: []uint64{60}}, false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range must(os.ReadDir(r.Folder)) {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"GameState.txt", "demo.sdfz"}) {
		t.Errorf("left %q", names)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRefusals(t *testing.T) {
	refused := func(f fixture, version bool, words ...string) {
		t.Helper()
		_, _, err := f.play(t, "testdata/demo.sdfz", engine.Ask{}, false)
		var r *engine.Refusal
		if !errors.As(err, &r) || r.Version != version {
			t.Fatalf("%v, expected a refusal", err)
		}
		for _, w := range append(words, "Alice/demo.sdfz") {
			if !strings.Contains(err.Error(), w) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, expected %q in one line", err, w)
			}
		}
	}
	refused(newFixture(t, "another version"), true, "a build without a version", "version 105.0", "--force")
	r, w, err := newFixture(t, "another version").play(t, "testdata/demo.sdfz", engine.Ask{}, true)
	if err != nil || r == nil || len(w.Forced()) == 0 {
		t.Errorf("by force: %v, %q", err, w.Forced())
	}
	game := newFixture(t, "good")
	os.RemoveAll(filepath.Join(game.data, "games"))
	refused(game, false, `the game "Witness Tanks 1"`, game.data)
	field := newFixture(t, "good")
	os.RemoveAll(filepath.Join(field.data, "maps"))
	refused(field, false, `the map "Witness Field 1"`)
	// An archive that cannot be read here may be the right one: the engine decides.
	if err := os.MkdirAll(filepath.Join(field.data, "maps", "field.sd7"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := field.play(t, "testdata/demo.sdfz", engine.Ask{}, false); err != nil {
		t.Error(err)
	}
	refused(newFixture(t, "other data"), false, "the map here is not the one that was recorded", "90aa", "85f5")
}

func TestFailures(t *testing.T) {
	for how, want := range map[string]string{
		"silent": "it computed no frame",
		"crash":  "it crashed: killed",
		"no map": `Dependent archive "witness field 1" not found`,
	} {
		_, _, err := newFixture(t, how).play(t, "testdata/demo.sdfz", engine.Ask{}, false)
		if !errors.Is(err, engine.ErrFailed) || !strings.Contains(strings.ReplaceAll(err.Error(), `\"`, `"`), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %q", how, err, want)
		}
	}
}

// What players write into the log is not taken for what the engine computed.
func TestReplayForged(t *testing.T) {
	r, _, err := newFixture(t, "forged").play(t, "testdata/demo.sdfz", engine.Ask{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if sums, _ := left(t, filepath.Join(r.Folder, "demo.sdfz")); fmt.Sprint(sums) != fmt.Sprint(wantComputed(t, 190)) {
		t.Error("a forged line was taken")
	}
}

// Names in a recording are neither arguments nor paths.
func TestNames(t *testing.T) {
	odd := []string{"-x", "../../etc", "a;b", "--config=/etc/passwd", "$(id)", "a\x00b"}
	for _, name := range odd[:effort.Of(2, len(odd))] {
		file := filepath.Join(t.TempDir(), "demo.sdfz")
		renamed(t, file, name)
		f := newFixture(t, "good")
		_, _, err := f.play(t, file, engine.Ask{}, false)
		var r *engine.Refusal
		if !errors.As(err, &r) {
			t.Errorf("%q: %v, expected a refusal", name, err)
		}
		// The engine is asked where an archive cannot be read here.
		os.MkdirAll(filepath.Join(f.data, "games", "other.sd7"), 0o755)
		rec := &engine.Recording{File: file, Last: 190}
		dirs := engine.Dirs{Home: t.TempDir(), Work: t.TempDir(), Out: t.TempDir()}
		plan, err := prepare(&engine.Program{Path: f.program, Options: map[string]string{"data": f.data}}, rec, engine.Ask{}, dirs)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		for _, a := range plan.Command.Args[1:] {
			if a != "--isolation" && a != "--nocolor" && a != "--name=replay" && !strings.Contains(a, dirs.Work) {
				t.Errorf("%q: argument %q", name, a)
			}
		}
	}
}

// renamed writes the demo with another game's name in its header's script.
func renamed(t *testing.T, path, name string) {
	t.Helper()
	in, err := openRecording("testdata/demo.sdfz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.file.Close()
	w, err := create(path, in.header, strings.Replace(in.Header.Script, "gametype=Witness Tanks 1;", "gametype="+name+";", 1))
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := in.Next()
		if err != nil {
			break
		}
		w.chunk(m.Body)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
}

// The copy has what is simulated, byte for byte and in its order.
func TestCopy(t *testing.T) {
	simulated := func(path string) (list []string) {
		in, err := openRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.file.Close()
		for {
			m, err := in.Next()
			if err != nil {
				return list
			}
			switch m.Type {
			case MsgSyncResponse, MsgSystem, msgLog, msgQuit, msgGameData:
			default:
				list = append(list, fmt.Sprintf("%d %x", m.Frame, m.Body))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "copy.sdfz")
	c := copying{until: 1 << 30, probe: 0xfeed, mutator: "m"}
	if last, err := c.write("testdata/demo.sdfz", path); err != nil || last != 190 {
		t.Fatal(last, err)
	}
	want, have := simulated("testdata/demo.sdfz"), simulated(path)
	if !slices.Equal(have, append(want, "191 02")) || len(want) < 200 {
		t.Errorf("%d messages, expected %d and a frame", len(have), len(want))
	}
	probes, _ := left(t, path)
	for n := range uint64(191) {
		if probes[n] != 0xfeed {
			t.Fatalf("frame %d has no probe", n)
		}
	}
}

func TestMutator(t *testing.T) {
	for script, want := range map[string]string{
		"[game]\n{\nmutator0=a;\n}": "[game]\n{\nmutator1=m;\nmutator0=a;\n}",
		"[GAME] { x=1; }":           "[GAME] {\nmutator0=m; x=1; }",
	} {
		if have, err := withMutator(script, "m"); err != nil || have != want {
			t.Errorf("%q, %v, expected %q", have, err, want)
		}
	}
	full := "[game]{"
	for i := range maxMutators {
		full += fmt.Sprintf("mutator%d=a;", i)
	}
	for _, script := range []string{"", "[game]", "[players]{}", full} {
		if have, err := withMutator(script, "m"); err == nil {
			t.Errorf("%q became %q", script, have)
		}
	}
}

func TestVersioned(t *testing.T) {
	for info, want := range map[string]string{
		`return {name = "Witness Tanks", version = "1"}`:                                                      "Witness Tanks 1",
		"local m = {\n\tname='Map 2.0',\n\tversion='2.0',\n}\nreturn m":                                       "Map 2.0",
		"return { name = [[A \"B\"]], shortname = 'x' }":                                                      `A "B"`,
		`return {name = "Tanks", description = "a mini-game -- name = 'no'", version = "1"} -- version = "2"`: "Tanks 1",
		"--[[ name = 'no'\n]] return {description = 'co-op', name = 'Tanks', version = '1'}":                  "Tanks 1",
		"-- name = \"no\"\nreturn {\n  shortname = 's',\n  Version = name()\n}":                               "",
	} {
		if have := versioned(info); have != want {
			t.Errorf("%q: %q, expected %q", info, have, want)
		}
	}
}

// Any first message is either changed so that it can be read again, or refused.
func FuzzMutated(f *testing.F) {
	in, err := openRecording("testdata/demo.sdfz")
	if err != nil {
		f.Fatal(err)
	}
	defer in.file.Close()
	m, err := in.Next()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(m.Body))
	f.Add([]byte{msgGameData, 9, 0, 4, 0, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := mutated(body, "m")
		if err != nil {
			return
		}
		if int(binary.LittleEndian.Uint16(out[1:])) != len(out) {
			t.Errorf("its size is %d of %d", binary.LittleEndian.Uint16(out[1:]), len(out))
		}
		again, err := mutated(out, "n")
		if err != nil && len(out) < 60000 && !strings.Contains(err.Error(), "archives over the game") {
			t.Errorf("changed again: %v", err)
		}
		_ = again
	})
}

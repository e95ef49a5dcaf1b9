package widelands

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
)

const corpus = "../../testdata/widelands/cmdact_serial/"

// Files of the real session of the corpus, see its README. The first hash that differs is the hash of 161600.
const (
	hostReplay   = corpus + "host/2026-11-20T08.55.13_nethost.wrpl"
	clientReplay = corpus + "client/2026-11-20T08.55.14_netclient_1.wrpl"
	parted       = 161600
)

// preload is the description that a real saved game of 1.1 has of itself.
const preload = `# Automatically created by Widelands 1.1 Release

[global]
packet_version="9"
gametime="0"
mapname="Crater"
widelands_version="1.1"
background=
theme="summer"
addons=
`

// versionText is what Debian's 1.1 prints.
const versionText = `This is Widelands version 1.1 Release
[00:00:00.000 real] INFO: Set home directory: /home/a/.local/share/widelands
`

// What the real game prints of a replay, its stamps and numbers aside.
const (
	begins = `This is Widelands version 1.1 Release
[00:00:00.000 real] INFO: Byte order: little-endian
[00:00:00.399 real] INFO: Game: Reading Preload Data ...` + ` 
[00:00:38.412 game] DEBUG: MO(480,empire_carrier): [transfer]: set location to road 474
[00:02:40.000 game] DEBUG: MO(330,fox): Yummy, I love a bunny...
`
	ends = `[00:04:38.820 game] ERROR: REPLAY: End of replay (gametime: 98327)

`
	differs = `[00:02:41.600 game] ERROR: REPLAY: Lost synchronization at time %d
[00:02:41.600 game] ERROR: I have:     %x
[00:02:41.600 game] ERROR: Replay has: %x

`
	putAway = `[00:00:02.918 real] INFO: Registering the descriptions took 41ms
[00:00:02.919 real] INFO: Initializing economy serial
[00:00:02.919 real] INFO: lastserial: 0
`
)

// saving writes a saved game with a text as its description.
func saving(t testing.TB, file, name, text string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err := errors.Join(err, z.Close(), os.WriteFile(file, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// recording returns a replay of the corpus with its sync stream and a saved game next to it.
func recording(t testing.TB, replay string) *engine.Recording {
	t.Helper()
	dir := t.TempDir()
	rec := &engine.Recording{Path: "x/" + filepath.Base(replay), File: replay, Format: "widelands-replay"}
	save := filepath.Join(dir, filepath.Base(replay)+".wgf")
	saving(t, save, "/preload", preload)
	sync := filepath.Join(dir, filepath.Base(replay)+".wss")
	if err := os.WriteFile(sync, unpacked(t, replay+".wss.gz"), 0o666); err != nil {
		t.Fatal(err)
	}
	rec.Beside = []string{save, sync}
	return rec
}

func unpacked(t testing.TB, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// playing returns what the recipe leaves of a game that prints a text and ends so.
func playing(t *testing.T, rec *engine.Recording, ask engine.Ask, printed string, ended confine.Ended) (engine.Dirs, *engine.Plan, error) {
	t.Helper()
	top := t.TempDir()
	dirs := engine.Dirs{Home: filepath.Join(top, "home"), Work: filepath.Join(top, "work"), Out: filepath.Join(top, "out"), Log: filepath.Join(top, "work", "printed.log")}
	for _, dir := range []string{dirs.Home, dirs.Work, dirs.Out} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := Game().Prepare(&engine.Program{Path: "/usr/games/widelands"}, rec, ask, dirs)
	if err != nil {
		return dirs, nil, err
	}
	if err := os.WriteFile(dirs.Log, []byte(printed), 0o666); err != nil {
		t.Fatal(err)
	}
	return dirs, plan, plan.Collect(&ended)
}

// packets returns the packets of a replay, hashes and commands as text.
func replayPackets(t *testing.T, file string) (hashes map[uint32]string, commands []string, end uint32) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewReplay(f, file)
	if err != nil {
		t.Fatal(err)
	}
	hashes = map[uint32]string{}
	for {
		k, err := r.Next()
		if err == io.EOF {
			return hashes, commands, end
		}
		if err != nil {
			t.Fatal(err)
		}
		switch k.Kind {
		case Hash:
			hashes[k.Time] = fmt.Sprintf("%x", k.MD5)
		case Command:
			commands = append(commands, fmt.Sprintf("%d %x", k.Due, k.Bytes))
		case End:
			end = k.Time
		}
	}
}

// A replay that the game confirms leaves the same hashes, and the peer's stream up to the last of them.
func TestConfirmed(t *testing.T) {
	rec := recording(t, hostReplay)
	dirs, plan, err := playing(t, rec, engine.Ask{}, begins+ends, confine.Ended{})
	if err != nil {
		t.Fatal(err)
	}
	want, commands, end := replayPackets(t, hostReplay)
	got, left, _ := replayPackets(t, filepath.Join(dirs.Out, "replay.wrpl"))
	if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(left) != fmt.Sprint(commands) {
		t.Errorf("%d hashes and %d commands, want %d and %d", len(got), len(left), len(want), len(commands))
	}
	sync, err := os.ReadFile(filepath.Join(dirs.Out, "replay.wrpl.wss"))
	if all := unpacked(t, hostReplay+".wss.gz"); err != nil || !bytes.HasPrefix(all, sync) || len(sync) < len(all)-4096 {
		t.Errorf("%d bytes of the stream, want nearly all of its %d: %v", len(sync), len(all), err)
	}

	// What the game is given has the same, and one command more that is never run.
	given, orders, last := replayPackets(t, filepath.Join(dirs.Work, "replay.wrpl"))
	if fmt.Sprint(given) != fmt.Sprint(want) || fmt.Sprint(orders[:len(orders)-1]) != fmt.Sprint(commands) || last < end+beyond {
		t.Errorf("the game is given %d hashes, %d commands, and an end at %d after %d", len(given), len(orders), last, end)
	}
	var due uint32
	if fmt.Sscan(orders[len(orders)-1], &due); due < last+day {
		t.Errorf("the last command is due at %d, the replay ends at %d", due, last)
	}
	if b, err := os.ReadFile(filepath.Join(dirs.Work, "replay.wrpl.wgf")); err != nil || len(b) == 0 {
		t.Errorf("no saved game: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(dirs.Home, "world", "desynctool", "register.lua")); err != nil || !strings.Contains(string(b), "desired_speed = 100000") {
		t.Errorf("the script: %q, %v", b, err)
	}
	if tick, ok := plan.Tick("[01:02:03.004 game] DEBUG: x"); !ok || tick != 3723004 {
		t.Errorf("tick %d, %v", tick, ok)
	}
	if _, ok := plan.Tick("[01:02:03.004 real] DEBUG: x"); ok {
		t.Error("a line of the clock has a tick")
	}
}

// The client's replay is not confirmed from 161600 on. What it should have been is known from the host: the
// game, playing the same orders, computes what the host computed.
func TestDiffers(t *testing.T) {
	host, _, _ := replayPackets(t, hostReplay)
	client, orders, _ := replayPackets(t, clientReplay)
	printed := begins + fmt.Sprintf(strings.ReplaceAll(differs, "%x", "%s"), parted, host[parted], client[parted])
	dirs, plan, err := playing(t, recording(t, clientReplay), engine.Ask{}, printed, confine.Ended{})
	if err != nil {
		t.Fatal(err)
	}
	got, left, end := replayPackets(t, filepath.Join(dirs.Out, "replay.wrpl"))
	if end != parted || len(got) != parted/200 {
		t.Errorf("%d hashes up to %d, want %d up to %d", len(got), end, parted/200, parted)
	}
	for at, md5 := range got {
		if host[at] != md5 {
			t.Errorf("the hash at %d is %s, the host computed %s", at, md5, host[at])
		}
	}
	if len(left) == 0 || len(left) > len(orders) {
		t.Errorf("%d commands of %d", len(left), len(orders))
	}
	sync, err := os.ReadFile(filepath.Join(dirs.Out, "replay.wrpl.wss"))
	if err != nil || !bytes.HasPrefix(unpacked(t, hostReplay+".wss.gz"), sync) || len(sync) == 0 {
		t.Errorf("the stream is not what the host computed: %d bytes, %v", len(sync), err)
	}
	lines := strings.Split(printed, "\n")
	for i, line := range lines {
		if plan.Over(line) != (i == len(lines)-3) {
			t.Errorf("Over(%q) is wrong", line)
		}
	}

	// Without the peer's stream, and with a stream that does not match its hashes, none is left.
	rec := recording(t, clientReplay)
	rec.Beside = rec.Beside[:1]
	if dirs, _, err = playing(t, rec, engine.Ask{}, printed, confine.Ended{}); err != nil {
		t.Fatal(err)
	}
	noStream(t, dirs)
	rec = recording(t, clientReplay)
	other := unpacked(t, clientReplay+".wss.gz")
	other[1000]++
	if err := os.WriteFile(rec.Beside[1], other, 0o666); err != nil {
		t.Fatal(err)
	}
	if dirs, _, err = playing(t, rec, engine.Ask{}, printed, confine.Ended{}); err != nil {
		t.Fatal(err)
	}
	noStream(t, dirs)
}

func noStream(t *testing.T, dirs engine.Dirs) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dirs.Out, "replay.wrpl.wss")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a stream: %v", err)
	}
}

// A game that does not reach the end has confirmed nothing.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name, printed string
		ended         confine.Ended
		want          string
	}{
		{"no output", "", confine.Ended{}, "it ended before the replay did"},
		{"crash", begins, confine.Ended{Code: -1, Signal: "segmentation fault", Tail: []string{"x"}}, `it crashed: segmentation fault; it said last: “x”`},
		{"time", begins, confine.Ended{Code: -1, Limit: confine.Time, Why: "ran longer than 1h0m0s"}, "it was ended: it ran longer than 1h0m0s"},
		{"status", begins, confine.Ended{Code: 1}, "it ended with status 1"},
		{"save", begins + putAway, confine.Ended{}, "it could not load the saved game that the replay begins with, or not go on from it"},
		{"broken", begins + "[00:00:01.000 game] ERROR: REPLAY: Caught exception [x.cc:1] Unknown packet 9\n", confine.Ended{}, "it could not read the replay; it said last: “[x.cc:1] Unknown packet 9”"},
		{"another time", begins + fmt.Sprintf(differs, 161601, make([]byte, 16), make([]byte, 16)), confine.Ended{}, "it speaks of a hash at 161601 that the replay does not have"},
		{"another hash", begins + fmt.Sprintf(differs, parted, make([]byte, 16), make([]byte, 16)), confine.Ended{}, "it speaks of a hash at 161600 that the replay does not have"},
		{"cut off", begins + fmt.Sprintf("[00:02:41.600 game] ERROR: REPLAY: Lost synchronization at time %d\n", parted), confine.Ended{}, "it speaks of a hash at 161600 that the replay does not have"},
		{"long lines", strings.Repeat("x", 100_000), confine.Ended{}, "it ended before the replay did"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dirs, _, err := playing(t, recording(t, clientReplay), engine.Ask{}, tt.printed, tt.ended)
			if !errors.Is(err, engine.ErrFailed) || !strings.HasSuffix(err.Error(), ": "+tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if left, err := os.ReadDir(dirs.Out); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

// A replay that is cut is played as far as it goes; and so is a replay that is asked for in part.
func TestReplayCut(t *testing.T) {
	b, err := os.ReadFile(hostReplay)
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := replayPackets(t, hostReplay)
	for _, size := range []int{10_000, 10_001, 10_013, len(b) - 1} {
		rec := recording(t, hostReplay)
		rec.File = filepath.Join(t.TempDir(), filepath.Base(hostReplay))
		if err := os.WriteFile(rec.File, b[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		dirs, _, err := playing(t, rec, engine.Ask{}, begins+ends, confine.Ended{})
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		given, _, _ := replayPackets(t, filepath.Join(dirs.Work, "replay.wrpl"))
		left, _, _ := replayPackets(t, filepath.Join(dirs.Out, "replay.wrpl"))
		if fmt.Sprint(given) != fmt.Sprint(left) || len(given) == 0 || len(given) > len(all) {
			t.Errorf("%d bytes: %d hashes given and %d left", size, len(given), len(left))
		}
	}
	for _, until := range []uint64{199, 200, 100_000, 1 << 40} {
		dirs, _, err := playing(t, recording(t, hostReplay), engine.Ask{Until: &until}, begins+ends, confine.Ended{})
		if err != nil {
			t.Fatalf("until %d: %v", until, err)
		}
		given, _, _ := replayPackets(t, filepath.Join(dirs.Work, "replay.wrpl"))
		if want := min(until/200+1, uint64(len(all))); uint64(len(given)) != want {
			t.Errorf("until %d: %d hashes, want %d", until, len(given), want)
		}
	}
	none := recording(t, hostReplay)
	none.File = filepath.Join(t.TempDir(), filepath.Base(hostReplay))
	if err := os.WriteFile(none.File, b[:replayHeader], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := playing(t, none, engine.Ask{}, begins+ends, confine.Ended{}); err == nil || !strings.Contains(err.Error(), "it has no hashes") {
		t.Errorf("a replay of its header alone: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, text, said string
		want             string
		version          bool
	}{
		{"good", preload, versionText, "", false},
		{"of another version", strings.Replace(preload, `"1.1"`, `"1.0"`, 1), versionText, "it was recorded with 1.0, and widelands is 1.1; --force plays it all the same", true},
		{"of a commit", strings.Replace(preload, `"1.1"`, `"1.2~git26000 (0123456@master)"`, 1), "This is Widelands version 1.2~git26000 (0123456@master) Debug\n", "", false},
		{"add-ons", strings.Replace(preload, "addons=", `addons="../../x.wad:1.2,--y.wad:3"`, 1), versionText, `it was played with the add-on "../../x.wad"; replays with add-ons are not played`, false},
		{"another program", preload, "desktop widgets 2.0\n", "widelands --version does not name Widelands", false},
		{"no version", "[global]\n", versionText, "its preload does not name the version that wrote it", false},
		{"a long preload", strings.Repeat("x", 1<<20), versionText, "its preload is not read: bufio.Scanner: token too long", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := recording(t, hostReplay)
			saving(t, rec.Beside[0], "/preload", tt.text)
			p := &engine.Program{Path: "/usr/games/widelands", Ask: func(context.Context, ...string) (string, error) { return tt.said, nil }}
			refused(t, Game().Check(t.Context(), p, rec), tt.want, tt.version)
		})
	}
	p := &engine.Program{Path: "/usr/games/widelands", Ask: func(context.Context, ...string) (string, error) { return versionText, nil }}
	rec := recording(t, hostReplay)
	saving(t, rec.Beside[0], "map", preload)
	refused(t, Game().Check(t.Context(), p, rec), "it has no preload, so that the version which wrote it is not known", false)
	if err := os.WriteFile(rec.Beside[0], []byte("PK"), 0o666); err != nil {
		t.Fatal(err)
	}
	refused(t, Game().Check(t.Context(), p, rec), "it is not read as a saved game: zip: not a valid zip file", false)
	rec.Beside = rec.Beside[1:]
	refused(t, Game().Check(t.Context(), p, rec), "2026-11-20T08.55.13_nethost.wrpl.wgf is not there, the saved game that the replay begins with", false)
}

func refused(t *testing.T, err error, want string, version bool) {
	t.Helper()
	var r *engine.Refusal
	switch {
	case want == "" && err == nil:
	case !errors.As(err, &r) || !strings.HasSuffix(err.Error(), ": "+want) || r.Version != version:
		t.Errorf("%v, want %q", err, want)
	}
}

// Names in a recording are never paths, or options, of the game.
func TestNames(t *testing.T) {
	for _, name := range []string{"../../x.wrpl", "-x.wrpl", "--replay=y.wrpl", "a;b.wrpl"} {
		rec := recording(t, hostReplay)
		rec.Path = "host/" + name
		dirs, plan, err := playing(t, rec, engine.Ask{}, begins+ends, confine.Ended{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, want := plan.Command.Args[len(plan.Command.Args)-1], "--replay="+filepath.Join(dirs.Work, "replay.wrpl"); got != want {
			t.Errorf("%s: the game is given %s, want %s", name, got, want)
		}
	}
}

func FuzzVerdict(f *testing.F) {
	f.Add([]byte(begins + ends))
	f.Add([]byte(begins + fmt.Sprintf(differs, parted, make([]byte, 16), make([]byte, 16))))
	f.Add([]byte(begins + putAway))
	f.Fuzz(func(t *testing.T, b []byte) {
		log := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(log, b, 0o666); err != nil {
			t.Fatal(err)
		}
		v, err := readVerdict(log)
		if err != nil {
			t.Fatal(err)
		}
		asked := []confirmation{{at: 200}, {at: 400}, {at: parted}}
		confirmed, err := v.confirmed(asked)
		if err == nil && len(confirmed) == len(asked) && !v.ended {
			t.Errorf("all is confirmed by %q", b)
		}
	})
}

func FuzzSaved(f *testing.F) {
	file := filepath.Join(f.TempDir(), "x.wgf")
	saving(f, file, "/preload", preload)
	b, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-10])
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "x.wgf")
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := readSaved(file, "x.wgf")
		var r *engine.Refusal
		if (s == nil) == (err == nil) || err != nil && !errors.As(err, &r) {
			t.Errorf("%v, %v", s, err)
		}
	})
}

package openttd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
)

// testdata/recorded.log is the beginning of a log of a dedicated server, and replayed.log what a build with command
// replay, started with its save, wrote: both of 13.0 with the corrections in docs/games.md.
const (
	recordedLog  = "testdata/recorded.log"
	replayedLog  = "testdata/replayed.log"
	startSave    = "dmp_cmds_00000309_000ade1f.sav"
	laterSave    = "dmp_cmds_00000309_000ade20.sav"
	replayCorpus = "../../testdata/openttd/dropped_sign/server/"
)

func text(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t testing.TB, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
	return file
}

// recording returns a log with saves of the corpus next to it, which have the same seed and days.
func recording(t testing.TB, log string, saves ...string) *engine.Recording {
	t.Helper()
	dir := t.TempDir()
	rec := &engine.Recording{Path: "server/commands-out.log", Format: "openttd-log", File: write(t, log, dir, "commands-out.log")}
	for _, name := range saves {
		rec.Beside = append(rec.Beside, write(t, text(t, replayCorpus+name), dir, name))
	}
	return rec
}

// program returns a program that prints its version, and has a text in it.
func program(t testing.TB, says, has string) *engine.Program {
	t.Helper()
	file := write(t, strings.Repeat("x", 3<<20-5)+has+strings.Repeat("y", 100), t.TempDir(), "openttd")
	return &engine.Program{Path: file, Ask: func(context.Context, ...string) (string, error) { return says, nil }}
}

const says = "OpenTTD 13.0\n\n\nCommand line options:\n"

// playing returns what the recipe leaves of a game that writes a log.
func playing(t *testing.T, rec *engine.Recording, ask engine.Ask, log string, ended confine.Ended) (engine.Dirs, *engine.Plan, error) {
	t.Helper()
	top := t.TempDir()
	dirs := engine.Dirs{Home: filepath.Join(top, "home"), Work: filepath.Join(top, "work"), Out: filepath.Join(top, "out"), Log: filepath.Join(top, "work", "printed.log")}
	for _, dir := range []string{dirs.Home, dirs.Work, dirs.Out} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := Game().Prepare(&engine.Program{Path: "/usr/games/openttd"}, rec, ask, dirs)
	if err != nil {
		return dirs, nil, err
	}
	if log != "" {
		write(t, log, dirs.Home, ownLog)
		write(t, "state", dirs.Home, autosave, laterSave)
		write(t, "title", dirs.Home, autosave, "dmp_cmds_00000000_00000000.sav")
	}
	return dirs, plan, plan.Collect(&ended)
}

var date = regexp.MustCompile(`(?m)^\[[^]]*\] `)

// session returns the lines of a log that belong to the game itself, without dates.
func session(log string) string {
	log = date.ReplaceAllString(log, "")
	_, log, _ = strings.Cut(log, "new_map: 00000309\n")
	return log
}

// A log that is played to its end leaves the same log.
func TestSame(t *testing.T) {
	dirs, plan, err := playing(t, recording(t, text(t, recordedLog), startSave), engine.Ask{}, text(t, replayedLog), confine.Ended{})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(session(text(t, recordedLog)), "save: 000ade1f; 00; "+startSave+"\n", "", 1)
	if got := session(text(t, filepath.Join(dirs.Out, "commands-out.log"))); got != want {
		t.Errorf("the log:\n%s\nwant:\n%s", got, want)
	}
	left, err := os.ReadDir(dirs.Out)
	if err != nil || len(left) != 2 || left[1].Name() != laterSave {
		t.Errorf("left: %v, %v", left, err)
	}
	given := text(t, filepath.Join(dirs.Home, "save", "commands.log"))
	if want := regexp.MustCompile(`(?m)^save: .*\n`).ReplaceAllString(want, ""); given != want {
		t.Errorf("the game is given:\n%s\nwant:\n%s", given, want)
	}
	if tick, over := plan.Poll(); !over || tick <= 0xade29*74 {
		t.Errorf("tick %x, over %v", tick, over)
	}
	if got := text(t, filepath.Join(dirs.Home, "start.sav")); got != text(t, replayCorpus+startSave) {
		t.Error("the game is not given the save")
	}
	for _, arg := range plan.Command.Args[1:] {
		if strings.HasPrefix(arg, "-D") && !strings.HasPrefix(arg, "-D127.0.0.1:") {
			t.Errorf("it listens at %s", arg)
		}
	}
}

// At the first state that is not as recorded the game gives up. What it computed up to then is left.
func TestParted(t *testing.T) {
	log := text(t, replayedLog)
	const at = "Sync check: 000ade21; 00; "
	before, _, ok := strings.Cut(log, at+"match")
	if !ok {
		t.Fatal("no such line")
	}
	log = before + at + "mismatch expected {a6e42ad7, fa966261}, got {209011ce, ceea9bae}\n[2026-11-22 19:37:55] save: 000ade21; 00; /x/crash20261122193645.sav\n"
	dirs, _, err := playing(t, recording(t, text(t, recordedLog), startSave), engine.Ask{}, log, confine.Ended{Code: -1, Signal: "aborted"})
	if err != nil {
		t.Fatal(err)
	}
	got := session(text(t, filepath.Join(dirs.Out, "commands-out.log")))
	if want := session(text(t, recordedLog)); !strings.HasPrefix(strings.Replace(want, "save: 000ade1f; 00; "+startSave+"\n", "", 1), got) || !strings.Contains(got, "sync: 000ade21") {
		t.Errorf("the log:\n%s", got)
	}
}

// A game that the log leaves paused goes no further.
func TestPaused(t *testing.T) {
	log, _, _ := strings.Cut(text(t, replayedLog), ending)
	_, plan, err := playing(t, recording(t, text(t, recordedLog), startSave), engine.Ask{}, log+ending+"\n", confine.Ended{})
	if err != nil {
		t.Fatal(err)
	}
	polls := 0
	for over := false; !over; polls++ {
		if _, over = plan.Poll(); polls > 100 {
			t.Fatal("it goes on for ever")
		}
	}
	if polls < patience {
		t.Errorf("over after %d polls", polls)
	}
}

func TestFailures(t *testing.T) {
	log := text(t, replayedLog)
	begun := log[:strings.Index(log, "Sync check: 000ade21")]
	for _, tt := range []struct {
		name, log string
		ended     confine.Ended
		want      string
	}{
		{"no output", "", confine.Ended{}, "it ended before the log did"},
		{"crash", "", confine.Ended{Code: -1, Signal: "segmentation fault"}, "it crashed: segmentation fault"},
		{"crash in the middle", begun + "\n[2026-11-22 19:37:55] Trying to parse: x", confine.Ended{Code: -1, Signal: "aborted"}, "it crashed: aborted; it said last: “Trying to parse: x”"},
		{"time", begun, confine.Ended{Code: -1, Why: "ran longer than 1h0m0s"}, "it was ended: it ran longer than 1h0m0s; it said last: “sync: 000ade21; 00; "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dirs, _, err := playing(t, recording(t, text(t, recordedLog), startSave), engine.Ask{}, tt.log, tt.ended)
			if !errors.Is(err, engine.ErrFailed) || !strings.Contains(err.Error(), ": "+tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if left, err := os.ReadDir(dirs.Out); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

// A log is played from its second save if the first is not there. The log has the state of the random number generator
// at that save's tick after the commands of the tick, so it is left out.
func TestLaterSave(t *testing.T) {
	dirs, _, err := playing(t, recording(t, text(t, recordedLog), laterSave), engine.Ask{}, text(t, replayedLog), confine.Ended{})
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(session(text(t, recordedLog)), "save: 000ade20; 00; "+laterSave+"\n")
	want = "save: 000ade20; 00; " + laterSave + "\n" + want
	if got := session(text(t, filepath.Join(dirs.Out, "commands-out.log"))); got != want {
		t.Errorf("the log:\n%s\nwant:\n%s", got, want)
	}
	until := uint64(0xade20*74 + 0x0e)
	if dirs, _, err = playing(t, recording(t, text(t, recordedLog), startSave), engine.Ask{Until: &until}, text(t, replayedLog), confine.Ended{}); err != nil {
		t.Fatal(err)
	}
	if got := session(text(t, filepath.Join(dirs.Out, "commands-out.log"))); !strings.HasSuffix(got, "02400D030000000000 (CmdIncreaseLoan)\n") {
		t.Errorf("until %d:\n%s", until, got)
	}
}

func TestCheck(t *testing.T) {
	log := text(t, recordedLog)
	for _, tt := range []struct {
		name, says, has string
		log             string
		saves           []string
		want            string
		version         bool
	}{
		{"good", says, reading, log, []string{startSave}, "", false},
		{"of another version", "OpenTTD 14.1\n", reading, log, []string{startSave}, "it was recorded with 13.0, and openttd is 14.1; --force plays it all the same", true},
		{"without command replay", says, "commands-out.log", log, []string{startSave}, "openttd 13.0 is built without command replay (DEBUG_DUMP_COMMANDS, docs/games.md)", false},
		{"another program", "usage\n", reading, log, []string{startSave}, "openttd -h does not name OpenTTD", false},
		{"no save", says, reading, log, nil, startSave + " is not there, the save that it goes on from, nor any other that it names", false},
		{"no name of a save", says, reading, "sync: 000ade1f; 00; d4d4af15; 6777aa46\n", []string{startSave}, "it names no save that it goes on from: -d desync=3 writes them", false},
		{"save that is a path", says, reading, "save: 000ade1f; 00; ../" + startSave + "\n", []string{startSave}, "it names no save that it goes on from: -d desync=3 writes them", false},
		{"cut arguments", says, reading, log + "cmd: 000adf40; 46; 00; 0000001e; 00000000; 000988; 0\x88\t\n", []string{startSave}, "its command at 000adf40;46 has no whole arguments: OpenTTD 13 writes them raw and cuts them at the first zero byte, so that nothing can play its logs", false},
		{"long arguments", says, reading, log + "cmd: 000adf40; 46; 00; 0000001e; 00000000; 000988; " + strings.Repeat("00", 128) + " (CmdX)\n", []string{startSave}, "its command at 000adf40;46 has 128 bytes of arguments, and command replay reads 127", false},
		{"shape of 14", says, reading, log + "cmd: 000adf40; 46; 00; 0000001e; 00000000; 160500 (CmdX)\n", []string{startSave}, "", false},
		{"shape of 12", says, reading, log + "cmd: 000adf40; 46; 00; 000988; 00000000; 00000000; 0000001e; \"; rm -r x\" (CmdX)\n", []string{startSave}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Game().Check(t.Context(), program(t, tt.says, tt.has), recording(t, tt.log, tt.saves...))
			refused(t, err, tt.want, tt.version)
		})
	}
	rec := recording(t, log, startSave)
	write(t, "OTTX\x01\x2e\x00\x00", rec.Beside[0])
	if err := Game().Check(t.Context(), program(t, says, reading), rec); err == nil || !strings.Contains(err.Error(), ": its save is not read: ") {
		t.Errorf("a save that is cut off: %v", err)
	}
	if _, _, err := playing(t, recording(t, "save: 000ade1f; 00; "+startSave+"\n", startSave), engine.Ask{}, "", confine.Ended{}); err == nil || !strings.HasSuffix(err.Error(), "no command follows its save "+startSave) {
		t.Errorf("a log that ends with its save: %v", err)
	}
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

func FuzzRecorded(f *testing.F) {
	f.Add([]byte(text(f, recordedLog)))
	f.Add([]byte("save: 000ade1f; 00; " + startSave + "\ncmd: 000ade20; 0e; 00; 00000031; 00000000; 000000; 02 (CmdIncreaseLoan)\nsync_err: 000ade20; 0f\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		rec := &engine.Recording{Path: "x", File: write(t, string(b), dir, "x"), Beside: []string{filepath.Join(dir, startSave)}}
		r, err := readRecorded(rec)
		if err != nil {
			var refused *engine.Refusal
			if !errors.As(err, &refused) {
				t.Error(err)
			}
			return
		}
		if given := r.text(); strings.Count(given, "\n") != len(r.lines) || bytes.Contains([]byte(given), []byte("save: ")) && !bytes.Contains(b, []byte("save: ")) {
			t.Errorf("%q from %q", given, b)
		}
		c, err := readComputed(rec.File, r)
		if err != nil || c == nil {
			t.Error(err)
		}
	})
}

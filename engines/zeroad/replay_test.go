package zeroad_test

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/engines/zeroad"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// game is a program with its mods, and a recording for it.
type game struct {
	t      *testing.T
	dir    string
	stands standIn
	rec    *engine.Recording
	mods   map[string]string // the user's, by name: their mod.json
	opts   map[string]string
}

func newGame(t *testing.T) *game {
	printed, err := filepath.Abs(filepath.Join("testdata", "printed.txt"))
	if err != nil {
		t.Fatal(err)
	}
	g := &game{t: t, dir: t.TempDir(), stands: standIn{Version: "Pyrogenesis 0.0.26", Printed: printed}, mods: map[string]string{}, opts: map[string]string{}}
	public := filepath.Join(g.dir, "data", "mods", "public")
	must(t, os.MkdirAll(public, 0o777))
	must(t, os.WriteFile(filepath.Join(public, "mod.json"), []byte(`{"name":"0ad","version":"0.0.26"}`), 0o666))
	f, err := os.Create(filepath.Join(public, "public.zip"))
	must(t, err)
	z := zip.NewWriter(f)
	_, err = z.Create("maps/scenarios/combat_demo.xml")
	must(t, errors.Join(err, z.Close(), f.Close()))
	g.record(read(t, "testdata/commands.txt"))
	return g
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return string(text)
}

// record has the game play a recording of this text.
func (g *game) record(text string) {
	g.t.Helper()
	file := filepath.Join(g.dir, "commands.txt")
	must(g.t, os.WriteFile(file, []byte(text), 0o666))
	src, err := zeroad.NewReader(strings.NewReader(text), "commands.txt")
	must(g.t, err)
	g.rec = &engine.Recording{Peer: "host", Path: "host/commands.txt", File: file, Format: "0ad-log", Header: src.Header()}
	for {
		rec, err := src.Next()
		if err != nil {
			return
		}
		g.rec.Last = rec.Tick.Number
	}
}

// play has the recording played, and returns the folder with what was left.
func (g *game) play(ask engine.Ask) (string, error) {
	t := g.t
	t.Helper()
	system := filepath.Join(g.dir, "system")
	must(t, os.MkdirAll(system, 0o777))
	name := "pyrogenesis"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	must(t, err)
	program := filepath.Join(system, name)
	if _, err := os.Lstat(program); err != nil {
		if err := os.Link(self, program); err != nil {
			text, err := os.ReadFile(self)
			must(t, errors.Join(err, os.WriteFile(program, text, 0o777)))
		}
	}
	settings, err := json.Marshal(g.stands)
	must(t, errors.Join(err, os.WriteFile(filepath.Join(system, "standin.json"), settings, 0o666)))
	users := filepath.Join(g.dir, "user mods")
	must(t, os.MkdirAll(users, 0o777))
	for name, about := range g.mods {
		must(t, os.MkdirAll(filepath.Join(users, name), 0o777))
		must(t, os.WriteFile(filepath.Join(users, name, "mod.json"), []byte(about), 0o666))
	}
	options := map[string]string{"mods": users}
	for name, value := range g.opts {
		options[name] = value
	}
	w := &gamereplay.Witness{Game: zeroad.Game(), Spec: "0ad", Program: engine.Program{Path: program, Options: options}}
	replay, err := w.Play(context.Background(), g.rec, ask)
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { must(t, replay.Close()) })
	return replay.Folder, nil
}

// left returns the files in a folder.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// hashes returns the hash lines of a commands.txt, "TURN KIND HEX".
func hashes(text string) (quick, full []string) {
	turn := ""
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); words[0] {
		case "turn":
			turn = words[1]
		case "hash":
			full = append(full, turn+" "+words[1])
		case "hash-quick":
			quick = append(quick, turn+" "+words[1])
		}
	}
	return quick, full
}

// The replay of an honest peer has the recorded hashes, and in addition a full one of each turn, which the engine has
// printed in testdata/printed.txt.
func TestGood(t *testing.T) {
	g := newGame(t)
	dir, err := g.play(engine.Ask{Dump: []uint64{25, 41}})
	must(t, err)
	if got, want := left(t, dir), []string{"commands.txt", "oos_logs/00024.txt", "oos_logs/00040.txt"}; !slices.Equal(got, want) {
		t.Errorf("it left %q, expected %q", got, want)
	}
	recorded, computed := read(t, "testdata/commands.txt"), read(t, filepath.Join(dir, "commands.txt"))
	quick, full := hashes(computed)
	wantQuick, wantFull := hashes(recorded)
	if !slices.Equal(quick, wantQuick) {
		t.Errorf("quick hashes %q, expected %q", quick, wantQuick)
	}
	for _, h := range wantFull {
		if !slices.Contains(full, h) {
			t.Errorf("no full hash %s in %q", h, full)
		}
	}
	if len(full) != 45 || full[44] != "44 b58afd80548c7da71900ea627b15a106" {
		t.Errorf("%d full hashes, expected 45, the last one that of the final state: %q", len(full), full)
	}
	without := func(s string) string {
		var out strings.Builder
		for line := range strings.Lines(s) {
			if !strings.HasPrefix(line, "hash") {
				out.WriteString(line)
			}
		}
		return out.String()
	}
	if without(computed) != without(recorded) {
		t.Error("something else than hashes was changed")
	}
}

// A recording with other hashes than the engine's gets the engine's.
func TestMismatch(t *testing.T) {
	g := newGame(t)
	const is, other = "hash-quick b9af397ea8f7fd318c4a4a2a0857d901", "hash-quick 00af397ea8f7fd318c4a4a2a0857d901"
	text := read(t, "testdata/commands.txt")
	g.record(strings.Replace(text, is, other, 1))
	dir, err := g.play(engine.Ask{})
	must(t, err)
	got, _ := hashes(read(t, filepath.Join(dir, "commands.txt")))
	want, _ := hashes(text)
	if !slices.Equal(got, want) {
		t.Errorf("hashes %q, expected %q", got, want)
	}
}

// What is played ends with the turn that was asked for, and a recording that breaks off with its last whole turn.
func TestShort(t *testing.T) {
	text := read(t, "testdata/commands.txt")
	until := uint64(20)
	for _, c := range []struct {
		name, text string
		ask        engine.Ask
		last       string
	}{
		{"until", text, engine.Ask{Until: &until}, "20 "},
		{"torn", text[:strings.Index(text, "turn 31 ")] + "turn 31 200\ncmd 1 {\"type\":\"wa", engine.Ask{}, "30 "},
		{"no end", text[:strings.Index(text, "turn 31 ")] + "turn 31 200\n", engine.Ask{}, "30 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGame(t)
			g.record(c.text)
			dir, err := g.play(c.ask)
			must(t, err)
			if _, full := hashes(read(t, filepath.Join(dir, "commands.txt"))); !strings.HasPrefix(full[len(full)-1], c.last) {
				t.Errorf("the last hash is %s", full[len(full)-1])
			}
		})
	}
}

// with returns the recording with another start line.
func with(t *testing.T, old, new string) string {
	t.Helper()
	text := read(t, "testdata/commands.txt")
	if !strings.Contains(text, old) {
		t.Fatalf("no %s in the recording", old)
	}
	return strings.Replace(text, old, new, 1)
}

const thePublicMod = `{"mod":"public","name":"0ad","version":"0.0.26","ignoreInCompatibilityChecks":false}`

// What cannot be played is refused before the game starts: nothing is in its folder then.
func TestRefused(t *testing.T) {
	mod := func(name, version string) string {
		return thePublicMod + `,{"mod":"` + name + `","name":"x","version":"` + version + `"}`
	}
	for i, c := range []struct {
		name    string
		change  func(*testing.T, *game)
		want    string
		version bool
	}{
		{"another version", func(_ *testing.T, g *game) { g.stands.Version = "Pyrogenesis 0.27.0" }, "it was recorded with 0 A.D. 0.0.26, and ", true},
		{"not the game", func(_ *testing.T, g *game) { g.stands.Version = "ls (GNU coreutils) 9.1" }, "does not print its version", false},
		{"missing mod", func(t *testing.T, g *game) { g.record(with(t, thePublicMod, mod("counter", "1.2.0"))) }, "mods that are not in", false},
		{"another version of a mod", func(t *testing.T, g *game) {
			g.record(with(t, thePublicMod, mod("counter", "1.2.0")))
			g.mods["counter"] = `{"name":"counter","version":"1.3.0"}`
		}, "it was played with counter 1.2.0, and 1.3.0 is installed", true},
		{"another version of the game's data", func(t *testing.T, g *game) {
			g.record(with(t, thePublicMod, strings.Replace(thePublicMod, "0.0.26", "0.0.25", 1)))
		}, "it was played with public 0.0.25, and 0.0.26 is installed", true},
		{"missing map", func(t *testing.T, g *game) {
			g.record(with(t, `"map":"maps/scenarios/combat_demo"`, `"map":"maps/scenarios/another"`))
		}, "its map maps/scenarios/another is in none of its mods", false},
		{"a mod that is a path", func(t *testing.T, g *game) { g.record(with(t, thePublicMod, mod("../../x", "1"))) }, "not the name of a folder", false},
		{"a mod that is hidden", func(t *testing.T, g *game) { g.record(with(t, thePublicMod, mod("..", "1"))) }, "not the name of a folder", false},
		{"a map that is a path", func(t *testing.T, g *game) {
			g.record(with(t, `"map":"maps/scenarios/combat_demo"`, `"map":"maps/../../x"`))
		}, "expected one below maps/", false},
		{"a map that is no map", func(t *testing.T, g *game) {
			g.record(with(t, `"map":"maps/scenarios/combat_demo"`, `"map":"/etc/passwd"`))
		}, "expected one below maps/", false},
		{"a map with signs of shells", func(t *testing.T, g *game) {
			g.record(with(t, `"map":"maps/scenarios/combat_demo"`, `"map":"maps/a;touch b"`))
		}, "is in none of its mods", false},
		{"a peer that joined", func(t *testing.T, g *game) {
			text := read(t, "testdata/commands.txt")
			start, _, _ := strings.Cut(text, "\n")
			g.record(start + "\n" + text[strings.Index(text, "turn 37 "):])
		}, "it begins at turn 37: this peer joined then", false},
		{"no such folder of mods", func(_ *testing.T, g *game) { g.opts["mods"] = "nowhere" }, "mods=nowhere: not a folder", false},
	} {
		if i%3 > 0 && !effort.Full() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			g := newGame(t)
			c.change(t, g)
			_, err := g.play(engine.Ask{})
			var refused *engine.Refusal
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || refused.Version != c.version || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, expected a refusal %q, of the version alone: %t", err, c.want, c.version)
			}
		})
	}
}

// A mod of the user is found by the game, under whatever name a folder can have, as one argument.
func TestUserMod(t *testing.T) {
	g := newGame(t)
	g.record(with(t, thePublicMod, thePublicMod+`,{"mod":"-x; y","name":"x","version":"1"}`))
	g.mods["-x; y"] = `{"name":"x","version":"1"}`
	if _, err := g.play(engine.Ask{}); err != nil {
		t.Error(err)
	}
}

// Old games name mods in pairs.
func TestPairs(t *testing.T) {
	g := newGame(t)
	g.record(with(t, thePublicMod, `["public","0.0.26"]`))
	_, err := g.play(engine.Ask{})
	must(t, err)
	g.record(with(t, thePublicMod, `["public","0.0.25"]`))
	if _, err = g.play(engine.Ask{}); err == nil || !strings.Contains(err.Error(), "public 0.0.25") {
		t.Errorf("%v, expected that the version is another one", err)
	}
}

// Recordings of newer games do not contain the version: their mods do.
func TestWithoutVersion(t *testing.T) {
	g := newGame(t)
	g.stands.Version = "Pyrogenesis 0.28.0"
	g.record(with(t, `"engine_version":"0.0.26"`, `"engine_serialization_version":"1"`))
	if _, err := g.play(engine.Ask{}); err != nil {
		t.Error(err)
	}
}

// What is no whole replay is not taken for one.
func TestFailed(t *testing.T) {
	for i, c := range []struct {
		name   string
		stands func(*standIn)
		want   string
	}{
		{"crash", func(s *standIn) { s.Crash = 30 }, "crash"},
		{"end in the middle", func(s *standIn) { s.Stop = 30 }, "it ended after turn 30"},
		{"nothing", func(s *standIn) { s.Silent = true }, "it ended after turn 0"},
		{"assertion", func(s *standIn) { s.Fail, s.FailAt = `Loader.cpp(121): Assertion failed: "!load_requests.empty()"`, 30 }, "the engine failed in turn 30"},
		{"assertion and waiting", func(s *standIn) {
			s.Fail, s.FailAt, s.Wait = `Loader.cpp(121): Assertion failed: "!load_requests.empty()"`, 30, true
		}, "the engine failed in turn 30"},
		{"mod that was left out", func(s *standIn) { s.Loaded = []string{"mod"} }, "did not load a mod: public"},
		{"no recorded output", func(s *standIn) { s.Printed = "nowhere" }, "it ended with status 3"},
	} {
		if i%2 > 0 && !effort.Full() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if c.name == "crash" && runtime.GOOS == "windows" {
				t.Skip("a process that is killed exits with a status there")
			}
			g := newGame(t)
			c.stands(&g.stands)
			_, err := g.play(engine.Ask{})
			if !errors.Is(err, engine.ErrFailed) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, expected a failure with %q", err, c.want)
			}
		})
	}
}

// A game that warns of the versions of mods, which --force allows, has still loaded them.
func TestForced(t *testing.T) {
	g := newGame(t)
	g.stands.Loaded = []string{"mod", "public"}
	if _, err := g.play(engine.Ask{}); err != nil {
		t.Error(err)
	}
}

// A test of how the game saves and loads that fails leaves what the engine has written, with the turn.
func TestSerialization(t *testing.T) {
	g := newGame(t)
	g.stands.Fail, g.stands.FailAt = `Simulation2.cpp(334): Assertion failed: "0 && (L"Serialization test failure")"`, 37
	g.stands.Test, g.stands.Wait = true, true
	for _, mode := range []engine.Mode{engine.Serialize, engine.Rejoin} {
		dir, err := g.play(engine.Ask{Mode: mode})
		must(t, err)
		want := []string{"commands.txt", "serializationtest/debug.after.a", "serializationtest/debug.after.b", "serializationtest/hash.after.a", "serializationtest/hash.after.b"}
		if got := left(t, dir); !slices.Equal(got, want) {
			t.Errorf("it left %q, expected %q", got, want)
		}
		if got := read(t, filepath.Join(dir, "serializationtest", "debug.after.b")); got != "oos turn: 38\nsim turn: 38\nrng: \"1\"\nentities:\n" {
			t.Errorf("the state is %q", got)
		}
		if _, full := hashes(read(t, filepath.Join(dir, "commands.txt"))); !strings.HasPrefix(full[len(full)-1], "36 ") {
			t.Errorf("the last hash is %s, expected that of the turn before", full[len(full)-1])
		}
	}
	g.opts["rejoin"] = "46"
	if _, err := g.play(engine.Ask{Mode: engine.Rejoin}); err == nil || !strings.Contains(err.Error(), "nobody can join at turn 46") {
		t.Errorf("%v, expected that the turn is too late", err)
	}
	g.record(with(t, `"mapType":"scenario"`, `"mapType":"random"`))
	if _, err := g.play(engine.Ask{Mode: engine.Serialize}); err == nil || !strings.Contains(err.Error(), "random") {
		t.Errorf("%v, expected that random maps are refused", err)
	}
}

// A start line is never played as something that it does not contain, and no reading of it panics.
func FuzzStart(f *testing.F) {
	text, err := os.Open(filepath.Join("testdata", "commands.txt"))
	if err != nil {
		f.Fatal(err)
	}
	defer text.Close()
	line, err := bufio.NewReader(text).ReadString('\n')
	if err != nil {
		f.Fatal(err)
	}
	f.Add(strings.TrimPrefix(strings.TrimSpace(line), "start "))
	f.Add(`{"map":"maps/x","mods":[["public","1"],["user"]]}`)
	f.Add(`{"map":"maps/x","mods":[7]}`)
	f.Add(`{"map":"maps//","mods":null}`)
	check := zeroad.Game().Check
	p := &engine.Program{Path: "pyrogenesis", Options: map[string]string{"data": f.TempDir()}, Ask: func(context.Context, ...string) (string, error) {
		return "Pyrogenesis 0.0.26\n", nil
	}}
	f.Fuzz(func(t *testing.T, start string) {
		src, err := zeroad.NewReader(strings.NewReader("start "+start+"\n"), "commands.txt")
		if err != nil && err != io.EOF {
			return
		}
		var refused *engine.Refusal
		if err := check(context.Background(), p, &engine.Recording{Path: "commands.txt", Header: src.Header()}); !errors.As(err, &refused) {
			t.Errorf("%v: no mods are there, expected a refusal", err)
		}
	})
}

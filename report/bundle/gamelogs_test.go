package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
	"github.com/desynctool/desynctool/report/document"
)

// logsBelow are the fixtures of testdata/gamelogs.
func logsBelow(name string) string { return filepath.Join("..", "..", "testdata", "gamelogs", name) }

func gameLogs(t *testing.T, names map[string]string, at gamelog.Split, paths ...string) *bundle.GameLogs {
	t.Helper()
	s, err := bundle.OpenPaths(paths...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.GameLogs(names, at)
}

// shown is the content of a log of differences, in short.
func shown(g *document.GameLogs) (list []string) {
	for i := range g.Lines {
		l := &g.Lines[i]
		p := l.Have[0]
		list = append(list, fmt.Sprintf("%s %s:%d×%d %s: %s", l.Who(), filepath.Base(p.File), p.First, p.Count, l.Severity, l.Text))
	}
	return list
}

// TestGameLogs: the lines that were planted according to testdata/gamelogs/README.md come out, and no line that both
// peers have; and so do the facts that differ, these and no others.
func TestGameLogs(t *testing.T) {
	for _, c := range []struct {
		folder  string
		at      gamelog.Split
		want    []string
		differs string
	}{
		{"zeroad", gamelog.Split{}, []string{
			"only client mainlog.html:10×2 error: Failed to load entity template 'units/giant_rider'",
			`only client mainlog.html:9×1 error: CCacheLoader failed to find archived or source file for: "simulation/templates/units/giant_rider.xml"`,
		}, ""},
		{"spring", gamelog.Split{Known: true, Number: 712}, []string{
			"only Bob infolog.txt:14×2 error: [LuaRules] unit_ai.lua:12: unit 17 has no target",
			"only Bob infolog.txt:13×1 warning: [Sound] no device",
		}, "cpu mod os"},
		{"unity", gamelog.Split{}, []string{
			"only client Player.log:28×1 exception: NullReferenceException: Object reference not set to an instance of an object",
			"only client Player.log:23×1 error: Could not load def GiantRider",
		}, "gpu mods"},
		{"openra", gamelog.Split{}, []string{
			"only client exception.log:7×1 exception: Exception of type `System.IO.FileNotFoundException`: Could not find file 'rules/infantry.yaml'.",
		}, "mods os runtime"},
	} {
		g := gameLogs(t, nil, c.at, logsBelow(c.folder))
		if got := shown(g.Compared); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nexpected\n%s", c.folder, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		var differs []string
		for _, f := range g.Facts {
			if f.Differs() {
				differs = append(differs, f.Name)
			}
		}
		if got := strings.Join(differs, " "); got != c.differs || len(g.Facts) == 0 {
			t.Errorf("%s: the facts %q differ, expected %q", c.folder, got, c.differs)
		}
	}
}

// TestGameLogsInSync: logs of a real game on three machines and a relay differ in nothing that
// the peers wrote.
func TestGameLogsInSync(t *testing.T) {
	for _, folder := range []string{"control", "pos_1ulp", "silent_health", "checksum_only"} {
		g := gameLogs(t, nil, gamelog.Split{}, filepath.Join("..", "..", "testdata", "spring", folder))
		if len(g.Peers) < 3 {
			t.Fatalf("%s: %d logs", folder, len(g.Peers))
		}
		if got := shown(g.Compared); len(got) > 0 {
			t.Errorf("%s: %s", folder, strings.Join(got, "\n"))
		}
		for _, f := range g.Facts {
			if f.Differs() {
				t.Errorf("%s: %+v", folder, f)
			}
		}
	}
}

// TestWhoseLog: a log belongs to the peer that left the folder, or to the peer in its name.
func TestWhoseLog(t *testing.T) {
	dir := t.TempDir()
	text := []byte("ERROR: x\n")
	for _, name := range []string{"a/deep/game.log", "b/stdout.txt", "infolog_host.txt", "infolog-Ann.txt", "readme.txt", "notes.md", "b/binary.log"} {
		content := text
		if strings.Contains(name, "binary") {
			content = []byte("ERROR\x00\x01")
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		archivetest.Write(t, path, content)
	}
	for _, c := range []struct {
		names map[string]string
		paths []string
		want  string
	}{
		{nil, []string{"a", "b"}, "deep:game.log b:stdout.txt"},
		{map[string]string{"a": "host", "b": "client"}, []string{"a", "b"}, "host:game.log client:stdout.txt"},
		{map[string]string{"a/deep/x.trace": "Ann"}, []string{"a", "b"}, "Ann:game.log b:stdout.txt"},
		{nil, []string{"infolog_host.txt", "infolog-Ann.txt"}, "infolog-Ann.txt:infolog-Ann.txt host:infolog_host.txt"},
		{map[string]string{"x": "Ann"}, []string{"infolog_host.txt", "infolog-Ann.txt"}, "Ann:infolog-Ann.txt host:infolog_host.txt"},
		{map[string]string{"a": "Ann"}, []string{"a", "infolog-Ann.txt"}, "Ann:game.log,infolog-Ann.txt"},
		{nil, []string{"readme.txt", "notes.md"}, ""},
	} {
		names, paths := map[string]string{}, []string{}
		for path, name := range c.names {
			names[filepath.Join(dir, filepath.FromSlash(path))] = name
		}
		for _, path := range c.paths {
			paths = append(paths, filepath.Join(dir, path))
		}
		var got []string
		for _, p := range gameLogs(t, names, gamelog.Split{}, paths...).Peers {
			var files []string
			for _, f := range p.Files {
				files = append(files, filepath.Base(f.File))
			}
			got = append(got, p.Name+":"+strings.Join(files, ","))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, %v: %q, expected %q", c.names, c.paths, got, c.want)
		}
	}
}

// TestDoctorOfGameLogs: logs alone are peers. Doctor lists the logs and compares their facts.
func TestDoctorOfGameLogs(t *testing.T) {
	c := examine(t, logsBelow("unity"))
	if len(c.Peers) != 2 || len(c.Peers[0].Logs) != 1 || c.Peers[0].Logs[0].Logger != "Unity" || len(c.Files) != 2 {
		t.Fatalf("%+v", c.Peers)
	}
	i := slices.IndexFunc(c.Facts, func(f document.Fact) bool { return f.Name == "mods" })
	if i < 0 || !c.Facts[i].Differs() || slices.Contains(c.Unknown, "cpu") || slices.Contains(c.Unknown, "mods") {
		t.Errorf("%+v; unknown: %v", c.Facts, c.Unknown)
	}
}

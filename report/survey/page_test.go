package survey_test

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// given is the disk with a page.
type given struct {
	files.Tree
	page *description.Description
}

func (g given) Description() *description.Description { return g.page }

// read lists what is read of some files: states, checkpoints, claims and orders.
func read(t *testing.T, tree files.Tree, dir string, names ...string) (list []string) {
	t.Helper()
	all, err := survey.For(tree, []string{dir})
	if err != nil {
		return []string{strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")}
	}
	for _, note := range all.Notes() {
		list = append(list, "note "+strings.ReplaceAll(note, dir+string(filepath.Separator), ""))
	}
	sets, err := snapshot.Find(tree, dir, formats.SnapshotsOf(all.Formats()))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets {
		for _, e := range s.Entries {
			state, err := snapshot.OpenPath(tree, e.Path(), e.Format)
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("%s %s %s", e.Base, cmp.Or(state.Info().Peer, e.Peer), state.Info().Point)
			for _, table := range state.Info().Tables {
				line += fmt.Sprintf(" %s/%s", table.Class, table.Label)
			}
			list = append(list, line)
			state.Close()
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		f, err := tree.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(f)
		f.Close()
		format := formats.Among(all.Formats(), path, text)
		if format == nil {
			list = append(list, name+" is nothing")
			continue
		}
		line := fmt.Sprintf("%s is %q of %q:", name, format.Title, format.Game)
		if tr := format.Trace; tr != nil && tr.Read != nil {
			source, err := tr.Read(strings.NewReader(string(text)), path, 0)
			if err != nil {
				t.Fatal(err)
			}
			line += " " + source.Dialect().Engine + " " + source.Header().Peer
			for rec, err := source.Next(); err == nil; rec, err = source.Next() {
				line += fmt.Sprintf(" %d=%s", rec.Checkpoint.Tick, rec.Checkpoint.Sums[0].Value)
			}
		}
		if tr := format.Trace; tr != nil && tr.Claims != nil {
			log, err := tr.Claims(strings.NewReader(string(text)), path)
			if err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %d claims", len(log.Claims))
		}
		if format.Log != nil {
			line += " orders"
		}
		list = append(list, line)
	}
	return list
}

func TestPage(t *testing.T) {
	const state = `{"world": {"frame": 5, "units": [{"id": 1, "uid": 9, "hp": 3, "clock": 1}]}}`
	for _, c := range []struct {
		name  string
		page  string
		texts map[string]string
		read  []string
		want  []string
	}{
		{
			"names decide tick and peer", "[names]\npattern = '^(?P<peer>[a-z]+)-[0-9]+-t(?P<tick>0x[0-9a-f]+)'\n",
			map[string]string{"alice-7-t0x0a.json": state, "alice-7-t0x1f.json": state, "bob-8-t0x0a.json": state, "bob-8-t0x1f.json": state}, nil,
			[]string{"alice-7-t0x0a.json alice 10 archetype/units", "alice-7-t0x1f.json alice 31 archetype/units",
				"bob-8-t0x0a.json bob 10 archetype/units", "bob-8-t0x1f.json bob 31 archetype/units"},
		},
		{
			"globs choose states", "[files]\nstates = ['d*.json']\n[state]\ntick = 'world.frame'\nnoise = ['world.units.clock']\n[[table]]\npath = 'world.units'\nkey = 'uid'\nlabel = 'u'\n",
			map[string]string{"d1.json": state, "other1.json": state, "other2.json": state}, nil,
			[]string{"d1.json  5 archetype/u noise/u"},
		},
		{
			"a glob with a folder, and one file alone", "[files]\nstates = ['saves/*']\n[state]\ntick = 'world.frame'\n",
			map[string]string{"saves/x": state, "x": state, "notes/y.txt": "hello\n"}, []string{"x"},
			[]string{"x  5 archetype/units", "x is nothing"},
		},
		{
			"lines and claims", "[files]\nlogs = ['*.log']\n[names]\npattern = '^(?P<peer>[a-z]+)[.]'\n[[line]]\npattern = 'F(?P<tick>\\d+) (?P<sum>\\S+)'\n[[claim]]\npattern = 'bad (?P<tick>\\d+)'\n",
			map[string]string{"alice.log": "F1 zz!\nbad 7\nF2 yy!\n", "bob.log": "nothing\n", "other.txt": "F1 zz\n"}, []string{"alice.log", "bob.log", "other.txt"},
			[]string{`alice.log is "log of Castle Siege" of "Castle Siege": Castle Siege alice 1=zz! 2=yy! 1 claims`,
				`bob.log is "log of Castle Siege" of "Castle Siege": Castle Siege bob 0 claims`, "other.txt is nothing"},
		},
		{
			"lines in any log, and claims beside checksums that are found", "[[line]]\npattern = 'F(?P<tick>\\d+) (?P<sum>\\S+)'\n[[claim]]\npattern = 'bad (?P<tick>\\d+)'\n",
			map[string]string{"a.txt": "F1 zz!\n", "b.txt": "hello\n"}, []string{"a.txt", "b.txt"},
			[]string{`a.txt is "log of Castle Siege" of "Castle Siege": Castle Siege  1=zz! 0 claims`, "b.txt is nothing"},
		},
		{
			"inputs", "[files]\nstates = ['*.json']\ninputs = ['o.csv']\n", map[string]string{"o.csv": "tick,player,cmd\n1,0,go\n2,1,stop\n3,0,go\n", "p.csv": "tick,player,cmd\n1,0,go\n2,1,stop\n3,0,go\n"},
			[]string{"o.csv", "p.csv"}, []string{`o.csv is "Castle Siege: inputs" of "Castle Siege": orders`, "p.csv is nothing"},
		},
		{
			"a known format is read as described", "[files]\nlogs = ['*.trace']\n[[line]]\npattern = 't=(?P<tick>\\d+).*state=(?P<sum>\\S+)'\n",
			map[string]string{"x.trace": "#desync-trace 1\nt=5 state=0xab\n", "y.bin": "DESYNCSN"}, []string{"x.trace"},
			[]string{`x.trace is "log of Castle Siege" of "Castle Siege": Castle Siege  5=0xab`},
		},
		{
			"what does not fit", "[files]\nstates = ['*.bin']\ninputs = ['*.txt']\n", map[string]string{"a.bin": "\x00\x01", "b.txt": "hello\n"}, nil,
			[]string{"note a.bin: described as states, and in no notation that is read", "note b.txt: described as inputs, and nothing in it is read"},
		},
		{
			"paths that no state has", "[files]\nstates = ['d*.json']\n[state]\ntick = 'world.frame'\nnoise = ['world.units.clocks', 'world.towns.at.x']\n[[table]]\npath = 'world.units'\nkey = 'gid'\n[[table]]\npath = 'world.towns'\nkey = 'n'\n",
			map[string]string{"d1.json": `{"world": {"frame": 5, "units": [{"id": 1, "clock": 1}], "towns": {"t_1": {"n": 3, "at": {"x": 1}}, "t_2": {"n": 4, "at": {"x": 2}}}}}`}, nil,
			[]string{"note desynctool.toml: no state that was looked at has world.units.gid", "note desynctool.toml: no state that was looked at has world.units.clocks",
				"d1.json  5 archetype/towns archetype/units noise/towns"},
		},
		{
			"patterns of names, in their order", "[names]\npattern = ['^t(?P<tick>[0-9]+)-', '^(?P<peer>[a-z]+)(?P<tick>[0-9]+)']\n",
			map[string]string{"t7-1.json": state, "t8-1.json": state, "bob7.json": state, "bob8.json": state}, nil,
			[]string{"t7-1.json  7 archetype/units", "t8-1.json  8 archetype/units", "bob7.json bob 7 archetype/units", "bob8.json bob 8 archetype/units"},
		},
		{
			"tables of ticks in names", "[names]\npattern = '_(?P<tick>[0-9]+)'\n",
			map[string]string{"units_7.csv": "id,hp\n1,3\n2,7\n", "units_8.csv": "id,hp\n1,3\n2,6\n", "towns_7.csv": "id,name\n1,Ayr\n", "towns_8.csv": "id,name\n1,Ayr\n"}, nil,
			[]string{"towns_7.csv  7 archetype/towns archetype/units", "towns_8.csv  8 archetype/towns archetype/units"},
		},
		{
			"files that are no evidence", "[files]\nother = ['t*.json']\n[names]\npattern = 's(?P<tick>[0-9]+)'\n",
			map[string]string{"s7.json": state, "s8.json": state, "t7.json": state, "t8.json": state}, []string{"t7.json"},
			[]string{"s7.json  7 archetype/units", "s8.json  8 archetype/units", `t7.json is "no evidence" of "Castle Siege":`},
		},
		{"a fault", "[files]\nstate = []\n", map[string]string{"a.json": state}, nil, []string{`desynctool.toml: line 3: unknown key "state" in [files], expected states, logs, inputs, other`}},
	} {
		page := "game = 'Castle Siege'\n" + c.page
		texts := map[string]string{description.Base: page}
		for name, text := range c.texts {
			texts[name] = text
		}
		dir := write(t, texts)
		if got := read(t, files.Disk, dir, c.read...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nexpected\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestWhichPage(t *testing.T) {
	page := func(game string) string { return "game = '" + game + "'\n" }
	dir := write(t, map[string]string{
		"above/desynctool.toml": page("a"), "above/in/x.json": "{}", "above/in/y/z.json": "{}",
		"own/desynctool.toml": page("b"), "own/x.json": "{}",
		"both/one/desynctool.toml": page("c"), "both/two/desynctool.toml": page("c"), "both/three/desynctool.toml": page("d"),
	})
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"above/in"}, "a"}, {[]string{"above/in/y/z.json"}, "a"}, {[]string{"own"}, "b"}, {[]string{"own/x.json"}, "b"}, {[]string{"above"}, "a"},
		{[]string{"both/one", "both/two"}, "c"}, {[]string{"both/one", "both/three"}, "differ; give the right one by --game"}, {[]string{"both"}, "c"},
	} {
		for i := range c.paths {
			c.paths[i] = at(c.paths[i])
		}
		d, err := survey.Page(files.Disk, c.paths)
		switch {
		case err != nil && !strings.HasSuffix(err.Error(), c.want) || err == nil && (d == nil || d.Game != c.want):
			t.Errorf("%s: %v %v", c.paths, d, err)
		}
	}
	own := &description.Description{Game: "given"}
	if d, err := survey.Page(given{files.Disk, own}, []string{at("own")}); d != own || err != nil {
		t.Error(d, err)
	}
	if d, err := survey.Page(files.Disk, []string{t.TempDir()}); d != nil || err != nil {
		t.Error(d, err)
	}
}

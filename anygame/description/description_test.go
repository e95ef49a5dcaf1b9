package description

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/tracediff"
)

const page = `game = "Castle Siege"

[files]
states = ["dump-*.json", "saves/*.xml"]
logs = ["*.log"]
inputs = ["orders.csv"]

[names]
pattern = "(?P<peer>[a-z]+)-(?P<tick>[0-9]+)"

[state]
tick = "world.frame"
peer = "header.machine"
rng = ["rng.state"]
noise = ["header.saved_at", "world.units.wall_clock"]
cache = ["world.grid"]

[[table]]
path = "world.units"
key = "uid"
label = "units"

[[table]]
path = "world.players"
key = "name.first"

[[line]]
pattern = 'Frame (?P<tick>\d+) (?P<system>\w+)? ?checksum: (?P<sum>[0-9a-fA-Fx]*)(?: ai (?P<sum_ai>\w+))?'

[[claim]]
pattern = 'lost sync(?: with (?P<peer>\w+))? at (?P<tick>\w+): (?P<local>\w+) != (?P<remote>\w+)'
[[claim]]
pattern = '(?P<peer>\w+) is out of sync'
`

func read(t *testing.T, text string) *Description {
	t.Helper()
	d, err := Parse([]byte(text), "desynctool.toml")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	d := read(t, page)
	lines := []int{d.Name.Line, d.Lines[0].Line, d.Claims[0].Line, d.Claims[1].Line}
	if !reflect.DeepEqual(lines, []int{9, 28, 31, 33}) {
		t.Errorf("patterns in lines %v", lines)
	}
	d.Name, d.Lines, d.Claims = nil, nil, nil
	want := &Description{
		File: "desynctool.toml", Game: "Castle Siege",
		States: []string{"dump-*.json", "saves/*.xml"}, Logs: []string{"*.log"}, Inputs: []string{"orders.csv"},
		Tick: "world.frame", Peer: "header.machine", RNG: []string{"rng.state"}, Cache: []string{"world.grid"},
		Noise:  []string{"header.saved_at", "world.units.wall_clock"},
		Tables: []Table{{Path: "world.units", Key: "uid", Label: "units"}, {Path: "world.players", Key: "name.first"}},
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("%+v", d)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range [][2]string{
		{"", `line 1: no name of the game, expected game = "…"`},
		{"[files]\n", `line 1: no name of the game, expected game = "…"`},
		{"game = 5\n", "line 1: game is a value that is no text, expected a text"},
		{"game = ''\n", `line 1: game is "", expected a name of 1 to 1024 bytes`},
		{"game = 'x'\n\nnoise = []\n", `line 3: unknown key "noise" in a page, expected game, files, names, state, table, line, claim`},
		{"game = 'x'\n[files]\nstates = []\nlogs = 'a'\n", "line 4: logs is a text, expected a list"},
		{"game = 'x'\n[files]\nstates = [\n  'a',\n  5,\n]\n", "line 5: states is a value that is no text, expected a text"},
		{"game = 'x'\n[files]\nstates = ['[']\n", `line 3: states is "[", expected a name with *, ? or [a-z], and folders before it with /`},
		{"game = 'x'\n[files]\nstates = ['/tmp/*']\n", `line 3: states is "/tmp/*", expected a name with *, ? or [a-z], and folders before it with /`},
		{"game = 'x'\nfiles = 5\n", "line 2: [files] is a value that is no text, expected a table"},
		{"game = 'x'\n[names]\npattern = '(?P<tick>'\n", "line 3: pattern is not a regular expression: missing closing ): `(?P<tick>`"},
		{"game = 'x'\n[names]\npattern = '(?P<turn>a)'\n", `line 3: pattern has the group "turn", expected each of tick, peer once`},
		{"game = 'x'\n\n[names]\npattern = 'a'\n", "line 3: no pattern with the group tick or peer, expected one"},
		{"game = 'x'\n[state]\ntick = 'a..b'\n", `line 3: tick is "a..b", expected names with dots between them`},
		{"game = 'x'\n[table]\npath = 'a'\n", "line 2: table is a table, expected a list"},
		{"game = 'x'\n[[table]]\nkey = 'a'\n", `line 2: no path in [[table]], expected path = "…"`},
		{"game = 'x'\n[[table]]\npath = ''\n", "line 2: the path is empty, expected a key or a label with it"},
		{"game = 'x'\n[[table]]\npath = 'a'\n[[table]]\npath = 'a'\n", `line 4: the path "a" or its label a second time, expected each once`},
		{"game = 'x'\n[[table]]\npath = 'a'\nid = 'b'\n", `line 4: unknown key "id" in [[table]], expected path, key, label`},
		{"game = 'x'\n[[line]]\npattern = '(?P<sum>a)'\n", "line 2: no pattern with the groups tick and sum, or sum_NAME, expected one"},
		{"game = 'x'\n[[line]]\npattern = '(?P<tick>a)(?P<sum_>a)'\n", `line 3: pattern has the group "sum_", expected each of tick, sum, sum_, system, peer once`},
		{"game = 'x'\n[[line]]\npattern = '(?P<tick>a)(?P<sum>a)'\n[[line]]\npattern = '(?P<tick>a)(?P<sum>a)(?P<peer>b)'\n",
			"line 5: the group peer is in some patterns of [[line]], expected it in all or none"},
		{"game = 'x'\n[[claim]]\npattern = '(?P<local>a)'\n", "line 2: no pattern with the groups tick, peer, or local and remote, expected one"},
		{"game = 'x'\n[[claim]]\n", "line 2: no pattern with the groups tick, peer, or local and remote, expected one"},
		{"game = 'x'\ngame = 'y'\n", `line 2: the name "game" a second time`},
		{"game = 'x'\n[files\n", "line 2: "},
		{"game = 'x'\n[[line]]\npattern = '" + strings.Repeat("a", 5000) + "'\n", "line 3: pattern has 5000 bytes, expected at most 4096"},
		{"game = 'x'\n[[line]]\npattern = '((a{500}){500}){500}'\n", "line 3: pattern is not a regular expression: "},
	} {
		_, err := Parse([]byte(c[0]), "desynctool.toml")
		if err == nil || !strings.HasPrefix(err.Error(), "desynctool.toml: "+c[1]) {
			t.Errorf("%q: %v\nexpected %s", c[0], err, c[1])
		}
	}
	if _, err := Parse(make([]byte, MaxLen+1), "x"); err == nil {
		t.Error("a long page")
	}
}

func TestKinds(t *testing.T) {
	d := read(t, page)
	for file, want := range map[string]Kind{
		"a/dump-7.json": State, "dump-7.json.gz": State, "/x/saves/b.xml": State, "saves/b.xml": State, "b.xml": Undescribed, "other/b.xml": Undescribed,
		"saves/deeper/b.xml": Undescribed, "x.log": Log, "a/orders.csv": Input, "orders.csv.bak": Undescribed, "mydump-7.json": Undescribed,
	} {
		if got := d.KindOf(file); got != want {
			t.Errorf("%s: %q, expected %q", file, got, want)
		}
	}
	if !d.Chooses(State) || read(t, "game = 'x'").Chooses(State) {
		t.Error("chooses")
	}
}

func TestTrace(t *testing.T) {
	log := "start\nFrame 10 physics checksum: 0xAB ai 12\nFrame 99999999999999999999 checksum: 1\nFrame 11 checksum: 77\nFrame 12 checksum: \ncut Frame 13 checksum: 5"
	f := read(t, page).Trace()
	source, err := f.Read(strings.NewReader(log), "a.log", 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []tracediff.Checkpoint
	for {
		rec, err := source.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		c := *rec.Checkpoint
		c.Sums = nil
		for _, s := range rec.Checkpoint.Sums {
			c.Sums = append(c.Sums, tracediff.Sum{Name: s.Name, Value: []byte(string(s.Value))})
		}
		got = append(got, c)
	}
	want := []tracediff.Checkpoint{
		{Tick: 10, System: "physics", Sums: []tracediff.Sum{{Value: []byte("0xAB")}, {Name: "ai", Value: []byte("12")}}},
		{Tick: 11, Sums: []tracediff.Sum{{Value: []byte("77")}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if d := source.Dialect(); d.Engine != "Castle Siege" || f.Peers != nil {
		t.Errorf("%+v", d)
	}
}

func TestPeers(t *testing.T) {
	d := read(t, "game = 'x'\n[[line]]\npattern = '(?P<peer>\\w+)@(?P<tick>\\w+)=(?P<sum>\\w+)'\n")
	log := "b@1=5\na@1=6\nc@x=1\nb@0x2=7\n"
	f := d.Trace()
	names, err := f.Peers(strings.NewReader(log), "a.log")
	if err != nil || !reflect.DeepEqual(names, []string{"b", "a"}) {
		t.Fatal(names, err)
	}
	for peer, want := range []string{"1=5 2=7", "1=6"} {
		source, _ := f.Read(strings.NewReader(log), "a.log", peer)
		var got []string
		for rec, err := source.Next(); err == nil; rec, err = source.Next() {
			got = append(got, string(rune('0'+rec.Checkpoint.Tick))+"="+string(rec.Checkpoint.Sums[0].Value))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, expected %s", names[peer], got, want)
		}
	}
}

func TestClaims(t *testing.T) {
	log := "start\n 12:00 lost sync at 40: ab != cd\nlost sync with bob at 0x29: 1 != 2\nlost sync at never: 1 != 2\ncarol is out of sync\n"
	got, err := read(t, page).Trace().Claims(strings.NewReader(log), "a.log")
	if err != nil {
		t.Fatal(err)
	}
	want := []tracediff.Claim{
		{File: "a.log", Pos: tracediff.Position{Line: 2, Offset: 6}, Text: "12:00 lost sync at 40: ab != cd", Tick: 40, HasTick: true, By: "local",
			Values: []tracediff.ClaimedValue{{Peer: "local", Value: "ab"}, {Peer: "remote", Value: "cd"}}},
		{File: "a.log", Pos: tracediff.Position{Line: 3, Offset: 39}, Text: "lost sync with bob at 0x29: 1 != 2", Tick: 41, HasTick: true, By: "local",
			Peers: []string{"bob"}, Values: []tracediff.ClaimedValue{{Peer: "local", Value: "1"}, {Peer: "bob", Value: "2"}}},
		{File: "a.log", Pos: tracediff.Position{Line: 5, Offset: 101}, Text: "carol is out of sync", Peers: []string{"carol"}},
	}
	if !reflect.DeepEqual(got.Claims, want) {
		t.Errorf("%+v", got.Claims)
	}
	if d := read(t, "game = 'x'"); d.Trace() != nil {
		t.Error("a trace without patterns")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(page), []byte("Frame 10 physics checksum: 0xAB ai 12\nlost sync at 40: ab != cd\n"))
	f.Add([]byte("game = 'x'\n[[line]]\npattern = '(?P<tick>\\d+)(?P<sum>.*)(?P<peer>.)?'\n"), []byte("5\n\xff"))
	f.Fuzz(func(t *testing.T, text, log []byte) {
		d, err := Parse(text, "page")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "page: ") {
				t.Errorf("%v", err)
			}
			return
		}
		d.KindOf(string(log))
		trace := d.Trace()
		if trace == nil {
			return
		}
		if trace.Claims != nil {
			if _, err := trace.Claims(strings.NewReader(string(log)), "log"); err != nil && !strings.Contains(err.Error(), "log") {
				t.Errorf("%v", err)
			}
		}
		if trace.Read != nil {
			source, _ := trace.Read(strings.NewReader(string(log)), "log", 0)
			for _, err = source.Next(); err == nil; _, err = source.Next() {
			}
		}
	})
}

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
other = ["*.png"]

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
position = ["pos.x", "pos.z"]

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
	if d.Name[0].Line != 10 || d.Lines[0].Line != 30 || len(d.Messages) != 2 {
		t.Errorf("patterns in lines %d and %d, %d messages", d.Name[0].Line, d.Lines[0].Line, len(d.Messages))
	}
	d.Name, d.Lines, d.Messages, d.lines = nil, nil, nil, nil
	want := &Description{
		File: "desynctool.toml", Game: "Castle Siege", Stride: 1, Source: "log",
		States: []string{"dump-*.json", "saves/*.xml"}, Logs: []string{"*.log"}, Inputs: []string{"orders.csv"}, Others: []string{"*.png"},
		Tick: "world.frame", Peer: "header.machine", RNG: []string{"rng.state"}, Cache: []string{"world.grid"},
		Noise:  []string{"header.saved_at", "world.units.wall_clock"},
		Tables: []Table{{Path: "world.units", Key: "uid", Label: "units", Position: []string{"pos.x", "pos.z"}}, {Path: "world.players", Key: "name.first"}},
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
		{"game = 'x'\n\nnoise = []\n", `line 3: unknown key "noise" in a page, expected game, engine, unit, stride, source, lead, sums, files, names, state, table, line, claim, tick, fact, log`},
		{"game = 'x'\n[files]\nstates = []\nlogs = 'a'\n", "line 4: logs is a text, expected a list"},
		{"game = 'x'\n[files]\nstates = [\n  'a',\n  5,\n]\n", "line 5: states is a value that is no text, expected a text"},
		{"game = 'x'\n[files]\nstates = ['[']\n", `line 3: states is "[", expected a name with *, ? or [a-z], and folders before it with /`},
		{"game = 'x'\n[files]\nstates = ['/tmp/*']\n", `line 3: states is "/tmp/*", expected a name with *, ? or [a-z], and folders before it with /`},
		{"game = 'x'\nfiles = 5\n", "line 2: [files] is a value that is no text, expected a table"},
		{"game = 'x'\n[names]\npattern = '(?P<tick>'\n", "line 3: pattern is not a regular expression: missing closing ): `(?P<tick>`"},
		{"game = 'x'\n[names]\npattern = '(?P<turn>a)'\n", `line 3: pattern has the group "turn", expected each of tick, peer once`},
		{"game = 'x'\n\n[names]\npattern = 'a'\n", "line 4: pattern has neither the group tick nor the group peer, expected one"},
		{"game = 'x'\n[names]\npattern = [\n'(?P<tick>a)',\n'b',\n]\n", "line 5: pattern has neither the group tick nor the group peer, expected one"},
		{"game = 'x'\n\n[names]\npattern = []\n", "line 3: no pattern with the group tick or peer, expected one"},
		{"game = 'x'\n[[table]]\npath = 'a'\nposition = ['x', 'y', 'z']\n", "line 2: the position has 3 paths, expected both coordinates, or a text with both"},
		{"game = 'x'\n[state]\ntick = 'a..b'\n", `line 3: tick is "a..b", expected names with dots between them`},
		{"game = 'x'\n[table]\npath = 'a'\n", "line 2: table is a table, expected a list"},
		{"game = 'x'\n[[table]]\nkey = 'a'\n", `line 2: no path in [[table]], expected path = "…"`},
		{"game = 'x'\n[[table]]\npath = ''\n", "line 2: the path is empty, expected a key, a label or a position with it"},
		{"game = 'x'\n[[table]]\npath = 'a'\n[[table]]\npath = 'a'\n", `line 4: the path "a" or its label a second time, expected each once`},
		{"game = 'x'\n[[table]]\npath = 'a'\nid = 'b'\n", `line 4: unknown key "id" in [[table]], expected path, key, label`},
		{"game = 'x'\n[[line]]\npattern = '(?P<sum>a)'\n", "line 2: no pattern with the groups tick and sum, or sum_NAME, expected one"},
		{"game = 'x'\n[[line]]\npattern = '(?P<tick>a)(?P<sum_>a)'\n", `line 3: pattern has the group "sum_", expected each of tick, sum, sum_, system, scope, peer once`},
		{"game = 'x'\n[[line]]\npattern = '(?P<tick>a)(?P<sum>a)'\n[[line]]\npattern = '(?P<tick>a)(?P<sum>a)(?P<peer>b)'\n",
			"line 5: the group peer is in some patterns of [[line]], expected it in all or none"},
		{"game = 'x'\n[[claim]]\nweak = true\n", `line 2: no pattern, expected pattern = "…"`},
		{"game = 'x'\n[[claim]]\npattern = 'a'\nweak = 'yes'\n", "line 4: weak is not true or false"},
		{"game = 'x'\n[[claim]]\npattern = 'a'\nlines = 17\n", "line 4: lines is not a number from 1 to 16"},
		{"game = 'x'\n[[claim]]\npattern = '(?P<a>a)'\npeer = '$b'\n", `line 3: pattern has the group "a", expected each of tick, local, remote, peer, player, text once`},
		{"game = 'x'\n[[claim]]\npattern = '(?P<a>a)'\npeer = '$a ${b}'\n", `line 2: peer is "$a ${b}", and the pattern has no group "b"`},
		{"game = 'x'\n[[claim]]\npattern = 'a'\nfollow = '(?P<local>a)'\n", "line 2: no pattern with the groups local and remote in follow, expected one"},
		{"game = 'x'\n[[tick]]\npattern = 'a'\n", "line 2: no pattern with the group tick, expected one"},
		{"game = 'x'\n[log]\nstack = 'a'\n", "line 2: no begins or contains in [log], expected one"},
		{"game = 'x'\n[log]\nbegins = ['a']\n[log.calls]\nf = 'bad'\n", `line 5: f is "bad", expected one of warning, error, assertion, exception`},
		{"stride = 0\n", "line 1: stride is not a number from 1 to 4294967296"},
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

// TestMessages reads messages in which each key of a page has its effect.
func TestMessages(t *testing.T) {
	d := read(t, `engine = "Siege"
unit = "turn"
stride = 10
source = "console"
lead = ["[net]"]
[[tick]]
pattern = 'turn (?P<tick>\d+) done'
next = true
[[fact]]
pattern = '^version (?P<version>\S+)\non map (?P<map>.+)'
lines = 2
[[claim]]
pattern = 'OUT OF SYNC with #(?P<n>\d+)'
peer = "player $n"
follow = '^  (?P<name>\w+): (?P<local>\d+)/(?P<remote>\d+)'
[[claim]]
pattern = '(?i)mine (?P<a>\d+)\s+theirs (?P<b>\d+)'
lines = 2
local = "$a"
remote = "$b"
by = "client"
other = "server"
hex = 4
self_test = true
[[claim]]
pattern = 'lost sync, turn (?P<tick>\d+)'
weak = true
`)
	log := "version 1.2\non map Hill\n[net] lost sync, turn 30\nturn 40 done\nWARN OUT OF SYNC with #3\n  gold: 1/2\n  wood: 3/3\n  food: 4/5\nend\n" +
		"Bob: Mine 255\n THEIRS 4096\nmine 7\ntheirs 7\nlost sync, turn 50\nmine 7"
	got, err := d.Trace().Claims(strings.NewReader(log), "a.log")
	if err != nil {
		t.Fatal(err)
	}
	want := []tracediff.Claim{
		{File: "a.log", Pos: tracediff.Position{Line: 3, Offset: 24}, Text: "lost sync, turn 30", Lead: "[net]", Tick: 3, HasTick: true},
		{File: "a.log", Pos: tracediff.Position{Line: 5, Offset: 62}, Text: "OUT OF SYNC with #3 gold: 1/2 wood: 3/3 food: 4/5", Lead: "WARN", Tick: 5, HasTick: true, Peers: []string{"player 3"},
			Values: []tracediff.ClaimedValue{{Value: "gold 1, food 4"}, {Peer: "player 3", Value: "gold 2, food 5"}}},
		{File: "a.log", Pos: tracediff.Position{Line: 10, Offset: 127}, Text: "Mine 255 THEIRS 4096", Lead: "Bob:", By: "client", SelfTest: true, Quoted: true,
			Values: []tracediff.ClaimedValue{{Peer: "client", Value: "0x00ff"}, {Peer: "server", Value: "0x1000"}}},
	}
	if !reflect.DeepEqual(got.Claims, want) || got.Trouble != "" {
		t.Errorf("%+v %s", got.Claims, got.Trouble)
	}
	if !reflect.DeepEqual(got.Facts, map[string]string{"version": "1.2", "map": "Hill"}) || got.Dialect.TickName(5) != "turn 5" || got.Dialect.File != "console" || got.Dialect.Engine != "Siege" {
		t.Errorf("%v %+v", got.Facts, got.Dialect)
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
		{File: "a.log", Pos: tracediff.Position{Line: 2, Offset: 6}, Text: "lost sync at 40: ab != cd", Lead: "12:00", Tick: 40, HasTick: true,
			Values: []tracediff.ClaimedValue{{Value: "ab"}, {Value: "cd"}}},
		{File: "a.log", Pos: tracediff.Position{Line: 3, Offset: 39}, Text: "lost sync with bob at 0x29: 1 != 2", Tick: 41, HasTick: true,
			Peers: []string{"bob"}, Values: []tracediff.ClaimedValue{{Value: "1"}, {Peer: "bob", Value: "2"}}},
		{File: "a.log", Pos: tracediff.Position{Line: 5, Offset: 101}, Text: "carol is out of sync", Peers: []string{"carol"}},
	}
	const misfit = `a.log: line 4: no message of Castle Siege: the tick is "never", expected a number`
	if !reflect.DeepEqual(got.Claims, want) || got.Trouble != misfit {
		t.Errorf("%+v %s", got.Claims, got.Trouble)
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

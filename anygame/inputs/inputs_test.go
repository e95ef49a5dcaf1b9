package inputs_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/anygame/inputs"
	"github.com/desynctool/desynctool/orderlog"
)

// read returns the orders of a file, one a line, and how reading ended.
func read(t testing.TB, name, text string) (string, error) {
	t.Helper()
	p := inputs.Learn([]byte(text), name)
	if p == nil {
		return "", errors.New("not learned")
	}
	return readWith(p, name, text)
}

func readWith(p *inputs.Pattern, name, text string) (string, error) {
	source, err := p.Read(strings.NewReader(text), name)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for {
		rec, err := source.Next()
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		for i, o := range rec.Tick.Orders {
			fmt.Fprintf(&out, "%d: tick %d player %d #%d %s %s\n", rec.Lines[i], rec.Tick.Number, o.Player, o.Sequence, source.Header().Kinds[o.Kind].Name, o.Payload)
		}
	}
}

var files = []struct{ file, name, text, want string }{
	{
		"a.jsonl", "JSON lines",
		`{"tick":5,"player":1,"cmd":"move","y":-2.50,"x":3}
{"tick":5,"player":2,"cmd":"stop"}
{"tick":7,"player":1,"cmd":"move","y":0,"x":{"b":[1,null,true],"a":"\u00e9\"<"}}
`,
		`1: tick 5 player 1 #0 move {"x":3,"y":-2.50}
2: tick 5 player 2 #1 stop 
3: tick 7 player 1 #0 move {"x":{"a":"é\"\u003c","b":[1,null,true]},"y":0}
`,
	},
	{
		"inputs.csv", "a table of inputs, without a word for the player",
		"tick,boat,rudder,sail\n0,0,1,1\n0,1,0,1\n1,0,-1,0\n",
		`2: tick 0 player 0 #0 input {"boat":0,"rudder":1,"sail":1}
3: tick 0 player 0 #1 input {"boat":1,"rudder":0,"sail":1}
4: tick 1 player 0 #0 input {"boat":0,"rudder":-1,"sail":0}
`,
	},
	{
		"a.json", "a document",
		`{"version":2,"seed":7,"orders":[
  {"frame":1,"player":"bob","type":"build","what":"mill"},
  {"frame":2,"player":"al","type":"build","what":"farm"}
],"end":9}
`,
		`2: tick 1 player 2261164244 #0 build {"player":"bob","what":"mill"}
3: tick 2 player 1059385280 #0 build {"player":"al","what":"farm"}
`,
	},
	{
		"a.json", "a list",
		`[{"turn":1,"player":0,"action":"a"},{"turn":2,"player":0,"action":"b"},{"turn":3,"player":1,"action":"a","timestamp":"12:00"}]`,
		"1: tick 1 player 0 #0 a \n1: tick 2 player 0 #0 b \n1: tick 3 player 1 #0 a \n",
	},
	{
		"a.jsonl", "orders of a tick in a list",
		`{"tick":5,"orders":[{"player":1,"cmd":"move","x":1},{"player":2,"cmd":"stop"}]}
{"tick":6,"orders":[]}
{"tick":7,"orders":[{"player":2,"cmd":"stop"}]}
`,
		"1: tick 5 player 1 #0 move {\"x\":1}\n1: tick 5 player 2 #1 stop \n3: tick 7 player 2 #0 stop \n",
	},
	{
		"a.jsonl", "without a kind, after a header, out of order",
		`{"map":"x","seed":9}
{"f":1,"frame":5,"player":1,"input":12}
{"f":1,"frame":4,"player":2,"input":0}
{"f":1,"frame":5,"player":2,"input":3}
`,
		"3: tick 4 player 2 #0 input {\"f\":1,\"input\":0}\n2: tick 5 player 1 #0 input {\"f\":1,\"input\":12}\n4: tick 5 player 2 #1 input {\"f\":1,\"input\":3}\n",
	},
	{
		"a.csv", "a table",
		"tick,player,kind,x,note\n5,1,move,3,\"a, b\"\n5,2,stop,,\n9,1,move,4.0,007\n",
		"2: tick 5 player 1 #0 move {\"note\":\"a, b\",\"x\":3}\n3: tick 5 player 2 #1 stop {\"note\":null,\"x\":null}\n4: tick 9 player 1 #0 move {\"note\":\"007\",\"x\":4.0}\n",
	},
	{
		"a.log", "lines of a log",
		"[12:00:01] tick 17 player 2 order move 3,4\nloading\n[12:00:02] tick 17 player 1 order stop\n[12:00:02] tick 18 player 2 order hash x\ntick 19 player 2 order build what=mill n=3\n",
		"1: tick 17 player 2 #0 move {\"arguments\":\"3,4\"}\n3: tick 17 player 1 #1 stop \n4: tick 18 player 2 #0 hash {\"arguments\":\"x\"}\n5: tick 19 player 2 #0 build {\"n\":3,\"what\":\"mill\"}\n",
	},
	{
		"a.log", "pairs",
		"frame=17 player=bob cmd=move x=3 y=4\nframe=18 player=al cmd=move x=3 y=5\nframe=18 player=bob cmd=stop\n",
		"1: tick 17 player 2261164244 #0 move {\"player\":\"bob\",\"x\":3,\"y\":4}\n2: tick 18 player 1059385280 #0 move {\"player\":\"al\",\"x\":3,\"y\":5}\n3: tick 18 player 2261164244 #1 stop {\"player\":\"bob\"}\n",
	},
	{
		"a.log", "a player and a colon",
		"[tick 12] player 1: move 7 3 4\nautosave written\n[tick 15] player 4: build 169 -28 30\n[tick 15] player 1: stop\n[tick 20] player 4: move 1 2 3\n",
		"1: tick 12 player 1 #0 move {\"arguments\":\"7 3 4\"}\n3: tick 15 player 4 #0 build {\"arguments\":\"169 -28 30\"}\n4: tick 15 player 1 #1 stop \n5: tick 20 player 4 #0 move {\"arguments\":\"1 2 3\"}\n",
	},
	{
		"commands.txt", "orders that were issued",
		"Turn 12: player 1 issued move unit=7 x=3 y=4\nTurn 14: player 3 issued stop unit=122 x=-73 y=63\nfps: 33\nTurn 20: player 1 issued move unit=5 x=-36 y=83\n",
		"1: tick 12 player 1 #0 move {\"unit\":7,\"x\":3,\"y\":4}\n2: tick 14 player 3 #0 stop {\"unit\":122,\"x\":-73,\"y\":63}\n4: tick 20 player 1 #0 move {\"unit\":5,\"x\":-36,\"y\":83}\n",
	},
	{
		"commands.txt", "a tick and a player without words",
		"12 P1 move 7 3 4\n18 P4 attack 81 9 34\nping 33 ms\n18 P1 move 115 33 85\n",
		"1: tick 12 player 1 #0 move {\"arguments\":\"7 3 4\"}\n2: tick 18 player 4 #0 attack {\"arguments\":\"81 9 34\"}\n4: tick 18 player 1 #1 move {\"arguments\":\"115 33 85\"}\n",
	},
	{
		"a.xml", "elements",
		"<replay>\n<order tick=\"1\" player=\"1\" type=\"go\"/>\n<order tick=\"2\" player=\"2\" type=\"go\"/>\n</replay>\n",
		"2: tick 1 player 1 #0 go \n3: tick 2 player 2 #0 go \n",
	},
}

func TestRead(t *testing.T) {
	for _, one := range files {
		t.Run(one.name, func(t *testing.T) {
			got, err := read(t, one.file, one.text)
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(one.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOther(t *testing.T) {
	for name, text := range map[string]string{
		"checksums":        `{"tick":1,"type":"sync","hash":"9f"}` + "\n" + `{"tick":2,"type":"sync","hash":"9e"}` + "\n" + `{"tick":3,"type":"sync","hash":"9c"}` + "\n",
		"a state":          `{"tick":5,"units":[{"id":1,"type":"tank"},{"id":2,"type":"tank"}]}`,
		"a state's orders": `{"tick":5,"orders":[{"player":1,"type":"tank"},{"player":2,"type":"tank"}],"units":[{"id":1}]}`,
		"no ticks":         `{"player":5,"cmd":"a"}` + "\n" + `{"player":5,"cmd":"a"}` + "\n" + `{"player":5,"cmd":"a"}` + "\n",
		"some ticks":       `{"tick":1,"cmd":"a"}` + "\n" + `{"cmd":"a"}` + "\n" + `{"tick":2,"cmd":"a"}` + "\n" + `{"tick":3,"cmd":"a"}` + "\n",
		"a log":            "tick 1 player 2 joined\ntick 2 player 3 joined\ntick 3 player 4 joined\n",
		"talk":             "tick 1 player 2: hello all\ntick 2 player 3: who is there\ntick 3 player 2: nobody\ntick 4 player 3: fine\n",
		"sums of players":  "tick 1 player 2: hash 9f\ntick 2 player 2: hash 9e\ntick 3 player 2: hash 9d\n",
		"rows":             "12 pawn 1007 hp 3\n12 pawn 1008 hp 3\n13 pawn 1007 hp 3\n",
		"other lines":      "12 P1 move 7\nping 33 ms\nfps 33\n13 P1 move 7\nloading\ntick\n14 P1 move 7\nfps 60\n",
		"prose":            "In turn 3 player 2 gave the order to go.\n",
		"empty":            "",
	} {
		if got, err := read(t, "x", text); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestStatesOfPlayers: a table in which each player has a row with values of a state at every tick holds no orders. Presses are orders,
// and so are rows that come now and then, and all in a file that is called so.
func TestStatesOfPlayers(t *testing.T) {
	for _, c := range []struct {
		file, header, row string
		every             int // ticks, for the second player
		orders            bool
	}{
		{"a.csv", "tick,player,x,y,hp", "4,5,100", 1, false},
		{"a.csv", "turn,player_id,gold,wood,pop", "4,5,6", 1, false},
		{"a.csv", "tick,player,x,y,buttons", "4,5,100", 1, true},
		{"a.csv", "tick,player,x,y,hp", "4,5,100", 3, true},
		{"inputs.csv", "tick,player,x,y,hp", "4,5,100", 1, true},
		{"a.csv", "tick,player,a,b,c", "4,5,100", 1, true},
	} {
		text := c.header + "\n"
		for tick := range 20 {
			text += fmt.Sprintf("%d,0,%s\n", tick, c.row)
			if tick%c.every == 0 {
				text += fmt.Sprintf("%d,1,%s\n", tick, c.row)
			}
		}
		if p := inputs.Learn([]byte(text), c.file); (p != nil) != c.orders {
			t.Errorf("%s with %s, every %d ticks: orders %t", c.file, c.header, c.every, p != nil)
		}
	}
	list := `{"orders": [`
	for tick := range 20 {
		list += fmt.Sprintf(`{"tick": %d, "player": 1, "x": 4, "y": 5}, `, tick)
	}
	if inputs.Learn([]byte(strings.TrimSuffix(list, ", ")+"]}"), "a.json") == nil {
		t.Error("a list of orders is not read")
	}
}

// TestFaults has files that are good in the sample and damaged behind it.
func TestFaults(t *testing.T) {
	good := `{"tick":5,"player":1,"cmd":"a"}` + "\n" + `{"tick":6,"player":1,"cmd":"b"}` + "\n" + `{"tick":107,"player":1,"cmd":"c"}` + "\n"
	p := inputs.Learn([]byte(strings.ReplaceAll(good, "107", "7")), "a.jsonl")
	if p == nil {
		t.Fatal("not learned")
	}
	for text, want := range map[string]string{
		`{"tick":5,"player":1,"cmd":"d"}` + "\n": "line 4: tick 5 after tick 107, expected one that is at most 64 ticks earlier",
		`{"player":1,"cmd":"d"}` + "\n":          "line 4: no tick that is a number, expected an order",
		`{"tick":108,"x":1}` + "\n":              "line 4: neither a player nor a kind of order, expected an order",
		`{"tick":10`:                             "line 4: the file ends inside",
		`nonsense`:                               "line 4: ",
	} {
		got, err := readWith(p, "a.jsonl", good+text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if n := strings.Count(got, "\n"); n != 3 {
			t.Errorf("%s: %d orders", text, n)
		}
	}
}

// TestSeed has the seed next to the orders, and before them.
func TestSeed(t *testing.T) {
	for _, text := range []string{
		`{"orders":[{"tick":1,"cmd":"a"},{"tick":2,"cmd":"a"},{"tick":3,"cmd":"b"}],"seed":77}`,
		`{"seed":77}` + "\n" + `{"tick":1,"cmd":"a"}` + "\n" + `{"tick":2,"cmd":"a"}` + "\n" + `{"tick":3,"cmd":"b"}` + "\n",
	} {
		p := inputs.Learn([]byte(text), "x")
		if p == nil {
			t.Fatal(text)
		}
		source, err := p.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		if h := source.Header(); h.Seed != 77 {
			t.Errorf("%s: seed %d", text, h.Seed)
		}
	}
}

// TestCompare compares the logs of two peers.
func TestCompare(t *testing.T) {
	const a = `{"tick":1,"player":1,"cmd":"a"}` + "\n" + `{"tick":2,"player":2,"cmd":"b","x":1}` + "\n" + `{"tick":3,"player":1,"cmd":"c"}` + "\n"
	b := strings.Replace(a, `"x":1`, `"x":2`, 1)
	var list []orderlog.Named
	for name, text := range map[string]string{"a": a, "b": b} {
		s, err := inputs.Learn([]byte(text), name).Read(strings.NewReader(text), name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, orderlog.Named{Name: name, Source: s})
	}
	c, err := orderlog.Compare(list, orderlog.CompareOptions{Reference: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Differences) != 1 || c.Differences[0].Tick != 2 || c.Differences[0].Kind != orderlog.Altered {
		t.Errorf("%+v", c.Differences)
	}
	if d := c.Differences[0].Diff; d == nil || len(d.Fields) != 1 || d.Fields[0] != (orderlog.FieldChange{Path: "x", Base: "1", Peer: "2"}) {
		t.Errorf("%+v", d)
	}
}

// FuzzLearn: no text makes the package fail.
func FuzzLearn(f *testing.F) {
	for _, one := range files {
		f.Add(one.file, one.text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		_, _ = read(t, name, text)
	})
}

// TestLongLogsCostLittle: only the beginning of a long sample is tried as every notation.
func TestLongLogsCostLittle(t *testing.T) {
	text := []byte(strings.Repeat("loaded texture from cache ok\nplayer joined the game now\n", 1<<20/56))
	if cost := testing.AllocsPerRun(1, func() { inputs.Learn(text, "game.log") }); cost > 620_000 {
		t.Errorf("%v allocations, expected at most 620000", cost)
	}
}

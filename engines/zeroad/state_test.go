package zeroad

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/ulikunitz/xz"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

const corpus = "../../testdata/0ad"

// sessions are the real ones, with the first turn that differs.
var sessions = []struct {
	name, a, b string
	first      string
	blocks     []string // that differ there: "entity Component"
}{
	{"mp_late_damage", "host", "client", "00024", []string{"148 Health", "3 BattleDetection", "35 Health", "4 BattleDetection"}},
	{"mp_orders_walkspeed", "host", "client", "00017", walkSpeed("151", "152")},
	{"replay_walkspeed", "stock", "modded", "00017", walkSpeed("153", "154")},
}

func walkSpeed(units ...string) []string {
	blocks := []string{"1 ObstructionManager", "1 RangeManager"}
	for _, u := range units {
		for _, c := range []string{"Minimap", "Position", "UnitMotion", "VisualActor"} {
			blocks = append(blocks, u+" "+c)
		}
	}
	slices.Sort(blocks)
	return blocks
}

func stateContent(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, name string, content []byte) *snapshot.World {
	t.Helper()
	w, err := Read(bytes.NewReader(content), int64(len(content)), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// plain returns the text of a dump.
func statePlain(t testing.TB, name string) []byte {
	t.Helper()
	b := stateContent(t, name)
	var s scratch
	if err := s.unpack(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Fatal(err)
	}
	return s.content
}

func hold(t testing.TB, w *snapshot.World) snapshot.State {
	t.Helper()
	s, err := snapshot.Hold(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stateCompare(t testing.TB, a, b *snapshot.World) *snapshot.Diff {
	t.Helper()
	d, err := snapshot.Compare(hold(t, a), hold(t, b), snapshot.DiffOptions{Limit: -1, Noise: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// turns returns the names of the dumps that both peers have.
func turns(t testing.TB, session, a, b string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus, session, a, "ooslog", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(corpus, session, b, "ooslog", filepath.Base(f))); err == nil {
			names = append(names, filepath.Base(f))
		}
	}
	if len(names) < 5 {
		t.Fatalf("%s: %d pairs of dumps", session, len(names))
	}
	return names
}

// blocks cuts a dump into the text of each component of each entity, without
// knowing more of it. Noise is left out.
func blocks(text []byte) map[string]string {
	out := map[string]string{}
	entity, component := "", ""
	for line := range strings.Lines(string(text)) {
		if id, ok := strings.CutPrefix(line, "- id: "); ok {
			entity, component = strings.TrimSpace(id), "entity"
		} else if strings.HasPrefix(line, "  ") && line[2] >= 'A' && line[2] <= 'Z' {
			component = strings.Trim(line, " :\n")
		}
		if entity != "" && len(entity) < 9 && component != "AIProxy" {
			out[entity+" "+component] += line
		}
	}
	return out
}

func differentBlocks(a, b map[string]string) []string {
	var out []string
	for name, text := range a {
		if b[name] != text {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// diffBlocks returns the blocks that differ according to a Diff.
func diffBlocks(d *snapshot.Diff) []string {
	set := map[string]bool{}
	for _, t := range d.Tables {
		if t.Class != snapshot.Archetype {
			continue
		}
		component, _, _ := strings.Cut(t.Label, ".")
		for _, k := range slices.Concat(t.OnlyA, t.OnlyB) {
			set[fmt.Sprint(k.A, " ", component)] = true
		}
		for _, c := range t.Changes {
			set[fmt.Sprint(c.Key.A, " ", component)] = true
		}
	}
	var out []string
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// TestTruth compares all pairs of dumps: the blocks that differ by text must
// be those that differ by table, and states must differ exactly where the
// engine's own hashes do.
func TestStateTruth(t *testing.T) {
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			first := ""
			names := turns(t, s.name, s.a, s.b)
			if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, s.first) }); i > 0 && !effort.Full() {
				names = names[i-1 : i+1] // the last that is equal, and the first that is not
			}
			for _, name := range names {
				textA := statePlain(t, filepath.Join(corpus, s.name, s.a, "ooslog", name))
				textB := statePlain(t, filepath.Join(corpus, s.name, s.b, "ooslog", name))
				a, b := read(t, name, textA), read(t, name, textB)
				d := stateCompare(t, a, b)
				want := differentBlocks(blocks(textA), blocks(textB))
				if diff := cmp.Diff(want, diffBlocks(d)); diff != "" {
					t.Errorf("%s (-text +tables):\n%s", name, diff)
				}
				if hashes := a.Meta["state_hash"] != b.Meta["state_hash"]; hashes != d.RootsDiffer() {
					t.Errorf("%s: the engine's hashes differ: %v, the states: %v", name, hashes, d.RootsDiffer())
				}
				if first == "" && d.RootsDiffer() {
					first = name[:5]
					if diff := cmp.Diff(s.blocks, want); diff != "" {
						t.Errorf("%s (-truth +text):\n%s", name, diff)
					}
				}
				bruteForce(t, name, a, b, d)
			}
			if first != s.first {
				t.Errorf("first different turn %s, want %s", first, s.first)
			}
		})
	}
}

// bruteForce compares value by value what both Worlds have, and checks that Compare has the same result.
func bruteForce(t *testing.T, name string, a, b *snapshot.World, d *snapshot.Diff) {
	t.Helper()
	values := func(w *snapshot.World) map[string]string {
		all := map[string]string{}
		for i := range w.Tables {
			tb := &w.Tables[i]
			for row := range tb.Rows() {
				for j := range tb.Columns {
					c := &tb.Columns[j]
					all[fmt.Sprintf("%s %s %s %s", tb.Class, tb.Label, tb.Keys.At(row), c.Field)] = c.Type.String() + c.At(row).String()
				}
			}
		}
		return all
	}
	va, vb := values(a), values(b)
	var want, got []string
	for place, value := range va {
		if other, ok := vb[place]; ok && other != value {
			want = append(want, place)
		}
	}
	for _, td := range d.Tables {
		for _, c := range td.Changes {
			got = append(got, fmt.Sprintf("%s %s %s %s", td.Class, td.Label, c.Key, c.Field))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-brute force +compare):\n%s", name, diff)
	}
}

// TestLateDamage pins what differs first where an attack does more damage on
// one peer.
func TestLateDamage(t *testing.T) {
	d := stateCompare(t,
		read(t, "00024.txt.gz", stateContent(t, corpus+"/mp_late_damage/host/ooslog/00024.txt.gz")),
		read(t, "00024.txt.gz", stateContent(t, corpus+"/mp_late_damage/client/ooslog/00024.txt.gz")))
	var got []string
	for _, td := range d.Tables {
		if len(td.Schema)+len(td.OnlyA)+len(td.OnlyB) > 0 {
			t.Errorf("%s: %v, only %v, %v", td.Label, td.Schema, td.OnlyA, td.OnlyB)
		}
		for _, c := range td.Changes {
			got = append(got, fmt.Sprintf("%s %s %s.%s %s %s %s", td.Class, c.Key, c.Component, c.Field, c.A, c.B, c.Kind))
		}
	}
	want := []string{
		"archetype 3 BattleDetection.damage 3.4093003032000126 3.7192366943999957 float",
		"archetype 4:0 BattleDetection.damageRecord[] 14.836726791278991 15.181100559279002 float",
		"archetype 35 Health.hitpoints 87.93967978872098 87.59530602072097 float",
		"archetype 148 Health.hitpoints 196.5906996968 196.2807633056 float",
		"noise 35 AIProxy.changes.hitpoints 87.93967978872098 87.59530602072097 float",
		"noise 148 AIProxy.changes.hitpoints 196.5906996968 196.2807633056 float",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// peersIn returns the peers that have dumps in folders.
func peersIn(t *testing.T, dirs []string) (peers []*bisect.Peer) {
	t.Helper()
	for _, dir := range dirs {
		sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{Format()})
		if err != nil || len(sets) != 1 {
			t.Fatalf("%d sets, %v", len(sets), err)
		}
		peers = append(peers, &bisect.Peer{Path: dir, Snapshots: sets[0]})
	}
	return peers
}

// TestBisect bisects folders of dumps.
func TestBisect(t *testing.T) {
	for _, s := range sessions {
		var dirs []string
		for _, peer := range []string{s.a, s.b} {
			dirs = append(dirs, filepath.Join(corpus, s.name, peer, "ooslog"))
		}
		r, err := bisect.Run(peersIn(t, dirs), bisect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		name, _ := ParseName(s.first + ".txt")
		b := r.Bracket
		if b == nil || b.Bad != name.Point || !r.Exact || r.Tick != name.Point.Tick-1 || len(r.Warnings)+len(r.Lost) > 0 {
			t.Errorf("%s: bracket %+v, tick %d, warnings %q, lost %q", s.name, b, r.Tick, r.Warnings, r.Lost)
			continue
		}
		if b.Good == nil || b.Good.Tick != r.Tick || b.A != s.a || b.B != s.b || filepath.Base(b.BadFiles[0]) != s.first+".txt.gz" {
			t.Errorf("%s: bracket %+v", s.name, b)
		}
	}

	// The turns before the divergence, by themselves, are in sync.
	var dirs []string
	for _, peer := range []string{"host", "client"} {
		dir := filepath.Join(t.TempDir(), peer)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"00022.txt.gz", "00023.txt.gz"} {
			if err := os.WriteFile(filepath.Join(dir, name), stateContent(t, filepath.Join(corpus, "mp_late_damage", peer, "ooslog", name)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		dirs = append(dirs, dir)
	}
	if r, err := bisect.Run(peersIn(t, dirs), bisect.Options{}); err != nil || r.Diverged() || r.Snapshots != 2 {
		t.Errorf("%+v, %v; want two pairs in sync", r, err)
	}
}

// TestOtherTurns refuses dumps of different turns.
func TestOtherTurns(t *testing.T) {
	for session, want := range map[string]struct{ refusal, pair string }{
		"mp_late_damage":      {"state points are after turn 41 and after turn 40", "00040.txt.gz"},
		"mp_orders_walkspeed": {"state points are after turn 19 and after turn 17", "00017.txt.gz"},
	} {
		host, client := filepath.Join(corpus, session, "host", "oos_dump.txt.gz"), filepath.Join(corpus, session, "client", "oos_dump.txt.gz")
		a, b := read(t, host, stateContent(t, host)), read(t, client, stateContent(t, client))
		_, err := snapshot.Compare(hold(t, a), hold(t, b), snapshot.DiffOptions{})
		if mismatch := (*snapshot.MismatchError)(nil); !errors.As(err, &mismatch) || !strings.Contains(err.Error(), want.refusal) {
			t.Errorf("%s: error %v, want %s", session, err, want.refusal)
		}
		// The dump of a turn is the state that is in oos_dump.txt.
		other := filepath.Join(corpus, session, "client", "ooslog", want.pair)
		if same := stateCompare(t, b, read(t, other, stateContent(t, other))); same.RootsDiffer() || len(same.Tables) > 0 {
			t.Errorf("%s differs from %s", client, other)
		}
	}
}

// realDumps are all dumps of the corpus.
func realDumps(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*/*/ooslog/*.txt.gz", "*/*/oos_dump.txt.gz"} {
		more, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil || len(more) < 4 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		files = append(files, more...)
	}
	return files
}

// TestTypes checks that every value of a real dump fits the type that its name
// has, and that nothing is left for texts.
func TestTypes(t *testing.T) {
	for _, file := range realDumps(t) {
		w := read(t, file, stateContent(t, file))
		for i := range w.Tables {
			tb := &w.Tables[i]
			if strings.Contains(tb.Label, "#") {
				t.Errorf("%s: table %s", file, tb.Label)
			}
			native := tb.Column(strings.SplitN(tb.Label, ".", 2)[0], shapeField) == nil
			for j := range tb.Columns {
				c := &tb.Columns[j]
				known := nativeTypes[c.Field]
				if own, ok := nativeTypes[c.Component+"."+c.Field]; ok {
					known = own
				}
				if strings.HasSuffix(c.Field, textSuffix) || strings.HasSuffix(c.Field, boolSuffix) || c.Field == restField ||
					native && known == 0 && c.Field != "subdiv items" && c.Field != "modified entities" && c.Field != "last match" {
					t.Errorf("%s: %s has %s, such as %s", file, tb.Label, c.Field, c.At(tb.Rows()-1))
				}
			}
		}
	}
}

// TestRealTables pins what a real dump becomes.
func TestRealTables(t *testing.T) {
	name := filepath.Join(corpus, "mp_late_damage/host/ooslog/00024.txt.gz")
	w := read(t, name, stateContent(t, name))
	classes := map[snapshot.Class]int{}
	columns := 0
	for i := range w.Tables {
		classes[w.Tables[i].Class]++
		columns += len(w.Tables[i].Columns)
	}
	if classes[snapshot.Archetype] != 228 || classes[snapshot.Noise] != 20 || columns != 1151 {
		t.Errorf("%d archetypes, %d noise, %d columns", classes[snapshot.Archetype], classes[snapshot.Noise], columns)
	}
	want := snapshot.Head{
		Point: snapshot.Point{Tick: 25, Native: "turn 24", Relation: snapshot.After},
		RNG:   []byte{0, 0, 216, 160, 74, 66, 152, 175},
		Meta:  map[string]string{"state_hash": "09a6299ab382d6fac775aa80127e4ece"},
	}
	if diff := cmp.Diff(want, w.Head); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	for _, value := range []string{
		"archetype Health 35 Health.hitpoints f64 87.93967978872098",
		"archetype Position 35 Position.x fixed 128.455",
		`archetype TemplateManager.template 1:148 TemplateManager.key string "units/theb_sacred_band"`,
		`archetype RangeManager.query 1:1 RangeManager.last match string "54 55 56 57 58 61 63`,
		"archetype UnitAI.orderQueue 35:1 UnitAI.orderQueue[].data.lastPos.x f64 135.78982543945312",
		"archetype RangeManager.los state 1:355 RangeManager.los state i64 12",
		"noise Position 536870914 Position.in world bool true",
	} {
		if !strings.Contains(dump(w), "\n"+value) {
			t.Errorf("not there: %s", value)
		}
	}
}

func dump(w *snapshot.World) string {
	var b strings.Builder
	fmt.Fprintf(&b, "RNG %x\n", w.RNG)
	for i := range w.Tables {
		t := &w.Tables[i]
		for row := range t.Rows() {
			if len(t.Columns) == 0 {
				fmt.Fprintf(&b, "%s %s %s\n", t.Class, t.Label, t.Keys.At(row))
			}
			for j := range t.Columns {
				if c := &t.Columns[j]; c.Has(row) {
					fmt.Fprintf(&b, "%s %s %s %s %s %s\n", t.Class, t.Label, t.Keys.At(row), c.Name(), c.Type, c.At(row))
				}
			}
		}
	}
	return b.String()
}

// TestInserted takes one entity out of a dump. No other entity may seem to
// differ.
func TestInserted(t *testing.T) {
	text := statePlain(t, filepath.Join(corpus, "mp_late_damage/host/ooslog/00024.txt.gz"))
	start := bytes.Index(text, []byte("- id: 61\n"))
	end := bytes.Index(text, []byte("- id: 63\n"))
	if start < 0 || end < start {
		t.Fatal("no entity 61")
	}
	d := stateCompare(t, read(t, "00024.txt", text), read(t, "00024.txt", slices.Concat(text[:start], text[end:])))
	if len(d.Tables) < 30 {
		t.Errorf("%d tables differ", len(d.Tables))
	}
	for _, td := range d.Tables {
		if len(td.Changes)+len(td.OnlyB)+len(td.Schema) > 0 {
			t.Errorf("%s: %v, only B %v, %v", td.Label, td.Changes, td.OnlyB, td.Schema)
		}
		for _, k := range td.OnlyA {
			if k.A != 61 {
				t.Errorf("%s: %s only in A", td.Label, k)
			}
		}
	}
}

func TestEverything(t *testing.T) {
	for _, text := range []string{everything, strings.ReplaceAll(everything, "\n", "\r\n")} {
		w := read(t, "x.txt", []byte(text))
		if diff := cmp.Diff(everythingDump, dump(w)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		want := snapshot.Head{
			Point: snapshot.Point{Tick: 42, Native: "turn 41", Relation: snapshot.After},
			RNG:   []byte{0, 0, 0x3b, 0x19, 0x96, 0xab, 0x4f, 0xef},
			Meta:  map[string]string{"oos_turn": "40", "net_client_turn": "42", "sim_turn": "42"},
		}
		if diff := cmp.Diff(want, w.Head); diff != "" {
			t.Errorf("head (-want +got):\n%s", diff)
		}
	}
}

const everything = `oos turn: 40
net client turn: 42
sim turn: 42
rng: "64981088030703"
entities:
- id: 1
  TemplateManager:
    length: 2
    key: "units/b"
    length: 2
    value: 3
    value: 7
    key: "units/a"
    length: 1
    value: 5
  ObstructionManager:
    length: 2
    subdiv items: 4
    subdiv items: 5
    length: 0
    length: 1
    subdiv items: 6
    key: 9
    entity: 5
    x: 1.5
    z: -0.00001
    clearance: 0.8
    flags: 5
    group: 5
    key: 2
    entity: 5
    x: 1.5
    z: 2
    u.x: 1
    hw: 4
    group2: 0
    unit shape next: 10
  RangeManager:
    los reveal all: true
    los reveal all: false
    #: 3
    los state: 0
    #: 2
    los state: 15
  CommandQueue:
    num commands: 1
    player: 1
    data: {
  "type": "walk"
}

- id: 3
  Decay:
  Novelty:
    some field: "with \"quotes\""
    some field: 7
    x: 1.50
  Ownership:
    owner: -1
  AIProxy:
    comp: {
  "position": [
    1.5
  ]
}

- id: 5
  Everything:
    comp: {
  "number": 0.1,
  "negative": -2,
  "small": 1e-7,
  "large": 1.5e+25,
  "not of an f64": 0.10000000000000000001,
  "text": "a\"b\nc",
  "unit": "\u00e9\n",
  "yes": true,
  "nothing": null,
  "empty": {},
  "none": [],
  "nested": {
    "food.fruit": 1,
    "7": {
      "by": "entity"
    }
  },
  "list": [
    1,
    "two",
    {
      "x": 3,
      "deep": [
        [
          4
        ],
        []
      ]
    }
  ]
}

- id: 7
  Everything:
    comp: {
  "number": "one",
  "yes": 1
}

- id: 536870912
  type: local
  Decay:

`

const everythingDump = `RNG 00003b1996ab4fef
archetype CommandQueue 1 CommandQueue.num commands i64 1
archetype CommandQueue 1 CommandQueue.player string "1"
archetype CommandQueue.data 1:0 CommandQueue.(shape) string "type:text"
archetype CommandQueue.data 1:0 CommandQueue.data[].type string "walk"
archetype Decay 3
archetype Everything 5 Everything.(shape) string "number negative small large [\"not of an f64\"]:text text:text unit:text yes:bool nothing:null empty:{} none:[] nested[\"food.fruit\"] nested:{} list:[]"
archetype Everything 5 Everything.["not of an f64"] string "0.10000000000000000001"
archetype Everything 5 Everything.large f64 1.5e+25
archetype Everything 5 Everything.negative f64 -2
archetype Everything 5 Everything.nested["food.fruit"] f64 1
archetype Everything 5 Everything.number f64 0.1
archetype Everything 5 Everything.small f64 1e-07
archetype Everything 5 Everything.text string "a\"b\nc"
archetype Everything 5 Everything.unit string "\\u00e9\\n"
archetype Everything 5 Everything.yes (bool) bool true
archetype Everything 7 Everything.(shape) string "number:text yes"
archetype Everything 7 Everything.number (text) string "one"
archetype Everything 7 Everything.yes f64 1
archetype Everything.list 5:0 Everything.(shape) string ""
archetype Everything.list 5:0 Everything.list[] f64 1
archetype Everything.list 5:1 Everything.(shape) string ":text"
archetype Everything.list 5:1 Everything.list[] (text) string "two"
archetype Everything.list 5:2 Everything.(shape) string "x deep[0][0] deep[1]:[]"
archetype Everything.list 5:2 Everything.list[].deep[0][0] f64 4
archetype Everything.list 5:2 Everything.list[].x f64 3
archetype Everything.nested 5:7 Everything.(shape) string "by:text"
archetype Everything.nested 5:7 Everything.nested[].by string "entity"
archetype Novelty 3 Novelty.some field string "\"with \\\"quotes\\\"\""
archetype Novelty 3 Novelty.x (text) string "1.50"
archetype Novelty.some field 3:1 Novelty.some field string "7"
archetype ObstructionManager 1 ObstructionManager.length i64 2
archetype ObstructionManager 1 ObstructionManager.unit shape next i64 10
archetype ObstructionManager.length 1:1 ObstructionManager.length i64 0
archetype ObstructionManager.length 1:2 ObstructionManager.length i64 1
archetype ObstructionManager.static shape 1:2 ObstructionManager.entity ref @5
archetype ObstructionManager.static shape 1:2 ObstructionManager.group2 ref @0
archetype ObstructionManager.static shape 1:2 ObstructionManager.hw fixed 4
archetype ObstructionManager.static shape 1:2 ObstructionManager.u.x fixed 1
archetype ObstructionManager.static shape 1:2 ObstructionManager.x fixed 1.5
archetype ObstructionManager.static shape 1:2 ObstructionManager.z fixed 2
archetype ObstructionManager.subdiv items 1:0 ObstructionManager.subdiv items string "4 5"
archetype ObstructionManager.subdiv items 1:2 ObstructionManager.subdiv items string "6"
archetype ObstructionManager.unit shape 1:9 ObstructionManager.clearance fixed 0.79998779296875
archetype ObstructionManager.unit shape 1:9 ObstructionManager.entity ref @5
archetype ObstructionManager.unit shape 1:9 ObstructionManager.flags i64 5
archetype ObstructionManager.unit shape 1:9 ObstructionManager.group ref @5
archetype ObstructionManager.unit shape 1:9 ObstructionManager.x fixed 1.5
archetype ObstructionManager.unit shape 1:9 ObstructionManager.z (text) string "-0.00001"
archetype Ownership 3 Ownership.owner i64 -1
archetype RangeManager 1
archetype RangeManager.los reveal all 1:0 RangeManager.los reveal all bool true
archetype RangeManager.los reveal all 1:1 RangeManager.los reveal all bool false
archetype RangeManager.los state 1:0 RangeManager.# i64 3
archetype RangeManager.los state 1:0 RangeManager.los state i64 0
archetype RangeManager.los state 1:3 RangeManager.# i64 2
archetype RangeManager.los state 1:3 RangeManager.los state i64 15
archetype TemplateManager 1 TemplateManager.length i64 2
archetype TemplateManager.template 1:3 TemplateManager.key string "units/b"
archetype TemplateManager.template 1:5 TemplateManager.key string "units/a"
archetype TemplateManager.template 1:7 TemplateManager.key string "units/b"
archetype entity 1
archetype entity 3
archetype entity 5
archetype entity 7
noise AIProxy 3 AIProxy.(shape) string "position:[]"
noise AIProxy.position 3:0 AIProxy.(shape) string ""
noise AIProxy.position 3:0 AIProxy.position[] f64 1.5
noise Decay 536870912
noise entity 536870912
`

func TestCompressed(t *testing.T) {
	var gz, xzs bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte(everything))
	z.Close()
	x, err := xz.NewWriter(&xzs)
	if err != nil {
		t.Fatal(err)
	}
	x.Write([]byte(everything))
	x.Close()
	for _, packed := range [][]byte{gz.Bytes(), xzs.Bytes()} {
		if diff := cmp.Diff(everythingDump, dump(read(t, "x", packed))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for n := 6; n < len(packed); n += effort.Of(23, 1) {
			_, err := Read(bytes.NewReader(packed[:n]), int64(n), "x")
			if e := (*engine.LineError)(nil); !errors.As(err, &e) {
				t.Fatalf("cut at %d of %d: %v", n, len(packed), err)
			}
		}
		for bit := 0; bit < 8*len(packed); bit += effort.Of(211, 5) {
			packed[bit/8] ^= 1 << (bit % 8)
			w, err := Read(bytes.NewReader(packed), int64(len(packed)), "x")
			if err == nil && dump(w) != everythingDump {
				t.Errorf("bit %d changed the dump unnoticed", bit)
			}
			packed[bit/8] ^= 1 << (bit % 8)
		}
	}
	gz.Reset()
	z.Reset(&gz)
	z.Write(make([]byte, limits.Free.Max()+limits.Ratio.Max()*100_000))
	z.Close()
	if _, err := Read(bytes.NewReader(gz.Bytes()), int64(gz.Len()), "x"); err == nil || !strings.Contains(err.Error(), "limit ratio is reached") {
		t.Errorf("error %v, want one about expansion", err)
	}
}

// TestTruncated cuts a small dump at every byte and a real one at many lines.
func TestTruncated(t *testing.T) {
	// Local entities are listed nowhere.
	text := everything[:strings.Index(everything, "- id: 536870912")]
	read(t, "x", []byte(text))
	check := func(text string, n int) {
		t.Helper()
		_, err := Read(strings.NewReader(text[:n]), int64(n), "x")
		if e := (*engine.LineError)(nil); !errors.As(err, &e) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d of %d: error %v, want an unexpected EOF", n, len(text), err)
		}
	}
	for n := range text {
		check(text, n)
	}
	long := string(statePlain(t, filepath.Join(corpus, "mp_late_damage/host/ooslog/00024.txt.gz")))
	long = long[:strings.Index(long, "- id: 536870912")]
	lines := 0
	for n := 0; n < len(long); lines++ {
		if lines%97 == 0 || strings.HasPrefix(long[n:], "- id: ") && lines%7 == 0 {
			check(long, n)
		}
		n += strings.IndexByte(long[n:], '\n') + 1
	}
	for n := 0; n < len(long); n += 9973 {
		check(long, n)
	}
}

// TestFlipped flips single bits: nothing may panic, and what is read is valid.
func TestFlipped(t *testing.T) {
	check := func(text []byte, step int) {
		for bit := 0; bit < 8*len(text); bit += step {
			text[bit/8] ^= 1 << (bit % 8)
			valid(t, text)
			text[bit/8] ^= 1 << (bit % 8)
		}
	}
	check([]byte(everything), 1)
	check(statePlain(t, filepath.Join(corpus, "mp_orders_walkspeed/host/ooslog/00017.txt.gz")), effort.Of(200_023, 50_021))
}

// valid reads what may be malformed.
func valid(t *testing.T, text []byte) {
	t.Helper()
	w, err := Read(bytes.NewReader(text), int64(len(text)), "x.txt")
	if err != nil {
		if e := (*engine.LineError)(nil); !errors.As(err, &e) {
			t.Fatalf("error %v is not an *Error", err)
		}
		return
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestStateMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                             "unexpected EOF",
		"rng: \"1\"\nentities:\n\n":                                    "no entities",
		"rng: \"1\"\n- id: 1\n\n":                                      "expected the head of a dump",
		"entities:\n- id: 2\n\n- id: 2\n\n":                            "entity 2 after entity 2",
		"entities:\n- id: 1\n- id: 2\n\n":                              "expected an empty line",
		"entities:\n- id: -1\n\n":                                      "expected the id of an entity",
		"entities:\n  Health:\n\n":                                     "expected an entity",
		"entities:\n- id: 1\n  type: local\n\n":                        "entity 1 is local",
		"entities:\n- id: 1\n  A:\n  A:\n\n":                           "entity 1 has A twice",
		"entities:\n- id: 1\n  A:\n  x\n\n":                            "expected a component",
		"entities:\n- id: 1\n  A:\n    x\n\n":                          "expected a field of A",
		"entities:\n- id: 1\n  A:\n    comp: {\"a\": }\n\n":            "expected a value",
		"entities:\n- id: 1\n  A:\n    comp: {\"a\" 1}\n\n":            "expected a colon",
		"entities:\n- id: 1\n  A:\n    comp: {\"a\": 1 \"b\": 2}\n\n":  "expected a comma",
		"entities:\n- id: 1\n  A:\n    comp: {\"a\": 1, \"a\": 2}\n\n": "given twice",
		"entities:\n- id: 1\n  A:\n    comp: {\"8\": 1, \"7\": 2}\n\n": "does not follow",
		"entities:\n- id: 1\n  A:\n    comp: {} {}\n\n":                "after the value of comp",
		"entities:\n- id: 1\n  A:\n    comp: {\"a\": [[[tru]]]}\n\n":   "expected a value",
		"entities:\n- id: 1\n  A:\n    #: 0\n    los state: 1\n\n":     "expected a positive number",
	} {
		_, err := Read(strings.NewReader(text), int64(len(text)), "x.txt")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x.txt: line ") {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestKept reads what has no columns.
func TestKept(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat("}", 40)
	long := "[[" + strings.Repeat("1, ", 64) + "1]]"
	text := "entities:\n- id: 1\n  A:\n    comp: {\"deep\": " + deep + ", \"list\": " + long + "}\n\n"
	w := read(t, "x.txt", []byte(text))
	got := dump(w)
	for _, want := range []string{
		`A 1 A.(rest) string "deep` + strings.Repeat(".a", 32) + ` {\"a\":{\"a\"`,
		`A.list 1:0 A.(rest) string " [1,1,`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not there: %s\n%s", want, got)
		}
	}
}

func TestFixed(t *testing.T) {
	for units := int64(-70_000); units < 70_000; units++ {
		text := appendFixed(nil, units)
		if got, ok := parseFixed(text); !ok || got != units {
			t.Fatalf("%d is %s, read as %d, %v", units, text, got, ok)
		}
	}
	for text, want := range map[string]int64{"69.07018": 4526583, "-2.1603": -141577, "0.8": 52428, "-1": -65536, "9.4499": 619308} {
		if got, ok := parseFixed([]byte(text)); !ok || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", "-0", "1.", ".5", "1.50", "01", "1e5", "1.0000000001", "99999999999"} {
		if got, ok := parseFixed([]byte(text)); ok {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

// TestPlace finds the state point by the head, else the name, else the clock.
func TestPlace(t *testing.T) {
	body := "rng: \"1\"\nentities:\n- id: 1\n  Timer:\n    comp: {\"time\": 4800}\n\n"
	for _, c := range []struct {
		name, head string
		want       snapshot.Point
	}{
		{"00007.txt", "sim turn: 42\n", snapshot.Point{Tick: 42, Native: "turn 41", Relation: snapshot.After}},
		{"oos_dump.txt", "oos turn: 59\nnet client turn: 62\nsim turn: 25\n", snapshot.Point{Tick: 62, Native: "turn 61", Relation: snapshot.After}}, // of a peer that joined at turn 37
		{"dir/00007.txt", "State hash: 00\n\n", snapshot.Point{Tick: 8, Native: "turn 7", Relation: snapshot.After}},
		{"debug.before.a", "", snapshot.Point{Tick: 4800, Native: "4800 ms"}},
	} {
		if w := read(t, c.name, []byte(c.head+body)); w.Point != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, w.Point, c.want)
		}
	}
}

func TestParseName(t *testing.T) {
	want := snapshot.FileName{Point: snapshot.Point{Tick: 25, Native: "turn 24", Relation: snapshot.After}}
	for _, base := range []string{"00024.txt", "00024.txt.gz", "00024.txt.xz"} {
		if got, ok := ParseName(base); !ok || got != want {
			t.Errorf("ParseName(%q) = %+v, %v", base, got, ok)
		}
	}
	if got, ok := ParseName("123456.txt"); !ok || got.Point.Tick != 123457 {
		t.Errorf("123456.txt is %+v, %v", got, ok)
	}
	for _, base := range []string{"", ".txt", "24.txt", "000024.txt", "-0024.txt", "00024", "00024.txt.gz.gz", "oos_dump.txt", "commands.txt", "0002a.txt"} {
		if got, ok := ParseName(base); ok {
			t.Errorf("ParseName(%q) = %+v, want none", base, got)
		}
	}
}

func TestStateSniff(t *testing.T) {
	f := Format()
	for _, file := range realDumps(t) {
		if head := statePlain(t, file)[:snapshot.SniffLen]; !f.Sniff(head) {
			t.Errorf("%s is not recognised", file)
		}
	}
	if !f.Sniff([]byte("rng: \"64981088699119\"\r\nentities:\r\n")) {
		t.Error("a dump without a head is not recognised")
	}
	for _, head := range []string{"", "State hash: 00", "State hash: xyz\n", "oos turn: \n", "rng: 5\n", "start {\"settings\"", "\x1f\x8b\x08\x00\n", "- id: 1\n"} {
		if f.Sniff([]byte(head)) {
			t.Errorf("%q is recognised", head)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(everything))
	for _, file := range realDumps(f)[:3] {
		b := stateContent(f, file)
		f.Add(b)
		text := statePlain(f, file)
		f.Add(text[:20_000])
		// The head and a few entities with their scripts.
		f.Add(slices.Concat([]byte("entities:\n"), text[bytes.Index(text, []byte("- id: 3\n")):bytes.Index(text, []byte("- id: 13\n"))]))
	}
	f.Fuzz(func(t *testing.T, text []byte) { valid(t, text) })
}

// BenchmarkRead reads the dumps of a session, which follow each other: by a reader that has read nothing before each of
// them, and by one that has read those before.
func BenchmarkRead(b *testing.B) {
	for _, session := range []string{"mp_late_damage", "mp_orders_walkspeed"} {
		var dumps [][]byte
		for _, name := range turns(b, session, "host", "client") {
			for _, peer := range []string{"host", "client"} {
				dumps = append(dumps, statePlain(b, filepath.Join(corpus, session, peer, "ooslog", name)))
			}
		}
		for _, first := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/first=%v", session, first), func(b *testing.B) {
				s, n, bytes := newScratch(), 0, 0
				b.ReportAllocs()
				for b.Loop() {
					if first {
						s = newScratch()
					}
					s.content = append(s.content[:0], dumps[n%len(dumps)]...)
					if _, err := s.read("00024.txt"); err != nil {
						b.Fatal(err)
					}
					bytes += len(s.content)
					n++
				}
				b.SetBytes(int64(bytes / n))
			})
		}
	}
}

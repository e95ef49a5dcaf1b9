package openra

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

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	folder = "../../testdata/openra"

	hostReport   = "syncreport-2023-11-05T181502Z-0.log"
	clientReport = "syncreport-2023-11-05T181503Z-1.log" // written on Windows
	lateReport   = "syncreport-2023-11-05T181504Z-2.log" // without a state
	offReport    = "syncreport-2023-11-05T190000Z-0.log" // without a state
	oldReport    = "syncreport-2022-06-26T120000Z.log"
	oldLost      = "syncreport-2022-06-26T120100Z.log"
)

func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, name string, text []byte) *snapshot.World {
	t.Helper()
	w, err := Read(bytes.NewReader(text), int64(len(text)), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// dump lists all values, one a line.
func dump(w *snapshot.World) string {
	var b strings.Builder
	for _, t := range w.Tables {
		for i := range t.Rows() {
			fmt.Fprintf(&b, "%s %s %s", t.Class, t.Label, t.Keys.At(i))
			for k := range t.Columns {
				c := &t.Columns[k]
				switch {
				case !c.Has(i):
				case c.Type == snapshot.String:
					fmt.Fprintf(&b, " %s=%q", c.Name(), c.Raw(i))
				default:
					fmt.Fprintf(&b, " %s=%s:%d", c.Name(), c.Type, c.Int(i))
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

const hostDump = `archetype (actor) 0 actor.kind="world" actor.owner="World"
archetype (actor) 2 actor.kind="player" actor.owner="Neutral"
archetype (actor) 3 actor.kind="player" actor.owner="Allies Lime Gray"
archetype (actor) 342 actor.kind="proc" actor.owner="Allies Lime Gray"
archetype (actor) 343 actor.kind="harv" actor.owner="Allies Lime Gray"
archetype (order) 0:0 order.IsImmediate="False" order.OrderString="Harvest" order.Player(PlayerName)="Commander" order.Subject="harv 343" order.Target="9216,67072,0" order.TargetString="" order.Type="Fields"
archetype (order) 1:0 order.IsImmediate="False" order.OrderString="StartProduction" order.Player(PlayerName)="Allies Lime Gray" order.Subject="player 4" order.Target="Invalid" order.TargetString="e1" order.Type="Fields"
archetype BodyOrientation 343 BodyOrientation.QuantizedFacings="32" sync.hash=i32:32
archetype Building 342 Building.topLeft="13,72" sync.hash=i32:13649920
archetype Cloak 343 Cloak.IsTraitDisabled="True" Cloak.IsTraitPaused="False" Cloak.remainingTime="90" sync.hash=i32:91
archetype Cloak.more 343:1 Cloak.IsTraitDisabled="True" Cloak.IsTraitPaused="True" Cloak.remainingTime="0" sync.hash=i32:2730
archetype FrozenUnderFogUpdatedByGps 3 sync.hash=i32:-20
archetype Harvester 343 Harvester.LinkedProc="proc 342" Harvester.currentUnloadTicks="0" sync.hash=i32:22478848
archetype Health 342 Health.hp="100000" sync.hash=i32:100000
archetype Mobile 343 Mobile.CenterPosition="8761,67072,0" Mobile.Facing="192" Mobile.FromCell="8,65" Mobile.PathHash="9453824" Mobile.ToCell="9,65" sync.hash=i32:9528824
archetype PlayerResources 2 PlayerResources.Cash="0" PlayerResources.ResourceCapacity="0" PlayerResources.Resources="1" sync.hash=i32:1
archetype PlayerResources 3 PlayerResources.Cash="40668" PlayerResources.ResourceCapacity="2000" PlayerResources.Resources="1200" sync.hash=i32:40380
archetype ResourceLayer 0 ResourceLayer.TotalValue="64" sync.hash=i32:64
archetype effect Bullet 0 Bullet.pos="1024,2048,0" Bullet.velocity="12,-7,0" sync.hash=i32:1052672
archetype effect Bullet 1 Bullet.pos="4096,512,128" Bullet.velocity="0,31,-4" sync.hash=i32:-51212
`

func TestHost(t *testing.T) {
	w := read(t, hostReport, content(t, hostReport))
	want := snapshot.Head{
		Seed: 0x6f1c2f0e52a44f0a, Point: snapshot.Point{Tick: 1204, Phase: snapshot.AfterOrders, Native: "net frame 1204"},
		Peer: "Commander",
		RNG:  []byte{0x6d, 0x9f, 0xfd, 0xc5, 0x00, 0x00, 0xbc, 0x55}, // 1839201733, 48213
		Meta: map[string]string{
			"client": "0", "host": "true", "game_id": "6f1c2f0e-52a4-4f0a-9d5d-3a1f0a7c9b11", "mod": "Red Alert", "version": "release-20231010",
			"system": "Linux Unix 6.1.0.13 .NET CLR 6.0.22", "out_of_sync_frame": "1204", "recorded_frames": "1204,1205,1199,1200,1201,1202,1203",
			"rng": "count 48213, last 1839201733",
		},
	}
	if diff := cmp.Diff(want, w.Head); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(hostDump, dump(w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDifference compares host and client; testdata/openra/README.md lists what
// was written to differ.
func TestDifference(t *testing.T) {
	var states [2]snapshot.State
	for i, name := range []string{hostReport, clientReport} {
		text := content(t, name)
		s, err := Format().Open(bytes.NewReader(text), int64(len(text)), name)
		if err != nil {
			t.Fatal(err)
		}
		states[i] = s
	}
	d, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range d.Tables {
		if len(table.Schema) > 0 {
			got = append(got, fmt.Sprintf("%s %v", table.Label, table.Schema))
		}
		for _, key := range table.OnlyA {
			got = append(got, fmt.Sprintf("%s %s only on the host", table.Label, key))
		}
		for _, key := range table.OnlyB {
			got = append(got, fmt.Sprintf("%s %s only on the client", table.Label, key))
		}
		for _, c := range table.Changes {
			got = append(got, fmt.Sprintf("%s %s %s.%s %s %s", table.Label, c.Key, c.Component, c.Field, c.A, c.B))
		}
	}
	want := []string{
		"(order) 0:0 only on the host",
		`Mobile 343 Mobile.PathHash "9453824" "9453825"`,
		"Mobile 343 sync.hash 9528824 9528825",
		`PlayerResources 3 PlayerResources.Cash "40668" "40618"`,
		"PlayerResources 3 sync.hash 40380 40394",
		"effect Bullet 1 only on the host",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if bytes.Equal(states[0].Info().RNG, states[1].Info().RNG) {
		t.Error("the random number generators are equal")
	}
	if w := read(t, clientReport, content(t, clientReport)); w.Peer != "Allies Lime Gray" || !bytes.Equal(w.RNG[:4], []byte{0xff, 0xff, 0xff, 0xef}) {
		t.Errorf("peer %q, RNG %x", w.Peer, w.RNG)
	}
}

func TestOld(t *testing.T) {
	w := read(t, oldReport, content(t, oldReport))
	if w.Peer != "SirCakealot" || w.Point.Tick != 28411 || w.Meta["system"] != "OSX Unix 15.6.0.0 Mono 6.12.0 ((detached/a813491) CLR 4.0.30319.42000" {
		t.Errorf("head %+v", w.Head)
	}
	for _, key := range []string{"client", "out_of_sync_frame", "recorded_frames", "host"} {
		if v, ok := w.Meta[key]; ok {
			t.Errorf("%s is %q, which an old report does not have", key, v)
		}
	}
}

func TestLost(t *testing.T) {
	for name, want := range map[string]struct {
		lost LostFrameError
		text string
	}{
		lateReport: {LostFrameError{lateReport, 1204, []int64{1211, 1212, 1213, 1214, 1208, 1209, 1210}}, "net frame 1204 is out of sync, the game had recorded net frames 1211,1212,1213,1214,1208,1209,1210 only"},
		offReport:  {LostFrameError{offReport, 1, make([]int64, 7)}, "net frame 1 is out of sync, the game had recorded none"},
		oldLost:    {LostFrameError{oldLost, 0, nil}, "the game no longer had the state of the net frame that is out of sync"},
	} {
		text := content(t, name)
		_, err := Read(bytes.NewReader(text), int64(len(text)), name)
		lost := (*LostFrameError)(nil)
		if !errors.As(err, &lost) {
			t.Fatalf("%s: error %v", name, err)
		}
		if diff := cmp.Diff(want.lost, *lost); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v, want %s", name, err, want.text)
		}
	}
}

// minimal returns a report with some lines in its sections.
func minimal(traits, effects, orders string) string {
	return "Player: A (B) (Linux Unix 6 x)\nGame ID: g (Mod: M at Version v at Version 2)\nSync for net frame 7 -------------\n" +
		"SharedRandom: 5 (#3)\nSynced Traits:\n" + traits + "Synced Effects:\n" + effects + "Orders Issued:\n" + orders
}

const tail = "Sync Report System Info:\nOut of sync frame: 7\nRecorded frames: 7,0\n"

func TestOdd(t *testing.T) {
	text := minimal(
		"\t 9 a  T`1 (\u22125)\n\t\t x: \n\t\t x: 2\n\t 2 b o p T`1 (0)\n\t\t y: a: b\n",
		"",
		"\t ClientId: 3 OrderString: \"Chat\" \n\t TargetString: \"one\r\n two\".\n\t IsImmediate: True.\n\t Player(PlayerName): Dr.\n\n\t ClientId: 0 OrderString: \"\" \n\t TargetActor: \"fix\" \n\n\t ClientId: 3 OrderString: \"Stop\" \n\n",
	) + tail
	want := `archetype (actor) 2 actor.kind="b" actor.owner="o p"
archetype (actor) 9 actor.kind="a" actor.owner=""
archetype (order) 0:0 order.OrderString="" order.TargetActor="fix"
archetype (order) 3:0 order.IsImmediate="True" order.OrderString="Chat" order.Player(PlayerName)="Dr." order.TargetString="one\n two"
archetype (order) 3:1 order.OrderString="Stop"
archetype T` + "`1 2 T`1.y=\"a: b\" sync.hash=i32:0\narchetype T`1 9 T`1.x=\"\" T`1.x#2=\"2\" sync.hash=i32:-5\n"
	w := read(t, "x.log", []byte(text))
	if diff := cmp.Diff(want, dump(w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w.Peer != "A (B)" || w.Meta["mod"] != "M at Version v" || w.Meta["version"] != "2" {
		t.Errorf("head %+v", w.Head)
	}
}

// TestTruncated cuts reports at every byte: what is read of one that says which net frame it is of
// is in the whole report too, and nothing else is a state.
func TestTruncated(t *testing.T) {
	for _, name := range []string{hostReport, clientReport, lateReport, offReport, oldReport, oldLost} {
		text := content(t, name)
		whole, _ := Read(bytes.NewReader(text), int64(len(text)), name)
		states := 0
		for n := range len(text) {
			w, err := Read(bytes.NewReader(text[:n]), int64(n), name)
			if err == nil {
				states++
				if whole == nil {
					t.Fatalf("%s cut at %d: a state of a report without one", name, n)
				}
				within(t, w, whole)
				continue
			}
			if e := (*engine.LineError)(nil); errors.As(err, &e) && errors.Is(err, io.ErrUnexpectedEOF) {
				continue
			}
			t.Fatalf("%s cut at %d of %d: error %v, want an unexpected EOF", name, n, len(text), err)
		}
		if whole != nil && states < len(text)/4 {
			t.Errorf("%s: only %d of %d cuts are states", name, states, len(text))
		}
	}
}

// within checks that an incomplete state says so, and has no value that a whole one has not.
func within(t *testing.T, part, whole *snapshot.World) {
	t.Helper()
	if part.Incomplete() == "" || part.Point != whole.Point || part.Peer != whole.Peer {
		t.Fatalf("incomplete %q, %v of %s", part.Incomplete(), part.Point, part.Peer)
	}
	for i := range part.Tables {
		table := &part.Tables[i]
		of := whole.Table(table.Class, table.Label)
		for row := range table.Rows() {
			at := -1
			for k := range of.Rows() {
				if of.Keys.At(k) == table.Keys.At(row) {
					at = k
				}
			}
			for c := range table.Columns {
				column := &table.Columns[c]
				if column.Has(row) && (at < 0 || column.At(row).String() != of.Column(column.Component, column.Field).At(at).String()) {
					t.Fatalf("%s %s: %s is %s", table.Label, table.Keys.At(row), column.Name(), column.At(row))
				}
			}
		}
	}
}

func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                            "unexpected EOF",
		"Player: A\n":                                 "line 1: \"A\", expected a player's name",
		"Player: A (Linux \n":                         "expected a player's name",
		"Player: A (Linux x)\nx\n":                    `line 2: "x", expected "Game ID: "`,
		"Player: A (Linux x)\nGame ID: g\n":           "expected a game's id",
		minimal("", "", "") + "x\n":                   "expected an order",
		minimal("", "", "") + "\n":                    "expected an order",
		minimal("x\n", "", ""):                        `line 6: "x", expected "Synced Effects:" or the line before it`,
		minimal("\t\t a: b\n", "", ""):                "expected \"Synced Effects:\"",
		minimal("\t 1 a o T\n", "", ""):               "expected it to end with a hash",
		minimal("\t 1 a T (5)\n", "", ""):             "expected an actor's id, kind, owner and trait",
		minimal("\t x a o T (5)\n", "", ""):           "expected the id of an actor",
		minimal("\t -1 a o T (5)\n", "", ""):          "expected the id of an actor",
		minimal("\t 1 a o sync (5)\n", "", ""):        "expected the name of a type",
		minimal("\t 1 a o (5)\n", "", ""):             "expected an actor's id, kind, owner and trait",
		minimal("\t 1 a o T (2147483648)\n", "", ""):  "expected it to end with a hash",
		minimal("\t 1 a o T (5)\n\t\t x\n", "", ""):   "expected a name and a value",
		minimal("\t 1 a o T (5)\n\t\t : x\n", "", ""): "expected the name of a field",
		minimal("\t 1 a o T (5)\n\t 2 a o T (5)\n\t 1 a o T (5)\n", "", ""):            "(actor) has 1 twice",
		minimal("", "\t A B (5)\n", ""):                                                "expected the name of a type",
		minimal("", "", "\t ClientId: x y: z\n"):                                       "expected a client's number",
		minimal("", "", "\t ClientId: 1 y\n"):                                          "expected a name and a value of an order",
		minimal("", "", "\t ClientId: 1 y: \"z\n"):                                     "text in quotes has no end",
		minimal("", "", tail) + "x\n":                                                  "after the last section",
		"Sync Report System Info:\nOut of sync frame: x\n":                             "expected the number of a net frame",
		"Sync Report System Info:\nOut of sync frame: 1\nRecorded frames: 1,\n":        "expected at most 1024 numbers",
		"Sync Report System Info:\nOut of sync frame: 1\nRecorded frames: 2\nRecord\n": "expected \"Recorded frames do not contain the frame 1.",
		"No sync report available!\nx\n":                                               "after the last section",
	} {
		_, err := Read(strings.NewReader(text), int64(len(text)), "x.log")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x.log: ") {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	var b strings.Builder
	for i := range limits.Archetypes.Max() {
		fmt.Fprintf(&b, "\t 1 a o T%d (5)\n", i)
	}
	many := minimal(b.String(), "", "")
	b.Reset()
	b.WriteString("\t 1 a o T (5)\n")
	for i := range limits.Columns.Max() {
		fmt.Fprintf(&b, "\t\t f%d: x\n", i)
	}
	wide := minimal(b.String(), "", "")
	b.Reset()
	for i := range 1000 {
		fmt.Fprintf(&b, "\t %d a o T (5)\n", i)
	}
	for i := range limits.Cells.Max() / 1000 {
		fmt.Fprintf(&b, "\t\t f%d: x\n", i)
	}
	sparse := minimal(b.String(), "", "")
	same := minimal("\t 1 a o T (5)\n"+strings.Repeat("\t\t f: x\n", maxSame+1), "", "")
	for text, want := range map[string]string{many: "limit archetypes is reached", wide: "limit columns is reached", sparse: "limit sparse is reached", same: "more than 8 times"} {
		_, err := Read(strings.NewReader(text), int64(len(text)), "x.log")
		if e := (*engine.LineError)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestTruncatedUnseen cuts, after an order, a report that does not say how new it
// is.
func TestTruncatedUnseen(t *testing.T) {
	text := content(t, clientReport)
	text = text[:bytes.Index(text, []byte(systemInfo))]
	if w := read(t, "x.log", text); w.Table(snapshot.Archetype, "(order)").Rows() != 1 {
		t.Error("the order is gone")
	}
	if w := read(t, clientReport, text); w.Incomplete() == "" {
		t.Error("it is taken for a whole report")
	}
}

// TestFlipped flips single bits: nothing may panic, and what is read is valid.
func TestFlipped(t *testing.T) {
	for _, name := range []string{hostReport, clientReport, lateReport} {
		text := content(t, name)
		for bit := 0; bit < 8*len(text); bit += effort.Of(5, 1) {
			text[bit/8] ^= 1 << (bit % 8)
			valid(t, text)
			text[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// valid reads what may be malformed.
func valid(t *testing.T, text []byte) {
	t.Helper()
	w, err := Read(bytes.NewReader(text), int64(len(text)), "x.log")
	if err != nil {
		if e, lost := (*engine.LineError)(nil), (*LostFrameError)(nil); !errors.As(err, &e) && !errors.As(err, &lost) {
			t.Fatalf("error %v is neither an *Error nor a *LostFrameError", err)
		}
		return
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	f := Format()
	if f.ParseName != nil {
		t.Error("names have no state point")
	}
	for base, want := range map[string]string{hostReport: "0", clientReport: "1", "syncreport-2023-11-05T181502Z-12.log.1": "12"} {
		if n, ok := client(base); n != want || !ok || !f.Usual(base) {
			t.Errorf("%s: client %q, %v", base, n, ok)
		}
	}
	for _, base := range []string{oldReport, "syncreport.log", "syncreport-2023-11-05T181502Z-.log", "syncreport-2023-11-05T181502Z-01.log", "x-1.log", "syncreport-Z-1"} {
		if n, ok := client(base); ok {
			t.Errorf("%s: client %q", base, n)
		}
	}
	if f.Usual("debug.log") {
		t.Error("debug.log is a usual name")
	}
}

func TestSniff(t *testing.T) {
	f := Format()
	files, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text := content(t, filepath.Base(file))
		if !f.Sniff(text[:min(len(text), snapshot.SniffLen)]) {
			t.Errorf("%s is not recognised", file)
		}
	}
	for _, head := range []string{"", "Player: A", "Player: A (Linux", "Player: A\n (Linux x", "State hash: 0\n", "Sync Report", systemInfo + "\nOut of sync frame: 1\nRecorded frames: 1\n"} {
		if f.Sniff([]byte(head)) {
			t.Errorf("%q is recognised", head)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{hostReport, clientReport, lateReport, offReport, oldReport, oldLost} {
		f.Add(content(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) { valid(t, text) })
}

// long returns a report of about size bytes with the host's actors again and
// again.
func long(t testing.TB, size int) []byte {
	text := content(t, hostReport)
	start := bytes.Index(text, []byte("\t 342 "))
	end := bytes.Index(text, []byte(effects))
	out := slices.Clone(text[:start])
	for id := 1000; len(out) < size; id += 2 {
		block := bytes.ReplaceAll(text[start:end], []byte("\t 342 "), fmt.Appendf(nil, "\t %d ", id))
		out = append(out, bytes.ReplaceAll(block, []byte("\t 343 "), fmt.Appendf(nil, "\t %d ", id+1))...)
	}
	return append(out, text[end:]...)
}

func BenchmarkRead(b *testing.B) {
	text := long(b, 16<<20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text), int64(len(text)), "x.log"); err != nil {
			b.Fatal(err)
		}
	}
}

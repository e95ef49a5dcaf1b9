package warzone_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

const corpus = "../../testdata/warzone2100"

func stateLoad(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func dump(slot int) string {
	return fmt.Sprintf("player_power_3peer/host_p0/desync25702_p%d.txt", slot)
}

func stateOpen(t testing.TB, text, name string) snapshot.State {
	t.Helper()
	s, err := warzone.Format().Open(strings.NewReader(text), int64(len(text)), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func changes(t testing.TB, a, b snapshot.State) (list []string) {
	t.Helper()
	diff, err := snapshot.Compare(a, b, snapshot.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range diff.Tables {
		for _, c := range table.Changes {
			list = append(list, fmt.Sprint(table.Label, " ", c.Key, " ", c.Component, ".", c.Field, ": ", c.A, ", ", c.B))
		}
	}
	return list
}

// TestTruth checks what is known about the session: equal dumps have equal roots, and
// slot 1's differs in its own power, which is 1301 instead of 1300.
func TestTruth(t *testing.T) {
	for _, time := range []string{"25702", "25802"} {
		roots := map[string]string{}
		files, err := filepath.Glob(filepath.Join(corpus, "*", "*", "desync"+time+"_p*.txt"))
		if err != nil || len(files) != 9 {
			t.Fatal(files, err)
		}
		sync, err := filepath.Glob(filepath.Join(corpus, "insync_3peer", "desync"+time+"_p*.txt"))
		if err != nil || len(sync) != 2 {
			t.Fatal(sync, err)
		}
		for _, file := range append(files, sync...) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := stateOpen(t, string(text), file)
			info := s.Info()
			name, _ := warzone.ParseName(filepath.Base(file))
			if info.Peer != name.Peer || info.Point != name.Point || info.Point.Native != time || info.Meta["build"] != "4.3.3" {
				t.Errorf("%s: %+v", file, info.Head)
			}
			if root := roots[info.Peer]; root != "" && root != info.Root.String() {
				t.Errorf("%s: root %s, another dump of the peer has %s", file, info.Root, root)
			}
			roots[info.Peer] = info.Root.String()
		}
		if roots["slot 0"] != roots["slot 2"] || roots["slot 0"] == roots["slot 1"] || len(roots) != 3 {
			t.Error(roots)
		}
	}
	got := changes(t, stateOpen(t, stateLoad(t, dump(0)), dump(0)), stateOpen(t, stateLoad(t, dump(1)), dump(1)))
	want := []string{
		"Economy 1 before.power: 1300, 1301",
		"Economy 1 economy.power: 1300, 1301",
		"Economy 1 updatePlayerPower.from: 1300, 1301",
		"Economy 1 updatePlayerPower.to: 1300, 1301",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTables pins some rows of a real dump.
func TestTables(t *testing.T) {
	text := stateLoad(t, dump(0))
	w, err := warzone.Read(strings.NewReader(text), int64(len(text)), "d.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	var tables []string
	for i := range w.Tables {
		tables = append(tables, fmt.Sprint(w.Tables[i].Class, " ", w.Tables[i].Label, " ", w.Tables[i].Rows()))
	}
	want := []string{
		"archetype Count 11", "archetype Droid 14", "archetype Economy 11", "archetype Feature 26", "archetype Game 1",
		"archetype GameTime 3", "archetype Player 11", "archetype Projectile 0", "archetype Structure 21",
		"archetype calcDroidMuzzleLocation() 2", "archetype updateCurrentPower() 1", "archetype updateExtractedPower() 4",
		"noise Backtrace 0",
	}
	if diff := cmp.Diff(want, tables); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ label, key, column, want string }{
		{"Droid", "160627", "pos.x", "5573"},
		{"Droid", "160627", "before.pos.x", "5569"},
		{"Droid", "160627", "middle.rot.direction", "7239"},
		{"Droid", "160627", "rot.direction", "6002"},
		{"Droid", "160627", "droid.secondaryOrder", "158"},
		{"Droid", "160627", "sMove.src.y", "5558"},
		{"Droid", "160627", "update.phase", `">"`},
		{"Droid", "160627", "update.after", `"economy 7"`},
		{"Droid", "160625", "update.after", `"droid 160627"`},
		{"Structure", "160293", "structure.making", `"p"`},
		{"Structure", "160293", "making.id", "226292"},
		{"Structure", "160307", "structure.making", "absent"},
		{"Economy", "7", "before.power", "64.6999998432584106922149658203125"},
		{"Economy", "7", "economy.power", "65.03999984264373779296875"},
		{"Economy", "7", "economy.power.lowest bit", "0"},
		{"Count", "7", "count.droid", "6"},
		{"Game", "0", "game.random", "0x3946bc1f"},
		{"Game", "0", "game.map", `"Sk-Rush"`},
		{"Game", "0", "end.gameTime", "25602"},
		{"Game", "0", "begin.gameTime", "25702"},
		{"GameTime", "1:0", "message.crc", "0x4187"},
		{"Player", "2", "player.name", `"beta"`},
		{"calcDroidMuzzleLocation()", "288:0", "line.text", `"connect:body[0]=(0,-23,-10),muzzle=(2883,8808,329)"`},
		{"calcDroidMuzzleLocation()", "288:0", "line.in", `"droid 288 <"`},
		{"updateCurrentPower()", "7:0", "line.behind", `"updateExtractedPower"`},
	} {
		if got := cell(w, c.label, c.key, c.column); got != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.label, c.key, c.column, got, c.want)
		}
	}
}

func cell(w *snapshot.World, label, key, column string) string {
	t := w.Table(snapshot.Archetype, label)
	if t == nil {
		return "no table"
	}
	for i := range t.Columns {
		for row := range t.Rows() {
			if c := &t.Columns[i]; c.Name() == column && t.Keys.At(row).String() == key {
				return c.At(row).String()
			}
		}
	}
	return "no cell"
}

// TestPower compares the fixed-point numbers with ones computed by hand.
func TestPower(t *testing.T) {
	for units, want := range map[string]string{
		"5583457484800": "1300 0", "5587752452096": "1301 0", "4294967296": "1 0", "1": "0 1", "-1": "-0.0000000004656612873077392578125 1",
		"6442450945": "1.5 1", "0": "0 0",
	} {
		text := stateSealed("[syncDebugEconomy] < economy3 = "+units, "[syncDebugEconomy] < economy3 = "+units)
		w, err := warzone.Read(strings.NewReader(text), int64(len(text)), "d.txt")
		if err != nil {
			t.Fatal(err)
		}
		if got := cell(w, "Economy", "3", "economy.power") + " " + cell(w, "Economy", "3", "economy.power.lowest bit"); got != want {
			t.Errorf("%s: %s, want %s", units, got, want)
		}
	}
}

// sealed returns a dump with those lines, of a version of the game for which the
// CRC is not checked against it.
func stateSealed(lines ...string) string {
	edge := func(word string) string {
		return fmt.Sprintf("===== %s gameTime=25702, %d entries, CRC 0x00000000 =====\n", word, len(lines))
	}
	return edge("BEGIN") + strings.Join(lines, "\n") + "\n" + edge("END")
}

// TestNothingLost changes lines, swaps them, leaves them out and doubles them: no
// change leaves the root as it was.
func TestNothingLost(t *testing.T) {
	all := strings.Split(stateLoad(t, dump(0)), "\n")
	lines := all[1 : len(all)-3] // without the version
	lines = append(lines,
		"[aiUpdate] - droid288"+strings.TrimPrefix(lines[31], "[droidUpdate] < droid288"),
		"[update] < projectile = p1;pos(1,2,3),rot(4,5,6),state7,expectedDamageCaused8,numberDamaged9",
		"[update] > projectile = p1;pos(1,2,3),rot(4,5,6),state7,expectedDamageCaused8,numberDamaged9",
		"[syncDebugEconomy] > economy1 = 7", "[syncDebugEconomy] < economy 1 = 7", "[odd] text", "[even] text", "[odd] text",
	)
	root := func(lines []string) string { return stateOpen(t, stateSealed(lines...), "d.txt").Info().Root.String() }
	before := root(lines)
	random := rand.New(rand.NewPCG(3, 4))
	bytesOf := []byte("0123456789 -<>M=:,;()[]{}apx\"")
	for n := range effort.Of(400, 2000) {
		edited := append([]string(nil), lines...)
		i, j := random.IntN(len(lines)), random.IntN(len(lines))
		if n%2 == 0 {
			j = min(i+1, len(lines)-1)
		}
		switch random.IntN(5) {
		case 0:
			edited[i], edited[j] = edited[j], edited[i]
		case 1:
			edited = append(edited[:i], edited[i+1:]...)
		case 2:
			edited = append(edited[:i:i], append([]string{lines[i]}, edited[i:]...)...)
		default:
			b := []byte(edited[i])
			at := strings.Index(edited[i], "] ") + 2
			at += random.IntN(len(b) - at)
			switch random.IntN(3) {
			case 0:
				b[at] = bytesOf[random.IntN(len(bytesOf))]
			case 1:
				b = append(b[:at], b[at+1:]...)
			default:
				b = append(b[:at:at], append([]byte{bytesOf[random.IntN(len(bytesOf))]}, b[at:]...)...)
			}
			edited[i] = string(b)
		}
		if same := strings.Join(edited, "\n") == strings.Join(lines, "\n"); same != (root(edited) == before) {
			t.Fatalf("lines differ: %v, roots differ: %v\n%s", !same, same, cmp.Diff(lines, edited))
		}
	}
}

// TestMayDiffer checks which lines are outside the root.
func TestMayDiffer(t *testing.T) {
	a := stateOpen(t, stateSealed("[BT] a", "[gameStateUpdate] My client version = 4.4.0"), "d.txt")
	b := stateOpen(t, stateSealed("[BT] b", "[gameStateUpdate] My client version = 4.4.1"), "d.txt")
	if a.Info().Root != b.Info().Root || a.Info().Meta["build"] != "4.4.0" || b.Info().Meta["build"] != "4.4.1" {
		t.Errorf("%+v %+v", a.Info().Head, b.Info().Head)
	}
	if got := a.Info().Meta["crc"]; got != "0x00000000, not verified" {
		t.Error(got)
	}
	if last := a.Info().Tables[len(a.Info().Tables)-1]; last.Class != snapshot.Noise || last.Label != "Backtrace" {
		t.Errorf("%+v", last)
	}
}

// TestDied has an object without its last line: the last line that exists counts.
func TestDied(t *testing.T) {
	text := stateSealed(
		"[featureUpdate] < feature9 = p12;pos(1,2,3),subtype4,damageable0,body5",
		"[featureUpdate] < feature7 = p12;pos(1,2,3),subtype4,damageable0,body6",
		"[featureUpdate] M feature7 = p12;pos(1,2,3),subtype4,damageable0,body4",
	)
	w, err := warzone.Read(strings.NewReader(text), int64(len(text)), "d.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, key := range []string{"7", "9"} {
		got = append(got, fmt.Sprint(cell(w, "Feature", key, "update.phase"), cell(w, "Feature", key, "feature.body"), cell(w, "Feature", key, "before.body"), cell(w, "Feature", key, "middle.body")))
	}
	if diff := cmp.Diff([]string{`"M"46absent`, `"<"5absentabsent`}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseName(t *testing.T) {
	for base, want := range map[string]string{
		"desync25702_p1.txt": "257 25702 slot 1", "desync25702_p1.txt.gz": "257 25702 slot 1", "sync102_p10.txt.zst": "1 102 slot 10",
		"desync25702_p1.log": "", "25702.txt": "",
	} {
		got := ""
		if n, ok := warzone.ParseName(base); ok {
			got = fmt.Sprint(n.Point.Tick, " ", n.Point, " ", n.Peer)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}

func TestStateSniff(t *testing.T) {
	if sniff := warzone.Format().Sniff; !sniff([]byte(stateLoad(t, dump(0))[:snapshot.SniffLen])) || sniff([]byte("===== BEGIN gameTime=")) || sniff(nil) ||
		!sniff([]byte("===== BEGIN gameTime=4294967295, 999999 entries, CRC 0xDD89782C")[:snapshot.SniffLen-1]) {
		t.Error("sniff")
	}
}

func TestStateBad(t *testing.T) {
	text := stateLoad(t, dump(0))
	for _, c := range []struct {
		text string
		kind error
	}{
		{"", frame.ErrUnrecognized},
		{"a: b\n", frame.ErrUnrecognized},
		{text[:len(text)/2], frame.ErrTorn},
		{strings.Replace(text, "pos(2752,", "pos(2753,", 1), frame.ErrCorrupt},
	} {
		if _, err := warzone.Read(strings.NewReader(c.text), int64(len(c.text)), "d.txt"); !errors.Is(err, c.kind) {
			t.Errorf("%.30q: %v", c.text, err)
		}
	}
	if _, err := warzone.Read(bytes.NewReader(nil), 1<<40, "d.txt"); err == nil {
		t.Error("no error")
	}
	var many []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf("[f%d] x", i))
	}
	big := stateSealed(many...)
	if _, err := warzone.Read(strings.NewReader(big), int64(len(big)), "d.txt"); err == nil || err.Error() != "d.txt: more than 1024 functions" {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	lines := strings.Split(stateLoad(f, dump(0)), "\n")
	f.Add([]byte(stateSealed(append(lines[1:36:36], lines[176:206]...)...)))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := warzone.Read(bytes.NewReader(b), int64(len(b)), "desync2_p1.txt")
		if err != nil {
			return
		}
		if _, err := snapshot.Hold(w); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkOpen reads a dump and computes its digests.
func BenchmarkOpen(b *testing.B) {
	text := stateLoad(b, dump(0))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		stateOpen(b, text, "d.txt")
	}
}

// BenchmarkRead reads a dump without hashing it.
func BenchmarkRead(b *testing.B) {
	text := stateLoad(b, dump(0))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := warzone.Read(strings.NewReader(text), int64(len(text)), "d.txt"); err != nil {
			b.Fatal(err)
		}
	}
}

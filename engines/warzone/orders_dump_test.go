package warzone_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// naiveCRC computes the CRC of a dump's lines as docs/formats/warzone2100.md
// writes it down, bit by bit.
func naiveCRC(dump string) uint32 {
	crc := uint32(0)
	add := func(b []byte) {
		for _, c := range b {
			crc ^= uint32(c) << 24
			for range 8 {
				top := crc >> 31
				if crc <<= 1; top != 0 {
					crc ^= 0x04c11db7
				}
			}
		}
	}
	object := regexp.MustCompile(`^. (droid|structure|feature|projectile)`)
	numbers := regexp.MustCompile(`secondaryOrder([0-9A-F]+)|(-?[0-9]+)`)
	making := regexp.MustCompile(`(type[0-9]+,)(.)([0-9]*)(,bld)`)
	lines := strings.Split(strings.TrimSuffix(dump, "\n"), "\n")
	for _, line := range lines[1 : len(lines)-1] {
		function, text, _ := strings.Cut(line[1:], "] ")
		if strings.HasPrefix(text, "My client version = ") {
			continue
		}
		if !object.MatchString(text) {
			add([]byte(function + "\x00" + text + "\x00"))
			continue
		}
		words := []uint32{uint32(text[0])}
		text = making.ReplaceAllStringFunc(text, func(s string) string {
			m := making.FindStringSubmatch(s)
			n, _ := strconv.Atoi(m[3])
			return fmt.Sprint(m[1], m[2][0], ",", n, m[4])
		})
		for _, m := range numbers.FindAllStringSubmatch(text[1:], -1) {
			n, _ := strconv.ParseInt(m[2], 10, 64)
			if m[1] != "" {
				n, _ = strconv.ParseInt(m[1], 16, 64)
			}
			words = append(words, uint32(n))
		}
		for _, w := range words {
			add(binary.BigEndian.AppendUint32(nil, w))
		}
	}
	return ^crc
}

// sealed returns a dump with those lines, counted and with their CRC.
func ordersSealed(time int, lines ...string) string {
	body := strings.Join(lines, "\n") + "\n"
	edge := func(word string, crc uint32) string {
		return fmt.Sprintf("===== %s gameTime=%d, %d entries, CRC 0x%08X =====\n", word, time, len(lines), crc)
	}
	crc := naiveCRC(edge("BEGIN", 0) + body + edge("END", 0))
	return edge("BEGIN", crc) + body + edge("END", crc)
}

// dumpLines reads a dump, each entry as one line, and the error after it.
func dumpLines(text string) (list []string, d *warzone.Dump, err error) {
	if d, err = warzone.NewDump(strings.NewReader(text), "d.txt"); err != nil {
		return nil, nil, err
	}
	for {
		e, err := d.Next()
		if err != nil {
			return list, d, err
		}
		s := fmt.Sprintf("%d@%d %s", e.Line, e.Offset, e.Function)
		if e.Mark != 0 {
			s += " " + string(rune(e.Mark))
		}
		if e.HasID {
			s += fmt.Sprintf(" %s %d", e.Kind, e.ID)
		} else if e.Kind != "" {
			s += " " + e.Kind
		}
		s += ":"
		for _, v := range e.Values {
			s += fmt.Sprintf(" %s=%s", v.Name, v.Text)
		}
		list = append(list, s)
	}
}

func dumps(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("../../testdata/warzone2100/*/*/desync*.txt")
	if err != nil || len(list) != 18 {
		t.Fatal(list, err)
	}
	return list
}

func TestOrdersDumps(t *testing.T) {
	for _, file := range dumps(t) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, d, err := dumpLines(string(b))
		if err != io.EOF || len(list) != 205 || d.Version() != "4.3.3" || !d.Verified() {
			t.Errorf("%s: %d entries, %q, verified %v: %v", file, len(list), d.Version(), d.Verified(), err)
		}
		name, ok := warzone.ParseDumpName(filepath.Base(file))
		if h := d.Head(); !ok || h.Time != name.Time || h.Entries != 205 || h.CRC != naiveCRC(string(b)) {
			t.Errorf("%s: %+v", file, h)
		}
	}
}

// TestEntries pins what lines become.
func TestEntries(t *testing.T) {
	const droid = "p3;pos(-2,8800,306),rot(38126,1,2),order4(3008,9024)^7,action2,secondaryOrder9E,body155," +
		"sMove(status4,speed5,moveDir6,path2/3,src(10,11),target(12,13),destination(14,15),bump(16,17,18,19,(20,21),22)),exp23"
	lines := []string{
		"[syncDebugEconomy] < economy1 = -5587752452096",
		"[updatePlayerPower] updatePlayerPower1 12->13",
		"[droidUpdate] M droid288 = " + droid,
		"[aiUpdate] - droid-1 = " + droid,
		"[structureUpdate] > structure5 = p7;pos(1,2,3),status1,type1,p226292,bld200,body400",
		"[structureUpdate] < structure6 = p7;pos(1,2,3),status1,type1, ,bld200,body400",
		"[featureUpdate] < feature9 = p12;pos(1,2,3),subtype4,damageable0,body0",
		"[update] < projectile = p1;pos(1,2,3),rot(4,5,6),state7,expectedDamageCaused8,numberDamaged9",
		"[countUpdate] counts[10] = {droid: 2, command: 0}",
		"[gameLoop] End game state update, gameTime = 25602",
		"[recvPlayerGameTime] GAME_GAME_TIME p2;lat10,ct24602,crc4187,wlat1010",
		`[gameStateUpdate] map = "A, B", pseudorandom 32-bit integer = 0x3946BC1F, allocated = 1 0, position = 0 1`,
		`[gameStateUpdate] Player 3 = "N = b"`,
		"[calc] connect:body[0]=(0,-23,-10)",
		"[odd] ",
		"[odd] < x",
		"[gameStateUpdate] My client version = 4.3.3",
	}
	fields := "player=3 pos.x=-2 pos.y=8800 pos.z=306 rot.direction=38126 rot.pitch=1 rot.roll=2 order.type=4 order.x=3008 order.y=9024" +
		" order.queued=7 action=2 secondaryOrder=9E body=155 sMove.status=4 sMove.speed=5 sMove.moveDir=6 sMove.path.index=2" +
		" sMove.path.length=3 sMove.src.x=10 sMove.src.y=11 sMove.target.x=12 sMove.target.y=13 sMove.destination.x=14" +
		" sMove.destination.y=15 sMove.bump.dir=16 sMove.bump.time=17 sMove.bump.last=18 sMove.bump.pause=19 sMove.bump.x=20" +
		" sMove.bump.y=21 sMove.bump.shuffle=22 exp=23"
	want := []string{
		"syncDebugEconomy < economy 1: =-5587752452096",
		"updatePlayerPower updatePlayerPower 1: from=12 to=13",
		"droidUpdate M droid 288: " + fields,
		"aiUpdate - droid 4294967295: " + fields,
		"structureUpdate > structure 5: player=7 pos.x=1 pos.y=2 pos.z=3 status=1 type=1 making=p making.id=226292 bld=200 body=400",
		"structureUpdate < structure 6: player=7 pos.x=1 pos.y=2 pos.z=3 status=1 type=1 making= making.id= bld=200 body=400",
		"featureUpdate < feature 9: player=12 pos.x=1 pos.y=2 pos.z=3 subtype=4 damageable=0 body=0",
		"update < projectile: player=1 pos.x=1 pos.y=2 pos.z=3 rot.direction=4 rot.pitch=5 rot.roll=6 state=7 expectedDamageCaused=8 numberDamaged=9",
		"countUpdate counts 10: droid=2 command=0",
		"gameLoop End: gameTime=25602",
		"recvPlayerGameTime GAME_GAME_TIME 2: lat=10 ct=24602 crc=4187 wlat=1010",
		`gameStateUpdate map: map="A, B" random=0x3946BC1F allocated=1 0 position=0 1`,
		`gameStateUpdate Player 3: ="N = b"`,
		"calc: =connect:body[0]=(0,-23,-10)",
		"odd: =",
		"odd <: =x",
		"gameStateUpdate My client version: =4.3.3",
	}
	text := ordersSealed(25702, lines...)
	got, d, err := dumpLines(text)
	if err != io.EOF || !d.Verified() {
		t.Error(err)
	}
	for i := range got {
		at := fmt.Sprintf("%d@%d ", i+2, strings.Index(text, lines[i]))
		got[i] = strings.TrimPrefix(got[i], at)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestObjectForms checks that a line of an object that version 4.3 would not write is damage, and of another version
// kept as text, and the CRC not taken for known.
func TestObjectForms(t *testing.T) {
	const good = "p12;pos(1,2,3),subtype4,damageable0,body0"
	for _, values := range []string{
		"", "p12", good + " ", good[:len(good)-1], strings.Replace(good, "1", "01", 1), strings.Replace(good, "2,3", "-0,3", 1),
		strings.Replace(good, "1,", "2147483648,", 1), strings.Replace(good, "1,", "-2147483649,", 1),
		strings.Replace(good, "1,", "9999999999999999999999,", 1), strings.Replace(good, "1,", "+1,", 1),
	} {
		lines := []string{"[featureUpdate] < feature9 = " + values, "[gameStateUpdate] My client version = 4.3.3"}
		if _, _, err := dumpLines(ordersSealed(2, lines...)); !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", values, err)
		}
		lines[1] = "[gameStateUpdate] My client version = 4.4.0"
		got, d, err := dumpLines(ordersSealed(2, lines...))
		if err != io.EOF || d.Verified() || !strings.HasSuffix(got[0], "featureUpdate < feature 9: ="+values) {
			t.Errorf("%q: %q %v", values, got, err)
		}
	}
}

func TestDumpTorn(t *testing.T) {
	text := ordersSealed(2, "[a] b", "[c] < economy0 = 1", "[gameStateUpdate] My client version = 4.3.3")
	for n := range len(text) {
		got, _, err := dumpLines(text[:n])
		if n == 0 {
			if !errors.Is(err, frame.ErrUnrecognized) {
				t.Error(err)
			}
			continue
		}
		if want := max(strings.Count(text[:n], "\n")-1, 0); !errors.Is(err, frame.ErrTorn) || len(got) != min(want, 3) {
			t.Errorf("%d bytes: %d entries, want %d: %v", n, len(got), want, err)
		}
	}
}

func TestDumpCorrupt(t *testing.T) {
	good := ordersSealed(2, "[a] b", "[droidUpdate] < economy0 = 1", "[gameStateUpdate] My client version = 4.3.3")
	edit := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatal(old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct {
		text string
		kind error
		want string
	}{
		{"hello\n", frame.ErrUnrecognized, `file begins with "hello"`},
		{edit("===== B", "==== B"), frame.ErrUnrecognized, "file begins with"},
		{edit(", 3 entries", ", 4 entries"), frame.ErrCorrupt, "last line has time 2, 3 entries and CRC"},
		{strings.ReplaceAll(good, ", 3 entries", ", 4 entries"), frame.ErrCorrupt, "3 entries, expected the 4 of the first line"},
		{strings.ReplaceAll(good, ", 3 entries", ", 2 entries"), frame.ErrCorrupt, "line 4: more entries than the 2"},
		{edit("END gameTime=2", "END gameTime=102"), frame.ErrCorrupt, "last line has time 102"},
		{edit("= 1\n", "= 2\n"), frame.ErrCorrupt, "CRC of the lines is 0x"},
		{edit("[a]", "[a"), frame.ErrCorrupt, "line 2: "},
		{edit("[a]", "[]"), frame.ErrCorrupt, "line 2: "},
		{edit("[a]", "[\x01]"), frame.ErrCorrupt, "line 2: "},
		{edit("[a]", "a"), frame.ErrCorrupt, "line 2: "},
		{edit("[a] b", "[a] "+strings.Repeat("b", 20000)), frame.ErrCorrupt, "line 2: line of 20004 bytes, expected 16384 at most"},
		{edit("[a] b", "[a] "+strings.Repeat("b", 9<<20)), limits.Line.Reached("", 0), "line 2: limit line is reached"},
		{good + "[a] b\n", frame.ErrCorrupt, "a line after the last one"},
	} {
		_, _, err := dumpLines(c.text)
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
	// What cannot be shown to be wrong is not an error.
	for _, text := range []string{
		edit("4.3.3", "4.9.1"),
		strings.Replace(edit("4.3.3", "4.9.1"), "= 1\n", "= 2\n", 1),
		edit("[a] b", "[BT] ./warzone2100(+0x1234) [0x5581]"),
	} {
		_, d, err := dumpLines(text)
		if err != io.EOF || d.Verified() != (text == edit("4.3.3", "4.9.1")) {
			t.Error(err)
		}
	}
}

func TestParseDumpName(t *testing.T) {
	for base, want := range map[string]string{
		"desync25702_p1.txt": "25702 slot 1", "sync102_p10.txt": "102 slot 10", "desync0_p0.txt": "0 slot 0",
		"desync25702_p1.txt.gz": "", "desync_p1.txt": "", "desync25702.txt": "", "desync25702_p.txt": "", "desync02_p1.txt": "",
		"desync+2_p1.txt": "", "desync4294967296_p1.txt": "", "desync2_p256.txt": "", "dedesync2_p1.txt": "", "oos2_p1.txt": "",
		"desync2_p1_p2.txt": "",
	} {
		got := ""
		if n, ok := warzone.ParseDumpName(base); ok {
			got = fmt.Sprint(n.Time, " ", warzone.SlotName(n.Slot))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}

func FuzzOrdersDump(f *testing.F) {
	for _, file := range dumps(f)[:2] {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.Split(string(b), "\n")
		f.Add([]byte(ordersSealed(25702, append(lines[1:12:12], lines[190:206]...)...)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := warzone.NewDump(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		for {
			e, err := d.Next()
			if err != nil {
				if err == io.EOF && d.Verified() && len(b) < 1<<16 && d.Head().CRC != naiveCRC(strings.ReplaceAll(string(b), "\r\n", "\n")) {
					t.Error("verified a wrong CRC")
				}
				return
			}
			if len(e.Values) == 0 {
				t.Errorf("no value in %q", e.Text)
			}
		}
	})
}

func BenchmarkOrdersDump(b *testing.B) {
	text, err := os.ReadFile(dumps(b)[0])
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")[1:206]
	var many []string
	for range 800 {
		many = append(many, lines...)
	}
	long := ordersSealed(25702, many...)
	b.SetBytes(int64(len(long)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := warzone.NewDump(strings.NewReader(long), "x")
		for err == nil {
			_, err = d.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

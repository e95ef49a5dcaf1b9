package gamelog_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
)

func read(t testing.TB, name, text string, opts gamelog.Options) *gamelog.Log {
	t.Helper()
	log, err := gamelog.Read(strings.NewReader(text), name, opts)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// TestSeverities: one line each, as engines write them, and what is to be made of it.
func TestSeverities(t *testing.T) {
	for _, c := range []struct {
		line     string
		severity gamelog.Severity
		text     string
	}{
		{"[t=00:00:02.378195][f=-000001] Error: Couldn't find WeaponDef NOWEAPON", gamelog.Error, "Couldn't find WeaponDef NOWEAPON"},
		{"[t=00:00:02.480140][f=0000012] Warning: FBO-ADVTREE: error code 0x0", gamelog.Warning, "FBO-ADVTREE: error code 0x0"},
		{"[t=00:00:02.480301][f=-000001] [LuaRules] Error: bad gadget", gamelog.Error, "bad gadget"},
		{"[f=0086207] Fatal: LuaRules: cannot allocate more memory!", gamelog.Fatal, "LuaRules: cannot allocate more memory!"},
		{"[t=00:00:00.012703] [GR::LogVersionInfo]", gamelog.None, ""},
		{"[t=00:00:00.004856] [DedicatedServer] report any errors to Mantis or the forums.", gamelog.None, ""},
		{`<p class="error">ERROR: Failed to load entity template &apos;a&amp;b&apos;</p>`, gamelog.Error, "Failed to load entity template 'a&b'"},
		{`<p class="warning">WARNING: odd</p>`, gamelog.Warning, "odd"},
		{`<p>Loading error messages</p>`, gamelog.None, ""},
		{"ERROR: Out of memory", gamelog.Error, "Out of memory"},
		{"WARNING: If possible install a proper graphics driver", gamelog.Warning, "If possible install a proper graphics driver"},
		{"  39.267 Error GameActionHandler.cpp:3595: bad save", gamelog.Error, "GameActionHandler.cpp:3595: bad save"},
		{"  15.005 Info GameActionHandler.cpp:5053: no error here", gamelog.None, ""},
		{"error   |14:10:49: [khr_callback:1913] GL::API failed", gamelog.Error, "14:10:49: [khr_callback:1913] GL::API failed"},
		{"info    |14:10:49: [res_parse:102] script is not a directory!", gamelog.None, ""},
		{"2023-01-01T00:00:00.123456Z  WARN bevy_ecs::world: slow", gamelog.Warning, "bevy_ecs::world: slow"},
		{"2023-01-01T00:00:00.123456Z ERROR game::load: no such unit", gamelog.Error, "game::load: no such unit"},
		{"2023-01-01 00:00:00,123 [12] ERROR Game.Units - cannot read", gamelog.Error, "Game.Units - cannot read"},
		{"[12:00:00] [main/WARN] [mods]: Missing mod x", gamelog.Warning, "[mods]: Missing mod x"},
		{"[2025.01.31-00.43.35:843][  0]LogNet: Error: no channel", gamelog.Error, "no channel"},
		{"[2025.01.31-00.43.35:843][  0]LogNet: Display: no Error: there", gamelog.None, ""},
		{"E0102 15:04:05.000000 12345 file.cc:10] broken", gamelog.Error, "broken"},
		{"W0102 15:04:05.000000 12345 file.cc:10] odd", gamelog.Warning, "odd"},
		{"[00:06:05.797 real] ERROR: Client has left", gamelog.Error, "Client has left"},
		{"warning: Error running lua script: x.lua(683): nil", gamelog.Warning, "Error running lua script: x.lua(683): nil"},
		{"debug: Loading module 'error.lua'", gamelog.None, ""},
		{"FATAL ERROR: no renderer", gamelog.Fatal, "no renderer"},
		{"SCRIPT ERROR: Invalid call", gamelog.Error, "SCRIPT ERROR: Invalid call"},
		{"NullReferenceException: Object reference not set", gamelog.Exception, "NullReferenceException: Object reference not set"},
		{"System.IO.FileNotFoundException: units.xml", gamelog.Exception, "System.IO.FileNotFoundException: units.xml"},
		{"ValueError: bad def", gamelog.Exception, "ValueError: bad def"},
		{"thread 'main' panicked at src/main.rs:3:5:", gamelog.Fatal, "thread 'main' panicked at src/main.rs:3:5:"},
		{"game: x.c:12: main: Assertion `n > 0' failed.", gamelog.Assertion, "game: x.c:12: main: Assertion `n > 0' failed."},
		{"Failed to load mod 'giants'", gamelog.Warning, "Failed to load mod 'giants'"},
		{"3 units are missing", gamelog.None, ""},
		{"Errors: 0", gamelog.None, ""},
		{"The error rate is low", gamelog.None, ""},
		{"\x1b[31mERROR\x1b[0m: red", gamelog.Error, "red"},
	} {
		log := read(t, "x.log", c.line+"\n", gamelog.Options{})
		if c.severity == gamelog.None {
			if len(log.Entries) > 0 {
				t.Errorf("%s: %v %q", c.line, log.Entries[0].Severity, log.Entries[0].Text)
			}
			continue
		}
		if len(log.Entries) != 1 || log.Entries[0].Severity != c.severity || log.Entries[0].Text != c.text {
			t.Errorf("%s: expected %v %q, have", c.line, c.severity, c.text)
			for _, e := range log.Entries {
				t.Errorf("  %v %q", e.Severity, e.Text)
			}
		}
	}
}

// TestSame: lines that mean the same on two machines, and lines that do not. TestOwn reads a log that a page describes.
func TestOwn(t *testing.T) {
	own := &engine.Log{
		Logger: "Siege", Marks: []engine.Mark{{Text: "siege starts", Begin: true}}, Stack: "  in ",
		Calls: []engine.Call{{Function: "  in Log.bad", Severity: "error"}}, Names: map[string]string{"siege release": "version"},
	}
	const text = "siege starts\nsiege release: 1.4\ngate is open\n  in Log.bad\n"
	log := read(t, "x.txt", text, gamelog.Options{Own: own})
	if log.Logger != "Siege" || len(log.Entries) != 1 || log.Entries[0].Severity != gamelog.Error || len(log.Facts) != 0 {
		t.Errorf("%+v", log)
	}
	if own.ManyGames = true; len(read(t, "x.txt", text, gamelog.Options{Own: own}).Facts) != 1 {
		t.Error("no version of a logger of many games")
	}
	if gamelog.Sniff([]byte(text), nil) || !gamelog.Sniff([]byte(text), own) {
		t.Error("it is told by what the page has")
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"ERROR: at 0x7f820401f1b0", "ERROR: at 0x1c", true},
		{"ERROR: at 000002A4FAB42090", "ERROR: at 000001B000000010", true},
		{"ERROR: took 12.5 ms", "ERROR: took 7 ms", true},
		{"ERROR: took 0.02s.", "ERROR: took 1.5s.", true},
		{"ERROR: no /home/ann/game/units.xml here", "ERROR: no /usr/share/game/units.xml here", true},
		{`ERROR: no C:\Program Files (x86)\Game\units.xml here`, `ERROR: no D:\games\units.xml here`, true},
		{`ERROR: no "C:\Users\Ann B\units.xml"`, `ERROR: no "/home/b/units.xml"`, true},
		{"ERROR: 127.0.0.1:34860 left", "ERROR: 10.0.0.2:8480 left", true},
		{"ERROR: on 2026-11-20 at 10:11:12 it broke", "ERROR: on 2026-11-21 at 09:00:59 it broke", true},
		{"ERROR: thread 12 died", "ERROR: thread 7 died", true},
		{"[12:00:00] ERROR: x", "[13:09:10] ERROR: x", true},
		{"ERROR: x\r", "ERROR:   x", true},
		{"ERROR: unit 7", "ERROR: unit 8", false},
		{"ERROR: checksum 00ab12cd34", "ERROR: checksum 00ab12cd35", false},
		{"ERROR: no units/a.xml", "ERROR: no units/b.xml", false},
		{"ERROR: no art/a.xml", "ERROR: no units/a.xml", false},
		{"ERROR: 3 units are missing", "ERROR: 4 units are missing", false},
		{"ERROR: version 1.2.3", "ERROR: version 1.2.4", false},
	} {
		a, b := read(t, "a.log", c.a, gamelog.Options{}), read(t, "b.log", c.b, gamelog.Options{})
		d := gamelog.Compare([]gamelog.Peer{{Name: "a", Logs: []*gamelog.Log{a}}, {Name: "b", Logs: []*gamelog.Log{b}}}, gamelog.Split{})
		if len(a.Entries) != 1 || len(b.Entries) != 1 || (len(d) == 0) != c.same || !c.same && len(d) != 2 {
			t.Errorf("%q and %q: same is %v; %d differences", c.a, c.b, len(d) == 0, len(d))
		}
	}
}

// TestSplit: lines after the split are not before it, by their tick, by the game's message, by the line that is given.
func TestSplit(t *testing.T) {
	text := "[f=0000010] Warning: early\n[f=0000019] Warning: near\n[f=0000021] Warning: late\n[f=0000030] Sync error for x in frame 20 (got 1, correct is 2)\n[f=0000031] Warning: last\n"
	for _, c := range []struct {
		opts   gamelog.Options
		before int
		cut    int64
	}{
		{gamelog.Options{}, 3, 4},
		{gamelog.Options{Split: gamelog.Split{Known: true, Unit: "frame", Number: 20}}, 2, 3},
		{gamelog.Options{Split: gamelog.Split{Known: true, Unit: "turn", Number: 2}}, 3, 4},
		{gamelog.Options{Claim: 2}, 1, 2},
	} {
		log := read(t, "infolog.txt", text, c.opts)
		n := 0
		for _, e := range log.Entries {
			if e.Before.Count > 0 && !e.Desync {
				n++
			}
		}
		if n != c.before || log.Cut != c.cut || log.Unit != "frame" || log.First != 10 || log.Last != 31 {
			t.Errorf("%+v: %d before line %d; %s %d to %d", c.opts, n, log.Cut, log.Unit, log.First, log.Last)
		}
	}
}

// TestDesyncLines: the game's message about the desync itself is no difference, and ends what is before the split only
// where it is a message of it; a file with another checksum is one.
func TestDesyncLines(t *testing.T) {
	quiet := read(t, "a/x.log", "start\n", gamelog.Options{})
	loud := read(t, "b/x.log", "WARN: desync log is on\nWARN: checksum mismatch of units.xml\nERROR: Out of sync!\nERROR: late\n", gamelog.Options{})
	d := gamelog.Compare([]gamelog.Peer{{Name: "a", Logs: []*gamelog.Log{quiet}}, {Name: "b", Logs: []*gamelog.Log{loud}}}, gamelog.Split{})
	if loud.Cut != 3 || len(d) != 1 || !d[0].Data || d[0].Text != "checksum mismatch of units.xml" || d[0].Lines != 1 {
		t.Errorf("cut at %d; %+v", loud.Cut, d)
	}
}

// TestThree: with three peers the report shows which peers have a line and which lack it. A log that begins later shows
// nothing about what came before.
func TestThree(t *testing.T) {
	lines := func(list ...string) string { return "[f=0000001] x\n" + strings.Join(list, "\n") + "\n[f=0000099] x\n" }
	peers := []gamelog.Peer{
		{Name: "a", Logs: []*gamelog.Log{read(t, "a/infolog.txt", lines("[f=0000005] Warning: two", "[f=0000050] Error: all", "[f=0000051] Error: a alone", "[f=0000052] Error: a alone"), gamelog.Options{})}},
		{Name: "b", Logs: []*gamelog.Log{read(t, "b/infolog.txt", lines("[f=0000005] Warning: two", "[f=0000050] Error: all"), gamelog.Options{})}},
		{Name: "c", Logs: []*gamelog.Log{read(t, "c/infolog.txt", "[f=0000040] x\n[f=0000050] Error: all\n[f=0000099] x\n", gamelog.Options{})}},
	}
	list := gamelog.Compare(peers, gamelog.Split{Known: true, Unit: "frame", Number: 99})
	if len(list) != 1 {
		t.Fatalf("%d differences", len(list))
	}
	d := list[0]
	if d.Text != "a alone" || !slices.Equal(d.Lack, []int{1, 2}) || len(d.Have) != 1 || d.Have[0].Count != 2 || d.Have[0].First != 4 || d.Have[0].Last != 5 || *d.Ticks != 47 {
		t.Errorf("%+v", d)
	}
}

// machine writes one program's lines as one machine would: its own clock, addresses, folders.
type machine struct {
	rng  *rand.Rand
	home string
	at   int // milliseconds
}

func (m *machine) write(out *strings.Builder, tick int, message string) {
	m.at += m.rng.IntN(90)
	message = strings.ReplaceAll(message, "{address}", fmt.Sprintf("0x%x", m.rng.Uint64()))
	message = strings.ReplaceAll(message, "{home}", m.home)
	message = strings.ReplaceAll(message, "{ms}", fmt.Sprintf("%d ms", m.rng.IntN(500)))
	fmt.Fprintf(out, "[t=%02d:%02d:%02d.%06d][f=%07d] %s\n", m.at/3600000, m.at/60000%60, m.at/1000%60, m.rng.IntN(1e6), tick, message)
}

// TestInserted: two logs of one program, on machines with other clocks, addresses and folders,
// and some lines put into one of them before the split: exactly these come out, each at its
// line. Lines after the split do not.
func TestInserted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"unit {address} is odd", "no {home}/data/units.xml", "pathing took {ms}", "the def of tank lacks a field", "loaded sound", "map has 7 holes"})
		level := rapid.SampledFrom([]string{"Warning: ", "Error: ", "", "[Net] ", "[Lua] Error: "})
		n := rapid.IntRange(0, 60).Draw(t, "lines")
		split := 100
		a := &machine{rand.New(rand.NewPCG(1, 2)), "/home/ann", 0}
		b := &machine{rand.New(rand.NewPCG(3, 4)), "/opt/games/b b"[:10], 70000}
		var left, right strings.Builder
		line := 0 // of right
		want := map[string]int64{}
		common := map[string]bool{}
		own := map[string]bool{}
		for i := range n {
			tick := i * 2
			if rapid.IntRange(0, 3).Draw(t, "insert") == 0 {
				text := fmt.Sprintf("planted %d {address}", rapid.IntRange(0, 5).Draw(t, "which"))
				b.write(&right, tick, "Error: "+text)
				line++
				if tick <= split && !own[text] {
					want[strings.TrimSuffix(text, " {address}")] = int64(line)
				}
				own[text] = true
			}
			text := level.Draw(t, "level") + words.Draw(t, "words")
			common[text] = true
			a.write(&left, tick, text)
			b.write(&right, tick, text)
			line++
		}
		// The end of both, that they cover the same ticks.
		a.write(&left, 2*n+200, "end")
		b.write(&right, 2*n+200, "end")
		at := gamelog.Split{Known: true, Unit: "frame", Number: uint64(split)}
		var peers []gamelog.Peer
		for i, text := range []string{left.String(), right.String()} {
			log, err := gamelog.Read(strings.NewReader(text), "infolog.txt", gamelog.Options{Split: at})
			if err != nil {
				t.Fatal(err)
			}
			peers = append(peers, gamelog.Peer{Name: []string{"host", "client"}[i], Logs: []*gamelog.Log{log}})
		}
		got := map[string]int64{}
		for _, d := range gamelog.Compare(peers, at) {
			if len(d.Have) != 1 || d.Have[0].Peer != 1 || !slices.Equal(d.Lack, []int{0}) {
				t.Fatalf("%+v", d)
			}
			text, _, _ := strings.Cut(d.Text, " 0x")
			got[text] = d.Have[0].First
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("came out: %v, planted: %v\n%s", got, want, right.String())
		}
	})
}

// TestPieces: however a log arrives, and in UTF-16 too, it is the same.
func TestPieces(t *testing.T) {
	text := "ERROR: first\nxx\nWARN  second: ü 𝄞\n" + strings.Repeat("x", 300<<10) + "\nERROR: third\nERROR: no end"
	want := summary(read(t, "x.log", text, gamelog.Options{}))
	if !strings.Contains(want, "error third 5") || !strings.Contains(want, "error no end 6") {
		t.Fatal(want)
	}
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, in := range map[string][]byte{"utf-16": wide, "bom": append([]byte("\xef\xbb\xbf"), text...), "plain": []byte(text)} {
		for _, r := range []func() (*gamelog.Log, error){
			func() (*gamelog.Log, error) { return gamelog.Read(bytes.NewReader(in), "x.log", gamelog.Options{}) },
			func() (*gamelog.Log, error) {
				return gamelog.Read(iotest.OneByteReader(bytes.NewReader(in)), "x.log", gamelog.Options{})
			},
			func() (*gamelog.Log, error) {
				return gamelog.Read(iotest.DataErrReader(bytes.NewReader(in)), "x.log", gamelog.Options{})
			},
		} {
			log, err := r()
			if err != nil || summary(log) != want {
				t.Errorf("%s: %v\n%s\nexpected\n%s", name, err, summary(log), want)
			}
		}
	}
}

func summary(log *gamelog.Log) string {
	var out strings.Builder
	fmt.Fprintln(&out, log.Lines, log.Logger, log.Cut)
	for _, e := range log.Entries {
		fmt.Fprintln(&out, e.Severity, e.Text, e.Before.First, e.Before.Count, e.After)
	}
	for _, f := range log.Facts {
		fmt.Fprintln(&out, f)
	}
	fmt.Fprintln(&out, log.Mods)
	return out.String()
}

// TestBounded: a log of nothing but different errors does not fill the memory, and the result shows that there was
// more.
func TestBounded(t *testing.T) {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "ERROR: broken %d\n", i)
	}
	log := read(t, "x.log", text.String(), gamelog.Options{})
	if len(log.Entries) != 8192 || log.Left != 300_000-8192 || !log.Full || log.Worse != 300_000 {
		t.Errorf("%d entries, %d left out of %d, full %v", len(log.Entries), log.Left, log.Worse, log.Full)
	}
	other := read(t, "y.log", "ERROR: what x lacks\n", gamelog.Options{})
	d := gamelog.Compare([]gamelog.Peer{{Name: "x", Logs: []*gamelog.Log{log}}, {Name: "y", Logs: []*gamelog.Log{other}}}, gamelog.Split{})
	if slices.ContainsFunc(d, func(d gamelog.Difference) bool { return slices.Contains(d.Lack, 0) }) {
		t.Error("what did not fit is said to be missing")
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"[t=00:00:02.3][f=0000012] Error: x\n", `<p class="error">ERROR: a &amp; b</p>` + "\n", "Loaded mods:\n- a 1\n- b 2\n\nERROR: x\n",
		"Initialize engine version: 1\nmsg\nUnityEngine.Debug:LogError (object)\n\n", "\xff\xfeE\x00R\x00", "\xff\xfe\x00\xd8\n", "Mods: a, b\nOS = x\n",
		"ERROR: C:\\a b\\c.txt /x/y/z ~/q/r 0x12 1.2.3.4:5 12:00:01 2026-01-02T03:04:05Z\n", "\x1b[31mERROR\x1b[0m\xff\x01\x02",
		"0.000 2020-12-27 14:07:25; Factorio 1.1.6 (build 57355, linux64, headless)\n0.1 Loading mod a 1.2 (data.lua)\n",
	} {
		f.Add([]byte(seed), uint16(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, claim uint16) {
		opts := gamelog.Options{Claim: int64(claim), Split: gamelog.Split{Known: true, Unit: "frame", Number: 5}}
		log, err := gamelog.Read(bytes.NewReader(b), "x.log", opts)
		if err != nil {
			t.Fatal(err)
		}
		var last int64
		for _, e := range log.Entries {
			if e.Total() < 1 || !utf8.ValidString(e.Text) || len(e.Text) > 500 || e.Before.Count > 0 && (e.Before.First < 1 || e.Before.Last < e.Before.First || e.Before.Last >= log.Cut) {
				t.Fatalf("%+v of %+v", e, log)
			}
			last += e.Total()
		}
		if last > log.Warnings+log.Worse || log.Cut < 1 || log.Cut > log.Lines+1 {
			t.Fatalf("%d lines in entries; %+v", last, log)
		}
		again, _ := gamelog.Read(iotest.OneByteReader(bytes.NewReader(b)), "x.log", opts)
		if summary(again) != summary(log) {
			t.Fatalf("in pieces:\n%s\nwhole:\n%s", summary(again), summary(log))
		}
		peers := []gamelog.Peer{{Name: "a", Logs: []*gamelog.Log{log}}, {Name: "b", Logs: []*gamelog.Log{again}}}
		if d := gamelog.Compare(peers, opts.Split); len(d) > 0 {
			t.Fatalf("differs from itself: %+v", d[0])
		}
		for _, f := range gamelog.Facts(peers, 2) {
			if f.Values["a"] != f.Values["b"] {
				t.Fatalf("%s: %q", f.Name, f.Values)
			}
		}
	})
}

// BenchmarkRead reads 64 MB of a log with a warning in one line of fifty.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	for i := 0; text.Len() < 64<<20; i++ {
		if i%50 == 0 {
			fmt.Fprintf(&text, "[t=00:%02d:%02d.%06d][f=%07d] Warning: unit %d at 0x%x has no path to /home/player/x/map.smf\n", i/6000%60, i/100%60, i%1000000, i/3, i%700, i*7919)
			continue
		}
		fmt.Fprintf(&text, "[t=00:%02d:%02d.%06d][f=%07d] [Path] [PathEstimator::ReadFile] hash=dfc63d2f file=\"cache/%d.zip\" (exists=0)\n", i/6000%60, i/100%60, i%1000000, i/3, i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gamelog.Read(bytes.NewReader(text.Bytes()), "infolog.txt", gamelog.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

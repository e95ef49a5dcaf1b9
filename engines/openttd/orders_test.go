package openttd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
)

const corpus = "../../testdata/openttd"

func readLog(t testing.TB, session, peer string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, session, peer, "commands-out.log"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compare(t testing.TB, logs ...string) *orderlog.Comparison {
	t.Helper()
	var peers []orderlog.Named
	for i, log := range logs {
		name := []string{"server", "client", "other"}[i]
		r, err := openttd.NewReader(strings.NewReader(log), name)
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, orderlog.Named{Name: name, Source: r})
	}
	c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lines(c *orderlog.Comparison) []string {
	var out []string
	for i := range c.Differences {
		out = append(out, c.Differences[i].String())
	}
	return out
}

// TestTruth checks what is known about each real session from how it was made. The
// orders are the lines with a command in the client's log; before it joined are
// those in the server's log up to the client line, and the pause after it.
func TestOrdersTruth(t *testing.T) {
	for _, test := range []struct {
		session string
		want    []string
		verdict orderlog.Verdict
		claims  []string
		window  string
		orders  uint64
		before  uint64 // the client's join
	}{
		{"insync", nil, orderlog.InputsEqual, nil, "000ade3e;0a 000ae01e;0d", 92, 56},
		{"dropped_sign", []string{"000adef0;12 missing 0x3b CMD_PLACE_SIGN of player 1 on client"}, orderlog.InputsDiffer, nil, "000ade3e;1c 000ae019;30", 49, 55},
		{"money_poke", []string{"000adef4;2a failed 0x1e CMD_PLANT_TREE of player 0 on client"}, orderlog.Simulation,
			[]string{"client desync 000adef4;32 : sync_err"}, "000ade3e;26 000adef4;32", 17, 54},
		{"rng_poke", nil, orderlog.InputsEqual, []string{"client desync 000adee0;01 : sync_err"}, "000ade3f;31 000adee0;01", 12, 54},
		{"town_poke", nil, orderlog.InputsEqual, []string{"client desync 000adef6;3c : sync_err"}, "000ade40;2d 000adef6;3c", 25, 1},
		{"cache_poke", nil, orderlog.Simulation, []string{"client cache 000adf00;00 000adf0d;44: town cache mismatch: town 0"}, "000ade3e;15 000adf6f;1c", 41, 28},
	} {
		t.Run(test.session, func(t *testing.T) {
			c := compare(t, string(readLog(t, test.session, "server")), string(readLog(t, test.session, "client")))
			if diff := cmp.Diff(test.want, lines(c)); diff != "" {
				t.Errorf("differences (-expected +got):\n%s", diff)
			}
			// The game's claim that it has desynced proves nothing by itself.
			incomplete := test.verdict == orderlog.InputsEqual && test.claims != nil
			if c.Verdict != test.verdict || c.Incomplete() != incomplete || c.Reference != "server" {
				t.Errorf("%s; incomplete %v; reference %q", c.Line(), c.Incomplete(), c.Reference)
			}
			var claims []string
			for _, claim := range c.Claims {
				claims = append(claims, fmt.Sprintf("%s %s %s %s: %s", claim.Peer, claim.Kind, claim.NativeAfter, claim.NativeBefore, claim.Text))
			}
			if diff := cmp.Diff(test.claims, claims); diff != "" {
				t.Errorf("claims (-expected +got):\n%s", diff)
			}
			if got := c.Window.NativeFrom + " " + c.Window.NativeTo; got != test.window || c.Window.Orders != test.orders {
				t.Errorf("window %s with %d orders, expected %s with %d", got, c.Window.Orders, test.window, test.orders)
			}
			if got := c.Peers[1].Before; got != test.before {
				t.Errorf("%d orders before the client joined, expected %d", got, test.before)
			}
		})
	}
}

// The order of the two peers does not matter.
func TestTruthOrderOfPeers(t *testing.T) {
	server, client := readLog(t, "dropped_sign", "server"), readLog(t, "dropped_sign", "client")
	var peers []orderlog.Named
	for _, p := range []struct {
		name string
		log  []byte
	}{{"client", client}, {"server", server}} {
		r, err := openttd.NewReader(bytes.NewReader(p.log), p.name)
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, orderlog.Named{Name: p.name, Source: r})
	}
	c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"000adef0;12 missing 0x3b CMD_PLACE_SIGN of player 1 on client"}, lines(c)); diff != "" {
		t.Errorf("differences (-expected +got):\n%s", diff)
	}
	if at := c.Differences[0].At; len(at) != 1 || at[0].Line != 306 || at[0].Peer != "server" {
		t.Errorf("at %+v", at)
	}
}

// ticks reads a log and returns each record as one line.
func ticks(t testing.TB, log string) (out []string, r *openttd.Reader, err error) {
	r, err = openttd.NewReader(strings.NewReader(log), "test.log")
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return out, r, nil
		} else if err != nil {
			return out, r, err
		}
		s := fmt.Sprintf("@%d", rec.Line)
		if rec.Tick != nil {
			s += " " + openttd.TickName(rec.Tick.Number)
			for i, o := range rec.Tick.Orders {
				s += fmt.Sprintf(" [%s by %d at %d: %q]", r.Header().Kinds[o.Kind].Name, o.Player, rec.Lines[i], o.Payload)
			}
			for _, h := range rec.Tick.Hashes {
				s += fmt.Sprintf(" %d %s/%s=%x", h.Point, h.Kind, h.Coverage, h.Bytes)
			}
			for _, m := range rec.Tick.Markers {
				s += fmt.Sprintf(" %s(%d %d %q %v)", m.Kind, m.Player, m.Sequence, m.Text, m.NewEpoch)
			}
		}
		for _, claim := range rec.Claims {
			s += fmt.Sprintf(" !%s %q@%d", claim.Kind, claim.Text, claim.Line)
		}
		if rec.HeadCut {
			s += " head"
		}
		if rec.TailCut {
			s += " tail"
		}
		out = append(out, s)
	}
}

func TestReader(t *testing.T) {
	for _, test := range []struct {
		name, log string
		want      []string
		err       error
	}{
		{"12", "new_map: 00000309\n" +
			"cmd: 000ade20; 02; 00; 000612; 0000001e; 00000000; 0200003b; \"a \\\"sign\\\"\" (CmdPlaceSign)\n" +
			"cmdf: 000ade20; 02; 01; 000000; 0000001e; 00000000; 0000003b; 00000001; \"\" (CmdPlaceSign)\n",
			[]string{`@2 000ade20;02 [0x3b CmdPlaceSign by 0 at 2: "000612; 0000001e; 00000000; 0200003b; \"a \\\"sign\\\"\" (CmdPlaceSign)"]` +
				` [0x3b CmdPlaceSign by 1 at 3: "000000; 0000001e; 00000000; 0000003b; 00000001; \"\" (CmdPlaceSign)"] failed-order(1 1 "" false) tail`}, nil},
		{"13, a raw line feed in the arguments, twice", "new_map: 00000309\ncmd: 000adf87; 44; 01; 0000001e; 00000000; 00140a; 0\n\x14\ncmd: 000adf87; 44; 01; 0000003b; 00000000; 000c0a; 0\n\n",
			[]string{`@2 000adf87;44 [0x1e CMD_PLANT_TREE by 1 at 2: "00000000; 00140a; 0\n\x14"] [0x3b CMD_PLACE_SIGN by 1 at 4: "00000000; 000c0a; 0\n"] tail`}, nil},
		{"13 with dates, and a line feed before something like a command",
			"load: opntitle.dat\n[2026-11-20 08:09:11] cmd: 000adef4; 2a; 00; 0000001e; 00000000; 00636d; 0mc\n\ncmd: hello\n[2026-11-20 08:09:11] sync_err: 000adef4; 32\n",
			[]string{`@2 000adef4;2a [0x1e CMD_PLANT_TREE by 0 at 2: "00000000; 00636d; 0mc\n\ncmd: hello"] head`,
				`@5 000adef4;32 !desync "sync_err"@5 tail`}, nil},
		{"14", "new_map: 00000309\ncmd: 000ade20; 02; ff; 0000003e; 00000000; 0401 (CmdPause)\ncmd: 000ade20; 02; 00; 000001f4; 00000000; 0a (CmdNew)\n",
			[]string{`@2 000ade20;02 [0x3e CmdPause by 255 at 2: "00000000; 0401 (CmdPause)"] [0x1f4 CmdNew by 0 at 3: "00000000; 0a (CmdNew)"] tail`}, nil},
		{"CRLF", "new_map: 00000309\r\nsync: 000ade20; 00; 1f11c6ea; efd44bfd\r\ncmd: 000ade20; 00; ff; 0000003e; 00000000; 0401 (CmdPause)\r\n",
			[]string{`@2 000ade20;00 [0x3e CmdPause by 255 at 3: "00000000; 0401 (CmdPause)"] 52704576 rng/rng=1f11c6eaefd44bfd tail`}, nil},
		{"sessions", "new_map: 00000000\nsave: 00000000; 00; dmp_cmds_00000000_00000000.sav\nload: opntitle.dat\n" +
			"msg: 000ade3e; 15; \x1b[31m\xffhi\nclient: 000ade3e; 15; fe; 01\nsave: 000ade3e; 15; netsave0.sav\nload: opntitle.dat\nload: opntitle.dat\n" +
			"msg: 000adf00; 00; again\nmsg: 000ade00; 00; back\n",
			[]string{`@4 000ade3e;15 [msg by 255 at 4: "\x1b[31m\xffhi"] join(254 0 "fe; 01" false) save(0 0 "netsave0.sav" false) head tail`,
				`@9 000adf00;00 [msg by 255 at 9: "again"] load(0 0 "load: opntitle.dat" true) head`,
				`@10 000ade00;00 [msg by 255 at 10: "back"] load(0 0 "the log goes back" true) head tail`}, nil},
		{"claims", "load: opntitle.dat\nCACHE ERROR: x\nmsg: 000ade3e; 15; a\nwarning: vehicle cache mismatch: type 1\nsomething else\nmsg: 000ade3e; 16; b\n",
			[]string{`@2 !cache "CACHE ERROR: x"@2`, `@3 000ade3e;15 [msg by 255 at 3: "a"] !cache "warning: vehicle cache mismatch: type 1"@4 head`,
				`@6 000ade3e;16 [msg by 255 at 6: "b"] tail`}, nil},
		{"cut off in a line", "new_map: 00000309\nmsg: 000ade3e; 15; a\nmsg: 000ade3e; 16; b", []string{`@2 000ade3e;15 [msg by 255 at 2: "a"] tail`}, frame.ErrTorn},
		{"stamps out of range", "new_map: 00000309\nmsg: 000ade3e; 4a; a\nmsg: ffffffff; 00; a\ncmd: 000ade3e; 00; 0; 0000001e; 00000000; 00\n", nil, nil},
	} {
		got, _, err := ticks(t, test.log)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-expected +got):\n%s", test.name, diff)
		}
		if !errors.Is(err, test.err) {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, session := range []string{"insync", "dropped_sign", "money_poke", "rng_poke", "town_poke", "cache_poke"} {
		for _, peer := range []string{"server", "client"} {
			log := readLog(t, session, peer)
			r, err := openttd.NewReader(bytes.NewReader(log), peer)
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(0x309)
			switch session {
			case "insync":
				want = 0x7e8
			case "town_poke":
				want = 0x10e1
			}
			if got := r.Header().Seed; got != want {
				t.Errorf("%s/%s: seed %#x, expected %#x", session, peer, got, want)
			}
			if got := r.Dialect().Server; got != (peer == "server") {
				t.Errorf("%s/%s: server is %v", session, peer, got)
			}
			// Each line with a command or a message is an order, no other is.
			orders := 0
			for {
				rec, err := r.Next()
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				orders += len(rec.Tick.Orders)
			}
			n := 0
			for line := range bytes.Lines(log) {
				if bytes.Contains(line, []byte("cmd: ")) || bytes.Contains(line, []byte("cmdf: ")) || bytes.Contains(line, []byte("msg: ")) {
					n++
				}
			}
			if lost, _ := r.Unknown(); orders != n || n == 0 || lost != 0 {
				t.Errorf("%s/%s: %d orders of %d lines, %d unknown lines", session, peer, orders, n, lost)
			}
		}
	}
}

func TestNotALog(t *testing.T) {
	for _, text := range []string{"", "hello\n", "cmd: hello\n", "\x89DOL\r\n\x1a\n", "start {}\n", "checksum mismatch: got 1120 expected 1121\n"} {
		if _, err := openttd.NewReader(strings.NewReader(text), "x"); !errors.Is(err, frame.ErrUnrecognized) {
			t.Errorf("%q: %v", text, err)
		}
	}
	long := "new_map: 00000309\n" + strings.Repeat("x", int(limits.Line.Max())+10) + "\n"
	if _, _, err := ticks(t, long); !errors.As(err, new(*limits.Error)) {
		t.Errorf("a line of %d bytes: %v", len(long), err)
	}
}

func TestFields(t *testing.T) {
	server := "new_map: 00000309\ncmd: 000adef4; 2a; 00; 0000001e; 00000000; 000b1a; 0\x1a\x0b\nsync: 000adef5; 00; 1f11c6ea; efd44bfd\n"
	client := "load: opntitle.dat\ncmd: 000adef4; 2a; 00; 0000001e; 00000000; 000b1b; 0\x1b\x0b\nmsg: 000adef5; 00; x\n"
	// An order comes before, or the client's log could begin in this tick.
	server = strings.Replace(server, "cmd", "cmd: 000adef3; 00; 00; 00000001; 00000000; 000000; 0\ncmd", 1)
	client = strings.Replace(client, "cmd", "cmd: 000adef3; 00; 00; 00000001; 00000000; 000000; 0\ncmd", 1)
	c := compare(t, server, client)
	want := []string{`000adef4;2a altered 0x1e CMD_PLANT_TREE of player 0 on client: byte 15: 0x613b20301a, 0x623b20301b; tile: 000b1a, 000b1b; args: "0\x1a\v", "0\x1b\v"`}
	if diff := cmp.Diff(want, lines(c)); diff != "" {
		t.Errorf("differences (-expected +got):\n%s", diff)
	}
}

// Commands have no numbers: they are matched by content.
func TestDifferences(t *testing.T) {
	line := func(tick, company int, tile string) string {
		return fmt.Sprintf("cmd: 000ade20; %02x; %02x; 0000001e; 00000000; %s; 0x\n", tick, company, tile)
	}
	first, last := line(0, 0, "000001"), line(0x40, 0, "000002")
	a, b, c, d := line(0x10, 1, "00000a"), line(0x10, 2, "00000b"), line(0x11, 1, "00000c"), line(0x12, 1, "00000d")
	for _, test := range []struct {
		client string
		want   []string
	}{
		{a + b + c + d, nil},
		// Of two that changed places either one may be reported.
		{b + a + c + d, []string{"000ade20;10 reordered 0x1e CMD_PLANT_TREE of player 2 on client"}},
		{a + b + c + c + d, []string{"000ade20;11 duplicated 0x1e CMD_PLANT_TREE of player 1 on client"}},
		{b + strings.Replace(a, "; 10;", "; 11;", 1) + c + d,
			[]string{"000ade20;10 late 0x1e CMD_PLANT_TREE of player 1 on client: server at 000ade20;10, client at 000ade20;11"}},
		{a + b + strings.Replace(d, "; 12;", "; 11;", 1) + c,
			[]string{"000ade20;11 late 0x1e CMD_PLANT_TREE of player 1 on client: server at 000ade20;12, client at 000ade20;11"}},
		{a + b + c + d + line(0x13, 0, "00000e"), []string{"000ade20;13 extra 0x1e CMD_PLANT_TREE of player 0 on client"}},
		{a + c + d, []string{"000ade20;10 missing 0x1e CMD_PLANT_TREE of player 2 on client"}},
		{a + b + line(0x11, 1, "0000cc") + d,
			[]string{`000ade20;11 altered 0x1e CMD_PLANT_TREE of player 1 on client: byte 14: 0x30, 0x63; tile: 00000c, 0000cc`}},
	} {
		got := compare(t, "new_map: 00000309\n"+first+a+b+c+d+last, "load: opntitle.dat\n"+first+test.client+last)
		if diff := cmp.Diff(test.want, lines(got)); diff != "" {
			t.Errorf("%q (-expected +got):\n%s", test.client, diff)
		}
	}
}

// A client joins inside one tick and leaves inside another, wherever that is:
// nothing is missing. One line lost in between is found.
func TestJoinAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var server []string // one line each
		date, fract := 0xade20, 0
		for range rapid.IntRange(5, 60).Draw(t, "lines") {
			if rapid.Bool().Draw(t, "advance") {
				fract += rapid.IntRange(1, 100).Draw(t, "ticks")
				date, fract = date+fract/74, fract%74
			}
			server = append(server, fmt.Sprintf("cmd: %08x; %02x; %02x; 0000001e; 00000000; %06x; 0%c", date, fract,
				rapid.IntRange(0, 1).Draw(t, "company"), rapid.IntRange(0, 1).Draw(t, "tile"), rapid.SampledFrom([]rune("a\n")).Draw(t, "args")))
		}
		from := rapid.IntRange(0, len(server)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(server)).Draw(t, "to")
		text := func(first string, lines []string) string { return first + "\n" + strings.Join(lines, "\n") + "\n" }
		if c := rapidCompare(t, text("new_map: 00000309", server), text("load: opntitle.dat", server[from:to])); c.DifferenceCount != 0 || c.Verdict != orderlog.InputsEqual {
			t.Fatalf("%s: %v", c.Line(), lines(c))
		}
		lost := rapid.IntRange(from, to-1).Draw(t, "lost")
		tick := func(i int) string { return server[i][5:17] }
		if tick(lost) == tick(from) || tick(lost) == tick(to-1) {
			return // may have been before the join or after the end
		}
		client := append(append([]string{}, server[from:lost]...), server[lost+1:to]...)
		c := rapidCompare(t, text("new_map: 00000309", server), text("load: opntitle.dat", client))
		if len(c.Differences) != 1 || c.Differences[0].Kind != orderlog.Missing || c.Differences[0].Native != strings.ReplaceAll(tick(lost), " ", "") {
			t.Fatalf("line %d lost: %v", lost, lines(c))
		}
	})
}

func rapidCompare(t *rapid.T, logs ...string) *orderlog.Comparison {
	var peers []orderlog.Named
	for i, log := range logs {
		name := []string{"server", "client"}[i]
		r, err := openttd.NewReader(strings.NewReader(log), name)
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, orderlog.Named{Name: name, Source: r})
	}
	c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FuzzReader: the records that are read keep the rules of records, and are the same when the text comes in small
// pieces.
func FuzzReader(f *testing.F) {
	for _, session := range []string{"insync", "dropped_sign", "money_poke", "rng_poke", "town_poke", "cache_poke"} {
		for _, peer := range []string{"server", "client"} {
			log := readLog(f, session, peer)
			f.Add(log)
			f.Add(log[:min(len(log), 500)])
		}
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := openttd.NewReader(bytes.NewReader(log), "fuzz")
		if err != nil {
			return
		}
		last, epoch := uint64(0), uint32(0)
		for first := true; ; {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if rec.Offset >= int64(len(log)) || rec.Line == 0 {
				t.Fatalf("record at line %d, offset %d", rec.Line, rec.Offset)
			}
			if rec.Tick == nil {
				continue
			}
			if !first && rec.Tick.NewEpoch() == nil && (rec.Tick.Number <= last || rec.Epoch != epoch) {
				t.Fatalf("tick %d of epoch %d follows tick %d of epoch %d", rec.Tick.Number, rec.Epoch, last, epoch)
			}
			last, epoch, first = rec.Tick.Number, rec.Epoch, false
			if len(rec.Lines) != len(rec.Tick.Orders) {
				t.Fatalf("%d lines of %d orders", len(rec.Lines), len(rec.Tick.Orders))
			}
			for _, o := range rec.Tick.Orders {
				if int(o.Kind) >= len(r.Header().Kinds) {
					t.Fatalf("order of kind %d, the header has %d", o.Kind, len(r.Header().Kinds))
				}
				openttd.Fields(r.Header().Kinds[o.Kind].Name, o.Payload)
			}
		}
		c := compare(t, string(log), string(log))
		if c.DifferenceCount+c.LocalCount != 0 {
			t.Fatalf("a log differs from itself: %v", lines(c))
		}
	})
}

// bigLog returns the real server's log again and again, later each time, up to
// size bytes.
func bigLog(tb testing.TB, size int) []byte {
	one := readLog(tb, "dropped_sign", "server")
	one = one[bytes.Index(one, []byte("sync: ")):]
	out := make([]byte, 0, size+len(one))
	out = append(out, "new_map: 00000309\n"...)
	for year := 0; len(out) < size; year++ {
		for line := range bytes.Lines(one) {
			if i := bytes.Index(line, []byte(": 000a")); i > 0 && i < 9 {
				date := 0
				fmt.Sscanf(string(line[i+2:i+10]), "%x", &date)
				out = append(out, line[:i+2]...)
				out = append(fmt.Appendf(out, "%08x", date+year*600), line[i+10:]...)
				continue
			}
			out = append(out, line...)
		}
	}
	return out
}

// generated is a log of size bytes that is made as it is read. It notes the
// most memory that is in use meanwhile.
type generated struct {
	size, made, line int
	other            bool // the commands are others
	buf              []byte
	peak             *uint64
}

func (g *generated) Read(p []byte) (int, error) {
	if len(g.buf) == 0 {
		if g.made >= g.size {
			return 0, io.EOF
		}
		if g.made == 0 {
			g.buf = append(g.buf, "new_map: 00000309\n"...)
		}
		for range 20000 {
			tile := g.line
			if g.other {
				tile++
			}
			g.buf = fmt.Appendf(g.buf, "cmd: %08x; %02x; 00; 0000001e; 00000000; %06x; 0abc\n", 0xade00+g.line/74, g.line%74, tile&0xffffff)
			g.line++
		}
		g.made += len(g.buf)
		*g.peak = max(*g.peak, live())
	}
	n := copy(p, g.buf)
	g.buf = g.buf[n:]
	return n, nil
}

// live returns how many bytes are in use, without garbage.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// Memory does not grow with the logs, even if every order differs.
func TestMemory(t *testing.T) {
	const limit = 16 << 20
	for _, differ := range effort.Of([]bool{true}, []bool{false, true}) {
		size := 100 << 20
		if differ {
			size = 12 << 20
		}
		before := live() // of other tests
		peak := before
		var peers []orderlog.Named
		for i, name := range []string{"server", "client"} {
			r, err := openttd.NewReader(&generated{size: size, other: differ && i == 1, peak: &peak}, name)
			if err != nil {
				t.Fatal(err)
			}
			peers = append(peers, orderlog.Named{Name: name, Source: r})
		}
		begin := time.Now()
		c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if (c.Verdict == orderlog.InputsDiffer) != differ {
			t.Errorf("%s", c.Line())
		}
		t.Logf("two logs of %d MB, %d differences: at most %d MB in use, %v", size>>20, c.DifferenceCount, (peak-before)>>20, time.Since(begin).Round(time.Millisecond))
		if peak-before > limit {
			t.Errorf("%d bytes in use, limit is %d", peak-before, limit)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	log := bigLog(b, 8<<20)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := openttd.NewReader(bytes.NewReader(log), "bench")
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompare counts the bytes of both logs.
func BenchmarkCompare(b *testing.B) {
	log := bigLog(b, 8<<20)
	b.SetBytes(2 * int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		var peers []orderlog.Named
		for _, name := range []string{"server", "client"} {
			r, err := openttd.NewReader(bytes.NewReader(log), name)
			if err != nil {
				b.Fatal(err)
			}
			peers = append(peers, orderlog.Named{Name: name, Source: r})
		}
		c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
		if err != nil || c.Verdict != orderlog.InputsEqual {
			b.Fatal(err, c.Line())
		}
	}
}

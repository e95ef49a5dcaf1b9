package widelands_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/desynctool/desynctool/engines/widelands"
	"github.com/desynctool/desynctool/internal/file/frame"
)

const ordersCorpus = "../../testdata/widelands/cmdact_serial"

// peers are the files of both peers, without their endings.
var ordersPeers = []string{"host/2026-11-20T08.55.13_nethost.wrpl", "client/2026-11-20T08.55.14_netclient_1.wrpl"}

// read returns the content of a file of the corpus.
func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(ordersCorpus, name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// line writes an entry as text.
func line(e *widelands.Entry) string {
	s := fmt.Sprintf("%d %d %s", e.Index, e.Offset, e.Kind)
	for i := range e.Kind.NumFields() {
		s += fmt.Sprintf(" %s=%d", e.Kind.FieldName(i), e.Value(i))
		if text := e.Text(i); text != "" {
			s += "(" + text + ")"
		}
	}
	if e.Timed {
		s += fmt.Sprintf(" @%d %d", e.Clock, e.Command)
	}
	return s
}

// lines reads a stream to its end.
func lines(t testing.TB, r io.Reader) ([]string, error) {
	t.Helper()
	s, err := widelands.NewStream(r, "test")
	if err != nil {
		return nil, err
	}
	var out []string
	for {
		e, err := s.Next()
		if err != nil {
			if _, again := s.Next(); again != err {
				t.Errorf("%v, then %v", err, again)
			}
			return out, err
		}
		out = append(out, line(e))
	}
}

// plain is one entry as the oracle sees it.
type plain struct {
	offset int
	what   string
}

// decode is the oracle: the definition read byte by byte, without any table. It
// returns the offset at which it stopped.
func decode(b []byte, at int) (out []plain, end int) {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	s16 := func(at int) int16 { return int16(binary.LittleEndian.Uint16(b[at:])) }
	for at < len(b) {
		begin := at
		have := func(n int) bool { return at+n <= len(b) }
		add := func(n int, format string, args ...any) {
			out = append(out, plain{at, fmt.Sprintf(format, args...)})
			at += n
		}
		switch {
		case b[at] == 0x14 && have(5):
			add(5, "Desync player=%d", int32(u32(at+1)))
		case b[at] == 0x24 && have(5):
			add(5, "DestroyObject serial=%d", u32(at+1))
		case b[at] == 0x36 && have(7):
			add(7, "ProcessRequests type=%d index=%d target=%d", b[at+1], b[at+2], u32(at+3))
		case b[at] == 0x44 && have(5):
			n := int(u32(at + 1))
			add(5, "HandleActiveSupplies count=%d", n)
			for range n {
				if !have(8) {
					return out, at
				}
				add(8, "ActiveSupply position=%d warehouse=%d", u32(at), u32(at+4))
			}
		case b[at] == 0x58 && have(9):
			add(9, "StartTransfer target=%d source=%d", u32(at+1), u32(at+5))
			for have(5) && b[at] == 0xb8 && u32(at+1) == 0 {
				if !have(9) {
					return out, at
				}
				add(9, "BobSetPosition serial=0 x=%d y=%d", s16(at+5), s16(at+7))
			}
			if !have(4) {
				return out, at
			}
			add(4, "Launched serial=%d", u32(at))
		case b[at] == 0x68 && have(9):
			add(9, "RunQueue due=%d command=%d", u32(at+1), u32(at+5))
		case b[at] == 0x74 && have(5):
			add(5, "RandomSeed seed=%d", u32(at+1))
		case b[at] == 0x84 && have(5):
			add(5, "Random value=%d", u32(at+1))
		case b[at] == 0x95 && have(6):
			add(6, "CmdAct serial=%d type=%d", u32(at+1), b[at+5])
		case b[at] == 0xa8 && have(9):
			add(9, "Battle first=%d second=%d", u32(at+1), u32(at+5))
		case b[at] == 0xb8 && have(9):
			add(9, "BobSetPosition serial=%d x=%d y=%d", u32(at+1), s16(at+5), s16(at+7))
		}
		if at == begin {
			return out, at
		}
	}
	return out, at
}

// check compares a stream with what the oracle makes of it.
func check(t testing.TB, name string, content []byte, r io.Reader, header int) {
	t.Helper()
	want, end := decode(content, header)
	s, err := widelands.NewStream(r, name)
	if err != nil {
		t.Fatal(err)
	}
	clock, timed := uint32(0), false
	for i, w := range want {
		e, err := s.Next()
		if err != nil {
			t.Fatalf("%s: entry %d: %v", name, i, err)
		}
		what := e.Kind.String()
		for f := range e.Kind.NumFields() {
			what += fmt.Sprintf(" %s=%d", e.Kind.FieldName(f), e.Value(f))
		}
		if int(e.Offset) != w.offset || what != w.what || int(e.Index) != i {
			t.Fatalf("%s: entry %d at %d is %s, expected %d at %d: %s", name, e.Index, e.Offset, what, i, w.offset, w.what)
		}
		if e.Kind == widelands.RunQueue {
			if due := uint32(e.Value(0)); due < clock {
				t.Fatalf("%s: the clock goes back from %d to %d", name, clock, due)
			}
			clock, timed = uint32(e.Value(0)), true
		}
		if e.Clock != clock || e.Timed != timed {
			t.Fatalf("%s: entry %d has clock %d, expected %d", name, i, e.Clock, clock)
		}
	}
	_, err = s.Next()
	if end == len(content) && err != io.EOF || end < len(content) && !errors.Is(err, frame.ErrTorn) {
		t.Errorf("%s: ends with %v, all of %d bytes are whole up to %d", name, err, len(content), end)
	}
}

func TestRealStreams(t *testing.T) {
	for _, peer := range ordersPeers {
		wss, wse := read(t, peer+".wss.gz"), read(t, peer+".wse.gz")
		check(t, peer, wss, bytes.NewReader(wss), 0)
		check(t, peer, wse, bytes.NewReader(wse), 22)
		check(t, peer, wss[:335872], iotest.OneByteReader(bytes.NewReader(wss[:335872])), 0)
		check(t, peer, wss, iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(wss))), 0)
	}
}

func TestOrdersTruth(t *testing.T) {
	entry := func(name string, index int) string {
		all, err := lines(t, bytes.NewReader(read(t, name)))
		if err != io.EOF {
			t.Errorf("%s: ends with %v", name, err)
		}
		return all[index]
	}
	for _, test := range []struct {
		name  string
		index int
		want  string
	}{
		{ordersPeers[0] + ".wss.gz", 64781, "64781 459173 CmdAct serial=304 type=11(11 critter) @161431 128"},
		{ordersPeers[1] + ".wss.gz", 64781, "64781 459173 CmdAct serial=305 type=11(11 critter) @161431 128"},
		{ordersPeers[0] + ".wse.gz", 17 + 13097, "13114 93249 CmdAct serial=304 type=11(11 critter) @161431 128"},
		{ordersPeers[1] + ".wse.gz", 13097, "13097 93130 CmdAct serial=305 type=11(11 critter) @161431 128"},
		{ordersPeers[0] + ".wss.gz", 0, "0 0 RunQueue due=0 command=132(132 LuaCoroutine) @0 132"},
		{ordersPeers[0] + ".wse.gz", 0, "0 22 RunQueue due=129063 command=128(128 Act) @129063 128"},
	} {
		if got := entry(test.name, test.index); got != test.want {
			t.Errorf("%s: %s, expected %s", test.name, got, test.want)
		}
	}
	for i, want := range []widelands.Excerpt{{"1.1", "Release", 0}, {"1.1", "Release", -1}} {
		s, err := widelands.NewStream(bytes.NewReader(read(t, ordersPeers[i]+".wse.gz")), "test")
		if err != nil || *s.Excerpt() != want {
			t.Errorf("%+v, %v, expected %+v", s.Excerpt(), err, want)
		}
	}
}

// every is a stream with each kind of entry, by hand.
const ordersEvery = `
	68 e8030000 80000000
	95 30010000 0b
	74 ffffffff
	84 01000080
	36 01 02 03000000
	44 02000000 0a000000 0b000000 68000000 0d000000
	58 10000000 11000000 b8 00000000 ffff 0200 b8 00000000 0300 0080 12000000
	58 13000000 14000000 b8000000
	58 15000000 16000000 b8010000
	24 17000000
	a8 18000000 19000000
	b8 1a000000 0100 ffff
	68 e7030000 4d000000
	68 e9030000 ff000000
	14 ffffffff`

var everyLines = []string{
	"0 0 RunQueue due=1000 command=128(128 Act) @1000 128",
	"1 9 CmdAct serial=304 type=11(11 critter) @1000 128",
	"2 15 RandomSeed seed=4294967295 @1000 128",
	"3 20 Random value=2147483649 @1000 128",
	"4 25 ProcessRequests type=1 index=2 target=3 @1000 128",
	"5 32 HandleActiveSupplies count=2 @1000 128",
	"6 37 ActiveSupply position=10 warehouse=11 @1000 128",
	"7 45 ActiveSupply position=104 warehouse=13 @1000 128",
	"8 53 StartTransfer target=16 source=17 @1000 128",
	"9 62 BobSetPosition serial=0 x=-1 y=2 @1000 128",
	"10 71 BobSetPosition serial=0 x=3 y=-32768 @1000 128",
	"11 80 Launched serial=18 @1000 128",
	"12 84 StartTransfer target=19 source=20 @1000 128",
	"13 93 Launched serial=184 @1000 128",
	"14 97 StartTransfer target=21 source=22 @1000 128",
	"15 106 Launched serial=440 @1000 128",
	"16 110 DestroyObject serial=23 @1000 128",
	"17 115 Battle first=24 second=25 @1000 128",
	"18 124 BobSetPosition serial=26 x=1 y=-1 @1000 128",
	"19 133 RunQueue due=999 command=77(77) @1000 77",
	"20 142 RunQueue due=1001 command=255(255) @1001 255",
	"21 151 Desync player=-1 @1001 255",
}

func TestOrdersEveryKind(t *testing.T) {
	b := unhex(t, ordersEvery)
	got, err := lines(t, bytes.NewReader(b))
	if err != io.EOF {
		t.Errorf("ends with %v", err)
	}
	if len(got) != len(everyLines) {
		t.Fatalf("%d entries, expected %d", len(got), len(everyLines))
	}
	for i := range got {
		if got[i] != everyLines[i] {
			t.Errorf("%s, expected %s", got[i], everyLines[i])
		}
	}
}

// TestCut: wherever a stream ends, the whole entries are delivered, and it is reported as torn unless it ends between
// two entries.
func TestCut(t *testing.T) {
	b := unhex(t, ordersEvery)
	for n := 9; n < len(b); n++ {
		want, end := decode(b[:n], 0)
		got, err := lines(t, bytes.NewReader(b[:n]))
		// After a StartTransfer, B8 and zeros may be a serial or an entry.
		unsure := n == 97 || n == 66 || n == 75
		if unsure {
			want, end = want[:len(want)-1], end-4
		}
		if len(got) != len(want) {
			t.Errorf("%d bytes: %d entries, expected %d", n, len(got), len(want))
		}
		last := want[len(want)-1].what
		inside := end < n || n == 37 || n == 45 || strings.HasPrefix(last, "StartTransfer") || n == 71 || n == 80
		var torn *frame.Error
		switch {
		case !inside && err != io.EOF:
			t.Errorf("%d bytes: %v, expected the end", n, err)
		case inside && (!errors.As(err, &torn) || torn.Err != frame.ErrTorn || torn.Offset != int64(end) || torn.Lost != int64(n-end)):
			t.Errorf("%d bytes: %v, expected it torn at %d", n, err, end)
		}
	}
}

func TestBadStreams(t *testing.T) {
	whole := unhex(t, ordersEvery)
	block := bytes.Repeat(unhex(t, "68 e8030000 80000000 95 30010000 0b 84 00000000 84 00000000"), 4096/25+1)[:4096-21]
	block = append(block, unhex(t, "84 00000000 84 00000000 84 00000000 95 30010000 0b")...)
	for _, test := range []struct {
		name    string
		content []byte
		err     error
		want    string
	}{
		{"empty", nil, frame.ErrUnrecognized, "no sync stream"},
		{"text", []byte("hello world, this is no stream at all"), frame.ErrUnrecognized, "no sync stream"},
		{"zeros", make([]byte, 9000), frame.ErrUnrecognized, "no sync stream"},
		{"no RunQueue", bytes.Repeat(unhex(t, "84 00000000"), 10), frame.ErrUnrecognized, "no sync stream"},
		{"unknown tag", append(whole[:len(whole):len(whole)], 0x77), frame.ErrCorrupt, "corrupt at offset 156: entry with the tag 0x77, expected one of 14 24 36 44 58 68 74 84 95 a8 b8"},
		{"command", append(whole[:len(whole):len(whole)], unhex(t, "68 ea030000 00010000")...), frame.ErrCorrupt, "corrupt at offset 156: command 256 is run"},
		{"count that lies", append(whole[:len(whole):len(whole)], unhex(t, "44 ffffffff")...), frame.ErrCorrupt, "corrupt at offset 156: HandleActiveSupplies of 4294967295"},
		{"count beyond the end", append(whole[:len(whole):len(whole)], unhex(t, "44 00010000")...), frame.ErrTorn, "torn at offset 161: the stream ends with 256 supplies"},
		{"block", block, frame.ErrTorn, "multiple of 4096 bytes"},
		{"excerpt without its end", append(unhex(t, "03000000 312e31 01000000 52 ffffffff"), whole[:9]...), frame.ErrTorn, "does not end with a Desync entry"},
		{"version that lies", append(unhex(t, "ffffff7f 312e31 01000000 52 ffffffff"), whole...), frame.ErrUnrecognized, "no sync stream"},
	} {
		_, err := lines(t, bytes.NewReader(test.content))
		if !errors.Is(err, test.err) || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, expected %q", test.name, err, test.want)
		}
	}
	broken := errors.New("disk on fire")
	stream := read(t, ordersPeers[0]+".wss.gz")
	all, _ := lines(t, bytes.NewReader(stream))
	got, err := lines(t, io.MultiReader(bytes.NewReader(stream), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != len(all) {
		t.Errorf("%d entries and %v, expected %d and the reader's error", len(got), err, len(all))
	}
	if _, err := lines(t, io.MultiReader(bytes.NewReader(whole), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v, expected the reader's error", err)
	}
}

// TestSkip compares Skip with the entries that it should pass over.
func TestOrdersSkip(t *testing.T) {
	content := read(t, ordersPeers[0]+".wss.gz")
	want, err := lines(t, bytes.NewReader(content))
	if err != io.EOF {
		t.Fatal(err)
	}
	type begin struct {
		index int
		ends  int64 // where the RunQueue that begins the tick ends
		clock uint32
	}
	var ticks []begin
	s, err := widelands.NewStream(bytes.NewReader(content), "test")
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := s.Next()
		if err != nil {
			break
		}
		if len(ticks) == 0 || e.Clock > ticks[len(ticks)-1].clock {
			ticks = append(ticks, begin{int(e.Index), e.Offset + 9, e.Clock})
		}
	}
	for _, before := range []int{0, 1, 3, 5000} {
		for offset := int64(0); offset < int64(len(content))+5000; offset += 11003 {
			s, err := widelands.NewStream(iotest.HalfReader(bytes.NewReader(content)), "test")
			if err != nil {
				t.Fatal(err)
			}
			for range before {
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			next, passed, clock := before, false, uint32(0)
			for i, tick := range ticks {
				if tick.ends <= offset && tick.index > before {
					next, passed, clock = tick.index, true, ticks[i-1].clock
				}
			}
			gotClock, gotPassed := s.Skip(offset)
			if gotPassed != passed || gotClock != clock {
				t.Errorf("skip from %d to %d: tick %d, %v, expected %d, %v", before, offset, gotClock, gotPassed, clock, passed)
			}
			for i := next; i < min(next+50, len(want)); i++ {
				e, err := s.Next()
				if err != nil {
					t.Fatal(err)
				}
				if line(e) != want[i] {
					t.Fatalf("skip from %d to %d: %s, expected %s", before, offset, line(e), want[i])
				}
			}
		}
	}
}

// TestSkipTrouble: what Next would fail on is not passed over.
func TestSkipTrouble(t *testing.T) {
	tick := func(due uint32) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte{0x68}, due), 0x80, 0, 0, 0, 0x84, 1, 0, 0, 0)
	}
	bad := append(append(append(tick(1), tick(2)...), tick(3)...), 0x77)
	s, err := widelands.NewStream(bytes.NewReader(bad), "test")
	if err != nil {
		t.Fatal(err)
	}
	if clock, passed := s.Skip(1 << 40); clock != 2 || !passed {
		t.Errorf("tick %d, %v, expected 2", clock, passed)
	}
	for _, want := range []string{"4 28 RunQueue due=3 command=128(128 Act) @3 128", "5 37 Random value=1 @3 128"} {
		if e, err := s.Next(); err != nil || line(e) != want {
			t.Fatalf("%v, expected %s", err, want)
		}
	}
	if _, err := s.Next(); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("%v, expected it corrupt", err)
	}
	// A tick that does not fit in memory is delivered.
	long := append(tick(1), bytes.Repeat([]byte{0x84, 1, 0, 0, 0}, 200_000)...)
	s, err = widelands.NewStream(bytes.NewReader(append(long, tick(2)...)), "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, passed := s.Skip(1 << 40); passed {
		t.Error("a tick that does not fit in memory was passed over")
	}
	n := 0
	for {
		if _, err := s.Next(); err != nil {
			break
		}
		n++
	}
	if n != 200_004 {
		t.Errorf("%d entries, expected 200004", n)
	}
}

func TestPeer(t *testing.T) {
	for path, want := range map[string]string{
		"a/2026-11-20T08.55.13_nethost.wrpl.wss":        "host",
		`C:\w\2026-11-20T08.55.14_netclient_1.wrpl`:     "client 1",
		"2026-11-20T08.55.14_netclient_12.wrpl.wse.gz":  "client 12",
		"2026-11-20T08.55.14_netclient_.wrpl.wse":       "",
		"2026-11-20T08.55.14_netclient_x1.wrpl.wse":     "",
		"2026-11-20T08.55.14_single_player.wrpl":        "",
		"x_nethost.wrpl/host.wss":                       "",
		"2026-11-20T08.55.14_netclient_1":               "",
		"2026-11-20T08.55.14_netclient_99999999.wrpl.x": "",
	} {
		if got := widelands.Peer(path); got != want {
			t.Errorf("%s: %q, expected %q", path, got, want)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, peer := range ordersPeers {
		f.Add(read(f, peer+".wss.gz")[:4000])
		wse := read(f, peer+".wse.gz")
		f.Add(append(wse[:2000:2000], wse[len(wse)-5:]...))
	}
	f.Add(unhex(f, ordersEvery))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !widelands.IsStream(b) {
			if _, err := lines(t, bytes.NewReader(b)); !errors.Is(err, frame.ErrUnrecognized) {
				t.Fatalf("%v of what is not a stream", err)
			}
			return
		}
		all, err := lines(t, bytes.NewReader(b))
		again, err2 := lines(t, iotest.OneByteReader(bytes.NewReader(b)))
		if fmt.Sprint(all, err) != fmt.Sprint(again, err2) {
			t.Fatalf("%v\n%v\nread byte by byte\n%v\n%v", all, err, again, err2)
		}
		offset := int64(len(b)) / 2
		s, err := widelands.NewStream(bytes.NewReader(b), "test")
		if err != nil {
			t.Fatal(err)
		}
		s.Skip(offset)
		var rest []string
		for {
			e, err := s.Next()
			if err != nil {
				break
			}
			rest = append(rest, line(e))
		}
		if len(rest) > len(all) || strings.Join(rest, "\n") != strings.Join(all[len(all)-len(rest):], "\n") {
			t.Fatalf("%v\nbehind a skip to %d\n%v", all, offset, rest)
		}
	})
}

// repeated repeats a content up to a size, lazily.
type repeated struct {
	content []byte
	at      int
	left    int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.content[r.at:])
	r.at = (r.at + n) % len(r.content)
	r.left -= n
	return n, nil
}

func BenchmarkStream(b *testing.B) {
	content := read(b, ordersPeers[0]+".wss.gz")
	size := 64 * len(content)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		s, err := widelands.NewStream(&repeated{content: content, left: size}, "test")
		if err != nil {
			b.Fatal(err)
		}
		n := int64(0)
		for {
			e, err := s.Next()
			if err != nil {
				break
			}
			n += e.Value(0)
		}
		if n == 0 {
			b.Fatal("no entries")
		}
	}
}

// longer returns a stream n times as long, with a clock that goes on.
func longer(t testing.TB, content []byte, n int) []byte {
	s, err := widelands.NewStream(bytes.NewReader(content), "test")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 0, n*len(content))
	var dues []int64
	last := uint32(0)
	for {
		e, err := s.Next()
		if err != nil {
			break
		}
		if e.Kind == widelands.RunQueue {
			dues = append(dues, e.Offset+1)
			last = e.Clock + 1
		}
	}
	for range n {
		out = append(out, content...)
		for _, at := range dues {
			due := content[at:]
			binary.LittleEndian.PutUint32(due, binary.LittleEndian.Uint32(due)+last)
		}
	}
	return out
}

func BenchmarkSkip(b *testing.B) {
	content := longer(b, read(b, ordersPeers[0]+".wss.gz"), 64)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		s, err := widelands.NewStream(bytes.NewReader(content), "test")
		if err != nil {
			b.Fatal(err)
		}
		if clock, _ := s.Skip(int64(len(content))); clock < 10_000_000 {
			b.Fatalf("stopped at %d", clock)
		}
	}
}

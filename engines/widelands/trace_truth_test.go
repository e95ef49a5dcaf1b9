package widelands_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/widelands"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

const traceCorpus = "../../testdata/widelands/cmdact_serial"

// peers are the files of both peers, without their endings.
var tracePeers = []string{"host/2026-11-20T08.55.13_nethost.wrpl", "client/2026-11-20T08.55.14_netclient_1.wrpl"}

// content returns the content of a file of the corpus.
func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(traceCorpus, name))
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

// format returns the format of the name.
func format(t testing.TB, name string) *tracediff.Format {
	t.Helper()
	for _, f := range widelands.Formats() {
		if f.Name == name {
			return &f
		}
	}
	t.Fatalf("no format %s", name)
	return nil
}

// sniff returns the name of the first format that takes a file.
func sniff(head []byte) string {
	for _, f := range widelands.Formats() {
		if f.Sniff(head[:min(len(head), tracediff.SniffLen)]) {
			return f.Name
		}
	}
	return ""
}

// put writes files and returns their paths.
func put(t testing.TB, files ...[]byte) []string {
	t.Helper()
	var paths []string
	for i, b := range files {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("x_net%s.wrpl.wss", []string{"host", "client_1"}[i]))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// compare compares files of one format.
func compare(t testing.TB, f *tracediff.Format, paths ...string) *tracediff.Result {
	t.Helper()
	var list []*tracediff.Trace
	for _, path := range paths {
		traces, err := tracediff.OpenForeign(files.Disk, path, f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, traces...)
	}
	res, err := tracediff.Compare(list, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// describe returns the first difference in one line.
func describe(d *tracediff.Difference) string {
	if d == nil {
		return "none"
	}
	s := fmt.Sprintf("%s %d %s %s", d.Kind, d.Tick.Number, d.System, d.Scope)
	for _, v := range d.Values {
		s += fmt.Sprintf(" | @%d", v.Pos.Offset)
		for _, sum := range v.Sums {
			s += fmt.Sprintf(" %s=%s", sum.Name, sum.Value)
		}
	}
	return s
}

func TestTraceTruth(t *testing.T) {
	packed := func(ending string) []string {
		return []string{filepath.Join(traceCorpus, tracePeers[0]+ending), filepath.Join(traceCorpus, tracePeers[1]+ending)}
	}
	plain := put(t, content(t, tracePeers[0]+".wss.gz"), content(t, tracePeers[1]+".wss.gz"))
	for _, test := range []struct {
		name, format string
		paths        []string
		want         string
		from, to     uint64
	}{
		{"streams", "widelands-sync", packed(".wss.gz"), "changed 161431 Act CmdAct | @459173 serial=304 type=11 critter | @459173 serial=305 type=11 critter", 0, 162247},
		{"streams, with a part to skip", "widelands-sync", plain, "changed 161431 Act CmdAct | @459173 serial=304 type=11 critter | @459173 serial=305 type=11 critter", 0, 162247},
		{"excerpts", "widelands-sync", packed(".wse.gz"), "changed 161431 Act CmdAct | @93249 serial=304 type=11 critter | @93130 serial=305 type=11 critter", 129138, 162172},
		{"stream and excerpt", "widelands-sync", []string{plain[0], packed(".wse.gz")[1]}, "changed 161431 Act CmdAct | @459173 serial=304 type=11 critter | @93130 serial=305 type=11 critter", 129138, 162195},
		{"replays", "widelands-replay", packed(""), "changed 161600   | @17563 =0xc2e466dc7b1cd6caf3475b6dedd54b8b | @17563 =0x1a250d56557f78fea53e2103fd03c16e", 200, 162200},
	} {
		res := compare(t, format(t, test.format), test.paths...)
		if got := describe(res.First); got != test.want {
			t.Errorf("%s: %s, expected %s", test.name, got, test.want)
		}
		if res.LastCompared.Number != test.to || max(res.Traces[0].First.Number, res.Traces[1].First.Number) != test.from {
			t.Errorf("%s: compared to %d, from %d and %d, expected %d to %d", test.name, res.LastCompared.Number, res.Traces[0].First.Number, res.Traces[1].First.Number, test.from, test.to)
		}
		if len(res.Warnings) > 0 {
			t.Errorf("%s: warnings %v", test.name, res.Warnings)
		}
		for i, name := range []string{"host", "client 1"} {
			if tr := &res.Traces[i]; tr.Name != name || tr.Trouble != "" || tr.Epochs != 0 {
				t.Errorf("%s: %s, expected %s: %s, %d epochs", test.name, tr.Name, name, tr.Trouble, tr.Epochs)
			}
		}
	}
	res := compare(t, format(t, "widelands-replay"), packed("")...)
	if n := res.Changed + res.Missing; n != 4 || res.LastDiffering.Number != 162200 {
		t.Errorf("%d hashes differ up to %d, expected 4 up to 162200", n, res.LastDiffering.Number)
	}
}

// TestSame: streams that are cut, and one that is longer, do not differ.
func TestSame(t *testing.T) {
	stream := content(t, tracePeers[0]+".wss.gz")
	for _, lengths := range [][2]int{
		{335872, 335872}, // both as they were copied at 110 s
		{335872, len(stream)},
		{335872, 339968},
		{335873, len(stream)},
		{inTick(t, stream), len(stream)},
	} {
		res := compare(t, format(t, "widelands-sync"), put(t, stream[:lengths[0]], stream[:lengths[1]])...)
		if res.First != nil || res.Changed+res.Missing != 0 {
			t.Errorf("%v bytes: %s", lengths, describe(res.First))
		}
		// Whole blocks are what the copy of a running game has.
		running := lengths[0]%4096 == 0
		if res.Traces[0].Running != running || res.Traces[0].Torn == running {
			t.Errorf("%v bytes: it is not reported that the file is cut: %+v", lengths, res.Traces[0])
		}
	}
}

// inTick returns a multiple of 4096 at which an entry and no tick ends.
func inTick(t testing.TB, stream []byte) int {
	s, err := format(t, "widelands-sync").Read(bytes.NewReader(stream), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for {
		rec, err := s.Next()
		if err != nil {
			t.Fatal("no entry begins at a multiple of 4096 inside a tick")
		}
		if rec.Pos.Offset > 0 && rec.Pos.Offset%4096 == 0 && rec.Tick() == last {
			return int(rec.Pos.Offset)
		}
		last = rec.Tick()
	}
}

// TestPersistence: the first difference may be followed by equal ticks, or by none.
func TestPersistence(t *testing.T) {
	host := content(t, tracePeers[0]+".wss.gz")
	client := bytes.Clone(host)
	client[459174]++ // only the serial of the CmdAct
	res := compare(t, format(t, "widelands-sync"), put(t, host, client)...)
	if got := describe(res.First); !strings.HasPrefix(got, "changed 161431 Act CmdAct") || res.LastDiffering.Number != 161431 || res.Changed+res.Missing != 1 {
		t.Errorf("%s, last at %d", got, res.LastDiffering.Number)
	}
}

// every is an excerpt with each kind of entry, by hand.
var traceEvery = "\x03\x00\x00\x00" + "1.1" + "\x05\x00\x00\x00" + "Debug" + "\x02\x00\x00\x00" +
	"\x84\x07\x00\x00\x00" + // before the clock
	"\x68\xe8\x03\x00\x00\x80\x00\x00\x00" + "\x84\x08\x00\x00\x00" + // of the first tick
	"\x68\xe9\x03\x00\x00\x80\x00\x00\x00" + "\x95\x30\x01\x00\x00\x0b" + "\x74\xff\xff\xff\xff" + "\x84\x01\x00\x00\x80" + "\x36\x01\x02\x03\x00\x00\x00" +
	"\x68\xe9\x03\x00\x00\xc8\x00\x00\x00" + "\x44\x01\x00\x00\x00\x0a\x00\x00\x00\x0b\x00\x00\x00" + "\x58\x10\x00\x00\x00\x11\x00\x00\x00" + "\xb8\x00\x00\x00\x00\xff\xff\x02\x00" + "\x12\x00\x00\x00" +
	"\x24\x17\x00\x00\x00" + "\xa8\x18\x00\x00\x00\x19\x00\x00\x00" + "\x68\xea\x03\x00\x00\x4d\x00\x00\x00" + "\x14\x02\x00\x00\x00"

func TestTraceEveryKind(t *testing.T) {
	s, err := format(t, "widelands-sync").Read(strings.NewReader(traceEvery), "2026_netclient_7.wrpl.wse", 0)
	if err != nil {
		t.Fatal(err)
	}
	if h, d := s.Header(), s.Dialect(); h.Peer != "client 7" || h.Build != "1.1 Debug" || d.File != "Widelands sync stream excerpt" || d.Unit != "ms" || !d.Values {
		t.Errorf("%+v, %+v", h, d)
	}
	got := ""
	for {
		rec, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		c := rec.Checkpoint
		got += fmt.Sprintf("%d %d %s %s", rec.Pos.Offset, c.Tick, c.System, c.Scope)
		for _, sum := range c.Sums {
			got += fmt.Sprintf(" %s=%s", sum.Name, sum.Value)
		}
		got += "\n"
	}
	want := `39 1001 Act RunQueue due=1001 command=128 Act
48 1001 Act CmdAct serial=304 type=11 critter
54 1001 Act RandomSeed seed=4294967295
59 1001 Act Random value=2147483649
64 1001 Act ProcessRequests type=1 index=2 target=3
71 1001 EconomyBalance RunQueue due=1001 command=200 EconomyBalance
80 1001 EconomyBalance HandleActiveSupplies count=1
85 1001 EconomyBalance ActiveSupply position=10 warehouse=11
93 1001 EconomyBalance StartTransfer target=16 source=17
102 1001 EconomyBalance BobSetPosition serial=0 x=-1 y=2
111 1001 EconomyBalance Launched serial=18
115 1001 EconomyBalance DestroyObject serial=23
120 1001 EconomyBalance Battle first=24 second=25
129 1002 command 77 RunQueue due=1002 command=77
`
	if got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
}

// TestSkip: a source goes on after the ticks that it skipped.
func TestTraceSkip(t *testing.T) {
	all := content(t, tracePeers[0]+".wse.gz")
	for offset := int64(0); offset < int64(len(all)); offset += 1009 {
		open := func() tracediff.Skipper {
			s, err := format(t, "widelands-sync").Read(bytes.NewReader(all), "test", 0)
			if err != nil {
				t.Fatal(err)
			}
			return s.(tracediff.Skipper)
		}
		s, plain := open(), open()
		last, passed, err := s.Skip(offset)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got.Pos.Offset > offset && offset > 600 {
			t.Fatalf("skip to %d goes on at %d", offset, got.Pos.Offset)
		}
		before := uint64(0)
		for {
			rec, err := plain.Next()
			if err != nil {
				t.Fatalf("skip to %d goes on at %d, where no record is", offset, got.Pos.Offset)
			}
			if rec.Pos == got.Pos {
				if rec.Tick() != got.Tick() || passed != (before != 0) || last != before || before == rec.Tick() {
					t.Fatalf("skip to %d: tick %d, last %d, %v, expected %d, last %d", offset, got.Tick(), last, passed, rec.Tick(), before)
				}
				break
			}
			before = rec.Tick()
		}
	}
}

func TestStreamClaims(t *testing.T) {
	f := format(t, "widelands-sync")
	for i, want := range []struct{ peer, text, accused string }{
		{"host", "Desync player=0", "the host's client 0"}, {"client 1", "Desync player=-1", ""},
	} {
		path := filepath.Join(traceCorpus, tracePeers[i]+".wse.gz")
		log, err := tracediff.ReadClaims(files.Disk, path, f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(log.Claims) != 1 || log.Peer != want.peer || log.Trouble != "" {
			t.Fatalf("%+v", log)
		}
		c := log.Claims[0]
		if c.Text != want.text || strings.Join(c.Peers, ",") != want.accused || c.HasTick || c.File != path || c.Proves() || c.Pos.Offset != []int64{95517, 95484}[i] {
			t.Errorf("%+v", c)
		}
		log, err = tracediff.ReadClaims(files.Disk, filepath.Join(traceCorpus, tracePeers[i]+".wss.gz"), f, tracediff.ReadOptions{})
		if err != nil || len(log.Claims) != 0 || log.Trouble != "" {
			t.Errorf("%+v, %v", log, err)
		}
	}
	log, err := f.Claims(strings.NewReader(traceEvery[:len(traceEvery)-2]), "test")
	if err != nil || len(log.Claims) != 0 || log.Trouble != "" { // the entries show that they are torn
		t.Errorf("%+v, %v", log, err)
	}
	if _, err := f.Claims(strings.NewReader("hello"), "test"); !errors.Is(err, frame.ErrUnrecognized) {
		t.Errorf("%v", err)
	}
}

func TestSniff(t *testing.T) {
	for name, want := range map[string]string{
		tracePeers[0]: "widelands-replay", tracePeers[0] + ".wss.gz": "widelands-sync", tracePeers[1] + ".wse.gz": "widelands-sync",
		"host/stdout.excerpt.txt": "widelands-log", "client/stdout.excerpt.txt": "widelands-log",
	} {
		if got := sniff(content(t, name)); got != want {
			t.Errorf("%s: %q, expected %q", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                            "",
		"\x00":                        "",
		"hello world\n":               "",
		"[00:00:00.000 real] hello\n": "",
		"[00:00:00.000] INFO: hi\n":   "",
		"[00:00:00.000 game] ERROR: REPLAY: Lost synchronization at time 21400\n":          "widelands-log",
		"hello\nREPLAY: Lost synchronization at time 21400\r\nI have:\n":                   "widelands-log",
		"This is Widelands Version 1.1 (Release)\n":                                        "widelands-log",
		"[Host]: lost synchronization with client x at time 1!\n":                          "",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR":                                              "",
		strings.Repeat("\x84\x01\x02\x03\x04", 100):                                        "",
		"\x68\x00\x00\x00\x00\x84\x00\x00\x00" + strings.Repeat("\x84\x01\x02\x03\x04", 9): "widelands-sync",
		traceEvery:                         "widelands-sync",
		"\x02\xa1\x21\x2e\x04\x00\x00\x00": "widelands-replay",
	} {
		if got := sniff([]byte(text)); got != want {
			t.Errorf("%q: %q, expected %q", text[:min(len(text), 40)], got, want)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte(traceEvery))
	f.Add(content(f, tracePeers[0]+".wss.gz")[:3000])
	f.Add(content(f, tracePeers[1]+".wse.gz")[:3000])
	form := format(f, "widelands-sync")
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := form.Read(bytes.NewReader(b), "test", 0)
		if err != nil {
			return
		}
		last := uint64(0)
		for {
			rec, err := s.Next()
			if err != nil {
				break
			}
			if rec.Tick() < last || len(rec.Checkpoint.Sums) == 0 || rec.Checkpoint.Scope == "" {
				t.Fatalf("%+v after tick %d", rec.Checkpoint, last)
			}
			last = rec.Tick()
		}
		form.Claims(bytes.NewReader(b), "test")
	})
}

func BenchmarkEntries(b *testing.B) {
	form := format(b, "widelands-sync")
	stream := bytes.Repeat(content(b, tracePeers[0]+".wss.gz"), 40)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := form.Read(bytes.NewReader(stream), "test", 0)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for {
			if _, err := s.Next(); err != nil {
				break
			}
			n++
		}
		if n < 40*65000 {
			b.Fatalf("%d entries", n)
		}
	}
}

func BenchmarkHashes(b *testing.B) {
	form := format(b, "widelands-replay")
	replay := append([]byte(nil), content(b, tracePeers[0])[:17]...)
	for i := range 1_000_000 {
		replay = append(binary.LittleEndian.AppendUint32(append(replay, 4), uint32(200*i)), "0123456789abcdef"...)
	}
	b.SetBytes(int64(len(replay)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := form.Read(bytes.NewReader(replay), "test", 0)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for {
			if _, err := s.Next(); err != nil {
				break
			}
			n++
		}
		if n != 1_000_000 {
			b.Fatalf("%d hashes", n)
		}
	}
}

package warzone_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

const (
	ordersSession   = "../../testdata/warzone2100/player_power_3peer"
	ordersHostFile  = "host_p0/20261120_085851_multiplay_p0.wzrp"
	ordersGammaFile = "gamma_p1/20261120_085852_multiplay_p1.wzrp"
)

func ordersLoad(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(ordersSession, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message is a warzone.Message that lasts.
type message struct {
	Queue, Type byte
	Payload     string
	Offset      int64
}

// messages reads all messages and the error after them.
func messages(t testing.TB, b []byte) ([]message, *warzone.Replay, error) {
	t.Helper()
	r, err := warzone.NewReplay(bytes.NewReader(b), "x.wzrp")
	if err != nil {
		return nil, nil, err
	}
	var list []message
	for {
		m, err := r.Next()
		if err != nil {
			return list, r, err
		}
		list = append(list, message{m.Queue, byte(m.Type), string(m.Payload), m.Offset})
	}
}

// naiveVarint decodes a number as docs/formats/warzone2100.md writes it down.
func naiveVarint(b []byte) (v uint64, size int) {
	a := []uint64{78, 95, 32, 70, 0}
	m := []uint64{1, 78, 7410, 237120, 16598400}
	for n := 0; ; n++ {
		x := uint64(b[n])
		if x < 256-a[n] {
			return v + x*m[n], n + 1
		}
		v += (511 - a[n] - x) * m[n]
	}
}

// naive decodes a whole recording, which is known to be well-formed.
func naive(b []byte) (list []message) {
	at := 8 + int(binary.BigEndian.Uint32(b[4:]))
	at += 8 + int(binary.BigEndian.Uint32(b[at+4:]))
	for b[at+1] != 133 {
		n, size := naiveVarint(b[at+2:])
		end := at + 2 + size + int(n)
		list = append(list, message{b[at], b[at+1], string(b[at+2+size : end]), int64(at)})
		at = end
	}
	return list
}

// TestReplay checks what an independent program counted in the real recordings.
func TestOrdersReplay(t *testing.T) {
	for _, c := range []struct {
		file    string
		slot    int
		elapsed uint64
		count   string
	}{
		{ordersHostFile, 0, 67802, "0/DROIDINFO 23, 0/GAME_TIME 668, 0/RESEARCHSTATUS 1, 0/STRUCTUREINFO 16, 1/GAME_TIME 667, 2/GAME_TIME 667"},
		{ordersGammaFile, 1, 66702, "0/DROIDINFO 22, 0/GAME_TIME 657, 0/RESEARCHSTATUS 1, 0/STRUCTUREINFO 15, 1/GAME_TIME 657, 2/GAME_TIME 656"},
	} {
		b := ordersLoad(t, c.file)
		got, r, err := messages(t, b)
		if err != io.EOF {
			t.Fatal(err)
		}
		if diff := cmp.Diff(naive(b), got); diff != "" {
			t.Errorf("%s: -naive +got\n%s", c.file, diff)
		}
		count := map[string]int{}
		for _, m := range got {
			count[fmt.Sprintf("%d/%s", m.Queue, warzone.MessageType(m.Type))]++
		}
		text := strings.NewReplacer("map[", "", "]", "", ":", " ", " 0/", ", 0/", " 1/", ", 1/", " 2/", ", 2/").Replace(fmt.Sprint(count))
		if text != c.count {
			t.Errorf("%s: %s, want %s", c.file, text, c.count)
		}
		if ms, ok := r.Elapsed(); ms != c.elapsed || !ok {
			t.Errorf("%s: elapsed %d %v", c.file, ms, ok)
		}
		s := r.Settings()
		if s.Slot != c.slot || s.Build != "4.3.3" || s.Map != "Sk-Rush" || s.Seed != 1088316054 || s.Host != 0 ||
			len(s.DataHashes) != 28 || s.DataHashes[0] != 1053245710 || s.Players[1].Name != "gamma" || !s.Players[2].Human || s.Players[3].Human {
			t.Errorf("%s: %+v", c.file, s)
		}
	}
}

// TestStates checks the truth about the session: slot 1's state differs from
// 25702 on.
func TestStates(t *testing.T) {
	for _, file := range []string{ordersHostFile, ordersGammaFile} {
		r, err := warzone.NewReplay(bytes.NewReader(ordersLoad(t, file)), file)
		if err != nil {
			t.Fatal(err)
		}
		crcs := map[uint32]map[uint8]uint16{}
		for {
			m, err := r.Next()
			if err != nil {
				break
			}
			if m.Type != warzone.TimeMessage {
				continue
			}
			g, ok := m.GameTime()
			if !ok {
				t.Fatal(m)
			}
			if crcs[g.CheckTime] == nil {
				crcs[g.CheckTime] = map[uint8]uint16{}
			}
			crcs[g.CheckTime][m.Queue] = g.CRC
		}
		if diff := cmp.Diff(map[uint8]uint16{0: 0x782c, 1: 0x6294, 2: 0x782c}, crcs[25702]); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
		for time, c := range crcs {
			equal := len(c) < 3 || c[0] == c[1] && c[0] == c[2]
			if alone := len(c) == 3 && c[0] == c[2] && c[0] != c[1]; equal && time >= 25702 && len(c) == 3 || !equal && !alone || !equal && time < 25702 {
				t.Errorf("%s: %d: %x", file, time, c)
			}
		}
	}
}

func reader(t testing.TB, b []byte) *warzone.Reader {
	t.Helper()
	r, err := warzone.NewReader(bytes.NewReader(b), "x.wzrp")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCompare compares the recordings of two peers: a queue's messages are equal
// on both up to where the shorter one ends.
func TestCompare(t *testing.T) {
	var peers []orderlog.Named
	for _, file := range []string{ordersHostFile, ordersGammaFile} {
		r := reader(t, ordersLoad(t, file))
		peers = append(peers, orderlog.Named{Name: r.Header().Peer, Source: r})
	}
	c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.DifferenceCount != 0 || c.State.ContradictionCount != 0 || c.Incomplete() || c.Window.Orders != 38 {
		t.Errorf("%+v", c)
	}
	want := "state differs: simulation: orders are equal, crc16/sync-debug hashes differ from state point 25702 on"
	if c.Line() != want {
		t.Errorf("%s", c.Line())
	}
	values := c.State.First.Values
	if values[0].Peer != "slot 0" || values[1].Peer != "slot 1" || !bytes.Equal(values[0].Hash, []byte{0x78, 0x2c}) || !bytes.Equal(values[1].Hash, []byte{0x62, 0x94}) {
		t.Errorf("%+v", values)
	}
	if len(c.Peers) != 2 || c.Reference != "slot 0" {
		t.Errorf("%+v", c.Peers)
	}
}

// TestTickOfDump compares the placing of messages with what the game itself wrote
// into the dump of 25702: which messages it read between the updates of 25602 and
// 25702.
func TestTickOfDump(t *testing.T) {
	r := reader(t, ordersLoad(t, ordersHostFile))
	for {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if warzone.TickName(rec.Tick.Number) != "25702" {
			continue
		}
		var got []string
		for _, h := range rec.Tick.Hashes {
			got = append(got, fmt.Sprintf("GAME_GAME_TIME p%d ct%s crc%X", h.Peer, warzone.TickName(h.Point), h.Bytes))
		}
		want := []string{"GAME_GAME_TIME p0 ct24602 crc4187", "GAME_GAME_TIME p1 ct24602 crc4187", "GAME_GAME_TIME p2 ct24602 crc4187"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		return
	}
}

// small is a recording made by hand: two queues, with a latency of 2 ticks, then
// 1, then 3. Numbers from 178 on have two bytes: 202 and 302.
func small() []byte {
	settings := `{"replayFormatVer":2,"gameOptions":{"randSeed":7,"selectedPlayer":1,"versionString":"4.3.3","game":{"map":"M"},"netplay.players":[{"name":"a","allocated":true},{"name":"b","allocated":true}]}}`
	b := append([]byte("WZrp"), 0, 0, 0, byte(len(settings)))
	b = append(b, settings...)
	b = append(b, 0, 0, 0, 1, 0, 0, 0, 3, 'x', 'y', 'z')
	b = append(b, 0, 112, 2, 'A', 'B')                    // due at 102: tick 2
	b = append(b, 0, 120, 6, 2, 102, 0xaa, 0x01, 0, 0)    // until 302
	b = append(b, 1, 120, 6, 0, 0, 0, 0, 0, 0)            // no state yet; until 0, so the queue is read on
	b = append(b, 1, 120, 6, 2, 102, 0xaa, 0x02, 0, 0)    // until 302
	b = append(b, 0, 113, 0)                              // due at 402: tick 5
	b = append(b, 0, 120, 7, 1, 231, 0, 0xbb, 0x01, 0, 0) // 202, until 302: not enough
	b = append(b, 0, 123, 1, 'C')                         // due at 402 still
	b = append(b, 0, 120, 7, 3, 209, 1, 0xcc, 0x01, 0, 0) // 302, until 602
	b = append(b, 1, 121, 1, 1)                           // player 1 left
	b = append(b, 0, 114, 1, 'D')                         // due at 702: tick 8
	b = append(b, 0, 133, 0)
	return append(b, "\x00\x00\x00\x19{\"gameTimeElapsed\":67802}\x00\x00\x00\x19"...)
}

func TestSmall(t *testing.T) {
	r := reader(t, small())
	h := r.Header()
	if h.Peer != "slot 1" || h.Seed != 7 || h.Build != "4.3.3" || h.Params["player 1"] != "b" || h.Params["map"] != "M" || len(h.Peers) != 2 {
		t.Errorf("%+v", h)
	}
	var got []string
	for {
		rec, err := r.Next()
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		s := fmt.Sprintf("%s:", warzone.TickName(rec.Tick.Number))
		for _, o := range rec.Tick.Orders {
			s += fmt.Sprintf(" %d %s %q", o.Player, h.Kinds[o.Kind].Name, o.Payload)
		}
		for _, o := range rec.Tick.Hashes {
			s += fmt.Sprintf(" %d@%d=%x", o.Peer, o.Point, o.Bytes)
		}
		for _, m := range rec.Tick.Markers {
			s += fmt.Sprintf(" %s %d", m.Kind, m.Player)
		}
		if rec.TailCut {
			s += " cut"
		}
		got = append(got, s)
	}
	want := []string{
		`202: 0 DROIDINFO "AB" 0@1=aa01 1@1=aa02`,
		`502: 0 STRUCTUREINFO "" 0 SYNC_REQUEST "C" 0@2=bb01 0@3=cc01 leave 1`,
		`802: 0 RESEARCHSTATUS "D" cut`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTorn cuts a recording at every byte: all whole messages come first.
func TestTorn(t *testing.T) {
	whole, _, err := messages(t, small())
	if err != io.EOF {
		t.Fatal(err)
	}
	b := small()
	for n := range b {
		got, _, err := messages(t, b[:n])
		switch {
		case n > 0 && n < 4:
			if !errors.Is(err, frame.ErrUnrecognized) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		case !errors.Is(err, frame.ErrTorn):
			t.Fatalf("%d bytes: %v", n, err)
		}
		want := 0
		for want < len(whole) && (want+1 < len(whole) && whole[want+1].Offset <= int64(n) || want+1 == len(whole) && n >= len(b)-36) {
			want++
		}
		if len(got) != want {
			t.Fatalf("%d bytes: %d messages, want %d", n, len(got), want)
		}
	}
	if _, err := warzone.NewReader(strings.NewReader(""), "a.wzrp"); err == nil ||
		err.Error() != "a.wzrp: torn at offset 0: empty file: the game writes its recording when it ends" {
		t.Error(err)
	}
}

func TestCorrupt(t *testing.T) {
	edit := func(old, new string) []byte {
		b := small()
		if !bytes.Contains(b, []byte(old)) {
			t.Fatalf("%q is not there", old)
		}
		return bytes.Replace(b, []byte(old), []byte(new), 1)
	}
	for _, c := range []struct {
		bytes []byte
		kind  error
		want  string
	}{
		{[]byte("WZRP\x00\x00\x00\x00"), frame.ErrUnrecognized, `expected "WZrp"`},
		{[]byte("WZrp\xff\xff\xff\xff{}"), frame.ErrCorrupt, "header of 4294967295 bytes"},
		{[]byte("WZrp\x00\x00\x00\x02[]"), frame.ErrCorrupt, "header: json"},
		{[]byte("WZrp\x00\x00\x00\x02{}"), frame.ErrVersion, "format 0, expected 2"},
		{edit(`Ver":2`, `Ver":3`), frame.ErrVersion, "format 3, expected 2"},
		{edit(`Player":1`, `Player":-`), frame.ErrCorrupt, "header: "},
		{edit("\x00\x00\x00\x03xyz", "\xff\x00\x00\x03xyz"), frame.ErrTorn, "embedded data of 4278190083 bytes"},
		{edit("\x02AB", "\x02A"), frame.ErrCorrupt, ""},
		{edit("\x00\x71\x00", "\x00\x6f\x00"), frame.ErrCorrupt, "message of type 111, expected 112 to 133"},
		{edit("\x00\x71\x00", "\x00\x86\x00"), frame.ErrCorrupt, "message of type 134"},
		{edit("\x00\x71\x00", "\x00\x71\xff\xff\xff\xff\xff"), frame.ErrCorrupt, "length of a message is above"},
		{edit("\x00\x71\x00", "\x00\x71\xb2\xa1\xe0\xba\xff"), frame.ErrCorrupt, "length of a message is above"},
		{edit("\x00\x71\x00", "\x00\x71\xff\x02"), frame.ErrTorn, "the file ends inside a message of 334 bytes"},
		{edit("\x00\x85\x00", "\x00\x85\x01"), frame.ErrCorrupt, "end marker with a payload"},
		{edit("}\x00\x00\x00\x19", "}\x00\x00\x00\x18"), frame.ErrCorrupt, "footer's lengths are 25 and 24"},
		{edit("}\x00\x00\x00\x19", "}\x00\x00\x00\x19\x00"), frame.ErrCorrupt, "bytes after the footer"},
		{edit("\x00\x00\x00\x19{", "\x00\x02\x00\x19{"), frame.ErrCorrupt, "footer of 131097 bytes"},
		{edit(`"gameTimeElapsed":67802`, `"gameTimeElapsed":6780x`), frame.ErrCorrupt, "footer: "},
	} {
		_, _, err := messages(t, c.bytes)
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{"\x78\x06\x02\x66\xaa\x01\x00\x00", "\x78\x06\x02\x67\xaa\x01\x00\x00", "time of GAME_TIME is 103, expected a multiple of 100 and 2"},
		{"\x78\x06\x02\x66\xaa\x01\x00\x00", "\x78\x05\x02\x66\xaa\x01\x00", "payload of GAME_TIME is 0x0266aa0100"},
		{"\x78\x06\x02\x66\xaa\x01\x00\x00", "\x78\x02\x02\xff", "payload of GAME_TIME is 0x02ff"},
	} {
		r := reader(t, edit(c.old, c.new))
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
		if _, again := r.Next(); again != err {
			t.Errorf("then %v", again)
		}
	}
}

// TestInput reads in small pieces, and from a reader that fails.
func TestInput(t *testing.T) {
	b := ordersLoad(t, ordersHostFile)
	r, err := warzone.NewReplay(iotest.OneByteReader(bytes.NewReader(b)), "x")
	if err != nil {
		t.Fatal(err)
	}
	var got []message
	for {
		m, err := r.Next()
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		got = append(got, message{m.Queue, byte(m.Type), string(m.Payload), m.Offset})
	}
	if diff := cmp.Diff(naive(b), got); diff != "" {
		t.Error(diff)
	}
	broken := errors.New("broken")
	r, err = warzone.NewReplay(io.MultiReader(bytes.NewReader(b[:9000]), iotest.ErrReader(broken)), "x")
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	r, err = warzone.NewReplay(io.MultiReader(bytes.NewReader(b), iotest.ErrReader(broken)), "x")
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestVarint compares GAME_TIME payloads with the naive decoder.
func TestVarint(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		b := make([]byte, 14)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		latency, n := naiveVarint(b)
		check, k := naiveVarint(b[n:])
		m := warzone.Message{Type: warzone.TimeMessage, Payload: b[:n+k+4]}
		g, ok := m.GameTime()
		if fits := latency < 1<<32 && check < 1<<32; ok != fits {
			t.Fatalf("%x: %v", b, ok)
		} else if fits && (uint64(g.Latency) != latency || uint64(g.CheckTime) != check) {
			t.Fatalf("%x: %+v, want %d and %d", b, g, latency, check)
		}
	}
}

func FuzzOrdersReplay(f *testing.F) {
	f.Add(small())
	f.Add(ordersLoad(f, ordersHostFile)[:9000])
	f.Add(ordersLoad(f, ordersGammaFile)[:9000])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := warzone.NewReader(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		last := uint64(0)
		for {
			rec, err := r.Next()
			if err != nil {
				if err != io.EOF && !errors.As(err, new(*frame.Error)) {
					t.Error(err)
				}
				return
			}
			if rec.Tick.Number <= last {
				t.Errorf("tick %d after %d", rec.Tick.Number, last)
			}
			last = rec.Tick.Number
		}
	})
}

// appendVarint encodes a number as naiveVarint decodes it.
func appendVarint(b []byte, v uint64) []byte {
	for _, a := range []uint64{78, 95, 32, 70, 0} {
		if v < 256-a {
			return append(b, byte(v))
		}
		v -= 256 - a
		b = append(b, byte(255-v%a))
		v /= a
	}
	panic("too large")
}

// long is a recording with the messages of a real one, many times, with check times that go on.
func long(b *testing.B, size int) []byte {
	file := ordersLoad(b, ordersHostFile)
	list := naive(file)
	out := append([]byte(nil), file[:list[0].Offset]...)
	for later := uint64(0); len(out) < size; later += 68000 {
		for _, m := range list {
			payload := []byte(m.Payload)
			if m.Type == 120 {
				check, n := naiveVarint(payload[1:])
				payload = append(appendVarint(payload[:1:1], check+later), payload[1+n:]...)
			}
			out = append(appendVarint(append(out, m.Queue, m.Type), uint64(len(payload))), payload...)
		}
	}
	return append(out, file[len(file)-36:]...)
}

func BenchmarkOrdersReplay(b *testing.B) {
	file := long(b, 16<<20)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := warzone.NewReplay(bytes.NewReader(file), "x")
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	file := long(b, 16<<20)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := warzone.NewReader(bytes.NewReader(file), "x")
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

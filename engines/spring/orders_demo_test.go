package spring_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

const ordersCorpus = "../../testdata/spring"

var (
	ordersSessions = []string{"control", "pos_1ulp", "silent_health", "checksum_only"}
	players        = []string{"Alice", "Bob", "Carol"}
)

// load returns the unpacked content of a file of the corpus.
func ordersLoad(t testing.TB, name ...string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{ordersCorpus}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message is a spring.Message that lasts.
type message struct {
	Offset, Frame int64
	Body          string
}

func messages(b []byte) (list []message, d *spring.Demo, err error) {
	d, err = spring.NewDemo(bytes.NewReader(b), "x.sdfz")
	for err == nil {
		var m *spring.Message
		if m, err = d.Next(); err == nil {
			list = append(list, message{m.Offset, m.Frame, string(m.Body)})
		}
	}
	return list, d, err
}

// naive decodes a whole demo, which is known to be well-formed.
func naive(b []byte) (list []message) {
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	at := u32(20) + u32(304)
	end := at + u32(308)
	for n := -1; at < end; at += 8 + u32(at+4) {
		body := b[at+8 : at+8+u32(at+4)]
		if body[0] == 1 {
			n = int(int32(binary.LittleEndian.Uint32(body[1:])))
		} else if body[0] == 2 {
			n++
		}
		list = append(list, message{int64(at), int64(n), string(body)})
	}
	return list
}

// TestDemo compares the reader with the naive decoder on real demos.
func TestDemo(t *testing.T) {
	for _, session := range ordersSessions {
		var ids []string
		for _, peer := range []string{"server", "Alice"} {
			b := ordersLoad(t, session, peer, "demo.sdfz")
			want := naive(b)
			got, d, err := messages(b)
			if err != io.EOF || len(want) < 1000 {
				t.Fatal(session, peer, err, len(want))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s/%s: -naive +got\n%s", session, peer, diff)
			}
			h := d.Header
			if h.Version != 5 || h.Map != "MiniMap 1" || h.Game != "Mini Lockstep 1" || fmt.Sprint(h.Players) != "map[0:Alice 1:Bob 2:Carol]" {
				t.Errorf("%s/%s: %+v", session, peer, h)
			}
			ids = append(ids, h.GameID)
		}
		log, err := spring.ReadInfolog(bytes.NewReader(ordersLoad(t, session, "Bob", "infolog.txt.gz")), "x")
		if err != nil || ids[0] != ids[1] || ids[0] != log.GameID || strings.Trim(ids[0], "0") == "" {
			t.Error(session, ids, log.GameID, err)
		}
	}
}

// order is an order and the tick that has it.
type order struct {
	Tick     uint64
	Kind     string
	Player   uint32
	Sequence uint32
	Payload  string
}

// read returns the orders that must be the same on all peers, and the checksums.
func ordersRead(t testing.TB, b []byte) (h orderlog.Header, d orderlog.Dialect, orders []order, sums []string) {
	t.Helper()
	r, err := spring.NewReader(bytes.NewReader(b), "x.sdfz")
	if err != nil {
		t.Fatal(err)
	}
	h = r.Header()
	for {
		rec, err := r.Next()
		if err != nil {
			if _, again := r.Next(); err != io.EOF || again != err {
				t.Fatal(err, again)
			}
			return h, r.Dialect(), orders, sums
		}
		for _, o := range rec.Tick.Orders {
			if k := h.Kinds[o.Kind]; !k.Local {
				orders = append(orders, order{o.Tick, k.Name, o.Player, o.Sequence, string(o.Payload)})
			}
		}
		for _, s := range rec.Tick.Hashes {
			sums = append(sums, fmt.Sprintf("%d %d %x", s.Peer, s.Point, s.Bytes))
		}
	}
}

// TestOrders checks that the server's demo and Alice's have the same orders.
func TestOrders(t *testing.T) {
	for i, session := range ordersSessions {
		h1, d1, server, sums1 := ordersRead(t, ordersLoad(t, session, "server", "demo.sdfz"))
		all := server
		h2, d2, alice, sums2 := ordersRead(t, ordersLoad(t, session, "Alice", "demo.sdfz"))
		if h1.Peer != "server" || !d1.Server || h2.Peer != "Alice" || d2.Server || d1.Session != d2.Session || d1.Session == "" {
			t.Errorf("%s: %+v %+v", session, h1, h2)
		}
		if diff := cmp.Diff(players, h1.Peers); diff != "" {
			t.Error(diff)
		}
		// Alice left before the others did, in her last frame.
		list := naive(ordersLoad(t, session, "Alice", "demo.sdfz"))
		last := uint64(list[len(list)-1].Frame)
		late := func(o order) bool { return o.Tick >= last }
		server, alice = slices.DeleteFunc(slices.Clone(server), late), slices.DeleteFunc(alice, late)
		if diff := cmp.Diff(server, alice); diff != "" || len(alice) < 280 {
			t.Errorf("%s: %d and %d orders up to frame %d\n%s", session, len(server), len(alice), last, diff)
		}
		commands := 0
		for _, o := range all {
			if o.Kind == "ai command" {
				commands++
			}
		}
		if i == 0 && commands != 289 {
			t.Errorf("%s: %d orders to units, want 289", session, commands)
		}
		if diff := cmp.Diff(sums1[:len(sums2)], sums2); diff != "" {
			t.Error(diff)
		}
	}
}

// chunk returns a message as it is in a demo.
func chunk(body string) string {
	b := binary.LittleEndian.AppendUint32([]byte{0, 0, 0x80, 0x3f}, uint32(len(body)))
	return string(b) + body
}

// demo returns a demo that is made by hand, with that length of the messages in its header.
func demo(stream int32, script string, bodies ...string) []byte {
	b := make([]byte, 352)
	copy(b, "spring demofile\x00")
	le := binary.LittleEndian
	le.PutUint32(b[16:], 5)
	le.PutUint32(b[20:], 352)
	copy(b[24:], "106.0")
	copy(b[280:], "\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10")
	le.PutUint32(b[304:], uint32(len(script)))
	le.PutUint32(b[308:], uint32(stream))
	b = append(b, script...)
	for _, body := range bodies {
		b = append(b, chunk(body)...)
	}
	return b
}

const (
	script   = "[game]\n{\n[PLAYER1]\n{\nName=Ann;\nteam=0;\n}\n[ai0]\n{\nname=no player;\n}\nMapName=M 1;\ngametype=G;\n}\n"
	keyFrame = "\x01\x07\x00\x00\x00"
	newFrame = "\x02"
	response = "\x21\x01\x08\x00\x00\x00\x04\x03\x02\x01"
	// size 30, player 1, ai 2, team 3, unit 5, command 10, timeout 2^31-1, options 32, two parameters
	aiCommand = "\x0e\x1e\x00\x01\x02\x03\x05\x00\x0a\x00\x00\x00\xff\xff\xff\x7f\x20\x02\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\xc0"
	// the same with the number 4 before its parameter
	tracked = "\x4c\x1e\x00\x01\x02\x03\xff\xff\x0a\x00\x00\x00\xff\xff\xff\x7f\x20\x01\x00\x00\x00\x04\x00\x00\x00\x00\x00\x80\x3f"
	command = "\x0b\x14\x00\x01\x0a\x00\x00\x00\x00\x00\x00\x00\x08\x01\x00\x00\x00\x00\x00\x00\x3f"
	choice  = "\x0c\x08\x00\x01\x05\x00\xff\xff"
	chat    = "\x07\x08\x01\xfehi!\x00"
	mine    = "\x05\x01"
	left    = "\x27\x01\x02"
	joined  = "\x4b\x0a\x00\x09\x01\x00Dan\x00"
	system  = "\x23\x4b\x00\xffSync error for Ann in frame 7 (got 1, correct is f0000000)\x00"
)

// TestBytes pins what a demo made by hand becomes.
func TestBytes(t *testing.T) {
	b := demo(0, script, mine, chat, keyFrame, aiCommand, command, chat, newFrame, newFrame, response, choice, joined, left, tracked, system)
	d, err := spring.NewDemo(bytes.NewReader(b), "x.sdfz")
	if err != nil {
		t.Fatal(err)
	}
	if h := d.Header; h.Version != 5 || h.Engine != "106.0" || h.GameID != "0123456789abcdeffedcba9876543210" || h.Script != script ||
		h.Map != "M 1" || h.Game != "G" || fmt.Sprint(h.Players) != "map[1:Ann]" {
		t.Errorf("%+v", h)
	}
	var claims []string
	for {
		m, err := d.Next()
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		if e, ok := m.SyncError(); ok {
			claims = append(claims, fmt.Sprintf("%v %d %x %x %d %s", e.Players, e.Frame, e.Got, e.Correct, e.Logged, e.Text))
		}
	}
	if diff := cmp.Diff([]string{"[Ann] 7 1 f0000000 9 Sync error for Ann in frame 7 (got 1, correct is f0000000)"}, claims); diff != "" {
		t.Error(diff)
	}
	if d.Header.Players[9] != "Dan" {
		t.Error(d.Header.Players)
	}

	r, err := spring.NewReader(iotest.OneByteReader(bytes.NewReader(b)), "x.sdfz")
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Header(); h.Peer != "Ann" || r.Dialect().Server || fmt.Sprint(h.Peers) != "[player 0 Ann]" {
		t.Errorf("%+v", h)
	}
	var got []string
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d at %d", rec.Tick.Number, rec.Offset-int64(352+len(script))))
		for _, o := range rec.Tick.Orders {
			kind := r.Header().Kinds[o.Kind]
			line := fmt.Sprintf("  %s local=%v player %d number %d, %d bytes", kind.Name, kind.Local, o.Player, o.Sequence, len(o.Payload))
			for _, f := range r.Dialect().Fields(kind.Name, o.Payload) {
				line += fmt.Sprintf(" %s=%s", f.Path, f.Value)
			}
			got = append(got, line)
		}
		for _, s := range rec.Tick.Hashes {
			got = append(got, fmt.Sprintf("  %s %s of %d at %d: %x", s.Kind, s.Coverage, s.Peer, s.Point, s.Bytes))
		}
		for _, m := range rec.Tick.Markers {
			got = append(got, fmt.Sprintf("  %s %d", m.Kind, m.Player))
		}
	}
	want := []string{
		"0 at 10",
		"  setup local=true player 1 number 0, 8 bytes",
		"7 at 39",
		"  ai command local=false player 1 number 0, 29 bytes player=1 ai=2 team=3 unit=5 command=10 timeout=2147483647 options=32 params[0]=1 params[1]=-2",
		"  command local=false player 1 number 1, 21 bytes player=1 command=10 timeout=0 options=8 params[0]=0.5",
		"  chat local=true player 1 number 2, 8 bytes",
		"9 at 139",
		"  select local=false player 1 number 0, 8 bytes player=1 units[0]=5 units[1]=-1",
		"  tracked ai command local=false player 1 number 1, 29 bytes player=1 ai=2 team=3 unit=-1 command=10 timeout=2147483647 options=32 number=4 params[0]=1",
		"  spring checksum of 1 at 8: 01020304",
		"  join 9",
		"  removal 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFields has messages that give a wrong number of parameters.
func TestFields(t *testing.T) {
	for kind, payload := range map[string]string{"ai command": aiCommand, "command": command, "tracked ai command": tracked} {
		for n := range len(payload) {
			if got := spring.Fields(kind, []byte(payload[:n])); got != nil {
				t.Errorf("%s of %d bytes: %v", kind, n, got)
			}
		}
		if got := spring.Fields(kind, []byte(payload+"\x00\x00\x00\x00")); got != nil {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if spring.Fields("chat", []byte(chat)) != nil {
		t.Error("fields of a chat")
	}
}

// TestForged has lines that players write, which are not claims.
func TestForged(t *testing.T) {
	line := "Sync error for Ann in frame 7 (got 1, correct is 2)\x00"
	for _, body := range []string{"\x07\x40\x01\xfe" + line, "\x23\x40\x00\x01" + line, "\x23\x40\x00\xff<Ann> " + line, "\x31\x40\x00\x01\x00" + line, "\x23", "\x23\x04\x00\xff"} {
		d, err := spring.NewDemo(bytes.NewReader(demo(0, script, body)), "x")
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := m.SyncError(); ok {
			t.Errorf("%q: %+v", body, e)
		}
	}
}

// TestTorn cuts a demo everywhere.
func TestOrdersTorn(t *testing.T) {
	bodies := []string{mine, keyFrame, aiCommand, newFrame, response}
	size := int32(len(demo(0, "", bodies...)) - 352)
	ends := map[int]int{} // where messages end: how many there are
	at := 352 + len(script)
	for i, body := range bodies {
		ends[at] = i
		at += 8 + len(body)
	}
	for _, stream := range []int32{size, 0} {
		whole := demo(stream, script, bodies...)
		for n := range whole {
			got, _, err := messages(whole[:n])
			want, atEnd := ends[n]
			switch {
			case n < 16:
				if !errors.Is(err, frame.ErrUnrecognized) {
					t.Fatalf("%d: %v", n, err)
				}
			case atEnd && stream == 0:
				if err != io.EOF || len(got) != want {
					t.Fatalf("%d: %d messages, %v", n, len(got), err)
				}
			default:
				var e *frame.Error
				if !errors.As(err, &e) || !errors.Is(err, frame.ErrTorn) || e.Offset+e.Lost != int64(n) {
					t.Fatalf("%d: %v", n, err)
				}
				if _, last := ends[int(e.Offset)]; !last && e.Offset != 0 && e.Offset != 352 {
					t.Fatalf("%d: torn at %d", n, e.Offset)
				}
			}
		}
		// After the messages come statistics.
		if got, _, err := messages(append(whole, "rest"...)); stream > 0 && (err != io.EOF || len(got) != len(bodies)) {
			t.Error(len(got), err)
		}
	}
}

func TestBadDemo(t *testing.T) {
	edit := func(at int, v int32) []byte {
		b := demo(0, script, keyFrame)
		binary.LittleEndian.PutUint32(b[at:], uint32(v))
		return b
	}
	infolog := ordersLoad(t, "control", "Alice", "infolog.txt.gz")
	for what, c := range map[string]struct {
		b    []byte
		kind error
	}{
		"empty":               {nil, frame.ErrUnrecognized},
		"an infolog":          {infolog, frame.ErrUnrecognized},
		"header size":         {edit(20, 351), frame.ErrCorrupt},
		"negative header":     {edit(20, -1), frame.ErrCorrupt},
		"large header":        {edit(20, 1<<30), frame.ErrCorrupt},
		"header past end":     {edit(20, 60000), frame.ErrTorn},
		"negative script":     {edit(304, -1), frame.ErrCorrupt},
		"large script":        {edit(304, 1<<30), frame.ErrCorrupt},
		"script past end":     {edit(304, 16<<20), frame.ErrTorn},
		"negative messages":   {edit(308, -5), frame.ErrCorrupt},
		"messages past end":   {edit(308, 1<<30), frame.ErrTorn},
		"message over end":    {edit(308, 12), frame.ErrCorrupt},
		"half a chunk header": {edit(308, 4), frame.ErrCorrupt},
		"message of nothing":  {append(demo(0, script), chunk("")...), frame.ErrCorrupt},
		"long message":        {append(demo(0, script), 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff), frame.ErrCorrupt},
		"short key frame":     {demo(0, script, keyFrame[:4]), frame.ErrCorrupt},
		"negative key frame":  {demo(0, script, "\x01\xff\xff\xff\xff"), frame.ErrCorrupt},
		"key frame back":      {demo(0, script, keyFrame, "\x01\x06\x00\x00\x00"), frame.ErrCorrupt},
		"last frame":          {demo(0, script, "\x01\xff\xff\xff\x7f", newFrame), frame.ErrCorrupt},
	} {
		_, _, err := messages(c.b)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", what, err, c.kind)
		}
	}
	trouble := errors.New("trouble")
	for _, n := range []int{0, 8, 100, 360, 352 + len(script) + 3, 352 + len(script) + 9} {
		d, err := spring.NewDemo(io.MultiReader(bytes.NewReader(demo(0, script, keyFrame)[:n]), iotest.ErrReader(trouble)), "x")
		if err == nil {
			_, err = d.Next()
		}
		if !errors.Is(err, trouble) {
			t.Errorf("%d: %v", n, err)
		}
	}
	r, err := spring.NewReader(bytes.NewReader(demo(0, script, keyFrame, chat, "\x01\x06\x00\x00\x00")), "x")
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := r.Next(); err != nil || len(rec.Tick.Orders) != 1 {
		t.Errorf("%+v %v", rec, err)
	}
	if _, err := r.Next(); !errors.Is(err, frame.ErrCorrupt) {
		t.Error(err)
	}
}

// TestManyBeforeStart has more messages before the first frame than are searched.
func TestManyBeforeStart(t *testing.T) {
	bodies := make([]string, 1<<14+10)
	for i := range bodies {
		bodies[i] = chat
	}
	r, err := spring.NewReader(bytes.NewReader(demo(0, script, append(bodies, keyFrame, aiCommand)...)), "x")
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil || len(rec.Tick.Orders) != len(bodies) {
		t.Fatal(len(rec.Tick.Orders), err)
	}
	if rec, err = r.Next(); err != nil || rec.Tick.Number != 7 || len(rec.Tick.Orders) != 1 {
		t.Errorf("%+v %v", rec.Tick, err)
	}
}

func FuzzOrdersDemo(f *testing.F) {
	b := ordersLoad(f, "pos_1ulp", "Alice", "demo.sdfz")
	f.Add(b[:9<<10])
	f.Add(demo(0, script, mine, chat, keyFrame, aiCommand, newFrame, response, choice, joined, left, tracked, system))
	f.Add(demo(400, script, keyFrame))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, _, end := messages(b)
		if end != io.EOF && !errors.As(end, new(*frame.Error)) {
			t.Fatal(end)
		}
		at := int64(-1)
		for _, m := range list {
			if m.Offset <= at || m.Frame < -1 {
				t.Fatalf("%+v after offset %d", m, at)
			}
			at = m.Offset
		}
		r, err := spring.NewReader(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		last := int64(-1)
		for {
			rec, err := r.Next()
			if err != nil {
				if err != end && err.Error() != strings.Replace(end.Error(), "x.sdfz", "x", 1) {
					t.Fatalf("%v, the demo's %v", err, end)
				}
				return
			}
			if int64(rec.Tick.Number) <= last {
				t.Fatalf("tick %d after %d", rec.Tick.Number, last)
			}
			last = int64(rec.Tick.Number)
			for _, o := range rec.Tick.Orders {
				spring.Fields(r.Header().Kinds[o.Kind].Name, o.Payload)
			}
		}
	})
}

// large returns a demo with the messages of a real one, many times.
func ordersLarge(b *testing.B) []byte {
	one := ordersLoad(b, "control", "server", "demo.sdfz")
	list := naive(one)
	var body []byte
	for _, m := range list {
		if m.Body[0] != spring.MsgKeyFrame {
			body = append(body, chunk(m.Body)...)
		}
	}
	return append(demo(0, script), bytes.Repeat(body, 32<<20/len(body))...)
}

func BenchmarkOrdersDemo(b *testing.B) {
	long := ordersLarge(b)
	b.SetBytes(int64(len(long)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := spring.NewDemo(bytes.NewReader(long), "x")
		for err == nil {
			_, err = d.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	long := ordersLarge(b)
	b.SetBytes(int64(len(long)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := spring.NewReader(bytes.NewReader(long), "x")
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

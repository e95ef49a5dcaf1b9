package widelands_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/desynctool/desynctool/engines/widelands"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

// packets reads a replay to its end.
func packets(t testing.TB, r io.Reader) ([]string, error) {
	t.Helper()
	p, err := widelands.NewReplay(r, "test")
	if err != nil {
		return nil, err
	}
	var out []string
	for {
		k, err := p.Next()
		if err != nil {
			if _, again := p.Next(); again != err {
				t.Errorf("%v, then %v", err, again)
			}
			return out, err
		}
		switch k.Kind {
		case widelands.Command:
			out = append(out, fmt.Sprintf("%d %d due %d serial %d %s of %d: %x", k.Offset, k.Time, k.Due, k.Serial, widelands.CommandName(k.ID), k.Player, k.Bytes))
		case widelands.Hash:
			out = append(out, fmt.Sprintf("%d %d %x", k.Offset, k.Time, k.MD5))
		case widelands.End:
			out = append(out, fmt.Sprintf("%d %d end", k.Offset, k.Time))
		}
	}
}

func TestRealReplays(t *testing.T) {
	for i, want := range []struct{ end, command string }{
		{"17647 162248 end", "647 6112 due 6507 serial 0 Build of 1: 010105000c001c00"},
		{"17647 162306 end", "689 6442 due 6507 serial 0 Build of 1: 010105000c001c00"},
	} {
		all, err := packets(t, bytes.NewReader(read(t, ordersPeers[i])))
		if err != io.EOF {
			t.Fatalf("%s ends with %v", ordersPeers[i], err)
		}
		commands := 0
		for _, s := range all {
			if strings.Contains(s, " due ") {
				if commands++; commands == 1 && s != want.command {
					t.Errorf("%s, expected %s", s, want.command)
				}
			}
		}
		if len(all) != 28+811+1 || commands != 28 || all[len(all)-1] != want.end {
			t.Errorf("%s: %d packets, %d commands, %s", ordersPeers[i], len(all), commands, all[len(all)-1])
		}
		if want := "17 200 362b6e9a0cb15a52e0f2119ef13dd38a"; all[0] != want {
			t.Errorf("%s, expected %s", all[0], want)
		}
	}
}

const head = "01a1212e 03 637705f0 01000000 02000000 "

// commandBytes are commands of every known kind, by hand, and their parameters.
var commandBytes = []struct{ hex, kind, fields string }{
	{"01 02 ffff 0300 feff", "Build", "building=-1 x=3 y=-2"},
	{"02 02 0300 0400", "BuildFlag", "x=3 y=4"},
	{"03 02 0300 0400 0200 0506", "BuildRoad", "x=3 y=4 steps[0]=5 steps[1]=6"},
	{"04 02 01 00010000", "FlagAction", "job=1 serial=256"},
	{"05 02 00010000", "StartStopBuilding", "serial=256"},
	{"06 02 00010000 0700 01", "EnhanceBuilding", "serial=256 building=7 keep_wares=1"},
	{"07 02 00010000 01", "Bulldoze", "serial=256 recurse=1"},
	{"08 02 00010000 01 0a00", "ChangeTrainingOptions", "serial=256 attribute=1 value=10"},
	{"09 02 00010000 01010000", "DropSoldier", "serial=256 soldier=257"},
	{"0a 02 00010000 ffff", "ChangeSoldierCapacity", "serial=256 change=-1"},
	{"0b 02 00010000 02000000 01010000 02010000 01", "EnemyFlagAction", "serial=256 soldiers[0]=257 soldiers[1]=258 conquer=1"},
	{"0c 02 00010000 01 ffffffff 40000000 01", "SetWarePriority", "serial=256 type=1 ware=-1 priority=64 site=1"},
	{"0d 02 00010000 03 0a000000", "SetWareTargetQuantity", "economy=256 ware=3 quantity=10"},
	{"0f 02 00010000 03 0a000000", "SetWorkerTargetQuantity", "economy=256 worker=3 quantity=10"},
	{"12 02 00010000 03000000 00 0a000000 00", "SetInputMaxFill", "serial=256 ware=3 type=0 fill=10 site=0"},
	{"15 02 00010000", "MessageSetStatusRead", "message=256"},
	{"16 02 00010000", "MessageSetStatusArchived", "message=256"},
	{"17 02 00010000 01 02 03", "SetStockPolicy", "warehouse=256 is_worker=1 ware=2 policy=3"},
	{"18 02 00010000 01", "DismantleBuilding", "serial=256 keep_wares=1"},
	{"19 02 00010000", "EvictWorker", "serial=256"},
	{"1a 02 00010000 01", "MilitarySiteSetSoldierPreference", "serial=256 preference=1"},
	{"1c 02 0300 0400 0100 05", "BuildWaterway", "x=3 y=4 steps[0]=5"},
	{"79 02 00010000", "ShipSink", "serial=256"},
	{"7a 02 00010000", "ShipCancelExpedition", "serial=256"},
	{"7b 02 00010000", "StartOrCancelExpedition", "serial=256"},
	{"7c 02 00010000 0300 0400", "ShipConstructPort", "serial=256 x=3 y=4"},
	{"7d 02 00010000 05", "ShipScoutDirection", "serial=256 direction=5"},
	{"7e 02 00010000 01", "ShipExploreIsland", "serial=256 direction=1"},
	{"86 02 00010000 01 05000000 01", "ExpeditionConfig", "serial=256 type=1 ware=5 add=1"},
	{"87 02 0300 0400", "PickCustomStartingPosition", "x=3 y=4"},
	{"ca 02 00010000 01", "ToggleMuteMessages", "building=256 all=1"},
	{"cb 02 00010000 01", "MarkMapObjectForRemoval", "object=256 mark=1"},
}

// TestCommands: each command ends where it should, so that all of a replay with one
// of each can be read, and has its parameters.
func TestCommands(t *testing.T) {
	content := head
	for i, c := range commandBytes {
		content += fmt.Sprintf("03 05000000 %02x000000 07000000 %s ", 10+i, c.hex)
	}
	content += "02 e8030000"
	r, err := widelands.NewReader(iotest.OneByteReader(bytes.NewReader(unhex(t, content))), "x_netclient_3.wrpl")
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header()
	if h.Seed != 2<<32|1 || h.Peer != "client 3" || h.TickRate != (orderlog.Rate{Num: 1000, Den: 1}) || len(h.Kinds) != len(commandBytes) {
		t.Errorf("header %+v", h)
	}
	for i, want := range commandBytes {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		o := rec.Tick.Orders[0]
		kind := h.Kinds[o.Kind].Name
		var fields []string
		for _, f := range widelands.Fields(kind, o.Payload) {
			fields = append(fields, f.Path+"="+f.Value)
		}
		if rec.Tick.Number != uint64(10+i) || kind != want.kind || o.Player != 2 || o.Sequence != 7 || strings.Join(fields, " ") != want.fields || !bytes.Equal(o.Payload, unhex(t, want.hex)) {
			t.Errorf("tick %d: %s %+v, %v, expected %s %s", rec.Tick.Number, kind, o, fields, want.kind, want.fields)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("ends with %v", err)
	}
	if widelands.Fields("Build", unhex(t, "02 02 0300 0400")) != nil || widelands.Fields("Build", []byte{1, 2, 3}) != nil || widelands.Fields("Act", []byte{128, 2}) != nil {
		t.Error("fields of what is not such a command")
	}
}

func TestReplayCut(t *testing.T) {
	b := unhex(t, head+"04 c8000000 000102030405060708090a0b0c0d0e0f 03 c8000000 2c010000 00000000 0301 0300 0400 0200 0506 02 2d010000")
	want, err := packets(t, bytes.NewReader(b))
	if err != io.EOF || len(want) != 3 {
		t.Fatalf("%v, %v", want, err)
	}
	bounds := []int{17, 38, 61, len(b)}
	for n := 5; n < len(b); n++ {
		got, err := packets(t, bytes.NewReader(b[:n]))
		whole := 0
		for whole+1 < len(bounds) && bounds[whole+1] <= n {
			whole++
		}
		var torn *frame.Error
		if !errors.As(err, &torn) || torn.Err != frame.ErrTorn || len(got) != whole || n >= 17 && (torn.Offset != int64(bounds[whole]) || torn.Lost != int64(n-bounds[whole])) {
			t.Errorf("%d bytes: %d packets, %v, expected %d and it torn", n, len(got), err, whole)
		}
	}
}

func TestBadReplays(t *testing.T) {
	hash := "04 c8000000 000102030405060708090a0b0c0d0e0f "
	for _, test := range []struct {
		name, hex string
		err       error
		want      string
	}{
		{"empty", "", frame.ErrUnrecognized, "no replay of Widelands"},
		{"other", "504b0304 14000000", frame.ErrUnrecognized, "begin with 01 a1 21 2e"},
		{"version 4", "02a1212e 04 00000000", frame.ErrVersion, "replay of magic 02 and version 4, expected 01 and 3"},
		{"version 2", "01a1212e 02 00000000", frame.ErrVersion, "version 2, expected"},
		{"RNG", "01a1212e 03 00000000 00000000 00000000", frame.ErrCorrupt, "begins with 00 00 00 00, expected 63 77 05 f0"},
		{"packet", head + "05", frame.ErrCorrupt, "corrupt at offset 17: packet of kind 5, expected 2, 3 or 4"},
		{"zero", head + hash + "00", frame.ErrCorrupt, "corrupt at offset 38: packet of kind 0"},
		{"unknown command", head + hash + "03 c8000000 2c010000 00000000 4d01 00000000", frame.ErrCorrupt, "corrupt at offset 38: command 77, of unknown length"},
		{"no player's command", head + hash + "03 c8000000 2c010000 00000000 8001 00000000", frame.ErrCorrupt, "offset 38: Act, of unknown length"},
		{"due", head + "03 c8000000 c7000000 00000000 0501 00000000", frame.ErrCorrupt, "StartStopBuilding is due at 199, before it was recorded at 200"},
		{"list that lies", head + "03 c8000000 2c010000 00000000 0b01 00000000 01000100", frame.ErrCorrupt, "EnemyFlagAction with a list of 65537"},
		{"list beyond the end", head + "03 c8000000 2c010000 00000000 0b01 00000000 00000100", frame.ErrTorn, "inside a command"},
		{"same hash time", head + hash + hash, frame.ErrCorrupt, "offset 38: hash of time 200 after one of 200"},
		{"after the end", head + "02 c8000000 00", frame.ErrCorrupt, "offset 22: bytes after the end"},
	} {
		_, err := packets(t, bytes.NewReader(unhex(t, test.hex)))
		if !errors.Is(err, test.err) || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, expected %q", test.name, err, test.want)
		}
	}
	broken := errors.New("disk on fire")
	if _, err := packets(t, io.MultiReader(bytes.NewReader(unhex(t, head+hash)), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v, expected the reader's error", err)
	}
}

// TestOrder: commands come at the time at which they are due, whenever they were
// recorded, and what was not yet due at the end does not come.
func TestOrder(t *testing.T) {
	command := func(recorded, due byte, player byte) string {
		return fmt.Sprintf("03 %02x000000 %02x000000 00000000 05 %02x 00000000 ", recorded, due, player)
	}
	hash := func(at byte) string { return fmt.Sprintf("04 %02x000000 %s ", at, strings.Repeat("ab", 16)) }
	for _, test := range []struct{ name, hex, want string }{
		{"sorted", command(1, 30, 1) + command(1, 20, 2) + command(2, 30, 3) + hash(10) + hash(20) + hash(25) + command(30, 30, 4) + "02 1f000000",
			"@74 10 hash; @36 20 hash 2; @116 25 hash; @17 30 1 3 4; EOF"},
		{"at the end", hash(10) + command(10, 20, 1) + command(11, 19, 2) + "02 14000000", "@17 10 hash; @57 19 2; EOF"},
		{"torn", hash(10) + command(12, 20, 1) + hash(15) + command(15, 15, 2) + hash(20), "@17 10 hash; @57 15 hash 2; @97 20 hash cut; torn"},
		{"goes back", hash(10) + command(12, 20, 1) + command(11, 20, 1) + hash(30), "@17 10 hash; corrupt"},
	} {
		r, err := widelands.NewReader(bytes.NewReader(unhex(t, head+test.hex)), "test")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for {
			rec, err := r.Next()
			if err != nil {
				switch {
				case err == io.EOF:
					got += "EOF"
				case errors.Is(err, frame.ErrTorn):
					got += "torn"
				case errors.Is(err, frame.ErrCorrupt):
					got += "corrupt"
				}
				break
			}
			got += fmt.Sprintf("@%d %d", rec.Offset, rec.Tick.Number)
			for _, h := range rec.Tick.Hashes {
				got += " hash"
				if h.Point != rec.Tick.Number || h.Kind != widelands.MD5 || h.Coverage != widelands.SyncStream || hex.EncodeToString(h.Bytes) != strings.Repeat("ab", 16) {
					t.Errorf("%+v", h)
				}
			}
			for _, o := range rec.Tick.Orders {
				got += fmt.Sprintf(" %d", o.Player)
			}
			if rec.TailCut {
				got += " cut"
			}
			got += "; "
		}
		if strings.Join(strings.Fields(got), " ") != test.want {
			t.Errorf("%s: %s, expected %s", test.name, got, test.want)
		}
	}
}

// TestCompareReplays: the session's orders are the same, its hashes part at 161600.
func TestCompareReplays(t *testing.T) {
	var logs []orderlog.Named
	for i, name := range []string{"host", "client 1"} {
		r, err := widelands.NewReader(bytes.NewReader(read(t, ordersPeers[i])), ordersPeers[i])
		if err != nil {
			t.Fatal(err)
		}
		if r.Header().Peer != name {
			t.Errorf("peer %q, expected %q", r.Header().Peer, name)
		}
		logs = append(logs, orderlog.Named{Name: name, Source: r})
	}
	c, err := orderlog.Compare(logs, orderlog.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.DifferenceCount+c.LocalCount != 0 || c.Incomplete() || c.Window.Orders != 28 || c.Window.From != 200 || c.Window.To != 162200 {
		t.Errorf("%s, %+v", c.Line(), c.Window)
	}
	if len(c.State.Hashes) != 1 {
		t.Fatalf("hashes %+v", c.State.Hashes)
	}
	h := c.State.Hashes[0]
	if h.Kind != widelands.MD5 || h.Coverage != widelands.SyncStream || h.First == nil || h.First.Point != 161600 || h.Differ != 4 || h.Equal != 807 {
		t.Errorf("%+v, first %+v", h, h.First)
	}
	if c.State.Good != nil {
		t.Errorf("equal hashes of the stream are taken for equal states: good %d", *c.State.Good)
	}
}

func recompute(t *testing.T, stream, replay []byte) (*widelands.Recomputed, error) {
	t.Helper()
	s, err := widelands.NewStream(iotest.HalfReader(bytes.NewReader(stream)), "stream")
	if err != nil {
		t.Fatal(err)
	}
	p, err := widelands.NewReplay(bytes.NewReader(replay), "replay")
	if err != nil {
		t.Fatal(err)
	}
	return widelands.Recompute(s, p)
}

func TestRecompute(t *testing.T) {
	for i, peer := range ordersPeers {
		stream, replay := read(t, peer+".wss.gz"), read(t, peer)
		got, err := recompute(t, stream, replay)
		if err != nil || *got != (widelands.Recomputed{Checked: 811, Fitting: 811}) {
			t.Errorf("%s: %+v, %v", peer, got, err)
		}
		// What the engine compared at 162175 was not written into the replay.
		report := unhex(t, head+[]string{"04 7f790200 a6abc5b369550a8dc501e6b9305a98cc", "04 7f790200 99222be330c45fc254158caacf90db73"}[i]+"02 7f790200")
		if got, err = recompute(t, stream, report); err != nil || *got != (widelands.Recomputed{Checked: 1, Fitting: 1}) {
			t.Errorf("%s: %+v, %v", peer, got, err)
		}
		// The other peer's stream fits up to where they part.
		other := read(t, ordersPeers[1-i]+".wss.gz")
		got, err = recompute(t, other, replay)
		if err != nil || got.Checked != 811 || got.Fitting != 807 || got.First == nil || got.First.Time != 161600 {
			t.Errorf("%s: %+v, %v", peer, got, err)
		} else if sum := md5.Sum(other[:got.First.Offset]); sum != got.First.Computed || sum == got.First.Recorded {
			t.Errorf("%s: %+v is not the MD5 of the leading bytes", peer, got.First)
		}
		// A copy of the stream while it was written.
		got, err = recompute(t, stream[:335872], replay)
		if !errors.Is(err, frame.ErrTorn) || got.First != nil || got.Fitting != got.Checked || got.Checked+got.Beyond != 811 || got.Checked < 500 || got.Beyond < 200 {
			t.Errorf("%s: %+v, %v", peer, got, err)
		}
		// One bit of a random number.
		entries, _ := decode(stream, 0)
		for _, e := range entries {
			if e.offset > 100_000 && strings.HasPrefix(e.what, "Random ") {
				stream[e.offset+1] ^= 1
				break
			}
		}
		got, err = recompute(t, stream, replay)
		if got == nil || got.First == nil || got.First.Offset < 100_000 || got.First.Offset > 102_000 || got.Fitting+1 < got.Checked/10 {
			t.Errorf("%s: %+v, %v", peer, got, err)
		}
		// A replay that breaks off.
		got, err = recompute(t, read(t, peer+".wss.gz"), replay[:10_000])
		if !errors.Is(err, frame.ErrTorn) || got.Checked != got.Fitting || got.Checked < 400 {
			t.Errorf("%s: %+v, %v", peer, got, err)
		}
	}
	s, err := widelands.NewStream(bytes.NewReader(read(t, ordersPeers[0]+".wse.gz")), "excerpt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := widelands.Recompute(s, nil); err == nil || !strings.Contains(err.Error(), "does not begin where the game does") {
		t.Errorf("%v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(read(f, ordersPeers[0])[:3000])
	f.Add(read(f, ordersPeers[1])[:3000])
	content := head
	for i, c := range commandBytes {
		content += fmt.Sprintf("03 05000000 %02x000000 07000000 %s ", 10+i, c.hex)
	}
	f.Add(unhex(f, content+"02 e8030000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := packets(t, bytes.NewReader(b))
		again, err2 := packets(t, iotest.OneByteReader(bytes.NewReader(b)))
		if fmt.Sprint(all, err) != fmt.Sprint(again, err2) {
			t.Fatalf("%v %v, read byte by byte %v %v", all, err, again, err2)
		}
		r, err := widelands.NewReader(bytes.NewReader(b), "test")
		if err != nil {
			return
		}
		last, orders := int64(-1), 0
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if int64(rec.Tick.Number) <= last {
				t.Fatalf("tick %d after %d", rec.Tick.Number, last)
			}
			last = int64(rec.Tick.Number)
			orders += len(rec.Tick.Orders)
			for _, o := range rec.Tick.Orders {
				if widelands.Fields(r.Header().Kinds[o.Kind].Name, o.Payload) == nil {
					t.Fatalf("%s % x has no fields", r.Header().Kinds[o.Kind].Name, o.Payload)
				}
			}
		}
		if orders > len(all) {
			t.Fatalf("%d orders of %d packets", orders, len(all))
		}
	})
}

// longReplay repeats a replay's packets, with times that go on.
func longReplay(t testing.TB, n int) []byte {
	content := read(t, ordersPeers[0])
	p, err := widelands.NewReplay(bytes.NewReader(content), "test")
	if err != nil {
		t.Fatal(err)
	}
	var times []int64
	for {
		k, err := p.Next()
		if err != nil {
			break
		}
		if k.Kind != widelands.End {
			times = append(times, k.Offset+1)
		}
		if k.Kind == widelands.Command {
			times = append(times, k.Offset+5)
		}
	}
	out := bytes.Clone(content[:17])
	for range n {
		out = append(out, content[17:len(content)-5]...)
		for _, at := range times {
			binary.LittleEndian.PutUint32(content[at:], binary.LittleEndian.Uint32(content[at:])+162400)
		}
	}
	return append(out, 2, 0xff, 0xff, 0xff, 0xff)
}

func BenchmarkReader(b *testing.B) {
	content := longReplay(b, 1000)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := widelands.NewReader(bytes.NewReader(content), "test")
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n += len(rec.Tick.Orders)
		}
		if n != 28_000 {
			b.Fatalf("%d orders", n)
		}
	}
}

func BenchmarkRecompute(b *testing.B) {
	stream, replay := read(b, ordersPeers[0]+".wss.gz"), read(b, ordersPeers[0])
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		s, err := widelands.NewStream(bytes.NewReader(stream), "test")
		if err != nil {
			b.Fatal(err)
		}
		p, err := widelands.NewReplay(bytes.NewReader(replay), "test")
		if err != nil {
			b.Fatal(err)
		}
		if r, err := widelands.Recompute(s, p); err != nil || r.Fitting != 811 {
			b.Fatal(r, err)
		}
	}
}

package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// broken are the rules that TestMutations has broken.
var broken = map[string]bool{}

// TestMutations breaks one rule in files of the reference writers, with all checksums and hashes
// made right again, and expects that rule and no other. Each rule that is checked is broken once
// at least.
func TestMutations(t *testing.T) {
	parts := []struct {
		name string
		test func(t *testing.T)
	}{
		{"order logs", testLog}, {"snapshots", testSnap}, {"binary traces", testTrace}, {"text traces", testTraceText}, {"reports", testReport}, {"tick signatures", testChain}, {"folders", testFolder},
	}
	ran := 0
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) { ran++; part.test(t) })
	}
	if ran < len(parts) {
		return // a part was asked for
	}
	for _, r := range Rules() {
		if r.Unchecked == "" && !broken[r.ID] {
			t.Errorf("no test breaks %s", r.ID)
		}
	}
}

// rulesOf returns the rules that a file breaks.
func rulesOf(t testing.TB, name string, b []byte) []string {
	t.Helper()
	f, _, err := checkContent(bytes.NewReader(b), int64(len(b)), name, Options{}, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	all := map[string]bool{}
	for _, x := range f.Findings {
		all[x.Rule.ID] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// breaks checks that a file breaks this rule and no other.
func breaks(t *testing.T, rule, name string, b []byte) {
	t.Helper()
	broken[rule] = true
	if got := rulesOf(t, name, b); !slices.Equal(got, []string{rule}) {
		f, _, _ := checkContent(bytes.NewReader(b), int64(len(b)), name, Options{}, nil)
		t.Errorf("%s: broken is %s, reported %v", rule, rule, got)
		for _, x := range f.Findings {
			t.Logf("  %s %s%s", x.Rule.ID, where(&x), x.Text)
		}
	}
}

func good(t *testing.T, name string, b []byte) {
	t.Helper()
	if got := rulesOf(t, name, b); len(got) > 0 {
		t.Fatalf("the file that is to be broken breaks %v", got)
	}
}

// goodLog is an order log by the reference writer, with all that a log can have.
func goodLog(t testing.TB) []byte {
	t.Helper()
	start := merkle.Hash(sha256.Sum256([]byte("start")))
	history := [][]byte{nil}
	h := sha256.Sum256(start[:])
	history[0] = slices.Clone(h[:])
	sync := func(p int) []byte {
		if p == 0 {
			return start[:8]
		}
		s := sha256.Sum256([]byte{byte(p)})
		return s[:8]
	}
	for p := 1; p <= 5; p++ {
		h = sha256.Sum256(append(slices.Clone(history[p-1]), sync(p)...))
		history = append(history, slices.Clone(h[:]))
	}
	kinds := []orderlog.OrderKind{{Name: "move"}, {Name: "chat", Local: true}}
	var out bytes.Buffer
	w, err := orderlog.NewWriter(&out, orderlog.Header{
		Seed: 7, Peer: "host", Build: "1.0", TickRate: orderlog.Rate{Num: 30, Den: 1}, Start: start, Kinds: kinds,
		Peers: []string{"host", "client"}, Params: map[string]string{"map": "green", "rules": "short"},
	}, orderlog.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		tick := orderlog.Tick{Number: uint64(n), Hashes: []orderlog.Observed{{Point: uint64(n), Kind: "sync", Bytes: sync(n)}}}
		switch n {
		case 1:
			tick.Orders = []orderlog.Order{
				{Tick: 1, SubTick: 5, Player: 0, Sequence: 1, Kind: 0, Payload: []byte{1, 2}},
				{Tick: 1, SubTick: 5, Player: 1, Sequence: 4, Kind: 1, Payload: []byte("gg")},
				{Tick: 1, SubTick: 9, Player: 0, Sequence: 2, Kind: 0, Payload: []byte{3}},
			}
		case 2:
			tick.Markers = []orderlog.Marker{{Kind: orderlog.Leave, Player: 1, Peer: 1, Point: 2, Text: "left"}}
			state := sha256.Sum256([]byte{2})
			tick.Hashes = append(tick.Hashes, orderlog.Observed{Point: 2, Kind: "state", Bytes: state[:]}, orderlog.Observed{Point: 2, Kind: "history", Bytes: history[2]})
		case 3:
			tick.Markers = []orderlog.Marker{{Kind: orderlog.Load, Point: 3, NewEpoch: true, History: merkle.Hash(history[3])}}
		}
		tick.InputHash = orderlog.InputHash(kinds, tick.Orders)
		if err := w.WriteTick(&tick); err != nil {
			t.Fatal(err)
		}
	}
	last := []orderlog.Observed{{Point: 5, Kind: "sync", Bytes: sync(5)}, {Point: 5, Kind: "history", Bytes: history[5]}, {Point: 5, Peer: 1, Kind: "sync", Coverage: "quick", Bytes: []byte{1, 2}}}
	if err := w.WriteObserved(last); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func testLog(t *testing.T) {
	b := goodLog(t)
	good(t, "order-log.bin", b)
	if again := takeFramed(t, b).bytes(); !bytes.Equal(again, b) {
		t.Fatal("the file that was put together again is another one")
	}
	const head, tick0, tick1, tick2, tick3, tick4, last = 0, 1, 2, 3, 4, 5, 6
	for _, m := range []struct {
		rule   string
		change func(f *framed)
	}{
		{"frame-version", func(f *framed) { f.version = 2 }},
		{"frame-flags", func(f *framed) { f.flags = 1 }},
		{"frame-length", func(f *framed) { f.frames[last].long = 17 << 20; f.noEnd = true }},
		{"frame-end", func(f *framed) { f.noEnd = true }},
		{"frame-end", func(f *framed) { f.frames[last].long = 5; f.noEnd = true }},
		{"frame-end-count", func(f *framed) { f.end = []byte{9, 0, 0, 0, 0, 0, 0, 0} }},
		{"frame-end-count", func(f *framed) { f.end = []byte{7} }},
		{"frame-after-end", func(f *framed) { f.after = []byte{0} }},
		{"order-header-first", func(f *framed) { f.frames = slices.Insert(f.frames, 3, f.frames[head]) }},
		{"order-kind", func(f *framed) { f.frames[tick4].kind = 9 }},
		{"order-value", func(f *framed) { f.frames[last].value = raw(append(encode(f.frames[last].value), 0xc0)) }},
		{"order-value", func(f *framed) { b := encode(f.frames[last].value); f.frames[last].value = raw(b[:len(b)-1]) }},
		{"order-type", func(f *framed) { f.frames[last].value = append(f.frames[last].value.(arr), nil) }},
		{"order-type", func(f *framed) { put(f.frames[head].value, nil, 2) }},
		{"order-type", func(f *framed) { put(f.frames[head].value, raw{0xff}, 0) }},
		{"order-type", func(f *framed) {
			v := f.frames[head].value.(arr)
			f.frames[head].value = append(v[:len(v):len(v)], 0)
		}},
		{"order-shortest", func(f *framed) { put(f.frames[tick1].value, num{1, 0xcc}, 0) }},
		{"order-shortest", func(f *framed) { put(f.frames[head].value, raw("\xd9\x031.0"), 2) }},
		{"order-shortest", func(f *framed) { put(f.frames[tick1].value, raw{0xc5, 0, 1, 3}, 2, 2, 4) }},
		{"order-shortest", func(f *framed) { put(f.frames[tick1].value, raw{0xd0, 5}, 2, 0, 0) }},
		{"order-limit", func(f *framed) { put(f.frames[head].value, str(strings.Repeat("x", 65537)), 2) }},
		{"order-utf8", func(f *framed) { put(f.frames[head].value, str("\xff"), 2) }},
		{"order-rate", func(f *framed) { put(f.frames[head].value, 0, 3, 1) }},
		{"order-kind-names", func(f *framed) { put(f.frames[head].value, str("chat"), 7, 0, 0); fixAll(f) }},
		{"order-kind-names", func(f *framed) { put(f.frames[head].value, str(""), 7, 0, 0); fixAll(f) }},
		{"order-peer-name", func(f *framed) { // no hash is its own: nothing else is said
			put(f.frames[head].value, str("third"), 1)
			f.frames = f.frames[:1]
		}},
		{"order-peer-twice", func(f *framed) { put(f.frames[head].value, str("host"), 8, 1) }},
		{"order-params", func(f *framed) { v := at(f.frames[head].value, 9); v[0], v[1] = v[1], v[0] }},
		{"order-params", func(f *framed) { v := at(f.frames[head].value, 9); v[1] = v[0] }},
		{"order-no-input-hash", func(f *framed) {
			for i := tick0; i < last; i++ {
				put(f.frames[i].value, bin(make([]byte, 8)), 1)
			}
		}},
		{"order-ascending", func(f *framed) { f.frames = slices.Insert(f.frames, tick2, f.frames[tick1]) }},
		{"order-first-point", func(f *framed) {
			put(f.frames[head].value, 1, 5)
			put(f.frames[head].value, bin(make([]byte, 32)), 4)
		}},
		{"order-observed", func(f *framed) { f.frames[last].value = arr{} }},
		{"order-order-kind", func(f *framed) { put(f.frames[tick1].value, 2, 2, 1, 3) }},
		{"order-payload", func(f *framed) { put(f.frames[tick1].value, bin(make([]byte, 4<<20+1)), 2, 0, 4); fixAll(f) }},
		{"order-applied", func(f *framed) { v := at(f.frames[tick1].value, 2); v[0], v[2] = v[2], v[0]; fixAll(f) }},
		{"order-input-hash", func(f *framed) { put(f.frames[tick1].value, bin("\x01\x02\x03\x04\x05\x06\x07\x08"), 1) }},
		{"order-input-hash", func(f *framed) { put(f.frames[tick1].value, 77, 2, 0, 2) }},
		{"order-hash-name", func(f *framed) { put(f.frames[last].value, str("quick/1"), 2, 3) }},
		{"order-hash-name", func(f *framed) { put(f.frames[last].value, str(strings.Repeat("x", 65)), 2, 2) }},
		{"order-hash-usual", func(f *framed) { put(f.frames[last].value, str(""), 2, 3) }},
		{"order-hash-width", func(f *framed) { put(f.frames[last].value, bin(make([]byte, 65)), 2, 4) }},
		{"order-hash-width", func(f *framed) { put(f.frames[last].value, bin{}, 2, 4) }},
		{"order-hash-twice", func(f *framed) {
			v := f.frames[last].value.(arr)
			more := slices.Clone(v[2].(arr))
			more[4] = bin{9, 9}
			f.frames[last].value = append(v, more)
		}},
		{"order-marker-kind", func(f *framed) { put(f.frames[tick2].value, 9, 4, 0, 0) }},
		{"order-marker-epoch", func(f *framed) { put(f.frames[tick3].value, 5, 4, 0, 0) }},
		{"order-marker-unused", func(f *framed) { put(f.frames[tick2].value, 1, 4, 0, 3) }},
		{"order-marker-point", func(f *framed) { put(f.frames[tick2].value, 1, 4, 0, 4) }},
		{"order-marker-history", func(f *framed) { put(f.frames[tick2].value, bin(make([]byte, 32)), 4, 0, 6) }},
		{"order-marker-history", func(f *framed) { put(f.frames[tick3].value, bin(make([]byte, 31)), 4, 0, 6) }},
		{"order-one-epoch", func(f *framed) {
			v := at(f.frames[tick3].value, 4)
			put(f.frames[tick3].value, append(v, v[0]), 4)
		}},
		{"order-every-tick", func(f *framed) { // points, too: a hole in the chain
			f.frames = slices.Delete(f.frames, tick0, tick1)
			f.frames = slices.Delete(f.frames, tick0, tick1)
			f.frames[head].value = at(f.frames[head].value)
			f.frames = slices.Insert(f.frames, 1, takeFramed(t, b).frames[tick0])
			put(f.frames[2].value, at(f.frames[2].value, 3)[:2], 3)
		}},
		{"hash-sync", func(f *framed) { put(f.frames[tick2].value, bin(make([]byte, 32)), 3, 1, 4) }},
		{"hash-history", func(f *framed) { put(f.frames[tick2].value, bin(make([]byte, 32)), 3, 2, 4) }},
		{"record-sync", func(f *framed) {
			f.frames = f.frames[:last]
			for i := tick0; i < last; i++ {
				put(f.frames[i].value, arr{}, 3)
			}
		}},
		{"record-history", func(f *framed) {
			f.frames = f.frames[:last]
			put(f.frames[tick2].value, at(f.frames[tick2].value, 3)[:2], 3)
		}},
		{"record-build", func(f *framed) { put(f.frames[head].value, str(""), 2) }},
		{"record-rate", func(f *framed) { put(f.frames[head].value, arr{0, 0}, 3) }},
		{"record-start", func(f *framed) { put(f.frames[head].value, bin(make([]byte, 32)), 4) }},
		{"record-machine-param", func(f *framed) { put(f.frames[head].value, str("os"), 9, 1, 0) }},
	} {
		f := takeFramed(t, b)
		m.change(f)
		breaks(t, m.rule, "order-log.bin", f.bytes())
	}
	for _, m := range []struct {
		rule string
		at   int
	}{{"frame-preamble-sum", 12}, {"frame-header-sum", 16 + 12}, {"frame-payload-sum", len(b) - 24 - 40}} {
		bad := slices.Clone(b)
		bad[m.at] ^= 1
		breaks(t, m.rule, "order-log.bin", bad)
	}
}

// fixAll computes the input hashes of a log again.
func fixAll(f *framed) {
	for i := range f.frames {
		if f.frames[i].kind == logTick {
			fixInput(at(f.frames[0].value, 7), f.frames[i].value.(arr))
		}
	}
}

// memory is a file in memory that can be written at any place.
type memory struct {
	b  []byte
	at int
}

func (m *memory) Write(p []byte) (int, error) {
	if n := m.at + len(p); n > len(m.b) {
		m.b = append(m.b, make([]byte, n-len(m.b))...)
	}
	copy(m.b[m.at:], p)
	m.at += len(p)
	return len(p), nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		m.at = int(offset)
	case io.SeekCurrent:
		m.at += int(offset)
	default:
		m.at = len(m.b) + int(offset)
	}
	return int64(m.at), nil
}

const snapText = `%desynctool snapshot 1
%seed 7
%tick 20
%peer "host"
%rng 0x01020304
%history 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
%meta "build" "1.0"
%meta "os" "Debian 12"
%table archetype "Infantry" 1
%column "A" "alive" bool
%column "A" "hp" i32
%column "A" "name" string
%column "B" "x" fixed 65536
%table archetype "Link" 2
%column "L" "to" ref
%table cache "Grid" 1
Infantry[3].A.alive = true
Infantry[3].A.hp = 75
Infantry[3].A.name = "Anna"
Infantry[3].B.x = 1.5
Infantry[8].A.alive = false
Infantry[8].A.hp = absent
Infantry[8].A.name = absent
Infantry[8].B.x = -0.25
Infantry[14].A.alive = true
Infantry[14].A.hp = 1
Infantry[14].A.name = "Bo"
Infantry[14].B.x = 0
Infantry[2003].A.alive = true
Infantry[2003].A.hp = 1
Infantry[2003].A.name = "Cy"
Infantry[2003].B.x = 0
Link[1:1].L.to = @3
Link[1:2].L.to = @8
cache Grid[4]
`

const snapFileName = "desync_0000000000000007_0000000020.snap"

func goodSnap(t testing.TB) []byte {
	t.Helper()
	// The keys of a first and of a later block.
	first := uint64(4)
	for cut(first, 0)%4096 != 0 {
		first++
	}
	text := strings.ReplaceAll(snapText, "[14]", "["+name(first)+"]")
	text = strings.ReplaceAll(text, "[2003]", "["+name(first+1)+"]")
	var m memory
	if err := snapshot.ReadText(&m, strings.NewReader(text), "text", snapshot.WriteOptions{Plain: true}); err != nil {
		t.Fatal(err)
	}
	return m.b
}

func name(n uint64) string { b, _ := json.Marshal(n); return string(b) }

func testSnap(t *testing.T) {
	b := goodSnap(t)
	good(t, snapFileName, b)
	if again := takeSnap(t, b).bytes(true); !bytes.Equal(again, b) {
		t.Fatal("the file that was put together again is another one")
	}
	// Cells of the first table: keys, alive, hp, name, x of block 0, then of block 1.
	const infantry, link, grid = 0, 1, 2
	const keys, alive, hp, names, x, keys1 = 0, 1, 2, 3, 4, 5
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		rule   string
		change func(s *snapFile)
	}{
		{"snap-phase", func(s *snapFile) { s.header[2] = str("middle") }},
		{"snap-text", func(s *snapFile) { s.header[4] = str("\xff") }},
		{"record-snap-peer", func(s *snapFile) { s.header[4] = str("") }},
		{"record-build", func(s *snapFile) { s.header[9] = dict{} }},
		{"record-names", func(s *snapFile) { s.header[9].(dict)[2] = str("weather") }},
		{"snap-properties", func(s *snapFile) { d := s.header[9].(dict); d[0], d[2] = d[2], d[0] }},
		{"snap-type", func(s *snapFile) { s.header[5] = nil }},
		{"snap-type", func(s *snapFile) { s.header[7] = bin{1, 2} }},
		{"snap-limit", func(s *snapFile) { s.header[6] = bin(make([]byte, 65537)) }},
		{"snap-limit", func(s *snapFile) { s.header[4] = str(strings.Repeat("x", 1025)) }},
		{"snap-class", func(s *snapFile) { put(s.header[10], 3, grid, 0) }},
		{"snap-name", func(s *snapFile) { put(s.header[10], str(""), infantry, 1) }},
		{"snap-name", func(s *snapFile) { put(s.tables[link].index, str(""), 2, 0, 1) }},
		{"snap-tables-order", func(s *snapFile) { put(s.header[10], str("Mine"), infantry, 1) }},
		{"snap-tables-order", func(s *snapFile) { put(s.header[10], str("Link"), infantry, 1) }},
		{"snap-columns-order", func(s *snapFile) { put(s.tables[infantry].index, str("z"), 2, 0, 1) }},
		{"snap-column-type", func(s *snapFile) { put(s.tables[link].index, 17, 2, 0, 2) }},
		{"snap-scale", func(s *snapFile) { put(s.tables[link].index, 4, 2, 0, 3) }},
		{"snap-scale", func(s *snapFile) { put(s.tables[infantry].index, 0, 2, 3, 3) }},
		{"snap-keys", func(s *snapFile) {
			put(s.tables[infantry].index, bin(append([]byte{9, 0, 0, 0, 0, 0, 0, 0}, at(s.tables[infantry].index, 3)[0].(bin)[8:]...)), 3, 0)
			s.tables[infantry].cells[keys][8] = 9
		}},
		{"snap-first-key", func(s *snapFile) { at(s.tables[infantry].index, 3)[0].(bin)[0] = 4 }},
		{"snap-cuts", func(s *snapFile) { // the second block begins one too early
			f := s.tables[infantry]
			f.cells[keys1][8]--
			at(f.index, 3)[0].(bin)[8]--
		}},
		{"snap-bool", func(s *snapFile) { s.tables[infantry].cells[alive][8] = 2 }},
		{"snap-utf8", func(s *snapFile) { c := s.tables[infantry].cells[names]; c[len(c)-1] = 0xff }},
		{"snap-block-head", func(s *snapFile) { s.tables[infantry].cells[alive][2] = 1 }},
		{"snap-block-head", func(s *snapFile) { s.tables[link].cells[0][1] = 1 }},
		{"snap-bitmap", func(s *snapFile) { s.tables[infantry].cells[hp][8] = 3 }},
		{"snap-bitmap", func(s *snapFile) { s.tables[infantry].cells[hp][1] = 2 }},
		{"snap-spare-bits", func(s *snapFile) { s.tables[infantry].cells[hp][8] |= 4 }},
		{"snap-absent", func(s *snapFile) { c := s.tables[infantry].cells[hp]; c[len(c)-1] = 1 }},
		{"snap-block-size", func(s *snapFile) { c := &s.tables[infantry].cells[x]; *c = append(*c, 0) }},
		{"snap-block-size", func(s *snapFile) { c := &s.tables[infantry].cells[names]; *c = append(*c, 'x') }},
		{"snap-block-digest", func(s *snapFile) { s.tables[infantry].keepDigests = true; s.tables[infantry].cells[hp][9]++ }},
		{"snap-keys-digest", func(s *snapFile) { f := s.tables[link]; f.keepKeys = true; f.index[1].(bin)[0]++ }},
		{"snap-column-digest", func(s *snapFile) { f := s.tables[link]; f.keepColumns = true; at(f.index, 2, 0)[4].(bin)[0]++ }},
		{"snap-leaf", func(s *snapFile) { s.tables[link].keepLeaf = true; at(s.header[10], link)[4].(bin)[0]++ }},
		{"snap-end", func(s *snapFile) { s.end = "SNAP.FIN" }},
		{"snap-gaps", func(s *snapFile) { s.gap = []byte{0} }},
		{"snap-gaps", func(s *snapFile) { s.tables[link].shift = 1 }},
		{"snap-version", func(s *snapFile) { s.version = 2 }},
		{"snap-flags", func(s *snapFile) { s.flags = 1 }},
		{"snap-length", func(s *snapFile) { s.length = 3 }},
		{"snap-codec", func(s *snapFile) { s.tables[link].codec[1] = 2 }},
		{"snap-cell-size", func(s *snapFile) {
			f := s.tables[link]
			f.keepSizes = true
			at(f.index, 3)[4].(bin)[0]++
		}},
		{"snap-shorter", func(s *snapFile) {
			f := s.tables[link]
			f.codec[1], f.stored[1] = 1, encoder.EncodeAll(shuffle(f.cells[1]), nil)
		}},
		{"snap-zstd", func(s *snapFile) {
			f := s.tables[link]
			f.codec[1], f.stored[1] = 1, []byte{1, 2, 3}
		}},
		{"snap-bins", func(s *snapFile) { b := at(s.tables[link].index, 3); b[2] = append(b[2].(bin), 0) }},
		{"snap-rows", func(s *snapFile) { put(s.header[10], num{3, 0xcf}, link, 2) }},
		{"snap-block-rows", func(s *snapFile) {
			put(s.header[10], num{0, 0xcf}, link, 2)
			at(s.tables[link].index, 3)[2] = bin{0, 0, 0, 0}
		}},
	} {
		s := takeSnap(t, b)
		m.change(s)
		breaks(t, m.rule, snapFileName, s.bytes(true))
	}
	s := takeSnap(t, b)
	s.header[8].(bin)[0]++
	breaks(t, "snap-root", snapFileName, s.bytes(false))

	s = takeSnap(t, b)
	breaks(t, "snap-value", snapFileName, withHeader(b, append(encode(s.header), 0xc0)))

	breaks(t, "snap-file-name", "desync_0000000000000007_0000000021.snap", b)
	breaks(t, "snap-usual-name", "state.snap", b)
	f := takeSnap(t, b)
	header := len(encode(f.header))
	for _, m := range []struct {
		rule string
		at   int
	}{
		{"snap-preamble-sum", 28},
		{"snap-index-sum", len(b) - 8 - 1},
	} {
		bad := slices.Clone(b)
		bad[m.at] ^= 1
		breaks(t, m.rule, snapFileName, bad)
	}
	bad := slices.Clone(b)
	bad[16] ^= 1
	copy(bad[28:], le32(crc(bad[:28])))
	breaks(t, "snap-header-sum", snapFileName, bad)
	// A cell that fails its checksum alone: the checksum in the index is another.
	f.tables[infantry].fix(at(f.header[10], infantry))
	want := at(f.tables[infantry].index, 3)[7].(bin)
	i := bytes.Index(b[32+header:], want) + 32 + header
	bad = slices.Clone(b)
	bad[i] ^= 1
	entry := at(f.header[10], infantry)
	from, n := entry[5].(num).n, entry[6].(num).n
	copy(bad[from+n-4:], le32(crc(bad[from:from+n-4])))
	breaks(t, "snap-cell-sum", snapFileName, bad)
}

// withHeader returns a file with another header, and all else as it is.
func withHeader(b, h []byte) []byte {
	n := int(b[12]) | int(b[13])<<8
	out := append(slices.Clone(b[:32]), h...)
	out = append(out, b[32+n:]...)
	copy(out[12:], le32(uint32(len(h))))
	copy(out[16:], le32(crc(h)))
	copy(out[20:], le32(uint32(len(out))))
	copy(out[28:], le32(crc(out[:28])))
	return out
}

func le32(n uint32) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }

func shuffle(b []byte) []byte {
	out := slices.Clone(b)
	n := len(b) / 8
	for i := range n {
		for p := range 8 {
			out[p*n+i] = b[8*i+p]
		}
	}
	return out
}

const traceText = `%desynctool trace 1
%seed 7
%peer "host"
%build "1.0"
%rate 30/1
%meta "cpu" "some"
%meta "os" "Debian 12"
tick=0 system=Movement scope=Infantry n=250 sum=0x6a09e667bb67ae85
tick=0 system=Combat sum=3C6EF372 sum.rng=0x510e
tick=1 system=Movement scope=Infantry phase=predicted n=250 sum=0x9b05688c2b3e6c1f
tick=1 system=Combat sum=0x1f83
event=input tick=1 player=2 phase=predicted sum=0xbeef
event=save tick=1 sum=0x1f83d9ab
event=restore tick=1 at=3 sum=0x1f83d9ab
event=resimulate tick=1 to=2
tick=1 system="two words" sum=0x00
tick=2 system=Movement sum=0x07
%end
`

func goodTrace(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := tracediff.ParseText(&out, strings.NewReader(traceText), "text"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func testTrace(t *testing.T) {
	b := goodTrace(t)
	good(t, "a.trace", b)
	if again := takeFramed(t, b).bytes(); !bytes.Equal(again, b) {
		t.Fatal("the file that was put together again is another one")
	}
	find := func(f *framed, kind uint32, skip int) *testFrame {
		for i := range f.frames {
			if f.frames[i].kind == kind {
				if skip == 0 {
					return &f.frames[i]
				}
				skip--
			}
		}
		t.Fatal("no such frame")
		return nil
	}
	checkpoints := func(f *framed, i int) arr { return find(f, traceCheckpoints, i).value.(arr) }
	event := func(f *framed, i int) arr { return find(f, traceEvent, i).value.(arr) }
	for _, m := range []struct {
		rule   string
		change func(f *framed)
	}{
		{"trace-header-first", func(f *framed) { f.frames = append(f.frames, f.frames[0]) }},
		{"trace-kind", func(f *framed) { f.frames = append(f.frames, testFrame{kind: 5, value: arr{}}) }},
		{"trace-value", func(f *framed) { f.frames[0].value = raw(append(encode(f.frames[0].value), 0)) }},
		{"trace-type", func(f *framed) { put(f.frames[0].value, arr{1, 2}, 0) }},
		{"trace-type", func(f *framed) { put(checkpoints(f, 0), arr{0, 0, 0}, 1, 0) }},
		{"trace-shortest", func(f *framed) { put(checkpoints(f, 0), num{0, 0xcc}, 0) }},
		{"trace-limit", func(f *framed) { put(f.frames[0].value, str(strings.Repeat("x", 65537)), 1) }},
		{"trace-utf8", func(f *framed) { put(f.frames[0].value, str("\xff"), 1) }},
		{"trace-rate", func(f *framed) { put(f.frames[0].value, 0, 3, 0) }},
		{"trace-meta", func(f *framed) { v := at(f.frames[0].value, 4); v[0], v[1] = v[1], v[0] }},
		{"trace-name", func(f *framed) { put(checkpoints(f, 0), 99, 1, 0, 0) }},
		{"trace-checkpoints", func(f *framed) { f.frames = append(f.frames, testFrame{kind: 3, value: arr{9, arr{}}}) }},
		{"trace-nothing", func(f *framed) { put(checkpoints(f, 1), arr{}, 1, 1, 3) }},
		{"trace-sum-twice", func(f *framed) {
			v := at(checkpoints(f, 0), 1, 1, 3)
			put(checkpoints(f, 0), append(v, v[1]), 1, 1, 3)
		}},
		{"trace-sum-name", func(f *framed) {
			v := find(f, traceNames, 0).value.(arr)
			v[slices.Index(v, any(str("rng")))] = str("r=g")
		}},
		{"trace-sum-empty", func(f *framed) { put(checkpoints(f, 0), bin{}, 1, 0, 3, 0, 1) }},
		{"trace-sum-bytes", func(f *framed) { put(checkpoints(f, 0), str("0x6a"), 1, 0, 3, 0, 1) }},
		{"trace-phase", func(f *framed) { put(checkpoints(f, 0), 2, 1, 0, 2) }},
		{"trace-event", func(f *framed) { put(event(f, 1), 5, 0) }},
		{"trace-unused", func(f *framed) { put(event(f, 1), 5, 2) }},
		{"trace-unused", func(f *framed) { put(event(f, 3), 5, 3) }},
		{"trace-numbering", func(f *framed) { v := find(f, traceNames, 0).value.(arr); v[0], v[1] = v[1], v[0]; renumber(f) }},
		{"trace-batch", func(f *framed) { f.frames = append(f.frames, f.frames[len(f.frames)-1]) }},
		{"trace-order", func(f *framed) { v := at(checkpoints(f, 1), 1); v[0], v[1] = v[1], v[0] }},
		{"trace-back", func(f *framed) {
			f.frames = append(f.frames, testFrame{kind: 3, value: arr{1, at(checkpoints(f, 2), 1)}})
		}},
	} {
		f := takeFramed(t, b)
		m.change(f)
		breaks(t, m.rule, "a.trace", f.bytes())
	}
}

// renumber swaps the numbers of the first two names.
func renumber(f *framed) {
	for i := range f.frames {
		if f.frames[i].kind != traceCheckpoints {
			continue
		}
		for _, c := range at(f.frames[i].value, 1) {
			for k := range 2 {
				if n := c.(arr)[k].(num); n.n == 1 || n.n == 2 {
					c.(arr)[k] = num{3 - n.n, 0}
				}
			}
		}
	}
}

func testTraceText(t *testing.T) {
	good(t, "a.log", []byte(traceText))
	swap := func(old, new string) string {
		if !strings.Contains(traceText, old) {
			t.Fatalf("no %q in the text", old)
		}
		return strings.Replace(traceText, old, new, 1)
	}
	_, records, _ := strings.Cut(strings.TrimSuffix(traceText, "%end\n"), "12\"\n")
	for _, m := range []struct{ rule, text string }{
		{"text-first", records},
		{"text-last", strings.TrimSuffix(traceText, "%end\n")},
		{"text-last", swap("%end", `%torn offset 7 lost 1 "cut"`)},
		{"text-cut", strings.TrimSuffix(traceText, "\n")},
		{"text-after", traceText + "tick=9 sum=0x01\n"},
		{"text-header", swap("tick=1 system=Combat", "%seed 9\ntick=1 system=Combat")},
		{"text-line", swap("tick=0 system=Combat", "tick=0 hello system=Combat")},
		{"text-line", swap("tick=0 system=Combat", "tick=x system=Combat")},
		{"text-line", swap("phase=predicted n", "phase=guess n")},
		{"text-line", swap("event=save", "event=safe")},
		{"text-line", swap("to=2", "to=2 player=1")},
		{"text-line", swap("%rate 30/1", "%rate 30")},
		{"text-written", swap("tick=0 system=Combat", "system=Combat tick=0")},
		{"text-written", swap("tick=0 system=Combat", "tick=0  system=Combat")},
		{"text-written", swap("system=Combat", `system="Combat"`)},
		{"text-key", swap("tick=0 system=Combat", "tick=0 frame=9 system=Combat")},
		{"text-twice", swap("tick=0 system=Combat", "tick=0 tick=0 system=Combat")},
		{"text-twice", swap("sum.rng=", "sum=")},
		{"text-twice", swap("%seed 7", "%seed 7\n%seed 7")},
		{"text-needs", swap("tick=1 system=Combat sum=0x1f83", "system=Combat sum=0x1f83")},
		{"text-needs", swap("tick=1 system=Combat sum=0x1f83", "tick=1 system=Combat")},
		{"text-needs", swap(" at=3", "")},
		{"text-value", swap("system=Combat", "system=")},
		{"text-value", swap(`"host"`, "host")},
		{"text-length", swap("system=Combat", "system="+strings.Repeat("x", 65537))},
		{"text-length", swap("tick=0 system=Combat", "# "+strings.Repeat("x", 1<<20)+"\ntick=0 system=Combat")},
		{"record-build", swap("%build \"1.0\"\n", "")},
		{"record-rate", swap("%rate 30/1\n", "")},
		{"record-names", swap(`"cpu"`, `"weather"`)},
	} {
		breaks(t, m.rule, "a.log", []byte(m.text))
	}
}

const reportFileName = "desync_report_0000000000000007_0000000020.json"

// goodReport is a report with all that one can have.
func goodReport(t testing.TB) string {
	t.Helper()
	text := `%desynctool snapshot 1
%seed 7
%tick 20
%peer "host"
%rng 0x01020304
%table archetype "Infantry" 1
%column "Health" "hp" u8
Infantry[3].Health.hp = 75
Infantry[4].Health.hp = 50
`
	var m memory
	if err := snapshot.ReadText(&m, strings.NewReader(text), "text", snapshot.WriteOptions{Plain: true}); err != nil {
		t.Fatal(err)
	}
	f, err := snapshot.Open(bytes.NewReader(m.b), int64(len(m.b)), "world")
	if err != nil {
		t.Fatal(err)
	}
	leaves := append(f.Info().Leaves(), merkle.Leaf{Label: "Player", Hash: merkle.Hash{1, 2, 3}})
	doc := map[string]any{
		"schema": peers.Schema, "status": "diverged", "warnings": []string{"slow"}, "seed": "0000000000000007", "player": 0, "peer": "host", "tick": 20, "phase": "",
		"state_hash": merkle.Root(leaves).String(), "rng_state": "01020304",
		"diverged_archetypes": []any{map[string]string{"label": "Infantry", "world": base64.StdEncoding.EncodeToString(m.b)}},
		"order_log_window":    map[string]int{"from": 10, "to": 19},
		"order_log_excerpt": []any{
			map[string]any{"tick": 12, "sub_tick_time": 0, "player": 1, "sequence": 5, "kind": "move", "payload": "92cd1b"},
			map[string]any{"tick": 14, "player": 0, "kind": "chat", "local": true},
		},
	}
	var nodes []any
	for _, l := range leaves {
		nodes = append(nodes, []string{l.Label, l.Hash.String()})
	}
	doc["merkle_nodes"] = nodes
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func testReport(t *testing.T) {
	text := goodReport(t)
	good(t, reportFileName, []byte(text))
	swap := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %q in\n%s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	rngNode := hex.EncodeToString(rngLeaf([]byte{1, 2, 3, 4}))
	var doc struct {
		Hash  string `json:"state_hash"`
		Nodes [][2]string
		Div   []struct{ World string } `json:"diverged_archetypes"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	world := doc.Div[0].World
	snap, err := base64.StdEncoding.DecodeString(world)
	if err != nil {
		t.Fatal(err)
	}
	// with returns the report with another world; every hash of it is the report's.
	with := func(change func(s *snapFile), fix bool) string {
		s := takeSnap(t, snap)
		change(s)
		return swap(world, base64.StdEncoding.EncodeToString(s.bytes(fix)))
	}
	infantry := func() string {
		_, rest, _ := strings.Cut(text, `["Infantry","`)
		return rest[:64]
	}()
	for _, m := range []struct{ rule, text string }{
		{"report-json", text[:len(text)-2]},
		{"report-json", text + "x"},
		{"report-json", swap(`"host"`, "\"h\xff\"")},
		{"report-size", text + strings.Repeat(" ", int(limits.Report.Max()))},
		{"report-schema", swap("peer-report/1", "peer-report/2")},
		{"report-status", swap(`"diverged"`, `"lost"`)},
		{"report-type", swap(`"peer":"host"`, `"peer":5`)},
		{"report-type", swap(`"player":0,"rng`, `"player":-2,"rng`)},
		{"report-required", swap(`"tick":20,`, "")},
		{"report-null", swap(`"peer":"host"`, `"peer":null`)},
		{"report-unknown", swap(`"player":0,"rng`, `"weather":"fine","player":0,"rng`)},
		{"report-twice", swap(`"peer":"host"`, `"peer":"host","peer":"host"`)},
		{"report-integers", swap(`"player":0,"rng`, `"player":0.0,"rng`)},
		{"report-hex", swap(`"92cd1b"`, `"0x92"`)},
		{"report-hash", swap(doc.Hash, doc.Hash[:20])},
		{"report-nodes-order", swap(`["Player"`, `["Big"`)},
		{"report-nodes-width", swap(hex.EncodeToString(append([]byte{1, 2, 3}, make([]byte, 29)...)), "0102030000000000")},
		{"report-limit", swap(`"host"`, `"`+strings.Repeat("x", 1025)+`"`)},
		{"report-limit", swap(`["slow"]`, `["slow"`+strings.Repeat(`,""`, 1000)+`]`)},
		{"report-base64", swap(world, strings.TrimRight(world, "=")+"!")},
		{"report-world", swap(world, "AAAA")},
		{"report-world", with(func(s *snapFile) { put(s.header[10], str("Other"), 0, 1) }, true)},
		{"report-world-header", with(func(s *snapFile) { s.header[0] = num{8, 0xcf} }, true)},
		{"report-world-header", with(func(s *snapFile) { s.header[1] = num{21, 0xcf} }, true)},
		{"report-label-twice", swap(`"diverged_archetypes":[`, `"diverged_archetypes":[{"label":"Infantry","world":"`+world+`"},`)},
		{"report-order", swap(`"kind":"chat",`, "")},
		{"report-order-late", strings.Replace(swap(`"tick":14`, `"tick":20`), `"to":19`, `"to":20`, 1)},
		{"report-window", swap(`"from":10,"to":19`, `"from":19,"to":10`)},
		{"report-order-window", swap(`"tick":14`, `"tick":9`)},
		{"report-no-window", swap(`"order_log_window":{"from":10,"to":19},`, "")},
		{"report-root", swap(doc.Hash, strings.Repeat("ab", 32))},
		{"report-node-content", with(func(s *snapFile) { c := s.tables[0].cells[1]; c[8]++ }, true)},
		{"report-redacted", swap(`"player":0,"rng`, `"redacted":true,"player":0,"rng`)},
	} {
		breaks(t, m.rule, reportFileName, []byte(m.text))
	}
	// The RNG's node is another one, and the root follows from it; the world has the same RNG.
	other := strings.Replace(text, rngNode, strings.Repeat("cd", 32), 1)
	var leaves [][]byte
	for _, h := range []string{strings.Repeat("cd", 32), infantry, hex.EncodeToString(append([]byte{1, 2, 3}, make([]byte, 29)...))} {
		b, err := hex.DecodeString(h)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, b)
	}
	root := sha(sha(leaves[0], leaves[1]), leaves[2])
	breaks(t, "report-rng", reportFileName, []byte(strings.Replace(other, doc.Hash, hex.EncodeToString(root), 1)))
	// Content has a phase as well: without it the report's can be any.
	bare := swap(`"diverged_archetypes":[{"label":"Infantry","world":"`+world+`"}]`, `"diverged_archetypes":[]`)
	breaks(t, "report-phase", reportFileName, []byte(strings.Replace(bare, `"phase":""`, `"phase":"middle"`, 1)))
	breaks(t, "report-file-name", "desync_report_0000000000000007_0000000021.json", []byte(text))
	breaks(t, "report-file-name", "report.json", []byte(text))
}

// folderFiles are the files of a peer that agree with each other.
func folderFiles(t *testing.T) (log []byte, snaps map[string][]byte, report string) {
	t.Helper()
	state := func(tick int, history []byte) ([]byte, merkle.Hash) {
		text := strings.Replace(snapText, "%tick 20", "%tick "+name(uint64(tick)), 1)
		text = strings.Replace(text, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", hex.EncodeToString(history), 1)
		text = strings.Replace(text, "hp = 75", "hp = 7"+name(uint64(tick)), 1)
		text = strings.ReplaceAll(strings.ReplaceAll(text, "[14]", "[9]"), "[2003]", "[10]")
		var m memory
		if err := snapshot.ReadText(&m, strings.NewReader(text), "text", snapshot.WriteOptions{Plain: true}); err != nil {
			t.Fatal(err)
		}
		f, err := snapshot.Open(bytes.NewReader(m.b), int64(len(m.b)), "state")
		if err != nil {
			t.Fatal(err)
		}
		return m.b, f.Info().Root
	}
	var roots []merkle.Hash
	var histories [][]byte
	for tick := range 3 {
		_, root := state(tick, make([]byte, 32)) // history is no part of the root
		roots = append(roots, root)
		h := sha256.Sum256(root[:])
		if tick > 0 {
			h = sha256.Sum256(append(slices.Clone(histories[tick-1]), root[:8]...))
		}
		histories = append(histories, slices.Clone(h[:]))
	}
	snaps = map[string][]byte{}
	for tick := 1; tick < 3; tick++ {
		b, _ := state(tick, histories[tick])
		snaps["desync_0000000000000007_000000000"+name(uint64(tick))+".snap"] = b
	}
	var out bytes.Buffer
	w, err := orderlog.NewWriter(&out, orderlog.Header{Seed: 7, Peer: "host", Build: "1.0", TickRate: orderlog.Rate{Num: 1, Den: 1}, Start: roots[0], Peers: []string{"host"}}, orderlog.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for tick := range 3 {
		hashes := []orderlog.Observed{{Point: uint64(tick), Kind: "sync", Bytes: roots[tick][:8]}}
		if tick == 2 {
			hashes = append(hashes, orderlog.Observed{Point: 2, Kind: "state", Bytes: roots[2][:]}, orderlog.Observed{Point: 2, Kind: "history", Bytes: histories[2]})
		}
		if err := w.WriteTick(&orderlog.Tick{Number: uint64(tick), InputHash: orderlog.InputHash(nil, nil), Hashes: hashes}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), snaps, `{"schema":"desynctool.peer-report/1","seed":"7","tick":2,"peer":"host","state_hash":"` + roots[2].String() + `"}`
}

func testFolder(t *testing.T) {
	const reportName = "desync_report_0000000000000007_0000000002.json"
	const snap1, snap2 = "desync_0000000000000007_0000000001.snap", "desync_0000000000000007_0000000002.snap"
	for _, m := range []struct {
		rule   string
		change func(files map[string][]byte)
	}{
		{"", func(map[string][]byte) {}},
		{"folder-seed", func(files map[string][]byte) {
			s := takeSnap(t, files[snap1])
			s.header[0] = num{8, 0xcf}
			delete(files, snap1)
			files["desync_0000000000000008_0000000001.snap"] = s.bytes(true)
		}},
		{"folder-sync", func(files map[string][]byte) { // of another state, with right hashes
			s := takeSnap(t, files[snap1])
			s.tables[0].cells[2][9]++
			files[snap1] = s.bytes(true)
		}},
		{"folder-state", func(files map[string][]byte) { // the same beginning of the hash, which no file can have
			f := takeFramed(t, files["order-log.bin"])
			at(f.frames[3].value, 3, 1)[4].(bin)[31]++
			files["order-log.bin"] = f.bytes()
			delete(files, reportName)
		}},
		{"folder-history", func(files map[string][]byte) {
			s := takeSnap(t, files[snap2])
			s.header[7].(bin)[0]++
			files[snap2] = s.bytes(true)
		}},
		{"folder-report", func(files map[string][]byte) {
			delete(files, "order-log.bin")
			files[reportName] = []byte(`{"schema":"desynctool.peer-report/1","seed":"7","tick":2,"peer":"host","state_hash":"` + strings.Repeat("ab", 32) + `"}`)
		}},
		{"folder-own-checksum", func(files map[string][]byte) {
			f := takeFramed(t, files["order-log.bin"])
			for i := 1; i < 4; i++ {
				v := at(f.frames[i].value, 3)
				v[0].(arr)[4] = bin{byte(i), 2, 3, 4, 5, 6, 7, 8}
				put(f.frames[i].value, v[:1], 3)
			}
			start := append([]byte{1, 2, 3, 4, 5, 6, 7, 8}, make([]byte, 24)...)
			put(f.frames[0].value, bin(start), 4)
			v := at(f.frames[3].value, 3)
			h := sha256.Sum256(start)
			for i := 2; i < 4; i++ {
				h = sha256.Sum256(append(slices.Clone(h[:]), byte(i), 2, 3, 4, 5, 6, 7, 8))
			}
			put(f.frames[3].value, append(v, arr{num{2, 0}, num{0, 0}, str("history"), str(""), bin(h[:])}), 3)
			files["order-log.bin"] = f.bytes()
			delete(files, reportName)
			for name := range files {
				if strings.HasSuffix(name, ".snap") {
					s := takeSnap(t, files[name])
					s.header[7] = nil
					files[name] = s.bytes(true)
				}
			}
		}},
	} {
		log, snaps, report := folderFiles(t)
		content := map[string][]byte{"order-log.bin": log, reportName: []byte(report), "notes.txt": []byte("no file of ours\n")}
		maps.Copy(content, snaps)
		m.change(content)
		dir := t.TempDir()
		for name, b := range content {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		result, err := Check(files.Disk, []string{dir}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, f := range result {
			for _, x := range f.Findings {
				got[x.Rule.ID] = true
			}
		}
		want := map[string]bool{}
		if m.rule != "" {
			want[m.rule], broken[m.rule] = true, true
		}
		if !maps.Equal(got, want) {
			t.Errorf("broken is %q, reported %v", m.rule, slices.Sorted(maps.Keys(got)))
			for _, f := range result {
				for _, x := range f.Findings {
					t.Logf("  %s %s %s%s", filepath.Base(f.Path), x.Rule.ID, where(&x), x.Text)
				}
			}
		}
	}
}

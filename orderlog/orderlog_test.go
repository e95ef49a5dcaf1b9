package orderlog_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/frame"
	. "github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

const fullText = "../testdata/orderlog/full.txt"

func readText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// encodeText returns the log of a text.
func encodeText(t testing.TB, text string) []byte {
	t.Helper()
	var log bytes.Buffer
	if err := ParseText(&log, strings.NewReader(text), "test.txt"); err != nil {
		t.Fatal(err)
	}
	return log.Bytes()
}

// decodeText returns the text of a log, and how reading it ended.
func decodeText(log []byte) (string, error) {
	r, err := NewReader(bytes.NewReader(log), "test.bin")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = WriteText(&text, r)
	return text.String(), err
}

func TestFullLog(t *testing.T) {
	text := readText(t, fullText)
	log, err := ReadAll(bytes.NewReader(encodeText(t, text)), "full.bin")
	if err != nil {
		t.Fatal(err)
	}
	history, _ := merkle.ParseHash("a665a45920422f9d417e4867efdc4fb8a04a1f3fff1fa07e998e86f7f7a27ae3")
	first := Tick{
		Number:    300,
		InputHash: merkle.Short{0x0f, 0x81, 0xd7, 0xa1, 0xd9, 0xf7, 0xb2, 0xa4},
		Orders: []Order{
			{Tick: 300, Player: 2, Sequence: 17, SubTick: 16667, Kind: 0, Payload: []byte{0x93, 1, 0xcd, 4, 0}},
			{Tick: 300, Player: 0, Sequence: 1<<32 - 1, SubTick: 16668, Kind: 2},
			{Tick: 300, Player: 1<<32 - 1, Sequence: 200, SubTick: 1<<32 - 1, Kind: 1, Payload: []byte{0}},
		},
		Hashes: []Observed{
			{Point: 300, Peer: 0, Kind: SyncHash, Bytes: []byte{1, 2, 3, 4, 5, 6, 7, 8}},
			{Point: 300, Peer: 1, Kind: SyncHash, Bytes: []byte{1, 2, 3, 4, 5, 6, 7, 9}},
			{Point: 300, Peer: 0, Kind: SyncHash, Coverage: "quick", Bytes: []byte{0xbe, 0xef}},
			{Point: 300, Peer: 0, Kind: StateHash, Bytes: log.Hash(300, 0, StateHash, Full)},
		},
		Markers: []Marker{{Kind: Join, Player: 3, Peer: 1, Point: 300, NewEpoch: true, History: history, Text: "late\tcomer"}},
	}
	if diff := cmp.Diff(&first, log.Tick(300)); diff != "" {
		t.Errorf("tick 300 (-expected +got):\n%s", diff)
	}
	if h := log.Header; h.Seed != 1<<64-1 || h.TickRate != (Rate{100, 3}) || h.Peers[1] != "client\n\xff" || !h.Kinds[2].Local {
		t.Errorf("header is %+v", h)
	}

	var epochs []string
	for i := range log.Epochs {
		e := &log.Epochs[i]
		s := fmt.Sprintf("%d %s:", e.Number, e.Opening.Kind)
		for j := range e.Ticks {
			s += fmt.Sprint(" ", e.Ticks[j].Number)
		}
		epochs = append(epochs, fmt.Sprint(s, " +", len(e.Observed)))
	}
	if diff := cmp.Diff([]string{
		"1 join: 300 301 303 +1",
		"2 load: 301 18446744073709551614 18446744073709551615 +0",
		"3 resync: 7 +2",
	}, epochs); diff != "" {
		t.Errorf("epochs (-expected +got):\n%s", diff)
	}
	if got := log.Tick(301).InputHash; got != (merkle.Short{7: 1}) {
		t.Errorf("tick 301 is that of another epoch than the last: input hash %s", got)
	}
	if log.Tick(302) != nil || log.Tick(0) != nil || log.Epochs[0].Tick(7) != nil {
		t.Error("a tick was found that is not in the log")
	}
	if got := log.Hash(8, 1, "my-Engine_2", "path-costs"); !bytes.Equal(got, []byte{7}) {
		t.Errorf("hash of point 8 is %x", got)
	}
	if log.Hash(300, 1, SyncHash, "quick") != nil {
		t.Error("a hash was found that is not in the log")
	}

	again, err := decodeText(encodeText(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, again); diff != "" {
		t.Errorf("text twin (-given +got):\n%s", diff)
	}
}

func TestConflicts(t *testing.T) {
	log, err := ReadAll(bytes.NewReader(encodeText(t, textOf(
		"observed = 3",
		"observed.hash[5].sync.peer[1] = 0x01",
		"observed.hash[5].sync.peer[1] = 0x01",
		"observed.hash[5].sync.peer[1] = 0x02",
	))), "test.bin")
	if err != nil {
		t.Fatal(err)
	}
	want := []Observed{{Point: 5, Peer: 1, Kind: SyncHash, Bytes: []byte{2}}}
	if diff := cmp.Diff(want, log.Epochs[0].Conflicts); diff != "" {
		t.Errorf("conflicts (-expected +got):\n%s", diff)
	}
	if got := log.Hash(5, 1, SyncHash, Full); !bytes.Equal(got, []byte{1}) {
		t.Errorf("hash is %x, expected the first one", got)
	}
}

// textOf returns the text of a log with one order kind, "move", and lines.
func textOf(lines ...string) string {
	return strings.Join(slices.Concat([]string{"%desynctool order-log 1", `header.kind[0] = "move"`}, lines, []string{"%end", ""}), "\n")
}

// inputHash is the definition of docs/orderlog.md, written part by part.
func inputHash(h *Header, orders []Order) (short merkle.Short) {
	sum := sha256.New()
	put := func(v any) { binary.Write(sum, binary.LittleEndian, v) }
	counted := slices.DeleteFunc(slices.Clone(orders), func(o Order) bool { return h.Kinds[o.Kind].Local })
	put(uint32(len(counted)))
	for _, o := range counted {
		name := h.Kinds[o.Kind].Name
		put(o.Tick)
		put([]uint32{o.SubTick, o.Player, o.Sequence, uint32(len(name))})
		put([]byte(name))
		put(uint32(len(o.Payload)))
		put(o.Payload)
	}
	copy(short[:], sum.Sum(nil))
	return short
}

func TestInputHash(t *testing.T) {
	kinds := []OrderKind{{Name: "move"}, {Name: "chat", Local: true}}
	order := Order{Tick: 1234, SubTick: 16667, Player: 2, Sequence: 17, Payload: []byte{0x93, 1}}
	chat := Order{Tick: 1234, Kind: 1, Payload: []byte("gg")}
	for _, test := range []struct {
		orders []Order
		want   string // from sha256sum over bytes written by hand
	}{
		{nil, "df3f619804a92fdb"},
		{[]Order{chat}, "df3f619804a92fdb"},
		{[]Order{order}, "4d8130799497d581"},
		{[]Order{chat, order, chat}, "4d8130799497d581"},
	} {
		if got := InputHash(kinds, test.orders).String(); got != test.want {
			t.Errorf("%d orders: input hash %s, expected %s", len(test.orders), got, test.want)
		}
	}
}

func TestInputHashIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLog(t)
		for _, rec := range l.records {
			if rec.Tick == nil {
				continue
			}
			if got, want := InputHash(l.header.Kinds, rec.Tick.Orders), inputHash(&l.header, rec.Tick.Orders); got != want {
				t.Fatalf("input hash is %s, expected %s", got, want)
			}
		}
	})
}

// What we read by hand reads the same with the library.
func TestLibraryAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawLog(t)
		r, err := frame.NewReader(bytes.NewReader(s.encode(t)), "test.bin", frame.Format{Magic: Magic, Version: Version})
		if err != nil {
			t.Fatal(err)
		}
		r.Next() // header
		for _, rec := range s.records {
			_, payload, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if rec.Tick == nil {
				continue
			}
			if err := frame.ScanMsgpack(payload, frame.Limits{}); err != nil {
				t.Fatal(err)
			}
			dec := msgpack.NewDecoder(bytes.NewReader(payload))
			length := func() int { return must(dec.DecodeArrayLen()) }
			u32 := func() uint32 { return must(dec.DecodeUint32()) }
			length()
			got := Tick{Number: must(dec.DecodeUint64()), InputHash: merkle.Short(must(dec.DecodeBytes()))}
			for range length() {
				length()
				o := Order{Tick: got.Number, SubTick: u32(), Player: u32(), Sequence: u32(), Kind: u32()}
				o.Payload = must(dec.DecodeBytes())
				got.Orders = append(got.Orders, o)
			}
			for range length() {
				length()
				got.Hashes = append(got.Hashes, Observed{
					Point: must(dec.DecodeUint64()), Peer: u32(), Kind: HashKind(must(dec.DecodeString())),
					Coverage: Coverage(must(dec.DecodeString())), Bytes: must(dec.DecodeBytes()),
				})
			}
			for range length() {
				length()
				m := Marker{
					Kind: MarkerKind(must(dec.DecodeUint8())), Player: u32(), Peer: u32(), Sequence: u32(),
					Point: must(dec.DecodeUint64()), NewEpoch: must(dec.DecodeBool()),
				}
				copy(m.History[:], must(dec.DecodeBytes()))
				m.Text = must(dec.DecodeString())
				got.Markers = append(got.Markers, m)
			}
			if diff := cmp.Diff(rec.Tick, &got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("tick (-written +read by the library):\n%s", diff)
			}
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestSortOrders(t *testing.T) {
	tick := Tick{Number: 5, Orders: []Order{
		{SubTick: 9, Player: 0, Sequence: 0},
		{SubTick: 1, Player: 2, Sequence: 1, Payload: []byte("first")},
		{SubTick: 1, Player: 2, Sequence: 1, Payload: []byte("second")},
		{SubTick: 1, Player: 2, Sequence: 0},
		{SubTick: 1, Player: 1, Sequence: 7},
	}}
	if got := tick.Misplaced(); got != 1 {
		t.Errorf("first misplaced order is %d, expected 1", got)
	}
	SortOrders(tick.Orders)
	var got []string
	for _, o := range tick.Orders {
		got = append(got, fmt.Sprintf("%d.%d.%d%s", o.SubTick, o.Player, o.Sequence, o.Payload))
	}
	want := []string{"1.1.7", "1.2.0", "1.2.1first", "1.2.1second", "9.0.0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("applied order (-expected +got):\n%s", diff)
	}
	if got := tick.Misplaced(); got != -1 {
		t.Errorf("order %d of sorted orders is misplaced", got)
	}
}

func TestWriterRefuses(t *testing.T) {
	header := Header{Kinds: []OrderKind{{Name: "move"}}, FirstPoint: 10}
	ok := Tick{Number: 12}
	hash := Observed{Kind: SyncHash, Bytes: []byte{1}}
	for _, test := range []struct {
		tick Tick
		want string
	}{
		{Tick{Number: 12}, "tick 12 follows tick 12 in epoch 0"},
		{Tick{Number: 3}, "tick 3 follows tick 12 in epoch 0"},
		{Tick{Number: 13, Orders: []Order{{Tick: 12}}}, "tick 13: order 0 has tick 12"},
		{Tick{Number: 13, Orders: []Order{{Tick: 13, Kind: 1}}}, "tick 13: order 0 has kind 1, the header has 1 kinds"},
		{Tick{Number: 13, Orders: []Order{{Tick: 13, Payload: make([]byte, MaxPayload+1)}}}, "tick 13: order 0 has a payload of 4194305 bytes, limit is 4194304"},
		{Tick{Number: 13, Hashes: []Observed{hash, {Kind: "a.b", Bytes: []byte{1}}}}, `tick 13: hash 1: hash kind "a.b", expected 1 to 64 of A-Z a-z 0-9 - _`},
		{Tick{Number: 13, Hashes: []Observed{{Bytes: []byte{1}}}}, `tick 13: hash 0: hash kind "", expected 1 to 64 of A-Z a-z 0-9 - _`},
		{Tick{Number: 13, Hashes: []Observed{{Kind: "a", Coverage: "b c", Bytes: []byte{1}}}}, `tick 13: hash 0: coverage "b c", expected at most 64 of A-Z a-z 0-9 - _`},
		{Tick{Number: 13, Hashes: []Observed{{Kind: "a"}}}, "tick 13: hash 0: hash of 0 bytes, expected 1 to 64"},
		{Tick{Number: 13, Hashes: []Observed{{Kind: "a", Bytes: make([]byte, 65)}}}, "tick 13: hash 0: hash of 65 bytes, expected 1 to 64"},
		{Tick{Number: 13, Markers: []Marker{{}}}, "tick 13: marker 0: unknown kind 0"},
		{Tick{Number: 13, Markers: []Marker{{Kind: 9}}}, "tick 13: marker 0: unknown kind 9"},
		{Tick{Number: 13, Markers: []Marker{{Kind: Save, NewEpoch: true}}}, "tick 13: marker 0: save cannot open an epoch"},
		{Tick{Number: 13, Markers: []Marker{{Kind: Load, History: merkle.Hash{1}}}}, "tick 13: marker 0: load has a history hash and opens no epoch"},
		{Tick{Number: 13, Markers: []Marker{{Kind: Load, NewEpoch: true}, {Kind: Load, NewEpoch: true}}}, "tick 13: marker 1 opens a second epoch"},
		{Tick{Number: 13, Markers: []Marker{{Kind: Save, Text: strings.Repeat("x", MaxText+1)}}}, "tick 13: marker 0: text of 65537 bytes, limit is 65536"},
	} {
		var out bytes.Buffer
		w, err := NewWriter(&out, header, WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteTick(&ok); err != nil {
			t.Fatal(err)
		}
		before := out.Len()
		if err := w.WriteTick(&test.tick); err == nil || err.Error() != test.want {
			t.Errorf("error is %v, expected %s", err, test.want)
		}
		if out.Len() != before {
			t.Errorf("%s: bytes were written", test.want)
		}
	}

	w, _ := NewWriter(io.Discard, header, WriterOptions{})
	if err := w.WriteTick(&Tick{Number: 9}); err == nil || err.Error() != "tick 9: the log begins at state point 10" {
		t.Errorf("tick before the first point: %v", err)
	}
	if err := w.WriteObserved(nil); err == nil {
		t.Error("an observed record without hashes was accepted")
	}
	for _, h := range []Header{
		{TickRate: Rate{30, 0}},
		{Kinds: []OrderKind{{}}},
		{Kinds: []OrderKind{{Name: "a"}, {Name: "a", Local: true}}},
		{Peer: strings.Repeat("x", MaxText+1)},
		{Params: map[string]string{"map": strings.Repeat("x", MaxText+1)}},
	} {
		if _, err := NewWriter(io.Discard, h, WriterOptions{}); err == nil {
			t.Errorf("header %.100v was accepted", h)
		}
	}
}

// Payloads with a right checksum that a Writer would never write.
func TestReaderRefuses(t *testing.T) {
	header := []byte("\x9a\x01\xa0\xa0\x92\x00\x00\xc4\x20" + strings.Repeat("\x07", 32) + "\x00\x00\x91\x92\xa4move\xc2\x90\x90")
	short := "\xc4\x08" + strings.Repeat("\x00", 8)
	for _, test := range []struct {
		kind    uint32
		payload string
		want    string
	}{
		{2, "\x95\x05" + short + "\x90\x90\x90", ""},
		{2, "\x95\xcf\x00\x00\x00\x00\x00\x00\x00\x05" + short + "\xdc\x00\x00\xdd\x00\x00\x00\x00\x90", ""},
		{2, "\x95\xd0\x05" + short + "\x90\x90\x90", ""},
		{2, "", "corrupt at offset 101: payload ends, expected tick"},
		{1, "\x90", "corrupt at offset 101: header, expected tick or observed"},
		{4, "\x90", "corrupt at offset 101: record kind 4, expected tick or observed"},
		{2, "\x94\x05" + short + "\x90\x90", "corrupt at offset 101: tick of 4 elements, expected 5"},
		{2, "\x95\xff" + short + "\x90\x90\x90", "corrupt at offset 102: code 0xff, expected tick as an unsigned integer"},
		{2, "\x95\xd0\xff" + short + "\x90\x90\x90", "corrupt at offset 102: negative number, expected tick"},
		{2, "\x95\xc0" + short + "\x90\x90\x90", "corrupt at offset 102: code 0xc0, expected tick as an unsigned integer"},
		{2, "\x95\x05\xc4\x02ab\x90\x90\x90", "corrupt at offset 103: input hash of 2 bytes, expected 8"},
		{2, "\x95\x05" + short + "\xdd\xff\xff\xff\xff\x90\x90", "corrupt at offset 113: array of 4294967295 orders, 2 bytes left"},
		{2, "\x95\x05" + short + "\x91\x95\xcf\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xc4\x00\x90\x90", "corrupt at offset 115: number 4294967296, expected sub tick of at most 4294967295"},
		{2, "\x95\x05" + short + "\x91\x95\x00\x00\x00\x00\xc6\xff\xff\xff\xff\x90\x90", "corrupt at offset 124: order payload of 4294967295 bytes, 2 left"},
		{2, "\x95\x05" + short + "\x91\x95\x00\x00\x00\x00\xa0\x90\x90", "corrupt at offset 119: code 0xa0, expected order payload as bin"},
		{2, "\x95\x05" + short + "\x91\x95\x00\x00\x00\x01\xc4\x00\x90\x90", "corrupt at offset 101: tick 5: order 0 has kind 1, the header has 1 kinds"},
		{2, "\x95\x05" + short + "\x90\x90\x90\x00", "corrupt at offset 116: 1 bytes after the record"},
		{2, "\x95\x05" + short + "\x90\x90\x91\x98\x06\x00\x00\x00\x00\xc3\xc4\x01a\xa0", "corrupt at offset 123: history hash of 1 bytes, expected 0 or 32"},
		{2, "\x95\x05" + short + "\x90\x90\x91\x98\x06\x00\x00\x00\x00\x01\xc4\x00\xa0\x00\x00", "corrupt at offset 122: code 0x01, expected new epoch as a bool"},
		{3, "\x90", "corrupt at offset 101: no hashes in an observed record"},
		{3, "\x91\x95\x00\x00\x00\xa0\xc4\x01a\x00\x00", "corrupt at offset 105: code 0x00, expected hash kind as str"},
	} {
		var out bytes.Buffer
		w, err := frame.NewWriter(&out, frame.Format{Magic: Magic, Version: Version}, frame.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.WriteFrame(1, header)
		w.WriteFrame(test.kind, []byte(test.payload))
		w.Close()
		_, err = ReadAll(&out, "test.bin")
		if test.want == "" && err == nil {
			continue
		}
		if err == nil || err.Error() != "test.bin: "+test.want || !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("% x:\n%v, expected\n%s", test.payload, err, test.want)
		}
	}
}

func TestNotALog(t *testing.T) {
	for file, want := range map[string]error{
		"":           frame.ErrUnrecognized,
		"\x89":       frame.ErrUnrecognized,
		"PK\x03\x04": frame.ErrUnrecognized,
		Magic:        frame.ErrTorn,
	} {
		if _, err := NewReader(strings.NewReader(file), "x"); !errors.Is(err, want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, expected %v", file, err, want)
		}
	}
	var out bytes.Buffer
	w, _ := frame.NewWriter(&out, frame.Format{Magic: Magic, Version: Version}, frame.WriterOptions{})
	w.Close()
	if _, err := NewReader(&out, "x"); !errors.Is(err, frame.ErrCorrupt) || err.Error() != "x: corrupt at offset 32: log without a header" {
		t.Errorf("log without a header: %v", err)
	}
}

func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Open("missing.bin"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile("empty.bin", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("empty.bin"); err == nil || !strings.HasPrefix(err.Error(), "empty.bin: empty file") {
		t.Errorf("empty file: %v", err)
	}
	if err := os.WriteFile("log.bin", encodeText(t, textOf("tick[1].input_hash = 0x0000000000000000")), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open("log.bin")
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := r.Next(); err != nil || rec.Kind != TickRecord || rec.Tick.Number != 1 {
		t.Errorf("record %+v, error %v", rec, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if log, err := ReadFile("log.bin"); err != nil || len(log.Ticks) != 1 {
		t.Errorf("log %+v, error %v", log, err)
	}
}

// sample is a log as a property test draws it.
type sample struct {
	header  Header
	records []Record
}

func (s *sample) encode(t interface{ Fatal(...any) }) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, s.header, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range s.records {
		if rec.Tick != nil {
			err = w.WriteTick(rec.Tick)
		} else {
			err = w.WriteObserved(rec.Observed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func drawLog(t *rapid.T) *sample {
	text := rapid.StringN(0, 6, -1)
	raw := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes")) })
	anyText := rapid.OneOf(text, raw)
	hash32 := rapid.Custom(func(t *rapid.T) (h merkle.Hash) {
		copy(h[:], rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "hash"))
		return h
	})
	observed := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Observed {
		return Observed{
			Point:    rapid.Uint64().Draw(t, "point"),
			Peer:     rapid.Uint32().Draw(t, "peer"),
			Kind:     HashKind(rapid.StringMatching(`sync|state|[-_A-Za-z0-9]{1,64}`).Draw(t, "kind")),
			Coverage: Coverage(rapid.StringMatching(`|quick|[-_A-Za-z0-9]{1,64}`).Draw(t, "coverage")),
			Bytes:    rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "bytes"),
		}
	}), 0, 3)
	s := &sample{header: Header{
		Seed:       rapid.Uint64().Draw(t, "seed"),
		Peer:       anyText.Draw(t, "peer"),
		Build:      anyText.Draw(t, "build"),
		TickRate:   rapid.SampledFrom([]Rate{{}, {30, 1}, {1<<32 - 1, 1 << 31}}).Draw(t, "rate"),
		Start:      hash32.Draw(t, "start"),
		FirstPoint: rapid.Uint64Range(0, 500).Draw(t, "first"),
		Epoch:      rapid.Uint32Range(0, 500).Draw(t, "epoch"),
		Peers:      rapid.SliceOfN(anyText, 0, 3).Draw(t, "peers"),
		Params:     rapid.MapOfN(anyText, anyText, 0, 3).Draw(t, "params"),
	}}
	for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 20, -1), 1, 3, rapid.ID).Draw(t, "kinds") {
		s.header.Kinds = append(s.header.Kinds, OrderKind{name, rapid.Bool().Draw(t, "local")})
	}
	next := s.header.FirstPoint
	for range rapid.IntRange(0, 4).Draw(t, "records") {
		if rapid.IntRange(0, 3).Draw(t, "is observed") == 0 {
			if hashes := observed.Draw(t, "observed"); len(hashes) > 0 {
				s.records = append(s.records, Record{Kind: ObservedRecord, Observed: hashes})
			}
			continue
		}
		tick := &Tick{Number: next + rapid.Uint64Range(0, 300).Draw(t, "gap"), Hashes: observed.Draw(t, "hashes")}
		for range rapid.IntRange(0, 2).Draw(t, "markers") {
			m := Marker{
				Kind:     MarkerKind(rapid.Uint8Range(1, 8).Draw(t, "marker")),
				Player:   rapid.Uint32().Draw(t, "player"),
				Peer:     rapid.Uint32().Draw(t, "peer"),
				Sequence: rapid.Uint32().Draw(t, "sequence"),
				Point:    rapid.Uint64().Draw(t, "point"),
				Text:     anyText.Draw(t, "text"),
			}
			if m.Kind == Load && tick.NewEpoch() == nil {
				m.NewEpoch = true
				m.History = hash32.Draw(t, "history")
				tick.Number = rapid.Uint64Range(0, 1<<63).Draw(t, "tick")
			}
			tick.Markers = append(tick.Markers, m)
		}
		copy(tick.InputHash[:], rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "input hash"))
		for range rapid.IntRange(0, 3).Draw(t, "orders") {
			tick.Orders = append(tick.Orders, Order{
				Tick:     tick.Number,
				SubTick:  rapid.Uint32().Draw(t, "sub tick"),
				Player:   rapid.Uint32().Draw(t, "player"),
				Sequence: rapid.Uint32().Draw(t, "sequence"),
				Kind:     uint32(rapid.IntRange(0, len(s.header.Kinds)-1).Draw(t, "kind")),
				Payload:  rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload"),
			})
		}
		next = tick.Number + 1
		s.records = append(s.records, Record{Kind: TickRecord, Tick: tick})
	}
	return s
}

// readRecords returns copies of the records before the error.
func readRecords(log []byte) (h Header, recs []Record, err error) {
	r, err := NewReader(bytes.NewReader(log), "test.bin")
	if err != nil {
		return h, nil, err
	}
	for {
		rec, err := r.Next()
		if err != nil {
			return r.Header(), recs, err
		}
		keep := Record{Kind: rec.Kind}
		if rec.Tick != nil {
			keep.Tick = rec.Tick.Clone()
		} else {
			keep.Observed = (&Tick{Hashes: rec.Observed}).Clone().Hashes
		}
		recs = append(recs, keep)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawLog(t)
		log := s.encode(t)
		h, recs, err := readRecords(log)
		if err != io.EOF {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.header, h, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("header (-written +read):\n%s", diff)
		}
		if diff := cmp.Diff(s.records, recs, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("records (-written +read):\n%s", diff)
		}

		text, err := decodeText(log)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := ParseText(&again, strings.NewReader(text), "test.txt"); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !bytes.Equal(log, again.Bytes()) {
			t.Fatalf("log is % x, by way of text % x", log, again.Bytes())
		}
	})
}

// Whatever is cut off or flipped, the delivered records are as they were written, and the end is never clean.
func TestDamage(t *testing.T) {
	full := encodeText(t, readText(t, fullText))
	checkCuts(t, full)
	for bit := range 8 * len(full) {
		checkFlip(t, full, bit)
	}
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t).encode(t)
		checkCuts(t, log)
		for _, bit := range rapid.SliceOfN(rapid.IntRange(0, 8*len(log)-1), 20, 20).Draw(t, "bits") {
			checkFlip(t, log, bit)
		}
	})
}

type fataler interface{ Fatalf(string, ...any) }

func checkCuts(t fataler, log []byte) {
	_, want, _ := readRecords(log)
	delivered := 0
	for n := range log {
		kind := frame.ErrTorn
		if n < len(Magic) {
			kind = frame.ErrUnrecognized
		}
		_, got, err := readRecords(log[:n])
		if !errors.Is(err, kind) {
			t.Fatalf("cut at %d: %v, expected %v", n, err, kind)
		}
		if len(got) < delivered || !reflect.DeepEqual(got, want[:len(got):len(got)]) && len(got) > 0 {
			t.Fatalf("cut at %d: records are\n%v, expected the first of\n%v", n, got, want)
		}
		delivered = len(got)
	}
	if delivered != len(want) {
		t.Fatalf("without an end marker %d records, expected %d", delivered, len(want))
	}
}

func checkFlip(t fataler, log []byte, bit int) {
	_, want, _ := readRecords(log)
	damaged := bytes.Clone(log)
	damaged[bit/8] ^= 1 << (bit % 8)
	_, got, err := readRecords(damaged)
	var malformed *frame.Error
	if !errors.As(err, &malformed) {
		t.Fatalf("bit %d flipped: %v", bit, err)
	}
	if len(got) > len(want) || len(got) > 0 && !reflect.DeepEqual(got, want[:len(got)]) {
		t.Fatalf("bit %d flipped: records are\n%v, expected the first of\n%v", bit, got, want)
	}
}

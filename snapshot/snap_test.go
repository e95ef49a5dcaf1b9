package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// sameWorld compares by content: a nil bitmap and a full one are the same.
func sameWorld(t fataler, got, want *World) {
	full := cmp.Transformer("present", func(c Column) map[string]any {
		var present []bool
		for i := range c.Rows() {
			present = append(present, c.Has(i))
		}
		return map[string]any{"name": c.Name(), "type": c.Type, "scale": c.Scale, "data": string(c.Data), "ends": c.Ends, "present": present}
	})
	if (got.RNG == nil) != (want.RNG == nil) {
		t.Fatalf("RNG %v, want %v", got.RNG, want.RNG)
	}
	if d := cmp.Diff(want, got, full, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("worlds differ: %s", d)
	}
	for i := range want.Tables {
		if got.Tables[i].Keys.Parts() != want.Tables[i].Keys.Parts() {
			t.Fatalf("table %d has keys of %d parts", i, got.Tables[i].Keys.Parts())
		}
	}
}

func TestSnapRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		opts := WriteOptions{Plain: rapid.Bool().Draw(t, "plain")}
		f := open(t, encode(t, w, opts))
		back, err := Load(f)
		if err != nil {
			t.Fatalf("load: %v", err)
		}
		sameWorld(t, back, w)
		if err := Check(f); err != nil {
			t.Fatalf("check: %v", err)
		}
		if got, want := f.Info().Root, hold(t, w).Info().Root; got != want {
			t.Fatalf("root %s, want %s", got, want)
		}
	})
}

func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		want := encode(t, w, WriteOptions{})
		var text bytes.Buffer
		if err := WriteText(&text, open(t, want)); err != nil {
			t.Fatalf("write text: %v", err)
		}
		var back memory
		if err := ReadText(&back, bytes.NewReader(text.Bytes()), "test.txt", WriteOptions{}); err != nil {
			t.Fatalf("read text: %v\n%s", err, text.Bytes())
		}
		if !bytes.Equal(back.b, want) {
			t.Fatalf("other bytes after a round trip through\n%s", text.Bytes())
		}
	})
}

// TestTextOfLongValues: a line holds any value that a cell can.
func TestTextOfLongValues(t *testing.T) {
	effort.Whole(t)
	const n = 17 << 20
	text, raw := NewColumn("Map", "name", String, 0), NewColumn("Map", "tiles", Bytes, 0)
	text.AppendBytes(bytes.Repeat([]byte{'"'}, n))
	raw.AppendBytes(bytes.Repeat([]byte{0xfe}, 2*n))
	w := &World{Tables: []Table{{Label: "Map", Keys: Keys{A: []uint64{0}}, Columns: []Column{text, raw}}}}
	var twin bytes.Buffer
	if err := WriteText(&twin, hold(t, w)); err != nil {
		t.Fatal(err)
	}
	var back memory
	if err := ReadText(&back, &twin, "test.txt", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.b, encode(t, w, WriteOptions{})) {
		t.Error("other bytes after a round trip")
	}
	if longest := 2 + 4*(maxCell-blockHeader-4) + 5*(2+4*MaxName); maxLine < longest {
		t.Errorf("a line has at most %d bytes, one of a value of a cell %d", maxLine, longest)
	}
}

func TestStreamedWriterGivesTheSameBytes(t *testing.T) {
	w := bigWorld(3, 30000)
	want := encode(t, w, WriteOptions{})
	for _, batch := range []int{1000, 4096, 29999} {
		var m memory
		sw, err := NewWriter(&m, w.Head, w.Tables, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.Tables {
			for start := 0; start < w.Tables[i].Rows(); start += batch {
				part := emptyLike(&w.Tables[i])
				part.appendRange(&w.Tables[i], start, min(start+batch, w.Tables[i].Rows()))
				if err := sw.Append(&part); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := sw.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.b, want) {
			t.Errorf("batches of %d: other bytes", batch)
		}
	}
}

// TestPinnedBytes pins the format: decoding what we encoded is not enough.
func TestPinnedBytes(t *testing.T) {
	golden := filepath.Join("testdata", "small.snap.hex")
	got := encode(t, smallWorld(), WriteOptions{Plain: true})
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wantBytes, err := hex.DecodeString(strings.Join(strings.Fields(string(want)), ""))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, wantBytes) {
		t.Errorf("%s is not what is written:\n%s", golden, hexLines(got))
	}
	text, err := os.ReadFile(filepath.Join("testdata", "small.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteText(&out, open(t, wantBytes)); err != nil || !bytes.Equal(out.Bytes(), text) {
		t.Errorf("%v; text twin is now\n%s", err, out.Bytes())
	}
}

func hexLines(b []byte) string {
	var out strings.Builder
	for line := range slices.Chunk(b, 32) {
		out.WriteString(hex.EncodeToString(line) + "\n")
	}
	return out.String()
}

func TestHeaderIsOneSmallRead(t *testing.T) {
	b := encode(t, bigWorld(31, 5000), WriteOptions{})
	r := &countingReader{r: bytes.NewReader(b)}
	if _, err := Open(r, int64(len(b)), "big.snap"); err != nil {
		t.Fatal(err)
	}
	if r.calls != 1 || r.bytes > headSize {
		t.Errorf("%d reads, %d bytes", r.calls, r.bytes)
	}
}

type countingReader struct {
	r     io.ReaderAt
	calls int
	bytes int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	c.bytes += len(p)
	return c.r.ReadAt(p, off)
}

// whole opens, loads and checks.
func whole(b []byte) error {
	f, err := Open(bytes.NewReader(b), int64(len(b)), "test.snap")
	if err != nil {
		return err
	}
	if _, err := Load(f); err != nil {
		return err
	}
	return Check(f)
}

func TestEveryTruncationIsNoticed(t *testing.T) {
	for _, plain := range []bool{true, false} {
		b := encode(t, smallWorld(), WriteOptions{Plain: plain})
		for n := range b {
			var e *frame.Error
			err := whole(b[:n:n])
			if !errors.As(err, &e) {
				t.Fatalf("first %d bytes: %v", n, err)
			}
			if n >= preambleSize && !errors.Is(err, frame.ErrTorn) {
				t.Errorf("first %d bytes are not called torn: %v", n, err)
			}
		}
		if err := whole(append(slices.Clone(b), 0)); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("a byte after the end: %v", err)
		}
	}
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	for _, plain := range []bool{true, false} {
		b := encode(t, smallWorld(), WriteOptions{Plain: plain})
		for i := range b {
			for bit := effort.Of(i%8, 0); bit < 8; bit += effort.Of(8, 1) {
				b[i] ^= 1 << bit
				var e *frame.Error
				if err := whole(b); !errors.As(err, &e) {
					t.Fatalf("bit %d of byte %d: %v", bit, i, err)
				}
				b[i] ^= 1 << bit
			}
		}
	}
}

// reheader replaces the header of a .snap and mends the checksums, as someone
// would who means harm.
func reheader(b []byte, header []byte) []byte {
	old := int(binary.LittleEndian.Uint32(b[12:]))
	out := slices.Concat(b[:preambleSize], header, b[preambleSize+old:])
	binary.LittleEndian.PutUint32(out[12:], uint32(len(header)))
	binary.LittleEndian.PutUint32(out[16:], checksum(header))
	binary.LittleEndian.PutUint64(out[20:], uint64(len(out)))
	binary.LittleEndian.PutUint32(out[28:], checksum(out[:28]))
	return out
}

func TestHostileHeaders(t *testing.T) {
	b := encode(t, smallWorld(), WriteOptions{})
	for what, header := range map[string][]byte{
		"nothing":                  {},
		"an array of 2^32 values":  {0xdd, 0xff, 0xff, 0xff, 0xff},
		"a string of 2^32 bytes":   {0x9b, 1, 1, 0xdb, 0xff, 0xff, 0xff, 0xff},
		"a map of 2^31 pairs":      {0x9b, 1, 1, 0xa0, 0xa0, 0xa0, 1, 0xc0, 0xc0, 0xc0, 0xdf, 0x80, 0, 0, 0},
		"arrays in arrays":         bytes.Repeat([]byte{0x91}, 1<<20),
		"another value after it":   {0x90, 0x90},
		"a float as seed":          {0x9b, 0xca, 0, 0, 0, 0, 1, 0xa0, 0xa0, 0xa0, 1, 0xc0, 0xc0, 0xc0, 0x80, 0x90},
		"a negative seed":          {0x9b, 0xff, 1, 0xa0, 0xa0, 0xa0, 1, 0xc0, 0xc0, 0xc0, 0x80, 0x90},
		"a root of 3 bytes":        {0x9b, 1, 1, 0xa0, 0xa0, 0xa0, 1, 0xc0, 0xc0, 0xc4, 3, 1, 2, 3, 0x80, 0x90},
		"an index past the end":    hostileTable(1<<62, 100),
		"an index of 4 GiB":        hostileTable(40, 1<<32-1),
		"an index over the header": hostileTable(32, 10),
	} {
		err := whole(reheader(b, header))
		var e *frame.Error
		if !errors.As(err, &e) || !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	short := slices.Clone(b[:preambleSize])
	binary.LittleEndian.PutUint32(short[12:], 1<<32-1)
	binary.LittleEndian.PutUint64(short[20:], preambleSize)
	binary.LittleEndian.PutUint32(short[28:], checksum(short[:28]))
	if err := whole(short); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("header of 4 GiB: %v", err)
	}
}

func hostileTable(offset uint64, length uint32) []byte {
	info := Info{Tables: []TableInfo{{Label: "A", Parts: 1}}}
	b, err := encodeHeader(&info, []indexPlace{{offset, length}})
	if err != nil {
		panic(err)
	}
	return b
}

// hostile writes a .snap with checksums and digests that fit and tables that no World may have: spoil changes what the
// writer believes.
func hostile(t *testing.T, spoil func(w *Writer, table *Table)) []byte {
	t.Helper()
	c, d := NewColumn("A", "a", U8, 0), NewColumn("A", "b", U8, 0)
	for i := range 3 {
		c.AppendUint(uint64(i))
		d.AppendUint(uint64(i))
	}
	table := Table{Label: "T", Keys: Keys{A: []uint64{1, 2, 3}}, Columns: []Column{c, d}}
	var m memory
	w, err := NewWriter(&m, Head{}, []Table{table}, WriteOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	spoil(w, &table)
	if err := w.appendRows(0, &table, true); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

func TestHostileTables(t *testing.T) {
	if err := whole(hostile(t, func(*Writer, *Table) {})); err != nil {
		t.Fatalf("not spoiled: %v", err)
	}
	for what, c := range map[string]struct {
		spoil func(w *Writer, table *Table)
		want  string
	}{
		"unsorted keys":              {func(_ *Writer, t *Table) { t.Keys.A = []uint64{1, 3, 2} }, "key 2 of row 2 does not follow 3"},
		"duplicate keys":             {func(_ *Writer, t *Table) { t.Keys.A = []uint64{1, 2, 2} }, "key 2 of row 2 does not follow 2"},
		"duplicate columns":          {func(w *Writer, t *Table) { w.index.Columns[1].Field = "a" }, "column A.a does not follow A.a"},
		"unordered columns":          {func(w *Writer, t *Table) { w.index.Columns[0].Field = "z" }, "column A.b does not follow A.z"},
		"a column of another width":  {func(w *Writer, t *Table) { w.index.Columns[0].Type = U16 }, "which 3 rows cannot have"},
		"a row count that disagrees": {func(w *Writer, t *Table) { w.info.Tables[0].Rows = 5 }, "blocks have 3 rows, the header has 8"},
		"a boolean of 2":             {func(w *Writer, t *Table) { w.index.Columns[0].Type = Bool }, "boolean is 2"},
		"no parts":                   {func(w *Writer, t *Table) { w.info.Tables[0].Parts = 0 }, "keys of 0 parts"},
		"duplicate archetypes": {func(w *Writer, t *Table) {
			w.info.Tables = append(w.info.Tables, w.info.Tables[0])
			w.places = append(w.places, indexPlace{40, 40})
		}, "does not follow"},
	} {
		err := whole(hostile(t, c.spoil))
		if !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestRootMustFollowFromTheLeaves(t *testing.T) {
	b := encode(t, smallWorld(), WriteOptions{})
	f := open(t, b)
	f.info.Root[5] ^= 1
	header, err := encodeHeader(&f.info, f.places)
	if err != nil {
		t.Fatal(err)
	}
	if err := whole(reheader(b, header)); err == nil || !strings.Contains(err.Error(), "does not follow from the leaves") {
		t.Errorf("%v", err)
	}
}

// TestBombs: a large cell may not expand without measure, and what compresses
// that well is written as it is.
func TestBombs(t *testing.T) {
	cells := func(stored uint32) *fileTable {
		return &fileTable{
			Index: Index{Columns: []ColumnInfo{{Schema: Schema{Type: Bytes}}}, Blocks: []BlockInfo{{Rows: 1}}},
			cells: cellTable{raw: []uint32{16, 250 << 20}, stored: []uint32{16, stored}, codecs: []byte{codecPlain, codecZstd}},
		}
	}
	if err := cells(26_000).checkCells(&TableInfo{Parts: 1}, 0); err == nil || !strings.Contains(err.Error(), "expand to") {
		t.Errorf("26 KB that expand to 250 MB: %v", err)
	}
	if err := cells(26_000_000).checkCells(&TableInfo{Parts: 1}, 0); err != nil {
		t.Errorf("26 MB that expand to 250 MB: %v", err)
	}
	zeros := NewColumn("Map", "tiles", Bytes, 0)
	zeros.AppendBytes(make([]byte, bigCell+1))
	w := &World{Tables: []Table{{Label: "Map", Keys: Keys{A: []uint64{0}}, Columns: []Column{zeros}}}}
	b := encode(t, w, WriteOptions{})
	if err := whole(b); err != nil || len(b) < bigCell {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestOneFrame: a compressed cell is one frame and nothing else, although a decoder
// takes several one after the other.
func TestOneFrame(t *testing.T) {
	frames := func(opts ...zstd.EOption) []byte {
		enc, err := zstd.NewWriter(nil, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return enc.EncodeAll(bytes.Repeat([]byte("cells and cells "), 50_000), nil)
	}
	one, noise := frames(zstd.WithEncoderCRC(false)), make([]byte, 300_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for what, b := range map[string][]byte{
		"a frame": one, "with a checksum": frames(), "without a size": frames(zstd.WithSingleSegment(false), zstd.WithZeroFrames(true)),
		"of one value": encodeAll(t, make([]byte, 1<<20)), "not compressible": encodeAll(t, noise),
	} {
		if err := checkFrame(b); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2}
	for what, b := range map[string][]byte{
		"two frames": slices.Concat(one, one), "a skippable frame before": slices.Concat(skippable, one), "one after": slices.Concat(one, skippable),
		"a byte after": append(slices.Clone(one), 0), "cut off": one[:len(one)-1], "nothing": nil, "a skippable frame": skippable, "a magic": one[:4],
	} {
		if err := checkFrame(b); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	// A whole cell of two frames.
	half := bytes.Repeat([]byte{7}, 4096)
	packed := encodeAll(t, half)
	load := func(stored []byte, raw int) error {
		table := &fileTable{offsets: []int64{0}, cells: cellTable{
			raw: []uint32{uint32(raw)}, stored: []uint32{uint32(len(stored))}, codecs: []byte{codecZstd}, crcs: []uint32{checksum(stored)},
		}}
		f := &File{r: bytes.NewReader(stored), name: "test.snap"}
		_, err := f.loadCell(table, &cellBuffers{}, func() string { return "keys" }, 0, -1)
		return err
	}
	if err := load(packed, len(half)); err != nil {
		t.Errorf("a cell of one frame: %v", err)
	}
	if err := load(slices.Concat(packed, packed), 2*len(half)); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("a cell of two frames: %v", err)
	}
}

func encodeAll(t *testing.T, b []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll(b, nil)
}

// TestLoadBudget: a sound file that is larger than the memory that is allowed is not damaged, and
// what was taken for it is given back.
func TestLoadBudget(t *testing.T) {
	before := limits.InUse()
	text := NewColumn("Log", "text", String, 0)
	text.AppendBytes(make([]byte, 2<<20))
	b := encode(t, &World{Tables: []Table{{Label: "Log", Keys: Keys{A: []uint64{0}}, Columns: []Column{text}}}}, WriteOptions{})
	for value, fits := range map[int64]bool{1 << 20: false, 16 << 20: true} {
		set(t, "memory", fmt.Sprint(before+value)) // other tests leave files open
		f, err := Open(bytes.NewReader(b), int64(len(b)), "test.snap")
		if err != nil {
			t.Fatal(err)
		}
		_, err = Load(f)
		over := (*limits.Error)(nil)
		if fits && err != nil || !fits && (!errors.As(err, &over) || over.Limit != limits.Memory || over.Path != "test.snap") {
			t.Errorf("%d: %v", value, err)
		}
		f.Close()
		if now := limits.InUse(); now != before {
			t.Errorf("%d: %d bytes are still held", value, now-before)
		}
	}
}

// set sets a limit for a test.
func set(t *testing.T, name, value string) {
	t.Helper()
	var s limits.Settings
	if err := s.Set(name, value, "test"); err != nil {
		t.Fatal(err)
	}
	limits.Use(s)
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
}

// TestOneFormOfABlock: equal values have one form only, else digests would differ for equal values.
func TestOneFormOfABlock(t *testing.T) {
	for what, raw := range map[string][]byte{
		"a bitmap of values that are all there": {domainValueBlock, 1, 0, 0, 2, 0, 0, 0, 0b11, 7, 8},
		"a value under an absent row":           {domainValueBlock, 1, 0, 0, 2, 0, 0, 0, 0b01, 7, 8},
		"a bit after the last row":              {domainValueBlock, 1, 0, 0, 2, 0, 0, 0, 0b101, 7, 0},
		"a bitmap flag of 2":                    {domainValueBlock, 2, 0, 0, 2, 0, 0, 0, 0b01, 7, 0},
	} {
		c := NewColumn("A", "b", U8, 0)
		if err := decodeValueBlock(&c, raw, 2); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	c := NewColumn("A", "b", U8, 0)
	if err := decodeValueBlock(&c, []byte{domainValueBlock, 1, 0, 0, 2, 0, 0, 0, 0b01, 7, 0}, 2); err != nil || c.Has(1) || c.Uint(0) != 7 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestOtherFiles(t *testing.T) {
	for what, c := range map[string]struct {
		b    string
		want error
	}{
		"empty":      {"", frame.ErrUnrecognized},
		"one byte":   {"\x89", frame.ErrUnrecognized},
		"text":       {"hello, this is not a snapshot at all", frame.ErrUnrecognized},
		"magic only": {magic, frame.ErrTorn},
	} {
		if err := whole([]byte(c.b)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	future := encode(t, smallWorld(), WriteOptions{})
	future[8] = 2
	binary.LittleEndian.PutUint32(future[28:], checksum(future[:28]))
	if err := whole(future); !errors.Is(err, frame.ErrVersion) {
		t.Errorf("future version: %v", err)
	}
}

func TestCheckFindsWrongHashes(t *testing.T) {
	w := smallWorld()
	s := hold(t, w)
	if err := Check(s); err != nil {
		t.Fatal(err)
	}
	w.Tables[0].Columns[3].Data[0] ^= 1 // behind the digests' back
	var e *HashError
	if err := Check(s); !errors.As(err, &e) {
		t.Errorf("changed value: %v", err)
	}
}

func TestReadTextRefuses(t *testing.T) {
	head := textHeader + "\n%seed 1\n%tick 2\n%table archetype \"A\" 1\n%column \"P\" \"x\" u8\n%column \"P\" \"y\" u8\n"
	for what, c := range map[string]struct{ text, want string }{
		"empty":              {"", "t.txt:1: expected"},
		"another header":     {"%desynctool order-log 1\n", "t.txt:1: expected"},
		"unknown directive":  {head + "%colour 1\n", "t.txt:7: unknown directive"},
		"half a row":         {head + "A[1].P.x = 1\nA[2].P.x = 1\n", "t.txt:8: row 2 begins"},
		"half the last row":  {head + "A[1].P.x = 1\n", "t.txt:7: row A[1] lacks P.y"},
		"too large a value":  {head + "A[1].P.x = 256\n", "t.txt:7: \"256\" is not a value of type u8"},
		"unknown table":      {head + "B[1].P.x = 1\n", "t.txt:7: \"B[1].P.x = 1\" is not a row"},
		"keys out of order":  {head + "A[2].P.x = 1\nA[2].P.y = 1\nA[1].P.x = 1\nA[1].P.y = 1\n", "key 1 of row 1 does not follow 2"},
		"two parts":          {head + "A[1:2].P.x = 1\n", "t.txt:7: key 1:2 does not have 1 parts"},
		"a leading zero":     {head + "A[01].P.x = 1\n", "t.txt:7: malformed key"},
		"column first":       {textHeader + "\n%column \"P\" \"x\" u8\n", "t.txt:2: %column before"},
		"unterminated name":  {textHeader + "\n%peer \"x\n", "t.txt:2: malformed string"},
		"duplicate columns":  {head + "%column \"P\" \"y\" u8\n", "does not follow"},
		"seed out of range":  {textHeader + "\n%seed 18446744073709551616\n", "t.txt:2: %seed"},
		"missing key":        {head + "A[1.P.x = 1\n", "t.txt:7: expected ]"},
		"another column":     {head + "A[1].P.z = 1\n", "t.txt:7: expected"},
		"unknown phase":      {textHeader + "\n%phase \"later\"\n", "t.txt:2: %phase"},
		"bytes, not UTF-8":   {textHeader + "\n%peer \"\xff\"\n", "t.txt:2: line is not UTF-8"},
		"bytes as a history": {textHeader + "\n%history 00\n", "t.txt:2: %history"},
	} {
		err := ReadText(&memory{}, strings.NewReader(c.text), "t.txt", WriteOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestWriteFileLeavesNoHalf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.snap")
	if err := WriteFile(path, smallWorld(), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	bad := smallWorld()
	bad.Tables[0].Label = ""
	if err := WriteFile(filepath.Join(dir, "b.snap"), bad, WriteOptions{}); err == nil {
		t.Error("bad world written")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Errorf("files left: %q, %v", names, err)
	}
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Check(f); err != nil {
		t.Error(err)
	}
}

func TestShuffle(t *testing.T) {
	for n := range 200 {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(i*7 + i/8)
		}
		mixed, back := make([]byte, n), make([]byte, n)
		shuffle(mixed, src)
		groups := n / 8
		for i := range n {
			want := src[i]
			if i < 8*groups {
				want = src[8*(i%groups)+i/groups]
			}
			if mixed[i] != want {
				t.Fatalf("%d bytes: byte %d is %d, want %d", n, i, mixed[i], want)
			}
		}
		if unshuffle(back, mixed); !bytes.Equal(back, src) {
			t.Fatalf("%d bytes do not come back", n)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(encode(f, smallWorld(), WriteOptions{Plain: true}), false)
	f.Add(encode(f, smallWorld(), WriteOptions{}), true)
	f.Add(encode(f, &World{}, WriteOptions{}), false)
	f.Fuzz(func(t *testing.T, b []byte, mend bool) {
		if n := len(b); mend && n > preambleSize {
			// Get past the checksums of preamble and header.
			if length := int(binary.LittleEndian.Uint32(b[12:])); length <= n-preambleSize {
				binary.LittleEndian.PutUint32(b[16:], checksum(b[preambleSize:preambleSize+length]))
			}
			binary.LittleEndian.PutUint64(b[20:], uint64(n))
			binary.LittleEndian.PutUint32(b[28:], checksum(b[:28]))
		}
		if err := whole(b); err != nil {
			return
		}
		w, err := Load(open(t, b))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Validate(); err != nil {
			t.Fatalf("accepted: %v", err)
		}
	})
}

func FuzzReadText(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "small.txt"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(strings.Replace(string(text), "%seed 7\n", "%seed 7\n%meta \"a"+strings.Repeat("b", MaxName)+"\" \"long\"\n", 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m memory
		if err := ReadText(&m, bytes.NewReader(text), "t.txt", WriteOptions{Plain: true}); err != nil {
			return
		}
		if err := whole(m.b); err != nil {
			t.Fatalf("text gives a bad snapshot: %v", err)
		}
	})
}

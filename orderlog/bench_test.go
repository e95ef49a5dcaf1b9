package orderlog_test

import (
	"bytes"
	"io"
	"testing"

	. "github.com/desynctool/desynctool/orderlog"
)

// benchLog returns a log of 1,000,000 orders, 20 a tick, with the sync hash of
// every tick.
func benchLog(b testing.TB) (ticks []Tick, log []byte) {
	const perTick, total = 20, 1_000_000
	for number := range uint64(total / perTick) {
		t := Tick{
			Number: number,
			Hashes: []Observed{{Point: number, Kind: SyncHash, Bytes: []byte{1, 2, 3, 4, 5, 6, 7, 8}}},
		}
		for i := range uint32(perTick) {
			t.Orders = append(t.Orders, Order{
				Tick:     number,
				SubTick:  i * 1600,
				Player:   i % 8,
				Sequence: uint32(number)*perTick + i,
				Kind:     i % 2,
				Payload:  []byte{0x93, 1, 0xcd, byte(number), byte(i), 0xcd, 1, 2, 3, 4, 5, 6},
			})
		}
		ticks = append(ticks, t)
	}
	var out bytes.Buffer
	writeTicks(b, &out, ticks)
	return ticks, out.Bytes()
}

func writeTicks(b testing.TB, out io.Writer, ticks []Tick) {
	w, err := NewWriter(out, Header{Kinds: []OrderKind{{Name: "move"}, {Name: "chat", Local: true}}}, WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range ticks {
		if err := w.WriteTick(&ticks[i]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func perOrder(b *testing.B, orders int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(orders), "ns/order")
}

// Neither reading nor writing allocates for a record.
func TestAllocations(t *testing.T) {
	ticks, log := benchLog(t)
	r, err := NewReader(bytes.NewReader(log), "bench.bin")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a tick read, expected none", n)
	}
	w, err := NewWriter(io.Discard, Header{Kinds: []OrderKind{{Name: "move"}, {Name: "chat"}}}, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if err := w.WriteTick(&ticks[0]); err != nil {
			t.Fatal(err)
		}
		ticks = ticks[1:]
	}); n != 0 {
		t.Errorf("%v allocations for a tick written, expected none", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	_, log := benchLog(b)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	orders := 0
	for b.Loop() {
		orders = 0
		r, err := NewReader(bytes.NewReader(log), "bench.bin")
		if err != nil {
			b.Fatal(err)
		}
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			orders += len(rec.Tick.Orders)
		}
	}
	perOrder(b, orders)
}

func BenchmarkEncode(b *testing.B) {
	ticks, log := benchLog(b)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		writeTicks(b, io.Discard, ticks)
	}
	perOrder(b, 1_000_000)
}

func BenchmarkReadAll(b *testing.B) {
	_, log := benchLog(b)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadAll(bytes.NewReader(log), "bench.bin"); err != nil {
			b.Fatal(err)
		}
	}
	perOrder(b, 1_000_000)
}

func BenchmarkInputHash(b *testing.B) {
	ticks, _ := benchLog(b)
	kinds := []OrderKind{{Name: "move"}, {Name: "chat", Local: true}}
	b.ReportAllocs()
	for b.Loop() {
		InputHash(kinds, ticks[0].Orders)
	}
	perOrder(b, len(ticks[0].Orders))
}

func BenchmarkWriteText(b *testing.B) {
	_, log := benchLog(b)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(log), "bench.bin")
		if err != nil {
			b.Fatal(err)
		}
		if err := WriteText(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
	perOrder(b, 1_000_000)
}

func BenchmarkParseText(b *testing.B) {
	_, log := benchLog(b)
	text, err := decodeText(log)
	if err != nil {
		b.Fatal(err)
	}
	in := []byte(text)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if err := ParseText(io.Discard, bytes.NewReader(in), "bench.txt"); err != nil {
			b.Fatal(err)
		}
	}
	perOrder(b, 1_000_000)
}

// BenchmarkCompare counts the bytes and orders of both logs.
func BenchmarkCompare(b *testing.B) {
	ticks, _ := benchLog(b)
	kinds := []OrderKind{{Name: "move"}, {Name: "chat", Local: true}}
	for i := range ticks {
		ticks[i].InputHash = InputHash(kinds, ticks[i].Orders)
	}
	var log bytes.Buffer
	writeTicks(b, &log, ticks)
	b.SetBytes(2 * int64(log.Len()))
	b.ReportAllocs()
	for b.Loop() {
		var peers []Named
		for _, name := range peerNames[:2] {
			r, err := NewReader(bytes.NewReader(log.Bytes()), name)
			if err != nil {
				b.Fatal(err)
			}
			peers = append(peers, Named{Name: name, Source: r})
		}
		c, err := Compare(peers, CompareOptions{})
		if err != nil || c.Verdict != InputsEqual || c.InputHashCount != 0 {
			b.Fatal(err, c.Line())
		}
	}
	perOrder(b, 2_000_000)
}

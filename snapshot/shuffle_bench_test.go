package snapshot

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// walkingCells returns the value blocks of columns as a game has them: positions
// that drift, hit points of few values, keys.
func walkingCells() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	var cells [][]byte
	for n := range 64 {
		c := NewColumn("A", "b", I64, 0)
		at := int64(r.IntN(512 << 16))
		for i := range 4096 {
			switch n % 4 {
			case 0:
				c.AppendInt(int64(i*32 + n%31))
			case 1:
				c.AppendInt(int64(50 + r.IntN(50)))
			default:
				at += int64(r.IntN(1<<18) - 1<<17)
				c.AppendInt(at)
			}
		}
		cells = append(cells, appendValueBlock(nil, &c, 0, c.Rows()))
	}
	return cells
}

// BenchmarkShuffle compares shuffled zstd with plain zstd, alternately, and
// reports time and size as ratios. Times are the least that each cell took, so that
// neighbours on the machine do not count.
func BenchmarkShuffle(b *testing.B) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		b.Fatal(err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	cells := walkingCells()
	const never = time.Hour
	least := make([]struct{ plainIn, plainOut, mixedIn, mixedOut time.Duration }, len(cells))
	for i := range least {
		t := &least[i]
		t.plainIn, t.plainOut, t.mixedIn, t.mixedOut = never, never, never, never
	}
	var plainSize, mixedSize, size int
	mixed, back, out := make([]byte, len(cells[0])), make([]byte, len(cells[0])), []byte(nil)
	for b.Loop() {
		plainSize, mixedSize, size = 0, 0, 0
		for i, cell := range cells {
			t := &least[i]
			start := time.Now()
			packed := enc.EncodeAll(cell, nil)
			t.plainIn = min(t.plainIn, time.Since(start))
			start = time.Now()
			shuffle(mixed, cell)
			shuffled := enc.EncodeAll(mixed, nil)
			t.mixedIn = min(t.mixedIn, time.Since(start))
			start = time.Now()
			out, _ = dec.DecodeAll(packed, out[:0])
			t.plainOut = min(t.plainOut, time.Since(start))
			start = time.Now()
			out, _ = dec.DecodeAll(shuffled, out[:0])
			unshuffle(back, out)
			t.mixedOut = min(t.mixedOut, time.Since(start))
			plainSize, mixedSize, size = plainSize+len(packed), mixedSize+len(shuffled), size+len(cell)
		}
	}
	var plainIn, plainOut, mixedIn, mixedOut time.Duration
	for _, t := range least {
		plainIn, plainOut, mixedIn, mixedOut = plainIn+t.plainIn, plainOut+t.plainOut, mixedIn+t.mixedIn, mixedOut+t.mixedOut
	}
	b.SetBytes(int64(size))
	b.ReportMetric(float64(mixedIn)/float64(plainIn), "compress-ratio")
	b.ReportMetric(float64(mixedOut)/float64(plainOut), "decompress-ratio")
	b.ReportMetric(float64(mixedSize)/float64(plainSize), "size-ratio")
}

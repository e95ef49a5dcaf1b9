package snapshot_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/snapshot"
)

// battle returns a state of the reference sim after some fighting.
func battle(b *testing.B, entities int) *snapshot.World {
	b.Helper()
	sim, err := refsim.New(refsim.Config{Seed: 7, Entities: entities})
	if err != nil {
		b.Fatal(err)
	}
	script := refsim.NewScript(7)
	for range 200 {
		if err := sim.Step(script.Orders(sim)); err != nil {
			b.Fatal(err)
		}
	}
	return sim.World()
}

func size(b *testing.B, w *snapshot.World) int64 {
	b.Helper()
	raw, err := snapshot.Encode(w, snapshot.WriteOptions{Plain: true})
	if err != nil {
		b.Fatal(err)
	}
	return int64(len(raw))
}

// BenchmarkHold measures the digests of a whole state, up to the root.
func BenchmarkHold(b *testing.B) {
	for _, entities := range []int{5000, 100_000} {
		w := battle(b, entities)
		b.Run(fmt.Sprint(entities), func(b *testing.B) {
			b.SetBytes(size(b, w))
			for b.Loop() {
				s, err := snapshot.Hold(w)
				if err != nil {
					b.Fatal(err)
				}
				_ = s.Info() // computes the digests
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	w := battle(b, 100_000)
	for _, plain := range []bool{true, false} {
		b.Run(fmt.Sprintf("plain=%v", plain), func(b *testing.B) {
			b.SetBytes(size(b, w))
			for b.Loop() {
				if _, err := snapshot.Encode(w, snapshot.WriteOptions{Plain: plain}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	w := battle(b, 100_000)
	for _, plain := range []bool{true, false} {
		raw, err := snapshot.Encode(w, snapshot.WriteOptions{Plain: plain})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("plain=%v", plain), func(b *testing.B) {
			b.SetBytes(size(b, w))
			for b.Loop() {
				f, err := snapshot.Open(bytes.NewReader(raw), int64(len(raw)), "bench")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := snapshot.Load(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen measures what a search does with each snapshot: read its head.
func BenchmarkOpen(b *testing.B) {
	raw, err := snapshot.Encode(battle(b, 5000), snapshot.WriteOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := snapshot.Open(bytes.NewReader(raw), int64(len(raw)), "bench"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChangedRows(b *testing.B) {
	const rows = 1 << 20
	for _, every := range []int{0, 128, 2} {
		x, y := make([]int64, rows), make([]int64, rows)
		for i := range x {
			x[i], y[i] = int64(i), int64(i)
			if every > 0 && i%every == 0 {
				y[i]++
			}
		}
		column := func(v []int64) *snapshot.Column {
			c := snapshot.NewColumn("Position", "x", snapshot.I64, 0)
			c.Data = snapshot.LittleEndianBytes(v)
			return &c
		}
		a, c := column(x), column(y)
		b.Run(fmt.Sprintf("one in %d", every), func(b *testing.B) {
			b.SetBytes(16 * rows)
			var changed []int32
			for b.Loop() {
				changed = snapshot.ChangedRows(changed[:0], a, c)
			}
		})
	}
}

package refsim

import (
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
)

// BenchmarkStep plays ticks with and without hashing the state of each, after
// 300 ticks of warming up.
func BenchmarkStep(b *testing.B) {
	for _, entities := range []int{500, 5000, 50_000} {
		for _, hashed := range []bool{false, true} {
			name := fmt.Sprintf("entities=%d/hash=%t", entities, hashed)
			b.Run(name, func(b *testing.B) { benchmarkStep(b, entities, hashed) })
		}
	}
}

func benchmarkStep(b *testing.B, entities int, hashed bool) {
	s, err := New(Config{Seed: 1, Entities: entities})
	if err != nil {
		b.Fatal(err)
	}
	script := NewScript(1)
	for range 300 {
		if err := s.Step(script.Orders(s)); err != nil {
			b.Fatal(err)
		}
		s.SyncHash()
	}
	// The same orders again and again, so that making them costs nothing.
	orders := script.Orders(s)
	b.ReportAllocs()
	for b.Loop() {
		for i := range orders {
			orders[i].Tick = s.Point()
		}
		step(b, s, orders)
		if hashed {
			s.SyncHash()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
}

func step(tb testing.TB, s *Sim, orders []orderlog.Order) {
	if err := s.Step(orders); err != nil {
		tb.Fatal(err)
	}
}

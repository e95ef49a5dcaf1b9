package refsim

import (
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/bisect"
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

// recorded plays a clean session and returns its log.
func recorded(tb testing.TB, s *Sim, ticks int) *orderlog.Log {
	tb.Helper()
	script := NewScript(s.config.Seed)
	log := &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: s.config.Seed, Peer: "host", Peers: []string{"host"}, Kinds: OrderKinds(), Params: s.config.Params()}}
	for range ticks {
		hash := s.SyncHash()
		t := orderlog.Tick{Number: s.Point(), Orders: script.Orders(s)}
		t.Hashes = []orderlog.Observed{{Point: s.Point(), Kind: orderlog.SyncHash, Bytes: hash[:]}}
		log.Ticks = append(log.Ticks, t)
		step(tb, s, t.Orders)
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	return log
}

// BenchmarkReplay replays 600 ticks of a clean session in each mode. Ticks are ticks of the session: a mode that plays
// each twice has half as many a second.
func BenchmarkReplay(b *testing.B) {
	log := recorded(b, newTestSim(b, Config{Seed: 1, Entities: 5000}), 600)
	for _, opts := range []bisect.TrialOptions{
		{Mode: bisect.Plain},
		{Mode: bisect.Dual},
		{Mode: bisect.Serialize},
		{Mode: bisect.Rollback, Depth: 4},
		{Mode: bisect.Repeat, Runs: 2},
		{Mode: bisect.CheckCaches},
		{Mode: bisect.CheckPurity},
		{Mode: bisect.Predict, Predict: []uint32{0, 1}},
	} {
		b.Run(string(opts.Mode), func(b *testing.B) {
			for b.Loop() {
				trial, err := bisect.Try(log, Simulator(), opts)
				if err != nil || trial.Departed() {
					b.Fatalf("%+v, %v", trial, err)
				}
			}
			b.ReportMetric(600*float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
		})
	}
}

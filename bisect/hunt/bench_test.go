package hunt

import (
	"context"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
)

// benchSessions is how many sessions a benchmark plays at a time.
const benchSessions = 12

// BenchmarkBare is what the simulator does by itself: one instance steps the orders of the same
// sessions, with the sync hash of each state point, as BenchmarkHunt/dual does with three.
func BenchmarkBare(b *testing.B) {
	h := hunter(b, Target{Sim: refsim.Simulator(), Modes: []bisect.TrialMode{bisect.Dual}})
	var list []*Session
	for seed := range uint64(benchSessions) {
		s, err := h.Session(context.Background(), seed+1)
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, s)
	}
	var ticks uint64
	for b.Loop() {
		for _, s := range list {
			sim, err := h.target.Sim.Start(&s.Log.Header)
			if err != nil {
				b.Fatal(err)
			}
			sim.SyncHash()
			for i := range s.Log.Ticks {
				if err := sim.Step(s.Log.Ticks[i].Orders); err != nil {
					b.Fatal(err)
				}
				sim.SyncHash()
				ticks++
			}
		}
	}
	b.ReportMetric(float64(ticks)/b.Elapsed().Seconds(), "ticks/s")
}

// BenchmarkHunt plays sessions of a healthy simulator, and counts the ticks that all instances step.
func BenchmarkHunt(b *testing.B) {
	for _, c := range []struct {
		name  string
		modes []bisect.TrialMode
	}{{"dual", []bisect.TrialMode{bisect.Dual}}, {"all", nil}} {
		b.Run(c.name, func(b *testing.B) {
			h := hunter(b, Target{Sim: refsim.Simulator(), Modes: c.modes})
			var ticks uint64
			for b.Loop() {
				r := hunts(b, h, Options{Sessions: benchSessions})
				ticks += r.Coverage.Ticks
			}
			b.ReportMetric(float64(ticks)/b.Elapsed().Seconds(), "ticks/s")
		})
	}
}

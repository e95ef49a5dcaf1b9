package extsim

import (
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
)

// BenchmarkReplay replays and verifies 600 ticks of 5,000 entities, in this process and
// in another one.
func BenchmarkReplay(b *testing.B) {
	const ticks = 600
	log := record(b, refsim.Config{Seed: 5}, ticks)
	exe := targetCommand(b, "good")
	for _, c := range []struct {
		name string
		sim  *bisect.Sim
	}{{"in-process", refsim.Simulator()}, {"external", newSim(b, exe, Options{})}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				t, err := bisect.Try(log, c.sim, bisect.TrialOptions{Mode: bisect.Plain})
				if err != nil || t.Departed() || t.Compared != ticks {
					b.Fatalf("%+v, %v", t, err)
				}
			}
			b.ReportMetric(float64(b.N*ticks)/b.Elapsed().Seconds(), "ticks/s")
		})
	}
}

package extsim

import (
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
)

// BenchmarkReplay replays and verifies 600 ticks of 5,000 entities, in this process and
// in another one.
func BenchmarkReplay(b *testing.B) {
	config := refsim.Config{Seed: 5}
	sim, err := refsim.New(config)
	if err != nil {
		b.Fatal(err)
	}
	const ticks = 600
	log := recordedLog(b, 1)
	log.Header.Params, log.Header.Start = sim.Config().Params(), sim.StateHash()
	script := refsim.NewScript(config.Seed)
	log.Ticks = nil
	for range ticks {
		h := sim.SyncHash()
		tick := orderlog.Tick{Number: sim.Point(), Orders: script.Orders(sim), Hashes: []orderlog.Observed{{Point: sim.Point(), Kind: orderlog.SyncHash, Bytes: h[:]}}}
		if err := sim.Step(tick.Orders); err != nil {
			b.Fatal(err)
		}
		log.Ticks = append(log.Ticks, tick)
	}
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
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

package bisect

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// TestReach: a spot is where a loop over the game itself is at the beginning of that tick, from the start and from a
// state on the way.
func TestReach(t *testing.T) {
	sim := countingSim("", 0, 5)
	log := countingLog(t, sim)
	for _, tick := range []uint64{0, 1, 21, trialTicks - 1} {
		oracle, _ := sim.Start(nil)
		var world *snapshot.World
		for oracle.Point() < tick {
			if world == nil && oracle.Point() == tick/2 {
				world = worldOf(oracle)
				world.Seed = testSeed
			}
			_ = oracle.Step(log.Ticks[oracle.Point()].Orders)
		}
		for _, from := range []*snapshot.World{nil, world} {
			spot, err := Reach(log, sim, tick, TrialOptions{From: from})
			if err != nil {
				t.Fatal(err)
			}
			if spot.Point() != tick || spot.SyncHash() != oracle.SyncHash() || len(spot.Orders) != len(log.Ticks[tick].Orders) {
				t.Errorf("tick %d: at point %d with %s and %d orders, expected %s and %d", tick, spot.Point(), spot.SyncHash(), len(spot.Orders), oracle.SyncHash(), len(log.Ticks[tick].Orders))
			}
			if err := spot.Play(); err != nil || spot.Point() != tick+1 {
				t.Errorf("tick %d is played to point %d, %v", tick, spot.Point(), err)
			}
			if err := spot.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := Reach(log, sim, trialTicks+3, TrialOptions{}); err == nil || !strings.Contains(err.Error(), "tick 43 is in no stretch") {
		t.Errorf("a tick after the log: %v", err)
	}
}

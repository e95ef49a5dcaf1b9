package refsim

import (
	"slices"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
)

// TestSecondThoughts: orders that are replaced within their tick make no difference,
// and there are enough of each kind to be mistaken about.
func TestSecondThoughts(t *testing.T) {
	for seed := range uint64(4) {
		c := Config{Seed: seed, Entities: 200 + 300*int(seed)}
		all, without, script := newTestSim(t, c), newTestSim(t, c), NewScript(seed)
		var replaced [numOrderKinds]int
		for range 600 {
			orders := script.Orders(all)
			if !slices.IsSortedFunc(orders, compareOrders) {
				t.Fatalf("seed %d, tick %d: not in order", seed, all.Point())
			}
			var rest []orderlog.Order
			for i := range orders {
				if j := replacement(orders, i); j >= 0 && orders[i].Kind != OrderRally && orders[i].Kind != OrderRegroup {
					replaced[orders[i].Kind]++
					if orders[i].Kind != OrderTrain {
						continue
					}
				}
				rest = append(rest, orders[i])
			}
			step(t, all, orders)
			step(t, without, rest)
			if !Equal(all, without) {
				t.Fatalf("seed %d, tick %d: %+v", seed, all.Point()-1, Differences(all, without))
			}
		}
		for _, kind := range []uint32{OrderMove, OrderAttack, OrderTrain} {
			if replaced[kind] < 15 {
				t.Errorf("seed %d: %d orders to %s are replaced in their tick", seed, replaced[kind], orderKinds[kind].name)
			}
		}
	}
}

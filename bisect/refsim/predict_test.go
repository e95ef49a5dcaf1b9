package refsim

import "testing"

// TestPredictionIsTakenBack predicts the orders of all players in one of two games.
func TestPredictionIsTakenBack(t *testing.T) {
	c := Config{Seed: 6, Entities: 300}
	a, b, script := newTestSim(t, c), newTestSim(t, c), NewScript(6)
	predicted := 0
	for range 400 {
		orders := script.Orders(a)
		for i := range orders {
			if _, ok := b.task(&orders[i]); ok {
				predicted++
			}
		}
		for p := range uint32(b.config.Players) {
			b.Predict(p, orders)
		}
		if !Equal(a, b) || a.StateHash() != b.StateHash() {
			t.Fatalf("point %d: predicting left %+v", a.Point(), Differences(a, b))
		}
		step(t, a, orders)
		step(t, b, orders)
	}
	if predicted < 400 {
		t.Errorf("%d orders predicted", predicted)
	}
}

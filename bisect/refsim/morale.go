package refsim

import "math"

// runMorale moves everyone's morale towards how healthy they are, and ranks
// them.
func (s *Sim) runMorale() {
	for _, t := range s.tables {
		if t.morale == nil {
			continue
		}
		if s.inSlot(t, 16) {
			s.cheer(t)
		}
		if s.inSlot(t, 32) && t.rows() > 0 {
			s.rank(t)
		}
	}
}

func (s *Sim) cheer(t *table) {
	const keep, gain = 0.9, 0.1
	fused, reordered := s.on(floatFMA, sysMorale), s.on(floatReassoc, sysMorale)
	for i, value := range t.morale.Value.v {
		health := float64(gain * (float64(t.health.HP.v[i]) / float64(t.health.Max.v[i])))
		switch {
		case fused:
			t.morale.Value.set(i, math.FMA(value, keep, health)) // the mistake
		case reordered: // the mistake: a + (c - b) for (a - b) + c, as keep is 1 - gain
			t.morale.Value.set(i, value+float64(health-float64(gain*value)))
		default:
			t.morale.Value.set(i, float64(value*keep)+health)
		}
	}
}

// rank sorts the rows' morale into five classes, 0…4.
func (s *Sim) rank(t *table) {
	base := uint8(0)
	if s.takes(reconverge, sysMorale) || s.on(blindChecksum, sysMorale) {
		base = 1 // the mistake: off by one
	}
	for i, value := range t.morale.Value.v {
		t.morale.Rank.set(i, base+uint8(min(value*5, 4)))
	}
}

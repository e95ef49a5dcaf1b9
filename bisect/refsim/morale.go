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
	for i, value := range t.morale.value.v {
		health := float64(gain * (float64(t.health.hp.v[i]) / float64(t.health.max.v[i])))
		switch {
		case fused:
			t.morale.value.set(i, math.FMA(value, keep, health)) // the mistake
		case reordered: // the mistake: a + (c - b) for (a - b) + c, as keep is 1 - gain
			t.morale.value.set(i, value+float64(health-float64(gain*value)))
		default:
			t.morale.value.set(i, float64(value*keep)+health)
		}
	}
}

// rank sorts the rows' morale into five classes, 0…4.
func (s *Sim) rank(t *table) {
	base := uint8(0)
	if s.takes(reconverge, sysMorale) || s.on(blindChecksum, sysMorale) {
		base = 1 // the mistake: off by one
	}
	for i, value := range t.morale.value.v {
		t.morale.rank.set(i, base+uint8(min(value*5, 4)))
	}
}

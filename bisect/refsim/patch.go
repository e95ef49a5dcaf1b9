package refsim

// patches are the differences in the unit table of another version of the game. None of it is read before the first
// tick.
var patches = [...]struct {
	in    system
	of    archetype
	apply func(*kind)
}{
	{sysMovement, tank, func(k *kind) { k.speed += 1000 }},
	{sysCombat, infantry, func(k *kind) { k.reach += 2 * one }},
	{sysProduction, scout, func(k *kind) { k.cost += 5 }},
}

// patch is the fault data-mismatch: from its tick on the peer plays with other
// data.
func (s *Sim) patch() {
	for _, p := range patches {
		if t := s.tables[p.of]; t.kind == &kinds[p.of] && s.on(dataMismatch, p.in) {
			other := kinds[p.of]
			p.apply(&other)
			t.kind = &other
		}
	}
}

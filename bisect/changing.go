package bisect

import (
	"fmt"

	"github.com/desynctool/desynctool/snapshot"
)

// changing plays the log and notes the places that change from tick to tick.
func (p *player) changing() error {
	p.all = p.length()
	s, err := p.start(p.sim)
	if err != nil {
		return err
	}
	p.out.Changed = map[string]bool{}
	var before snapshot.State
	for {
		if p.due(s.Point()) {
			after, err := p.hold(s)
			switch {
			case err != nil:
				return err
			case after == nil:
				return fmt.Errorf("%s does not show its state: %w", p.sim.Name, ErrUnsupported)
			case before != nil:
				p.out.Compared++
				Places(p.diff(before, after), p.out.Changed)
			}
			before = after
		}
		if s.Point() == p.out.To {
			return nil
		}
		if err := p.step(s); err != nil {
			return err
		}
	}
}

// Places adds where two states differ, caches aside, to a set: snapshot.RNG,
// Archetype/Component.field, and Archetype/ for entities that only one state has.
func Places(d *snapshot.Diff, places map[string]bool) {
	if d == nil {
		return
	}
	if d.RNG != nil {
		places[snapshot.RNG] = true
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		if t.Class != snapshot.Archetype {
			continue
		}
		if t.OnlyACount+t.OnlyBCount > 0 {
			places[t.Label+"/"] = true
		}
		for k := range t.Columns {
			places[t.Label+"/"+t.Columns[k].Component+"."+t.Columns[k].Field] = true
		}
	}
}

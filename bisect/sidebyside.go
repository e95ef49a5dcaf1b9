package bisect

import (
	"errors"
	"fmt"
	"sync"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// pair steps two instances side by side; with serialize the second is saved and loaded after each tick.
func (p *player) pair(simA, simB *Sim, serialize bool) error {
	p.all = 2 * p.length()
	a, err := p.start(simA)
	if err != nil {
		return err
	}
	b, err := p.start(simB)
	if err != nil {
		return err
	}
	nameA, nameB := "first "+simA.Name, "second "+simB.Name
	switch {
	case serialize:
		nameA, nameB = simA.Name, simB.Name+", saved and loaded in each tick"
	case simA.Name != simB.Name:
		nameA, nameB = simA.Name, simB.Name
	}
	var spare Simulator
	if _, ok := As[Restorer](b, CanSave); ok && serialize {
		if spare, err = p.start(simB); err != nil {
			return err
		}
	}
	if serialize && p.opts.Since != nil && p.due(b.Point()) {
		if b, spare, err = p.reload(simB, b, spare); err != nil {
			return err
		}
	}
	ha, hb := []merkle.Short{a.SyncHash()}, []merkle.Short{b.SyncHash()}
	for first := a.Point(); ; first = a.Point() - uint64(len(ha)) + 1 {
		for i := range ha {
			point := first + uint64(i)
			p.out.Compared++
			if ha[i] != hb[i] {
				p.out.First = &Departure{Point: point, A: nameA, B: nameB, Expected: ha[i], Got: hb[i]}
				if a.Point() == point {
					return p.between(p.out.First, a, b)
				}
				p.overshot(2 * (a.Point() - point))
				return p.pairAgain(p.out.First, simA, simB)
			}
			p.out.Agreed = &point
		}
		if a.Point() == p.out.To {
			return nil
		}
		if p.opts.Drill && a.Point() >= p.opts.DrillFrom {
			if err := p.stepTogether(a, b, nameA, nameB); err != nil || p.out.First != nil {
				return err
			}
			if serialize && p.due(b.Point()) {
				if b, spare, err = p.reload(simB, b, spare); err != nil {
					return err
				}
			}
			ha, hb = []merkle.Short{a.SyncHash()}, []merkle.Short{b.SyncHash()}
			continue
		}
		n := p.ahead(p.out.To, a, b)
		if p.opts.Drill {
			n = min(n, p.opts.DrillFrom-a.Point())
		}
		if serialize {
			n = 1
		}
		errs := make([]error, 2)
		p.together(func() { ha, errs[0] = p.advance(ha[:0], a, n) }, func() {
			if !serialize {
				hb, errs[1] = p.advance(hb[:0], b, n)
				return
			}
			if errs[1] = p.play(b, b.Point()+1); errs[1] != nil {
				return
			}
			if p.due(b.Point()) {
				b, spare, errs[1] = p.reload(simB, b, spare)
			}
			if errs[1] == nil {
				hb = append(hb[:0], b.SyncHash())
			}
		})
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

// together does two things, at the same time unless they are to be done in turn.
func (p *player) together(a, b func()) {
	if p.opts.InTurn {
		a()
		b()
		return
	}
	var wait sync.WaitGroup
	wait.Go(a)
	wait.Go(b)
	wait.Wait()
}

// due reports whether what a mode does in each tick is done at a state point.
func (p *player) due(point uint64) bool { return p.opts.Since == nil || point >= *p.opts.Since }

// pairAgain plays two new instances to where the first two departed, to find the difference: the first two are past
// that point.
func (p *player) pairAgain(d *Departure, simA, simB *Sim) error {
	list := make([]Simulator, 2)
	for i, sim := range []*Sim{simA, simB} {
		var err error
		if list[i], err = p.playedTo(sim, d.Point); err != nil {
			return err
		}
	}
	if list[0].SyncHash() != d.Expected || list[1].SyncHash() != d.Got {
		p.out.Notes = append(p.out.Notes, "which values depart is not known: a second time they depart elsewhere, or otherwise")
		return nil
	}
	return p.between(d, list[0], list[1])
}

// saved is a state that was taken out of a simulator, in one of two forms.
type saved struct {
	point uint64
	bytes []byte
	world *snapshot.World
}

// save takes the state out of an instance.
func (p *player) save(s Simulator) (saved, error) {
	out := saved{point: s.Point()}
	var err error
	if r, ok := As[Restorer](s, CanSave); ok {
		out.bytes, err = r.Save()
	} else if saver, ok := As[Saver](s, CanState); ok {
		out.world, err = saver.World()
	} else {
		return out, fmt.Errorf("%s cannot be saved", p.sim.Name)
	}
	if err != nil {
		return out, fmt.Errorf("%s cannot be saved at state point %d: %w", p.sim.Name, out.point, err)
	}
	return out, nil
}

// load loads a state, into spare if it can be restored, else into a new instance that replaces spare.
func (p *player) load(sim *Sim, spare Simulator, state saved) (Simulator, error) {
	r, ok := As[Restorer](spare, CanSave)
	if !ok {
		s, err := sim.Resume(state.world, &p.log.Header)
		if err != nil {
			return nil, fmt.Errorf("%s cannot load what it saved at state point %d: %w", sim.Name, state.point, err)
		}
		p.keep(s)
		if spare != nil {
			err = p.stop(spare)
		}
		return s, err
	}
	if err := r.Restore(state.bytes); err != nil {
		return nil, fmt.Errorf("%s cannot load what it saved at state point %d: %w", sim.Name, state.point, err)
	}
	if at := r.Point(); at != state.point {
		return nil, fmt.Errorf("%s is at state point %d after loading what it saved at %d", sim.Name, at, state.point)
	}
	return r, nil
}

// reload saves an instance and loads what was saved into another: into the spare one,
// which still has the state of a tick ago, so that what a save forgets is missing or old.
func (p *player) reload(sim *Sim, s, spare Simulator) (loaded, old Simulator, err error) {
	state, err := p.save(s)
	if err != nil {
		return nil, nil, err
	}
	loaded, err = p.load(sim, spare, state)
	return loaded, s, err
}

// lane is an instance that goes back and plays again, next to the one that goes on.
type lane struct {
	shadow Simulator
	begin  uint64 // where it went back to
	got    merkle.Short
	err    error
	busy   sync.WaitGroup
}

// again goes back to a state, plays up to a point and takes the hash there.
func (l *lane) again(p *player, state saved, point uint64) {
	l.begin = state.point
	play := func() {
		shadow, err := p.load(p.sim, l.shadow, state)
		if err == nil {
			l.shadow = shadow
			err = p.play(shadow, point)
		}
		if l.err = err; err == nil {
			l.got = shadow.SyncHash()
		}
	}
	if p.opts.InTurn {
		play()
		return
	}
	l.busy.Go(play)
}

// rollback goes back by Depth ticks in every tick and plays them again, while the instance that it is compared with
// plays the last of these ticks. That instance waits at each point, so that it can show what departs.
func (p *player) rollback() error {
	depth := p.opts.Depth
	if depth < 1 || depth > maxDepth {
		return fmt.Errorf("rollback by %d ticks, expected 1 to %d", depth, maxDepth)
	}
	p.all = p.length() * int64(depth+1)
	s, err := p.start(p.sim)
	if err != nil {
		return err
	}
	var l lane
	if _, ok := As[Restorer](s, CanSave); ok {
		if l.shadow, err = p.start(p.sim); err != nil {
			return err
		}
	}
	defer l.busy.Wait()
	var kept []saved // the last Depth states, the oldest first
	for s.Point() < p.out.To {
		state, err := p.save(s)
		if err != nil {
			return err
		}
		kept = append(kept, state)
		back, due := len(kept) == depth, p.due(s.Point())
		if back && due {
			l.again(p, kept[0], s.Point()+1)
		}
		if back {
			kept = kept[1:]
		}
		if err := p.step(s); err != nil {
			return err
		}
		if !back || !due {
			continue
		}
		point, want := s.Point(), s.SyncHash()
		if l.busy.Wait(); l.err != nil {
			return l.err
		}
		p.out.Compared++
		if want != l.got {
			p.out.First = &Departure{
				Point: point, A: p.sim.Name, B: fmt.Sprintf("%s, rolled back to state point %d", p.sim.Name, l.begin),
				Expected: want, Got: l.got, From: l.begin,
			}
			return p.between(p.out.First, s, l.shadow)
		}
		p.out.Agreed = &point
	}
	return nil
}

// maxDepth is the deepest rollback, which is the number of states in memory.
const maxDepth = 64

package bisect

import (
	"errors"
	"fmt"
	"sync"

	"github.com/desynctool/desynctool/snapshot"
)

// pair steps two instances side by side; with serialize the second is saved and
// loaded after each tick.
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
	ha, hb := a.SyncHash(), b.SyncHash()
	for {
		point := a.Point()
		p.out.Compared++
		if ha != hb {
			p.out.First = &Departure{Point: point, A: nameA, B: nameB, Expected: ha, Got: hb, Diff: p.between(a, b)}
			return nil
		}
		p.out.Agreed = &point
		if point == p.out.To {
			return nil
		}
		if p.opts.Drill {
			if err := p.stepTogether(a, b, nameA, nameB); err != nil || p.out.First != nil {
				return err
			}
			if serialize {
				if b, err = p.reload(simB, b); err != nil {
					return err
				}
			}
			ha, hb = a.SyncHash(), b.SyncHash()
			continue
		}
		errs := make([]error, 2)
		var wait sync.WaitGroup
		wait.Go(func() {
			if errs[0] = p.step(a); errs[0] == nil {
				ha = a.SyncHash()
			}
		})
		wait.Go(func() {
			if errs[1] = p.step(b); errs[1] == nil && serialize {
				b, errs[1] = p.reload(simB, b)
			}
			if errs[1] == nil {
				hb = b.SyncHash()
			}
		})
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

// between compares the states of two instances, nil if they cannot be taken out.
func (p *player) between(a, b Simulator) *snapshot.Diff {
	x, ok1 := a.(Saver)
	y, ok2 := b.(Saver)
	if !ok1 || !ok2 {
		return nil
	}
	held, err := snapshot.Hold(x.World())
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	return p.diff(held, y.World())
}

// reload saves an instance and loads what was saved.
func (p *player) reload(sim *Sim, s Simulator) (Simulator, error) {
	saver, ok := s.(Saver)
	if !ok {
		return nil, fmt.Errorf("%s cannot be saved", sim.Name)
	}
	return sim.Resume(saver.World(), &p.log.Header)
}

// rollback goes back by Depth ticks in every tick and plays them again.
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
	saver, ok := s.(Saver)
	if !ok {
		return fmt.Errorf("%s cannot be saved", p.sim.Name)
	}
	var kept []*snapshot.World // the last Depth states, the oldest first
	for saver.Point() < p.out.To {
		kept = append(kept, saver.World())
		if err := p.step(saver); err != nil {
			return err
		}
		if len(kept) < depth {
			continue
		}
		again, err := p.sim.Resume(kept[0], &p.log.Header)
		if err != nil {
			return err
		}
		begin := again.Point()
		kept = kept[1:]
		for again.Point() < saver.Point() {
			if err := p.step(again); err != nil {
				return err
			}
		}
		point := saver.Point()
		p.out.Compared++
		if want, got := saver.SyncHash(), again.SyncHash(); want != got {
			p.out.First = &Departure{
				Point: point, A: p.sim.Name, B: fmt.Sprintf("%s, rolled back to state point %d", p.sim.Name, begin),
				Expected: want, Got: got, Diff: p.between(saver, again), From: begin,
			}
			return nil
		}
		p.out.Agreed = &point
	}
	return nil
}

// maxDepth is the deepest rollback: so many states are held.
const maxDepth = 64

package bisect

import (
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// fromEach replays from each of the peer's snapshots to the end, against the recorded hashes.
func (p *player) fromEach() error {
	if p.opts.Snapshots == nil {
		return nil
	}
	var entries []*snapshot.Entry
	for _, e := range p.opts.Snapshots.Entries {
		if (p.opts.Force || e.Seed == p.log.Header.Seed) && e.Point.Phase == "" && e.Point.Tick >= p.out.From && e.Point.Tick < p.out.To {
			entries = append(entries, e)
			p.all += int64(p.out.To - e.Point.Tick)
		}
	}
	var last *uint64
	for _, e := range entries {
		agreed, err := p.fromOne(e)
		if err != nil {
			return err
		}
		if p.out.First != nil {
			p.out.Agreed = agreed
			return nil
		}
		if agreed != nil {
			last = agreed
		}
	}
	p.out.Agreed = last
	return nil
}

// fromOne replays from one snapshot and returns the last point that agrees.
func (p *player) fromOne(e *snapshot.Entry) (agreed *uint64, err error) {
	state, err := e.Open()
	if state != nil {
		defer state.Close()
	}
	if err == nil {
		err = p.belongs(e.Path(), &state.Info().Head)
	}
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil, nil
	}
	if !p.mine(state.Info()) {
		return nil, nil // of another stretch that has this point
	}
	world, err := snapshot.Load(state)
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil, nil
	}
	s, err := p.sim.Resume(world, &p.log.Header)
	if err != nil {
		return nil, fmt.Errorf("%s cannot resume from %s: %w", p.sim.Name, e.Path(), err)
	}
	p.keep(s)
	defer func() { err = errors.Join(err, p.stop(s)) }()
	p.out.Snapshots++
	begin := s.Point()
	depart := func(point uint64, want, got merkle.Short) *Departure {
		return &Departure{Point: point, A: p.source(), B: fmt.Sprintf("%s from state point %d", p.sim.Name, begin), Expected: want, Got: got, From: begin}
	}
	if want, got := state.Info().Root.Short(), s.SyncHash(); want != got {
		p.out.Compared++
		p.out.First = depart(begin, want, got)
		have, err := p.hold(s)
		if have != nil && err == nil {
			p.out.First.Diff = p.diff(state, have)
		}
		return nil, err
	}
	p.byRoots(begin, s.SyncHash())
	err = p.walk(s, func(point uint64, got merkle.Short) (more bool, err error) {
		want, ok := p.recorded[point]
		if !ok {
			return true, nil
		}
		p.out.Compared++
		if want == got {
			agreed = &point
			return true, nil
		}
		p.out.First = depart(point, want, got)
		p.overshot(s.Point() - point)
		if s.Point() == point {
			return false, p.held(p.out.First, s)
		}
		return false, p.again(p.out.First, world)
	})
	return agreed, err
}

// again replays from a state to where a replay from it departed, to find what departs.
func (p *player) again(d *Departure, from *snapshot.World) error {
	s, err := p.sim.Resume(from, &p.log.Header)
	if err != nil {
		return err
	}
	p.keep(s)
	if err := p.advanceTo(s, d.Point); err != nil {
		return err
	}
	if s.SyncHash() != d.Got {
		p.out.Notes = append(p.out.Notes, p.sim.Name+" is not deterministic: what departs cannot be found by a second replay")
		return nil
	}
	return p.held(d, s)
}

package bisect

import (
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// fromEach replays from each of the peer's snapshots to the end, against the
// recorded hashes.
func (p *player) fromEach() error {
	if p.opts.Snapshots == nil {
		return errors.New("no snapshots to begin at")
	}
	var entries []*snapshot.Entry
	for _, e := range p.opts.Snapshots.Entries {
		if e.Seed == p.log.Header.Seed && e.Point.Phase == "" && e.Point.Tick >= p.out.From && e.Point.Tick < p.out.To {
			entries = append(entries, e)
			p.all += int64(p.out.To - e.Point.Tick)
		}
	}
	if len(entries) == 0 {
		return fmt.Errorf("%s: no snapshots between state points %d and %d", p.opts.Snapshots.Path, p.out.From, p.out.To)
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
		last = agreed
	}
	p.out.Agreed = last
	return nil
}

// fromOne replays from one snapshot and returns the last point that agrees.
func (p *player) fromOne(e *snapshot.Entry) (agreed *uint64, err error) {
	state, err := e.Open()
	if err != nil {
		if state != nil {
			state.Close()
		}
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil, nil
	}
	defer state.Close()
	world, err := snapshot.Load(state)
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil, nil
	}
	s, err := p.sim.Resume(world, &p.log.Header)
	if err != nil {
		return nil, fmt.Errorf("%s cannot resume from %s: %w", p.sim.Name, e.Path(), err)
	}
	p.out.Snapshots++
	begin := s.Point()
	depart := func(want, got merkle.Short, diff *snapshot.Diff) {
		p.out.First = &Departure{Point: s.Point(), A: p.source(), B: fmt.Sprintf("%s from state point %d", p.sim.Name, begin), Expected: want, Got: got, Diff: diff, From: begin}
	}
	if want, got := state.Info().Root.Short(), s.SyncHash(); want != got {
		var diff *snapshot.Diff
		if saver, ok := s.(Saver); ok {
			diff = p.diff(state, saver.World())
		}
		p.out.Compared++
		depart(want, got, diff)
		return nil, nil
	}
	for {
		point := s.Point()
		if want, ok := p.recorded[point]; ok {
			p.out.Compared++
			if got := s.SyncHash(); want != got {
				depart(want, got, nil)
				p.held(p.out.First, s)
				return agreed, nil
			}
			agreed = &point
		}
		if point == p.out.To {
			return agreed, nil
		}
		if err := p.step(s); err != nil {
			return nil, err
		}
	}
}

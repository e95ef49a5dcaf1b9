package bisect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Traced is the trace that a peer left. Only the current tick need be in memory.
type Traced interface {
	// Tick returns what was traced in a tick, system by system, until the next call. The caller asks for ascending
	// ticks. It returns nothing for a tick that the trace does not have, and one error where the trace cannot be read
	// further.
	Tick(tick uint64) ([]TracedSystem, error)
	Close() error
}

// TracedSystem is what was traced after one system: the first 8 bytes of merkle's hashes.
type TracedSystem struct {
	System string
	// Sums are the checksums of the whole state, under "", and of parts of it: an archetype's label, or
	// label/Component.field.
	Sums map[string]merkle.Short
}

// drill is a plain replay that is stepped system by system and compared with a trace.
type drill struct {
	p *player
	s Stepper
}

func (p *player) driller(s Simulator) (*drill, error) {
	stepper, ok := As[Stepper](s, CanSystems)
	if !ok {
		return nil, fmt.Errorf("%s cannot be stepped system by system: %w", p.sim.Name, ErrUnsupported)
	}
	if p.opts.Traced == nil {
		return nil, fmt.Errorf("%s left no trace to drill by; two simulators side by side need none", p.source())
	}
	return &drill{p, stepper}, nil
}

// step plays the current tick. The replay departs at the first system after which it differs from the trace. If the
// peer left a snapshot of the tick's end, step also finds the differences by then.
func (d *drill) step() error {
	tick := d.s.Point()
	if err := d.s.Begin(d.p.orders[tick]); err != nil {
		return fmt.Errorf("tick %d of %s: %w", tick, d.p.log.Name, err)
	}
	traced, err := d.p.opts.Traced.Tick(tick)
	if err != nil {
		d.p.out.Lost = append(d.p.out.Lost, err.Error())
	}
	for more := true; more; {
		var system string
		if system, more, err = d.s.Next(); err != nil {
			return err
		}
		i := slices.IndexFunc(traced, func(t TracedSystem) bool { return t.System == system })
		if i < 0 || d.p.out.First != nil {
			continue
		}
		want, ok := traced[i].Sums[""]
		if !ok {
			continue
		}
		d.p.out.Compared++
		if got := d.s.SyncHash(); got != want {
			x := &Departure{Point: tick + 1, A: d.p.source(), B: d.p.sim.Name, Expected: want, Got: got, System: system}
			if err := d.scopes(x, &traced[i]); err != nil {
				return err
			}
			d.p.out.First = x
		}
	}
	if x := d.p.out.First; x != nil {
		if err := d.p.held(x, d.s); err != nil {
			return err
		}
		x.TickEnd = x.Diff != nil
	}
	d.p.count(1)
	return nil
}

// stepTo plays the current tick until a system has run.
func (p *player) stepTo(s Stepper, last string) error {
	if err := s.Begin(p.orders[s.Point()]); err != nil {
		return fmt.Errorf("tick %d of %s: %w", s.Point(), p.log.Name, err)
	}
	for {
		if system, more, err := s.Next(); err != nil || system == last || !more {
			return err
		}
	}
}

// scopes finds what departs after a system by the parts that were traced.
func (d *drill) scopes(x *Departure, traced *TracedSystem) error {
	held, err := d.p.hold(d.s)
	if err != nil {
		return err
	}
	if held == nil || len(traced.Sums) < 2 {
		x.Proof = fmt.Sprintf("the trace has one checksum after each system: which archetype departs in %s takes a trace of archetypes", prose.Name(x.System))
		return nil
	}
	columns := false
	differs := func(scope string, hash merkle.Hash) {
		if want, ok := traced.Sums[scope]; ok && want != hash.Short() {
			x.Scopes = append(x.Scopes, scope)
		}
	}
	for _, leaf := range held.Info().Leaves() {
		label := cmp.Or(leaf.Label, snapshot.RNG)
		differs(label, leaf.Hash)
	}
	for i, t := range held.Info().Tables {
		ix, err := held.Index(i)
		if err != nil || t.Class != snapshot.Archetype {
			continue
		}
		for k := range ix.Columns {
			c := &ix.Columns[k]
			scope := t.Label + "/" + c.Component + "." + c.Field
			_, ok := traced.Sums[scope]
			columns = columns || ok
			differs(scope, c.Digest)
		}
	}
	x.Proof = "the trace has archetypes: which column departs takes a trace of columns, which entity the state of both sides"
	if columns {
		x.Proof = "the trace has columns: which entity departs takes the state of both sides"
	}
	return nil
}

// stepTogether plays the current tick in two instances, system by system, and stops after the first system that leaves
// them different.
func (p *player) stepTogether(a, b Simulator, nameA, nameB string) error {
	x, ok1 := As[Stepper](a, CanSystems)
	y, ok2 := As[Stepper](b, CanSystems)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s or %s cannot be stepped system by system: %w", nameA, nameB, ErrUnsupported)
	}
	tick := a.Point()
	for _, s := range []Stepper{x, y} {
		if err := s.Begin(p.orders[tick]); err != nil {
			return fmt.Errorf("tick %d of %s: %w", tick, p.log.Name, err)
		}
	}
	for more := true; more; {
		var system, other string
		var moreToo bool
		var err1, err2 error
		system, more, err1 = x.Next()
		other, moreToo, err2 = y.Next()
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if system != other || more != moreToo {
			return fmt.Errorf("tick %d: %s runs %s where %s runs %s: they have other systems", tick, nameA, system, nameB, other)
		}
		p.out.Compared++
		if ha, hb := x.SyncHash(), y.SyncHash(); ha != hb {
			p.out.First = &Departure{Point: tick + 1, A: nameA, B: nameB, Expected: ha, Got: hb, System: system}
			return p.between(p.out.First, a, b)
		}
	}
	p.count(2)
	return nil
}

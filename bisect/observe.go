package bisect

import (
	"fmt"
)

// stepObserved plays the current tick system by system.
func (p *player) stepObserved(s Simulator) error {
	if err := p.ended(); err != nil {
		return err
	}
	stepper, ok := As[Stepper](s, CanSystems)
	if !ok {
		return fmt.Errorf("%s cannot be stepped system by system: %w", p.sim.Name, ErrUnsupported)
	}
	tick := s.Point()
	if err := stepper.Begin(p.orders[tick]); err != nil {
		return fmt.Errorf("tick %d of %s: %w", tick, p.log.Name, err)
	}
	for more := true; more; {
		var system string
		var err error
		if system, more, err = stepper.Next(); err != nil {
			return fmt.Errorf("tick %d of %s: %w", tick, p.log.Name, err)
		}
		if err := p.opts.ObserveSystem(tick, system, s.SyncHash()); err != nil {
			return err
		}
	}
	p.count(1)
	return nil
}

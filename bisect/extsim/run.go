package extsim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// pace is how many ticks one request contains: as many as take a tenth of a second or so, so that neither the round
// trips nor the deadline of slow games matter.
type pace struct{ ticks int }

const (
	firstTicks = 8
	maxTicks   = 1024
	fastEnough = 100 * time.Millisecond
	tooSlow    = time.Second
)

func (p *pace) took(d time.Duration) {
	switch {
	case d < fastEnough:
		p.ticks = min(2*p.ticks, maxTicks)
	case d > tooSlow:
		p.ticks = max(p.ticks/2, 1)
	}
}

// Step implements bisect.Simulator.
func (s *simulator) Step(orders []orderlog.Order) error {
	_, err := s.Run(nil, [][]orderlog.Order{orders})
	return err
}

// Run implements bisect.Batcher.
func (s *simulator) Run(dst []merkle.Short, ticks [][]orderlog.Order) (_ []merkle.Short, err error) {
	defer s.named(&err)
	s.pace.ticks = cmp.Or(s.pace.ticks, firstTicks)
	for len(ticks) > 0 {
		if err := s.keep(); err != nil {
			return dst, err
		}
		n := min(len(ticks), s.pace.ticks)
		start := time.Now()
		played, err := s.steps(ticks[:n])
		if err != nil {
			return dst, s.find(err, ticks[:n])
		}
		s.pace.took(time.Since(start))
		if s.checkpoint.have {
			s.played = append(s.played, ticks[:len(played)]...)
		}
		dst, ticks = append(dst, played...), ticks[len(played):]
	}
	return dst, nil
}

// steps plays ticks in one request: all of them, or as many as fit in one that the
// target takes.
func (s *simulator) steps(ticks [][]orderlog.Order) ([]merkle.Short, error) {
	const room = 64 // for the bytes before the orders
	var orders []byte
	n := 0
	for ; n < len(ticks); n++ {
		longer := orderlog.AppendOrders(orders, ticks[n])
		if n > 0 && uint64(len(longer)+room) > s.about.maxRequest {
			break
		}
		orders = longer
	}
	s.request(stepMethod, 2)
	s.req.uint(s.point)
	s.req.array(n)
	s.req.raw(orders)
	if err := s.send(maxReply); err != nil {
		return nil, err
	}
	b := s.reply.bin("hashes")
	if s.reply.err == nil && len(b) != n*merkle.ShortSize {
		s.reply.fail("hashes", fmt.Errorf("%d bytes for %d ticks, expected %d for each", len(b), n, merkle.ShortSize))
	}
	if err := s.done(); err != nil {
		return nil, err
	}
	hashes := make([]merkle.Short, n)
	for i := range hashes {
		hashes[i] = merkle.Short(b[i*merkle.ShortSize:])
	}
	s.point += uint64(n)
	s.hash = hashes[n-1]
	return hashes, nil
}

// keepEvery is how many ticks lie between two states that are saved on the way, to return to.
const keepEvery = 2048

// keep saves the state if it is time.
func (s *simulator) keep() error {
	c := &s.checkpoint
	if !c.have || len(s.played) < keepEvery || !s.Can(bisect.CanSave) {
		return nil
	}
	save, err := s.Save()
	if err != nil {
		return err
	}
	*c = checkpoint{have: true, point: s.point, state: save}
	s.played = s.played[:0]
	return nil
}

// find finds the tick at which a target broke off while it played several: it is
// started again, goes back to the last state that was saved, and plays tick by tick.
func (s *simulator) find(cause error, ticks [][]orderlog.Order) error {
	var broken *BrokenError
	first, last := s.point, s.point+uint64(len(ticks))-1
	where := fmt.Sprintf("in ticks %d to %d", first, last)
	if first == last {
		where = fmt.Sprintf("in tick %d", first)
	}
	if !errors.As(cause, &broken) || len(ticks) == 1 || !s.checkpoint.have {
		return fmt.Errorf("%s: %w", where, cause)
	}
	if err := s.back(); err != nil {
		return fmt.Errorf("%s: %w (started again: %v)", where, cause, err)
	}
	for i := range ticks {
		if _, err := s.steps(ticks[i : i+1]); err != nil {
			return fmt.Errorf("in tick %d: %w", s.point, err)
		}
	}
	return errors.Join(fmt.Errorf("%s: %w; started again it got through them, so that it does not do the same twice", where, cause), s.link.close())
}

// back starts the target again and plays to where it was.
func (s *simulator) back() error {
	kept, played := s.checkpoint, s.played
	s.played = nil
	if err := s.connect(); err != nil {
		return err
	}
	if kept.state != nil {
		if err := s.Restore(kept.state); err != nil {
			return err
		}
	}
	if s.point != kept.point {
		return fmt.Errorf("it is at state point %d, expected %d", s.point, kept.point)
	}
	for len(played) > 0 {
		n := min(len(played), firstTicks)
		hashes, err := s.steps(played[:n])
		if err != nil {
			return err
		}
		played = played[len(hashes):]
	}
	return nil
}

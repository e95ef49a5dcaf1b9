package extsim

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/processgroup"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// The parts of a conformance test. Each returns what was compared, or what is wrong.

func (c *checker) starts(s *simulator) (string, error) {
	if s.point != c.first() {
		return "", wrongf("it begins at state point %d, the header has %d", s.point, c.first())
	}
	if want := c.session.Header.Start; !want.IsZero() && s.hash != want.Short() {
		return "", wrongf("it begins with hash %s, the log's header has %s", s.hash, want.Short())
	}
	c.start = s.hash
	return fmt.Sprintf("state point %d, hash %s", s.point, s.hash), nil
}

func (c *checker) straight(s *simulator) (string, error) {
	hashes, err := s.Run(nil, c.ticks(c.first(), c.last()))
	if err != nil {
		return "", err
	}
	c.hashes = hashes
	orders := 0
	for _, list := range c.ticks(c.first(), c.last()) {
		orders += len(list)
	}
	if distinct := len(slices.Compact(slices.Clone(hashes))); distinct == 1 {
		return "", wrongf("the hash is %s after each of %d ticks: it covers nothing that changes", hashes[0], len(hashes))
	}
	return fmt.Sprintf("%d ticks with %d orders, the last hash is %s", len(hashes), orders, hashes[len(hashes)-1]), nil
}

func (c *checker) recorded() (string, error) {
	n := 0
	for point := c.first(); point <= c.last(); point++ {
		want, ok := c.session.Recorded[point]
		if !ok {
			continue
		}
		n++
		if got := c.at(point); got != want {
			return "", wrongf("it has hash %s at state point %d, the log recorded %s", got, point, want)
		}
	}
	if n == 0 {
		return "no log was given, or it recorded none", nil
	}
	return fmt.Sprintf("%d hashes match the log", n), nil
}

func (c *checker) twice(s *simulator) (string, error) {
	return "in another process", c.play(s, c.last(), "in another process")
}

func (c *checker) singly(s *simulator) (string, error) {
	for s.point < c.last() {
		if err := c.play(s, s.point+1, "with one tick a request"); err != nil {
			return "", err
		}
	}
	return "one a request, as in batches", nil
}

func (c *checker) again(s *simulator) (string, error) {
	if err := c.play(s, c.middle(), "at first"); err != nil {
		return "", err
	}
	if err := s.begin(); err != nil {
		return "", err
	}
	if s.point != c.first() || s.hash != c.start {
		return "", wrongf("a second start leads to state point %d with hash %s, the first one to %d with %s", s.point, s.hash, c.first(), c.start)
	}
	return "a second session in one process is like the first", c.play(s, c.last(), "in a second session of one process")
}

// root returns the state's hash, which must be the target's own.
func (c *checker) root(s *simulator) (*snapshot.World, error) {
	w, err := s.World()
	if err != nil {
		return nil, err
	}
	if w.Point.Tick != s.point || w.Point.Phase != "" {
		return nil, wrongf("the state it returns at state point %d has %s", s.point, w.Point)
	}
	if w.Seed != c.session.Header.Seed {
		return nil, wrongf("the state it returns has seed %016x, the session has %016x", w.Seed, c.session.Header.Seed)
	}
	held, err := snapshot.Hold(w)
	if err != nil {
		return nil, err
	}
	if root := held.Info().Root.Short(); root != s.hash {
		return nil, wrongf("at state point %d the state it returns has hash %s, its own hash is %s", s.point, root, s.hash)
	}
	return w, nil
}

func (c *checker) state(s *simulator) (string, error) {
	for _, to := range []uint64{c.first(), c.first() + 1, c.middle(), c.last()} {
		if err := c.play(s, to, "having returned its state"); err != nil {
			return "", err
		}
		if _, err := c.root(s); err != nil {
			return "", err
		}
	}
	return "its hash is the first 8 bytes of its Merkle root", nil
}

func (c *checker) save(s *simulator) (string, error) {
	if err := c.play(s, c.middle(), "at first"); err != nil {
		return "", err
	}
	save, err := s.Save()
	if err != nil {
		return "", err
	}
	other, err := c.fresh()
	if err != nil {
		return "", err
	}
	for _, back := range []struct {
		s   *simulator
		how string
	}{{s, "having gone back to a state it saved"}, {other, "having restored a state that another process saved"}} {
		if back.s == s {
			if err := c.play(s, c.last(), "having saved"); err != nil {
				return "", err
			}
		}
		if err := back.s.Restore(save); err != nil {
			return "", err
		}
		if back.s.point != c.middle() || back.s.hash != c.at(c.middle()) {
			return "", wrongf("%s it is at state point %d with hash %s, expected %d with %s", back.how, back.s.point, back.s.hash, c.middle(), c.at(c.middle()))
		}
		if err := c.play(back.s, c.last(), back.how); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d bytes, in the same process and in another one", len(save)), nil
}

func (c *checker) load() (string, error) {
	if !slices.Contains(c.out.Can, bisect.CanState) {
		return "there is no state to load: it cannot return its own", nil
	}
	s, err := c.fresh()
	if err != nil {
		return "", err
	}
	if err := c.play(s, c.middle(), "at first"); err != nil {
		return "", err
	}
	w, err := c.root(s)
	if err != nil {
		return "", err
	}
	other := c.instance()
	if other.origin.state, err = snapshot.Encode(w, snapshot.WriteOptions{Plain: true}); err != nil {
		return "", err
	}
	if err := other.connect(); err != nil {
		return "", err
	}
	c.started = append(c.started, other)
	if other.point != c.middle() || other.hash != s.hash {
		return "", wrongf("a state of point %d with hash %s is loaded as one of %d with %s", s.point, s.hash, other.point, other.hash)
	}
	return "the state it returns, in another process", c.play(other, c.last(), "having loaded a state")
}

func (c *checker) systems(s *simulator) (string, error) {
	var names []string
	for s.point < c.last() {
		tick := s.point
		if err := s.Begin(c.session.Orders[tick]); err != nil {
			return "", err
		}
		var seen []string
		for more := true; more; {
			var system string
			var err error
			if system, more, err = s.Next(); err != nil {
				return "", err
			}
			if seen = append(seen, system); len(seen) > 10_000 {
				return "", wrongf("tick %d has more than 10000 systems", tick)
			}
		}
		if err := c.expect([]merkle.Short{s.hash}, tick, "stepped system by system"); err != nil {
			return "", err
		}
		if names == nil {
			names = seen
		}
		if !slices.Equal(names, seen) {
			return "", wrongf("tick %d runs the systems %q, the first one ran %q", tick, seen, names)
		}
	}
	return fmt.Sprintf("%d of them: %q", len(names), names), nil
}

func (c *checker) caches(s *simulator) (string, error) {
	for {
		stale, err := s.StaleCaches()
		if err != nil {
			return "", err
		}
		if len(stale) > 0 {
			return "", wrongf("at state point %d caches are stale: %q", s.point, stale)
		}
		if s.point == c.last() {
			return "none is stale", nil
		}
		if err := c.play(s, s.point+1, "having checked its caches"); err != nil {
			return "", err
		}
	}
}

// asking asks something of the orders of each tick before it is played, and compares.
func (c *checker) asking(s *simulator, how string, ask func(orders []orderlog.Order) error) (string, error) {
	n := 0
	for s.point < c.last() {
		orders := c.session.Orders[s.point]
		n += len(orders)
		if len(orders) > 0 {
			if err := ask(orders); err != nil {
				return "", err
			}
			if s.hash != c.at(s.point) {
				return "", wrongf("%s it has hash %s at state point %d, before %s", how, s.hash, s.point, c.at(s.point))
			}
		}
		if err := c.play(s, s.point+1, how); err != nil {
			return "", err
		}
	}
	if n == 0 {
		return "there were no orders to try it on", nil
	}
	return fmt.Sprintf("%d orders, the state stays as it is", n), nil
}

func (c *checker) validate(s *simulator) (string, error) {
	return c.asking(s, "having judged orders", func(orders []orderlog.Order) error {
		_, err := s.Validate(orders)
		return err
	})
}

func (c *checker) test(s *simulator) (string, error) {
	return c.asking(s, "having tested orders", func(orders []orderlog.Order) error {
		for i := range orders {
			if _, err := s.Test(&orders[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *checker) predict(s *simulator) (string, error) {
	return c.asking(s, "having predicted orders", func(orders []orderlog.Order) error {
		player := orders[0].Player
		own := slices.DeleteFunc(slices.Clone(orders), func(o orderlog.Order) bool { return o.Player != player })
		return s.Predict(player, own)
	})
}

// where checks that each column has a place for its first value. Whether the simulation writes there only a debugger can
// show.
func (c *checker) where(s *simulator) (string, error) {
	if !slices.Contains(c.out.Can, bisect.CanState) {
		return "there are no values to locate: it cannot return its state", nil
	}
	if err := c.play(s, c.middle(), "at first"); err != nil {
		return "", err
	}
	w, err := s.World()
	if err != nil {
		return "", err
	}
	n := 0
	for _, t := range w.Tables {
		for _, col := range t.Columns {
			row := 0
			for row < t.Rows() && col.At(row).Absent {
				row++
			}
			if t.Class != snapshot.Archetype || row == t.Rows() {
				continue
			}
			name, v := col.Component+"."+col.Field, col.At(row)
			address, bytes, err := s.Where(t.Label, name, t.Keys.At(row))
			if err != nil {
				return "", err
			}
			if width := v.Type.Width(); address == 0 || width > 0 && int(bytes) != width {
				return "", wrongf("%s of %s %s is at address %#x and has %d bytes, a %s has %d", name, t.Label, t.Keys.At(row), address, bytes, v.Type, width)
			}
			n++
		}
	}
	if _, _, err = s.Where("no such archetype", "no.column", snapshot.Key{}); !errors.As(err, new(*RefusedError)) {
		return "", wrongf("it locates a value of an archetype that does not exist")
	}
	return fmt.Sprintf("%d columns have an address", n), c.play(s, c.last(), "having located its values")
}

// branches checks that two processes take the same branches, and that recording them changes nothing.
func (c *checker) branches() (string, error) {
	var flows [2][]bisect.Flow
	for i := range flows {
		s, err := c.fresh()
		if err != nil {
			return "", err
		}
		if _, err := s.Branches(bisect.BranchesHash, "", math.MaxUint64); err != nil {
			return "", err
		}
		if err := c.play(s, c.middle(), "recording its branches"); err != nil {
			return "", err
		}
		if flows[i], err = s.Branches(bisect.BranchesOff, "", math.MaxUint64); err != nil {
			return "", err
		}
	}
	if len(flows[0]) == 0 {
		return "", wrongf("it took no branches in %d ticks: nothing of the simulation is compiled with -fsanitize-coverage", c.middle()-c.first())
	}
	if !slices.Equal(flows[0], flows[1]) {
		return "", wrongf("two processes take other branches: %v and %v (thread, count, hash)", flows[0], flows[1])
	}
	count := uint64(0)
	for _, f := range flows[0] {
		count += f.Count
	}
	return fmt.Sprintf("%d branches, the same in another process", count), nil
}

// refuses checks that a request that makes no sense is refused, and changes nothing.
func (c *checker) refuses(s *simulator) (string, error) {
	refused := func(what string, err error) error {
		var r *RefusedError
		switch {
		case err == nil:
			return wrongf("it takes %s, expected an error", what)
		case !errors.As(err, &r):
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	s.request("no-such-request", 0)
	if err := refused("a request that does not exist", s.send(maxReply)); err != nil {
		return "", err
	}
	s.request(stepMethod, 2)
	s.req.uint(s.point + 5)
	s.req.array(1)
	s.req.array(0)
	if err := refused("the step of a tick other than the current one", s.send(maxReply)); err != nil {
		return "", err
	}
	if i, ok := s.link.(imager); s.Can(bisect.CanSave) && (!ok || !i.hasImage()) {
		s.request(restoreMethod, 1)
		s.req.bin([]byte("no save"))
		if err := refused("bytes that are not a save", s.send(maxReply)); err != nil {
			return "", err
		}
	}
	return "unknown requests, wrong ticks and bad saves; then it goes on", c.play(s, c.middle(), "having refused requests")
}

// leaves checks that a target ends when its connection does.
func (c *checker) leaves(s *simulator) (string, error) {
	p, ok := s.link.(*process)
	if !ok {
		return "nothing is left behind", nil
	}
	if err := p.conn.Close(); err != nil {
		return "", err
	}
	p.gone = true
	select {
	case <-p.done:
	case <-time.After(p.grace):
		_ = processgroup.Kill(p.cmd.Process)
		<-p.done
		return "", wrongf("it still runs %v after its connection was closed", p.grace)
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return "", &BrokenError{Kind: Died, Msg: "when its connection is closed " + p.ended(), Said: p.log.Last()}
	}
	return "it exits when its connection is closed", nil
}

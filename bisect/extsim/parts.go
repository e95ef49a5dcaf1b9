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

// The parts of a conformance test. Each returns what was compared, or ends at the first thing that is wrong.

func (c *checker) starts(s *simulator) string {
	if s.point != c.first() {
		wrongf("it begins at state point %d, the header has %d", s.point, c.first())
	}
	if want := c.session.Header.Start; !want.IsZero() && s.hash != want.Short() {
		wrongf("it begins with hash %s, the log's header has %s", s.hash, want.Short())
	}
	c.start = s.hash
	return fmt.Sprintf("state point %d, hash %s", s.point, s.hash)
}

func (c *checker) straight(s *simulator) string {
	hashes := must(s.Run(nil, c.ticks(c.first(), c.last())))
	c.hashes = hashes
	orders := 0
	for _, list := range c.ticks(c.first(), c.last()) {
		orders += len(list)
	}
	if distinct := len(slices.Compact(slices.Clone(hashes))); distinct == 1 {
		wrongf("the hash is %s after each of %d ticks: it covers nothing that changes", hashes[0], len(hashes))
	}
	return fmt.Sprintf("%d ticks with %d orders, the last hash is %s", len(hashes), orders, hashes[len(hashes)-1])
}

func (c *checker) recorded() string {
	n := 0
	for point := c.first(); point <= c.last(); point++ {
		want, ok := c.session.Recorded[point]
		if !ok {
			continue
		}
		n++
		if got := c.at(point); got != want {
			wrongf("it has hash %s at state point %d, the log recorded %s", got, point, want)
		}
	}
	if n == 0 {
		return "no log was given, or it recorded none"
	}
	return fmt.Sprintf("%d hashes match the log", n)
}

func (c *checker) twice(s *simulator) string {
	c.play(s, c.last(), "in another process")
	return "in another process"
}

func (c *checker) singly(s *simulator) string {
	for s.point < c.last() {
		c.play(s, s.point+1, "with one tick a request")
	}
	return "one a request, as in batches"
}

func (c *checker) again(s *simulator) string {
	c.play(s, c.middle(), "at first")
	ensure(s.begin())
	if s.point != c.first() || s.hash != c.start {
		wrongf("a second start leads to state point %d with hash %s, the first one to %d with %s", s.point, s.hash, c.first(), c.start)
	}
	c.play(s, c.last(), "in a second session of one process")
	return "a second session in one process is like the first"
}

// root returns the state's hash, which must be the target's own.
func (c *checker) root(s *simulator) *snapshot.World {
	w := must(s.World())
	if w.Point.Tick != s.point || w.Point.Phase != "" {
		wrongf("the state it returns at state point %d has %s", s.point, w.Point)
	}
	if w.Seed != c.session.Header.Seed {
		wrongf("the state it returns has seed %016x, the session has %016x", w.Seed, c.session.Header.Seed)
	}
	held := must(snapshot.Hold(w))
	if root := held.Info().Root.Short(); root != s.hash {
		wrongf("at state point %d the state it returns has hash %s, its own hash is %s", s.point, root, s.hash)
	}
	return w
}

func (c *checker) state(s *simulator) string {
	for _, to := range []uint64{c.first(), c.first() + 1, c.middle(), c.last()} {
		c.play(s, to, "having returned its state")
		c.root(s)
	}
	return "its hash is the first 8 bytes of its Merkle root"
}

func (c *checker) save(s *simulator) string {
	c.play(s, c.middle(), "at first")
	save := must(s.Save())
	other := c.fresh()
	for _, back := range []struct {
		s   *simulator
		how string
	}{{s, "having gone back to a state it saved"}, {other, "having restored a state that another process saved"}} {
		if back.s == s {
			c.play(s, c.last(), "having saved")
		}
		ensure(back.s.Restore(save))
		if back.s.point != c.middle() || back.s.hash != c.at(c.middle()) {
			wrongf("%s it is at state point %d with hash %s, expected %d with %s", back.how, back.s.point, back.s.hash, c.middle(), c.at(c.middle()))
		}
		c.play(back.s, c.last(), back.how)
	}
	return fmt.Sprintf("%d bytes, in the same process and in another one", len(save))
}

func (c *checker) load() string {
	if !slices.Contains(c.out.Can, bisect.CanState) {
		return "there is no state to load: it cannot return its own"
	}
	s := c.fresh()
	c.play(s, c.middle(), "at first")
	w := c.root(s)
	other := c.instance()
	other.origin.state = must(snapshot.Encode(w, snapshot.WriteOptions{Plain: true}))
	ensure(other.connect())
	c.started = append(c.started, other)
	if other.point != c.middle() || other.hash != s.hash {
		wrongf("a state of point %d with hash %s is loaded as one of %d with %s", s.point, s.hash, other.point, other.hash)
	}
	c.play(other, c.last(), "having loaded a state")
	return "the state it returns, in another process"
}

func (c *checker) systems(s *simulator) string {
	var names []string
	for s.point < c.last() {
		tick := s.point
		ensure(s.Begin(c.session.Orders[tick]))
		var seen []string
		for more := true; more; {
			var system string
			var err error
			system, more, err = s.Next()
			ensure(err)
			if seen = append(seen, system); len(seen) > 10_000 {
				wrongf("tick %d has more than 10000 systems", tick)
			}
		}
		c.expect([]merkle.Short{s.hash}, tick, "stepped system by system")
		if names == nil {
			names = seen
		}
		if !slices.Equal(names, seen) {
			wrongf("tick %d runs the systems %q, the first one ran %q", tick, seen, names)
		}
	}
	return fmt.Sprintf("%d of them: %q", len(names), names)
}

func (c *checker) caches(s *simulator) string {
	for {
		stale := must(s.StaleCaches())
		if len(stale) > 0 {
			wrongf("at state point %d caches are stale: %q", s.point, stale)
		}
		if s.point == c.last() {
			return "none is stale"
		}
		c.play(s, s.point+1, "having checked its caches")
	}
}

// asking asks something of the orders of each tick before it is played, and compares.
func (c *checker) asking(s *simulator, how string, ask func(orders []orderlog.Order)) string {
	n := 0
	for s.point < c.last() {
		orders := c.session.Orders[s.point]
		n += len(orders)
		if len(orders) > 0 {
			ask(orders)
			if s.hash != c.at(s.point) {
				wrongf("%s it has hash %s at state point %d, before %s", how, s.hash, s.point, c.at(s.point))
			}
		}
		c.play(s, s.point+1, how)
	}
	if n == 0 {
		return "there were no orders to try it on"
	}
	return fmt.Sprintf("%d orders, the state stays as it is", n)
}

func (c *checker) validate(s *simulator) string {
	return c.asking(s, "having judged orders", func(orders []orderlog.Order) { must(s.Validate(orders)) })
}

func (c *checker) test(s *simulator) string {
	return c.asking(s, "having tested orders", func(orders []orderlog.Order) {
		for i := range orders {
			must(s.Test(&orders[i]))
		}
	})
}

func (c *checker) predict(s *simulator) string {
	return c.asking(s, "having predicted orders", func(orders []orderlog.Order) {
		player := orders[0].Player
		own := slices.DeleteFunc(slices.Clone(orders), func(o orderlog.Order) bool { return o.Player != player })
		ensure(s.Predict(player, own))
	})
}

// where checks that each column has a place for its first value. Whether the simulation writes there only a debugger can
// show.
func (c *checker) where(s *simulator) string {
	if !slices.Contains(c.out.Can, bisect.CanState) {
		return "there are no values to locate: it cannot return its state"
	}
	c.play(s, c.middle(), "at first")
	w := must(s.World())
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
			ensure(err)
			if width := v.Type.Width(); address == 0 || width > 0 && int(bytes) != width {
				wrongf("%s of %s %s is at address %#x and has %d bytes, a %s has %d", name, t.Label, t.Keys.At(row), address, bytes, v.Type, width)
			}
			n++
		}
	}
	if _, _, err := s.Where("no such archetype", "no.column", snapshot.Key{}); !errors.As(err, new(*RefusedError)) {
		wrongf("it locates a value of an archetype that does not exist")
	}
	c.play(s, c.last(), "having located its values")
	return fmt.Sprintf("%d columns have an address", n)
}

// branches checks that two processes take the same branches, and that recording them changes nothing.
func (c *checker) branches() string {
	var flows [2][]bisect.Flow
	for i := range flows {
		s := c.fresh()
		must(s.Branches(bisect.BranchesHash, "", math.MaxUint64))
		c.play(s, c.middle(), "recording its branches")
		flows[i] = must(s.Branches(bisect.BranchesOff, "", math.MaxUint64))
	}
	if len(flows[0]) == 0 {
		wrongf("it took no branches in %d ticks: nothing of the simulation is compiled with -fsanitize-coverage", c.middle()-c.first())
	}
	if !slices.Equal(flows[0], flows[1]) {
		wrongf("two processes take other branches: %v and %v (thread, count, hash)", flows[0], flows[1])
	}
	count := uint64(0)
	for _, f := range flows[0] {
		count += f.Count
	}
	return fmt.Sprintf("%d branches, the same in another process", count)
}

// refuses checks that a request that makes no sense is refused, and changes nothing.
func (c *checker) refuses(s *simulator) string {
	refused := func(what string, err error) {
		switch {
		case err == nil:
			wrongf("it takes %s, expected an error", what)
		case !errors.As(err, new(*RefusedError)):
			ensure(fmt.Errorf("%s: %w", what, err))
		}
	}
	s.request("no-such-request", 0)
	refused("a request that does not exist", s.send(maxReply))
	s.request(stepMethod, 2)
	s.req.uint(s.point + 5)
	s.req.array(1)
	s.req.array(0)
	refused("the step of a tick other than the current one", s.send(maxReply))
	if i, ok := s.link.(imager); s.Can(bisect.CanSave) && (!ok || !i.hasImage()) {
		s.request(restoreMethod, 1)
		s.req.bin([]byte("no save"))
		refused("bytes that are not a save", s.send(maxReply))
	}
	c.play(s, c.middle(), "having refused requests")
	return "unknown requests, wrong ticks and bad saves; then it goes on"
}

// leaves checks that a target ends when its connection does.
func (c *checker) leaves(s *simulator) string {
	p, ok := s.link.(*process)
	if !ok {
		return "nothing is left behind"
	}
	ensure(p.conn.Close())
	p.gone = true
	select {
	case <-p.done:
	case <-time.After(p.grace):
		_ = processgroup.Kill(p.cmd.Process)
		<-p.done
		wrongf("it still runs %v after its connection was closed", p.grace)
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		ensure(&BrokenError{Kind: Died, Msg: "when its connection is closed " + p.ended(), Said: p.log.Last()})
	}
	return "it exits when its connection is closed"
}

package formats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report/playbook"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// gatherer collects the evidence below some paths.
type gatherer struct {
	tree  files.Tree
	paths []string
	sim   *bisect.Sim
	// whole reads traces to their end, to see how a divergence spreads.
	whole bool
	// progress, if not nil, is called with the bytes read of logs and traces, and of all.
	progress    func(done, total int64)
	read, total int64

	peers []*Peer
	// tickName is an engine's own name of a tick, nil if no log has any.
	tickName func(tick uint64) string
	games    map[string]string // what there is of each
	e        playbook.Evidence
}

// compare compares what there is: states, orders, traces. Without a divergence of states
// nothing is looked at more closely.
func (g *gatherer) compare() error {
	r, peers, err := bisected(g.tree, g.paths, g.sim, g.sim != nil)
	if len(peers) == 0 && len(g.paths) > 1 {
		r, peers, err = g.stateless(r, err)
	}
	few := errors.Is(err, ErrFewPeers)
	if err != nil && !few {
		return err
	}
	g.e.Bisect, g.peers = r, peers
	if errOrders := g.orders(); errOrders != nil {
		return errOrders
	}
	if few {
		if g.e.Orders == nil {
			return err
		}
		g.e.Bisect = bisect.RunLogs(g.e.Orders)
		return nil
	}
	if r.Bracket == nil {
		return nil
	}
	if err := g.traces(); err != nil {
		return err
	}
	g.e.Within = func(from, to uint64) (*playbook.Within, error) { return within(g.tree, g.paths, from, to) }
	return g.states()
}

// stateless bisects where some of the folders hold nothing that bisect looks for in a
// peer's: logs and traces of engines only. Result and error are those of bisecting all.
func (g *gatherer) stateless(r *bisect.Result, err error) (*bisect.Result, []*Peer, error) {
	var paths []string
	states := 0
	for _, path := range g.paths {
		if _, err := Gather(g.tree, []string{path}, Snapshots()); err == nil {
			paths = append(paths, path)
			states++
			continue
		}
		if files, _, err := traceFiles(g.tree, path); err == nil {
			for _, f := range files {
				paths = append(paths, f.path)
			}
		}
	}
	if states > 0 && states < len(g.paths) {
		if again, peers, errAgain := bisected(g.tree, paths, g.sim, g.sim != nil); errAgain == nil {
			return again, peers, nil
		}
	}
	if states < 2 && err != nil && !errors.Is(err, ErrFewPeers) {
		err = fmt.Errorf("%w: no states of two peers, %w", err, ErrFewPeers) // their logs may tell more
	}
	return r, nil, err
}

// orders compares the order logs.
func (g *gatherer) orders() error {
	logs, err := OpenLogs(g.tree, g.logPaths(), g.advance())
	if err != nil {
		if !errors.Is(err, ErrFewPeers) {
			g.e.Lost = append(g.e.Lost, err.Error())
		}
		return nil
	}
	c, err := orderlog.Compare(logs.Named, orderlog.CompareOptions{})
	if errClose := logs.Close(); errClose != nil {
		return errClose
	}
	if errors.Is(err, orderlog.ErrOtherGame) {
		return err
	}
	if err != nil {
		g.e.Lost = append(g.e.Lost, err.Error())
		return nil
	}
	g.e.Orders = c
	return nil
}

// logPaths returns the paths that may hold order logs: folders, and files that are one.
func (g *gatherer) logPaths() (paths []string) {
	for _, path := range g.paths {
		if stat, err := g.tree.Stat(path); err != nil || !stat.Mode().IsRegular() || isLog(g.tree, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// advance returns what to call with the progress of the next stretch of the work, nil if
// nobody wants to know. All of it is as long as the files that are no snapshots.
func (g *gatherer) advance() func(done, total int64) {
	if g.progress == nil {
		return nil
	}
	if g.total == 0 {
		for _, path := range others(g.peers) {
			if stat, err := g.tree.Stat(path); err == nil {
				g.total += stat.Size()
			}
		}
	}
	before := g.read
	return func(done, _ int64) {
		g.read = before + done
		g.progress(min(g.read, g.total), g.total)
	}
}

// maxCascade is how many bytes of traces are read to their end to see how a divergence
// spreads. Of larger ones only what tells where the peers parted is read.
const maxCascade = 64 << 20

// traces compares the traces.
func (g *gatherer) traces() error {
	traces, err := OpenTraces(g.tree, g.paths, nil, tracediff.ReadOptions{}, false)
	if err != nil {
		return nil // bisect has told of those of engines; ours are fewer than two
	}
	var size int64
	for _, group := range traces.Groups {
		for _, t := range group {
			if stat, err := g.tree.Stat(t.File); err == nil {
				size += stat.Size()
			}
		}
	}
	g.e.Traces, err = traces.Compare(tracediff.Options{FirstOnly: !g.whole || size > maxCascade, Context: -1, Limit: 100, Progress: g.advance()})
	return err
}

// states opens the states of the first two peers that differ at the bad end of the bracket,
// or else at the first state point behind it that both have.
func (g *gatherer) states() error {
	bad := g.e.Bisect.Bracket.Bad
	sets := g.sets()
	parted, err := g.differing(sets, bad)
	if err != nil {
		return err
	}
	if parted != nil {
		g.e.Diff, g.e.Parted = parted.Diff, parted
		return nil
	}
	for _, point := range behind(sets, bad) {
		if parted, err = g.differing(sets, point); parted != nil || err != nil {
			g.e.Parted = parted
			return err
		}
	}
	return nil
}

// named is the snapshots of one peer.
type named struct {
	name string
	set  *snapshot.Set
}

// sets returns the snapshots of the peers by the names that they have in the result.
func (g *gatherer) sets() (list []named) {
	for _, p := range g.peers {
		list = append(list, named{p.Name, p.Snapshots})
	}
	return list
}

// maxBehind is how many state points behind the bad end are looked at for states.
const maxBehind = 4

// behind returns the first state points behind one of which two peers have a state.
func behind(sets []named, bad snapshot.Point) (points []snapshot.Point) {
	count := map[uint64]int{}
	for _, s := range sets {
		for _, e := range s.set.Entries {
			if e.Point.Compare(bad) <= 0 || e.Point.Phase != bad.Phase {
				continue
			}
			if count[e.Point.Tick]++; count[e.Point.Tick] == 2 {
				points = append(points, e.Point)
			}
		}
	}
	slices.SortFunc(points, snapshot.Point.Compare)
	return points[:min(len(points), maxBehind)]
}

// differing opens and compares the states of the first two peers that have different ones
// at a state point, nil if there are none.
func (g *gatherer) differing(sets []named, at snapshot.Point) (*playbook.Parted, error) {
	p := &playbook.Parted{}
	for _, s := range sets {
		entry := s.set.At(at)
		if entry == nil {
			continue
		}
		state, err := entry.Open()
		if err != nil {
			if state != nil {
				state.Close()
			}
			continue // bisect has told that it is lost
		}
		switch {
		case p.States[0] == nil:
			p.Names[0], p.States[0] = s.name, state
			continue
		case p.States[0].Info().Root == state.Info().Root:
			state.Close()
			continue
		}
		p.Names[1], p.States[1] = s.name, state
		if p.Diff, err = snapshot.Compare(p.States[0], p.States[1], snapshot.DiffOptions{}); err != nil {
			g.e.Lost = append(g.e.Lost, err.Error())
			closeStates(p)
			return nil, nil
		}
		return p, nil
	}
	closeStates(p)
	return nil, nil
}

func closeStates(p *playbook.Parted) {
	if p == nil {
		return
	}
	for _, s := range p.States {
		if s != nil {
			s.Close()
		}
	}
}

// Close closes the states that are open.
func (g *gatherer) Close() { closeStates(g.e.Parted) }

package compare

import (
	"errors"
	"slices"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// gatherer runs the comparisons that the evidence of a session allows.
type gatherer struct {
	s      *bundle.Session
	builds Builds
	// progress, if not nil, is called with the bytes read of logs and traces, and of all.
	progress    func(done, total int64)
	read, total int64

	// own are comparisons of the peers' own traces, ownLost what of these cannot be read. They
	// are compared in any case if spread is set: how a divergence spreads is asked for.
	spread            bool
	own               []*tracediff.Result
	ownLost, ownNotes []string

	player *player      // of recordings, nil without a game
	remove func() error // removes what a simulator computed, nil if it computed nothing

	logs  []*readLog
	peers []*bundle.Peer
	// tickName is an engine's own name of a tick, nil if no log has any.
	tickName func(tick uint64) string
	said     bundle.Said // of the game and the machines
	e        verdict.Evidence
}

// compare compares what there is: orders, states, traces. Without a divergence of states
// nothing is looked at more closely.
func (g *gatherer) compare() error {
	if err := g.s.Unknown(); err != nil {
		return err
	}
	otherGame := g.readLogs()
	r, err := g.bisected(g.builds.Sim != nil)
	alone := errors.As(err, new(*bundle.AloneError))
	if err != nil && !alone {
		return err
	}
	if otherGame != nil {
		return otherGame
	}
	g.peers = g.s.Peers()
	if alone {
		if g.e.Orders == nil {
			return err
		}
		g.peers = nil
		g.e.Bisect = bisect.RunLogs(g.e.Orders)
		g.e.Bisect.Lost = append(g.e.Bisect.Lost, g.s.AllLost(g.e.Bisect.Lost)...)
		return nil
	}
	if len(g.peers) < 2 {
		g.peers = nil // only the traces gave the result, and its peers
	}
	g.e.Bisect = r
	g.e.Lab, g.e.Code = g.lab(), g.coder()
	g.nameLogs()
	g.e.Traces = bundle.SortTraces(slices.Concat(g.own, g.e.Bisect.Traces))
	if r.Bracket == nil && r.Kind == bisect.StaleCache {
		return g.caches()
	}
	if r.Bracket == nil {
		return nil
	}
	g.e.Within = func(from, to uint64) (*verdict.Within, error) { return g.within(from, to) }
	return g.states()
}

// advance returns the function to call with the progress of the next stretch of the work, which has so many bytes; nil
// if no progress is shown.
func (g *gatherer) advance(size int64) func(done, total int64) {
	if g.progress == nil {
		return nil
	}
	g.total += size
	before := g.read
	return func(done, _ int64) {
		g.read = before + done
		g.progress(min(g.read, g.total), g.total)
	}
}

// states opens the states of the first two peers that differ at the bad end of the bracket,
// or else at the first state point after it that both have.
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
	if parted, err = g.computed(bad); err != nil {
		return err
	}
	if parted != nil {
		g.e.Diff, g.e.Parted = parted.Diff, parted
		return nil
	}
	for _, point := range after(sets, bad) {
		if parted, err = g.differing(sets, point); parted != nil || err != nil {
			g.e.Parted = parted
			return err
		}
	}
	return nil
}

// mostKept is how many changes of a table a comparison keeps, mostKeptInAll of all tables.
const (
	mostKept      = 4000
	mostKeptInAll = 400_000
)

// caches opens the states in which caches differ first.
func (g *gatherer) caches() error {
	c := g.e.Bisect.Caches
	p := &verdict.Parted{Names: [2]string{c.A, c.B}}
	for i, name := range p.Names {
		entry := g.of(name).At(c.Bad)
		state, err := entry.Open()
		if p.States[i] = state; err != nil {
			closeStates(p)
			return nil // bisect has reported that it is lost
		}
		p.Naming[i], p.Files[i], p.Ground[i] = namingOf(entry, state), fileOf(entry), groundOf(entry, state)
	}
	var err error
	if p.Diff, err = snapshot.Compare(p.States[0], p.States[1], snapshot.DiffOptions{Limit: mostKept, Total: mostKeptInAll}); err != nil {
		closeStates(p)
		return err
	}
	g.e.Parted = p
	return nil
}

// named is the snapshots of one peer.
type named struct {
	name string
	set  *snapshot.Set
}

// sets returns the snapshots of the peers by the names that they have in the result.
func (g *gatherer) sets() []named {
	return lists.Map(g.e.Bisect.Peers, func(p bisect.PeerInfo) named { return named{p.Name, g.of(p.Name)} })
}

// maxAfter is how many state points after the bad end are looked at for states.
const maxAfter = 4

// after returns the first state points after bad at which two peers have a state.
func after(sets []named, bad snapshot.Point) (points []snapshot.Point) {
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
	lists.SortStable(points, snapshot.Point.Compare)
	return points[:min(len(points), maxAfter)]
}

// openAt opens a peer's state of a point. It returns none if there is none, or if it cannot be read: bisect has reported
// that it is lost.
func openAt(set *snapshot.Set, at snapshot.Point) (*snapshot.Entry, snapshot.State) {
	entry := set.At(at)
	if entry == nil {
		return nil, nil
	}
	state, err := entry.Open()
	if err != nil {
		if state != nil {
			state.Close()
		}
		return nil, nil
	}
	return entry, state
}

// differing opens and compares the states of the first two peers that have different ones
// at a state point, nil if there are none.
func (g *gatherer) differing(sets []named, at snapshot.Point) (*verdict.Parted, error) {
	p := &verdict.Parted{}
	for _, s := range sets {
		entry, state := openAt(s.set, at)
		if state == nil {
			continue
		}
		if p.States[0] == nil {
			p.Names[0], p.States[0], p.Naming[0], p.Files[0], p.Ground[0] = s.name, state, namingOf(entry, state), fileOf(entry), groundOf(entry, state)
			continue
		}
		a, b, err := snapshot.Common(p.States[0], state)
		if err != nil {
			state.Close()
			closeStates(p)
			return nil, err
		}
		if a.Info().Root == b.Info().Root {
			state.Close()
			continue
		}
		p.Names[1], p.States[1], p.Naming[1], p.Files[1], p.Ground[1] = s.name, state, namingOf(entry, state), fileOf(entry), groundOf(entry, state)
		if p.Diff, err = snapshot.Compare(p.States[0], p.States[1], snapshot.DiffOptions{Limit: mostKept, Total: mostKeptInAll}); err != nil {
			g.e.Lost = append(g.e.Lost, err.Error())
			closeStates(p)
			return nil, nil
		}
		if p.Diff.OnlyColumns() && !entry.Checksummed() { // as the search has reported
			state.Close()
			p.States[1] = nil
			continue
		}
		return p, g.stale(sets, p, a, b)
	}
	closeStates(p)
	return nil, nil
}

// stale compares the states of two peers with their states one tick before, as far as both are of one epoch.
func (g *gatherer) stale(sets []named, p *verdict.Parted, a, b snapshot.State) error {
	at := p.Diff.A.Point
	if at.Tick == 0 || a.Info().Incomplete()+b.Info().Incomplete() != "" {
		return nil
	}
	at.Tick--
	var before [2]snapshot.State
	for _, s := range sets {
		side := slices.Index(p.Names[:], s.name)
		if side < 0 {
			continue
		}
		_, state := openAt(s.set, at)
		if state == nil {
			continue
		}
		defer state.Close()
		if in := state.Info(); in.Incomplete() == "" && in.Epoch == [2]snapshot.State{a, b}[side].Info().Epoch {
			before[side] = state
		}
	}
	if err := p.Diff.MarkStale(a, b, before); err != nil {
		g.e.Lost = append(g.e.Lost, err.Error())
	}
	return nil
}

// namingOf returns what the game calls the entities of a state, nil if its format contains no names.
func namingOf(e *snapshot.Entry, s snapshot.State) snapshot.Naming {
	if e.Format == nil || e.Format.Naming == nil {
		return nil
	}
	return e.Format.Naming(s)
}

// fileOf returns the path of a state's file, "" if it is in none.
func fileOf(e *snapshot.Entry) string {
	if e.Tree == nil {
		return ""
	}
	if tree, ok := e.Tree.(*archive.Tree); ok && tree.Shown(e.Path()) != "" {
		return "" // of a replay, which is gone when the report is read
	}
	return e.Path()
}

// groundOf returns where the entities of a state are, nil if its format does not declare it.
func groundOf(e *snapshot.Entry, s snapshot.State) *snapshot.Ground {
	if e.Format == nil || e.Format.Ground == nil {
		return nil
	}
	return e.Format.Ground(s)
}

func closeStates(p *verdict.Parted) {
	if p == nil {
		return
	}
	for _, s := range p.States {
		if s != nil {
			s.Close()
		}
	}
}

// Close closes the states that are open, and removes what replays left.
func (g *gatherer) Close() error {
	closeStates(g.e.Parted)
	err := g.player.Close()
	if g.remove != nil {
		err = errors.Join(err, g.remove())
	}
	return err
}

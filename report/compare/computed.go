package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
)

// withComputed compares the evidence of one peer with a peer that plays the orders of its log in the simulator; why says
// that there is nothing else to compare it with. The caller closes what it returns.
func (g *gatherer) withComputed(why error) (*gatherer, error) {
	r, err := g.s.Replayable()
	if err != nil {
		return nil, &unplayedError{why, []string{"no replay: " + err.Error()}}
	}
	of := r.Log.Header.Peer
	if of == "" {
		of = filepath.Base(g.s.Peers()[0].Path)
	}
	name := "replay of " + of + "'s log"
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return nil, err
	}
	pair := &gatherer{builds: g.builds, progress: g.progress, spread: true, remove: remove, e: verdict.Evidence{Ask: g.e.Ask, Given: g.e.Given, Replayer: g.e.Replayer}}
	if err := g.compute(r, name, dir); err != nil {
		return nil, &unplayedError{why, []string{"no replay: " + errors.Join(err, remove()).Error()}}
	}
	tree := g.s.Tree()
	if err := tree.Show(name, dir); err != nil {
		return nil, errors.Join(err, remove())
	}
	if pair.s, err = bundle.Open(tree, append(slices.Clone(g.s.Paths()), name)); err == nil {
		err = pair.compare()
	}
	if err != nil {
		return nil, errors.Join(err, pair.Close())
	}
	if parts := bisect.LogOf(r.Log).Stretches; len(parts) > 1 && pair.e.Bisect.Bracket == nil {
		pair.e.Bisect.Lost = append(pair.e.Bisect.Lost, fmt.Sprintf("what %s played from state point %d on is not compared, since it began there with a state from elsewhere (%s); desynctool replay plays it", of, parts[1].From, parts[1].Began))
	}
	forget(pair.e.Bisect) // commands cannot take files of a replay, which are gone then
	pair.e.Bisect.Notes = append(pair.e.Bisect.Notes, fmt.Sprintf("the evidence of one peer, %s, is compared with what %s computes from the orders in its log", of, g.builds.Sim.Name))
	return pair, nil
}

// compute writes into a folder what a peer of a name would have left that plays a log in the simulator: an order log with
// a hash of every state point, and the states at the points at which the peer itself left one.
func (g *gatherer) compute(r *bundle.Replayable, name, dir string) error {
	var at []uint64
	if r.Snapshots != nil {
		for _, e := range r.Snapshots.Entries {
			if e.Point.Phase == "" {
				at = append(at, e.Point.Tick)
			}
		}
	}
	log, err := bisect.Compute(r.Log, g.builds.Sim, bisect.ComputeOptions{Peer: name, At: at, Progress: g.builds.replaying(), State: func(w *snapshot.World) error {
		return snapshot.WriteFile(filepath.Join(dir, snapshot.Name(w.Seed, w.Point.Tick)), w, snapshot.WriteOptions{})
	}})
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(dir, bundle.LogName), func(f *os.File) error { return orderlog.WriteLog(f, log) })
}

// replaying returns what to call with the progress of a replay, nil if nobody wants to know.
func (b *Builds) replaying() func(done, total int64) {
	if b.Progress == nil {
		return nil
	}
	return func(done, total int64) { b.Progress("replaying the orders", done, total) }
}

// computed returns the states of two peers at the point at which they first differ where they left none of it: a peer that
// agrees with the replay has what the trusted build computes, the other one what its own build does. Each has to have the
// hash that the peer recorded. It returns nil where that is not so, or cannot be computed.
func (g *gatherer) computed(at snapshot.Point) (*verdict.Parted, error) {
	r := g.e.Bisect
	if !r.Exact || r.Replay == nil || r.Replay.Unsteady || len(r.Groups) < 2 {
		return nil, nil
	}
	p := &verdict.Parted{}
	for i := range p.States {
		name := r.Groups[i][0]
		state, entry := g.stateAt(name, at)
		if state == nil {
			var build *bisect.Sim
			if state, build = g.computedOf(name, at.Tick); state == nil {
				closeStates(p)
				return nil, nil
			}
			format := snapshot.SnapFormat()
			entry = &snapshot.Entry{Format: &format}
			r.Notes = append(r.Notes, fmt.Sprintf("the state of %s at state point %d is computed in %s from the orders of its log; its hash is the one that %s recorded", name, at.Tick, build.Name, name))
		}
		p.Names[i], p.States[i], p.Naming[i], p.Files[i], p.Ground[i] = name, state, namingOf(entry, state), fileOf(entry), groundOf(entry, state)
	}
	var err error
	if p.Diff, err = snapshot.Compare(p.States[0], p.States[1], snapshot.DiffOptions{}); err != nil {
		closeStates(p)
		return nil, err
	}
	return p, nil
}

// stateAt returns the state that a peer left of a point, nil if it left none that can be read.
func (g *gatherer) stateAt(name string, at snapshot.Point) (snapshot.State, *snapshot.Entry) {
	entry := g.of(name).At(at)
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
	return state, entry
}

// computedOf computes the state of a peer at a point in the build that it had; nil if its hash is not the one that the peer
// recorded, or if it is not known which build that was.
func (g *gatherer) computedOf(name string, point uint64) (state snapshot.State, build *bisect.Sim) {
	i := slices.IndexFunc(g.e.Bisect.Replay.Peers, func(p bisect.ReplayedPeer) bool { return p.Name == name })
	if i < 0 || g.e.Bisect.Replay.Peers[i].Borrowed != "" {
		return nil, nil
	}
	build = g.builds.Sim
	if g.e.Bisect.Replay.Peers[i].Departs != nil {
		build = g.builds.Own
	}
	at := slices.IndexFunc(g.e.Bisect.Peers, func(p bisect.PeerInfo) bool { return p.Name == name })
	of := slices.IndexFunc(g.peers, func(p *bundle.Peer) bool { return at >= 0 && p.Path == g.e.Bisect.Peers[at].Path })
	if build == nil || of < 0 || g.peers[of].Log == nil {
		return nil, nil
	}
	log, err := g.s.WholeLog(g.peers[of])
	if err != nil {
		return nil, nil // which was reported when its hashes were read
	}
	_, hashes, _ := bisect.Recorded(log)
	_, err = bisect.Compute(log, build, bisect.ComputeOptions{Peer: name, At: []uint64{point}, Until: &point, Progress: g.builds.replaying(), State: func(w *snapshot.World) error {
		var err error
		state, err = snapshot.Hold(w)
		return err
	}})
	if want, ok := hashes[point]; err != nil || state == nil || !ok || state.Info().Root.Short() != want {
		return nil, nil
	}
	return state, build
}

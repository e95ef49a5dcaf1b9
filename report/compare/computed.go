package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
)

// withComputed compares the evidence of one peer with a peer that plays the orders of its log in the simulator; why is
// the reason that there is nothing else to compare it with. The caller closes what it returns.
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
	pair := &gatherer{builds: g.builds, progress: g.progress, spread: true, remove: remove, e: verdict.Evidence{Ask: g.e.Ask, Given: g.e.Given, Engine: g.e.Engine, Replayer: g.e.Replayer}}
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
	pair.e.OwnReplay = &verdict.OwnReplay{Peer: of}
	if o := pair.e.Orders; o != nil && o.Window != nil {
		pair.e.OwnReplay.Orders = o.Window.Orders
	}
	pair.e.Bisect.Notes = append(pair.e.Bisect.Notes, fmt.Sprintf("the evidence of one peer, %s, is compared with what %s computes from the orders in its log; this does not show whether other peers had the same orders", of, g.builds.Sim.Name))
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

// replaying returns the function to call with the progress of a replay, nil if no progress is shown.
func (b *Builds) replaying() func(done, total int64) {
	if b.Progress == nil {
		return nil
	}
	return func(done, total int64) { b.Progress("replaying the orders", done, total) }
}

// computed returns the states of two peers at the point at which they first differ where they left none of it: the
// trusted build's state for a peer that agrees with the replay, the own build's state for the other peer. Each has to
// have the hash that the peer recorded. It returns nil where that is not so, or cannot be computed.
func (g *gatherer) computed(at snapshot.Point) (*verdict.Parted, error) {
	r := g.e.Bisect
	if !r.Exact || len(r.Groups) < 2 {
		return nil, nil
	}
	p := &verdict.Parted{}
	for i := range p.States {
		name := r.Groups[i][0]
		entry, state := openAt(g.of(name), at)
		if state == nil {
			c, held, err := g.computedOf(name, at.Tick)
			if err != nil || !c.Confirmed {
				closeStates(p)
				return nil, nil
			}
			state = held
			format := snapshot.SnapFormat()
			entry = &snapshot.Entry{Format: &format}
			r.Notes = append(r.Notes, c.String())
		}
		p.Names[i], p.States[i], p.Naming[i], p.Files[i], p.Ground[i] = name, state, namingOf(entry, state), fileOf(entry), groundOf(entry, state)
	}
	var err error
	if p.Diff, err = snapshot.Compare(p.States[0], p.States[1], snapshot.DiffOptions{Limit: mostKept, Total: mostKeptInAll}); err != nil {
		closeStates(p)
		return nil, err
	}
	return p, nil
}

// computedOf computes the state of a peer at a point in the build that it had. It is an error if it is not known which
// build that was, or if the hash is not the one that the peer recorded or that its own state of the point has.
func (g *gatherer) computedOf(name string, point uint64) (c bisect.Computed, state snapshot.State, err error) {
	build, err := g.buildOf(name, point)
	if err != nil {
		return c, nil, err
	}
	at := slices.IndexFunc(g.e.Bisect.Peers, func(p bisect.PeerInfo) bool { return p.Name == name })
	of := slices.IndexFunc(g.s.Peers(), func(p *bundle.Peer) bool { return at >= 0 && p.Path == g.e.Bisect.Peers[at].Path })
	if of < 0 || g.s.Peers()[of].Log == nil {
		return c, nil, errors.New("it left no order log")
	}
	log, err := g.s.WholeLog(g.s.Peers()[of])
	if err != nil {
		return c, nil, err
	}
	_, hashes, _ := bisect.Recorded(log)
	want, known := hashes[point]
	if _, left := openAt(g.of(name), snapshot.Point{Tick: point}); left != nil && !known {
		want, known = left.Info().Root.Short(), left.Close() == nil
	}
	_, err = bisect.Compute(log, build, bisect.ComputeOptions{Peer: name, At: []uint64{point}, Until: &point, Progress: g.builds.replaying(), State: func(w *snapshot.World) (err error) {
		state, err = snapshot.Hold(w)
		return err
	}})
	switch {
	case err != nil:
		return c, nil, err
	case state == nil:
		return c, nil, fmt.Errorf("%s does not give its states", build.Name)
	}
	c = bisect.Computed{Peer: name, Sim: build.Name, Point: point, Hash: state.Info().Root.Short(), Confirmed: known}
	if known && c.Hash != want {
		return c, nil, fmt.Errorf("%s computes hash %s at state point %d, and the peer had %s", c.Sim, c.Hash, point, want)
	}
	return c, state, nil
}

// buildOf returns the build that computes what a peer had at a point.
func (g *gatherer) buildOf(name string, point uint64) (*bisect.Sim, error) {
	rep := g.e.Bisect.Replay
	if rep == nil {
		return nil, errors.New("the orders were not replayed")
	}
	i := slices.IndexFunc(rep.Peers, func(p bisect.ReplayedPeer) bool { return p.Name == name })
	if i < 0 || rep.Peers[i].Borrowed != "" {
		return nil, errors.New("it left no order log")
	}
	switch p := &rep.Peers[i]; {
	case rep.Unsteady:
		return nil, fmt.Errorf("%s is not deterministic", rep.Sim)
	case p.LastAgreed != nil && (p.Departs == nil || *p.LastAgreed >= point):
		return g.builds.Sim, nil
	case p.Departs == nil || *p.Departs > point:
		return nil, errors.New("it recorded no hash that shows which build it had")
	case g.builds.Own == nil:
		return nil, fmt.Errorf("it departs from %s, and the build that it had is not given", rep.Sim)
	}
	return g.builds.Own, nil
}

// write leaves the states of all peers at the point at which they first differ as files, as far as they can be computed.
func (g *gatherer) write(dir string) error {
	r := g.e.Bisect
	if dir == "" || r.Bracket == nil {
		return nil
	}
	var states []snapshot.State
	defer func() {
		for _, s := range states {
			s.Close()
		}
	}()
	var lost []string
	for _, p := range r.Peers {
		c, state, err := g.computedOf(p.Name, r.Bracket.Bad.Tick)
		if err != nil {
			lost = append(lost, fmt.Sprintf("no state of %s is computed: %v", p.Name, err))
			continue
		}
		folder := golden.NameOf(p.Name)
		for slices.ContainsFunc(r.Computed, func(c bisect.Computed) bool { return strings.EqualFold(filepath.Base(filepath.Dir(c.File)), folder) }) {
			folder += "_"
		}
		r.Notes = slices.DeleteFunc(r.Notes, func(n string) bool { return n == c.String() })
		c.File = filepath.Join(dir, folder, snapshot.Name(state.Info().Seed, c.Point))
		r.Computed, states = append(r.Computed, c), append(states, state)
	}
	if len(states) == 0 {
		if r.SimFailed != "" {
			lost = []string{r.SimFailed}
		}
		return errors.New("nothing is computed: " + strings.Join(lost, "; "))
	}
	if err := claim(dir, r.Computed); err != nil {
		return err
	}
	for i, c := range r.Computed {
		w, err := snapshot.Load(states[i])
		if err == nil {
			err = os.MkdirAll(filepath.Dir(c.File), 0o777)
		}
		if err == nil {
			err = snapshot.WriteFile(c.File, w, snapshot.WriteOptions{})
		}
		if err != nil {
			return err
		}
	}
	r.Notes = append(r.Notes, lost...)
	return nil
}

// claim returns an error if a folder contains anything other than some states. Nil means any.
func claim(dir string, states []bisect.Computed) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		_, ours := snapshot.ParseName(filepath.Base(path))
		if i := slices.IndexFunc(states, func(c bisect.Computed) bool { return c.File == path }); i >= 0 {
			f, err := snapshot.OpenFile(path)
			if ours = err == nil && f.Info().Root.Short() == states[i].Hash; err == nil {
				f.Close()
			}
		} else if states != nil {
			ours = false
		}
		if err != nil || ours {
			return err
		}
		return fmt.Errorf("%s is there: the computed states need a folder of their own", path)
	})
}

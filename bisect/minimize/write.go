package minimize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// The sides of a divergence, each a peer of the session that Write writes.
const (
	SideA = "a"
	SideB = "b"
)

// How often a peer of a written session logs and saves its whole state, in ticks, as
// recorded sessions do.
const (
	stateHashEvery = 30
	snapshotEvery  = 300
)

// Write plays a candidate and writes it below dir as a session: a folder for each side with its order log and snapshots
// of the start, the end and some points in between. The hashes in the log come from this replay. Modes without a second
// side that plays on by itself (Rollback, CheckCaches) leave one folder. It returns the names of the folders, and
// whether the sides' hashes differ.
func (l *Live) Write(ctx context.Context, dir string, c *Candidate) (sides []string, differ bool, err error) {
	sides = []string{SideA}
	if l.Mode != bisect.Rollback && l.Mode != bisect.CheckCaches {
		sides = append(sides, SideB)
	}
	var ends []merkle.Short
	for i, name := range sides {
		p, err := l.peer(c, i == 1)
		if err != nil {
			return nil, false, err
		}
		err = p.write(ctx, filepath.Join(dir, name), c, sides, i)
		if err = errors.Join(err, p.close()); err != nil {
			return nil, false, err
		}
		ends = append(ends, p.s.SyncHash())
	}
	return sides, len(ends) == 2 && ends[0] != ends[1], nil
}

// peer is one side as it plays.
type peer struct {
	sim   *bisect.Sim
	s     bisect.Simulator
	h     *orderlog.Header
	tests bool // it tests orders before it plays them
	saved bool // it is saved and loaded in each tick
	// predicts is the player whose orders it plays ahead, nil for none.
	predicts *uint32
	spare    bisect.Simulator
}

func (l *Live) peer(c *Candidate, second bool) (*peer, error) {
	p := &peer{sim: l.Sim, h: &c.in.Header}
	if second {
		if l.Mode == bisect.Against {
			p.sim = l.Against
		}
		p.tests, p.saved = l.Mode == bisect.CheckPurity, l.Mode == bisect.Serialize
	}
	if side := btoi(second); l.Mode == bisect.Predict && side < len(l.Predict) {
		p.predicts = &l.Predict[side]
	}
	var err error
	if p.s, err = p.sim.Start(p.h); err != nil {
		return nil, err
	}
	if _, ok := bisect.As[bisect.Restorer](p.s, bisect.CanSave); ok && p.saved {
		if p.spare, err = p.sim.Start(p.h); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *peer) close() error {
	err := bisect.Close(p.s)
	if p.spare != nil {
		err = errors.Join(err, bisect.Close(p.spare))
	}
	return err
}

// step plays a tick as the side does.
func (p *peer) step(orders []orderlog.Order) error {
	if p.tests {
		tester, ok := bisect.As[bisect.Tester](p.s, bisect.CanTest)
		if !ok {
			return fmt.Errorf("%s cannot test orders", p.sim.Name)
		}
		for i := range orders {
			if _, err := tester.Test(&orders[i]); err != nil {
				return err
			}
		}
	}
	if err := p.predict(orders); err != nil {
		return err
	}
	if err := p.s.Step(orders); err != nil || !p.saved {
		return err
	}
	if r, ok := bisect.As[bisect.Restorer](p.s, bisect.CanSave); ok {
		save, err := r.Save()
		if err != nil {
			return err
		}
		if err := p.spare.(bisect.Restorer).Restore(save); err != nil {
			return err
		}
		p.s, p.spare = p.spare, p.s
		return nil
	}
	saver, ok := bisect.As[bisect.Saver](p.s, bisect.CanState)
	if !ok {
		return fmt.Errorf("%s cannot be saved", p.sim.Name)
	}
	w, err := saver.World()
	if err != nil {
		return err
	}
	loaded, err := p.sim.Resume(w, p.h)
	if err != nil {
		return err
	}
	err = bisect.Close(p.s)
	p.s = loaded
	return err
}

// predict plays the tick ahead with the orders of the side's own player.
func (p *peer) predict(orders []orderlog.Order) error {
	if p.predicts == nil {
		return nil
	}
	var own []orderlog.Order
	for i := range orders {
		if orders[i].Player == *p.predicts && !local(p.h, &orders[i]) {
			own = append(own, orders[i])
		}
	}
	if len(own) == 0 {
		return nil
	}
	predictor, ok := bisect.As[bisect.Predictor](p.s, bisect.CanPredict)
	if !ok {
		return fmt.Errorf("%s cannot predict orders", p.sim.Name)
	}
	return predictor.Predict(*p.predicts, own)
}

// write plays a candidate and writes what the peer leaves in its folder.
func (p *peer) write(ctx context.Context, dir string, c *Candidate, peers []string, own int) (err error) {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, bisect.LogName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
	keeper := &keeper{peer: p, dir: dir, name: peers[own], own: uint32(own), end: c.until}
	h := *p.h
	h.Peer, h.Peers = peers[own], peers
	hashes, err := keeper.observe()
	if err != nil {
		return err
	}
	if !keeper.start.IsZero() {
		h.Start = keeper.start
	}
	w, err := orderlog.NewWriter(f, h, orderlog.WriterOptions{})
	if err != nil {
		return err
	}
	log := c.Log()
	for next := 0; p.s.Point() < c.until; {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := orderlog.Tick{Number: p.s.Point(), Hashes: hashes}
		if next < len(log.Ticks) && log.Ticks[next].Number == t.Number {
			t.Orders = log.Ticks[next].Orders
			next++
		}
		t.InputHash = orderlog.InputHash(h.Kinds, t.Orders)
		if err := w.WriteTick(&t); err != nil {
			return err
		}
		if err := p.step(t.Orders); err != nil {
			return err
		}
		if hashes, err = keeper.observe(); err != nil {
			return err
		}
	}
	if err := w.WriteObserved(hashes); err != nil {
		return err
	}
	return w.Close()
}

// keeper takes the hashes and snapshots of a peer at each state point.
type keeper struct {
	peer    *peer
	dir     string
	name    string
	own     uint32
	end     uint64
	start   merkle.Hash // zero if the state cannot be taken out
	history merkle.Hash
	began   bool
}

// observe returns the hashes of the current point, and saves the state if it is time.
func (k *keeper) observe() ([]orderlog.Observed, error) {
	s := k.peer.s
	point, sync := s.Point(), s.SyncHash()
	first := !k.began
	k.began = true
	list := []orderlog.Observed{{Point: point, Peer: k.own, Kind: orderlog.SyncHash, Bytes: sync[:]}}
	saver, ok := bisect.As[bisect.Saver](s, bisect.CanState)
	if !ok {
		return list, nil
	}
	if !first {
		k.history = merkle.NextHistory(k.history, sync)
	}
	save := first || point == k.end || point%snapshotEvery == 0
	if !save && point%stateHashEvery != 0 {
		return list, nil
	}
	w, err := saver.World()
	if err != nil {
		return nil, err
	}
	held, err := snapshot.Hold(w)
	if err != nil {
		return nil, err
	}
	state := held.Info().Root
	if first {
		k.start, k.history = state, merkle.StartHistory(state)
	}
	history := k.history
	list = append(list,
		orderlog.Observed{Point: point, Peer: k.own, Kind: orderlog.StateHash, Bytes: state[:]},
		orderlog.Observed{Point: point, Peer: k.own, Kind: orderlog.HistoryHash, Bytes: history[:]})
	if !save {
		return list, nil
	}
	w.Peer, w.History = k.name, k.history
	return list, snapshot.WriteFile(filepath.Join(k.dir, snapshot.Name(w.Seed, point)), w, snapshot.WriteOptions{})
}

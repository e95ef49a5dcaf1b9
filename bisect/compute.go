package bisect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// ComputeOptions selects what is computed from the orders of a log.
type ComputeOptions struct {
	// Peer is the name of the peer in the result.
	Peer string
	// At are the state points, ascending, for which State is called with the state, as far as the stretch reaches. It
	// is not called if the simulator cannot save its state.
	At    []uint64
	State func(*snapshot.World) error
	// Until is the last state point, nil for the end of the stretch.
	Until *uint64
	// Progress, if not nil, is called with the number of finished ticks and of all ticks.
	Progress func(done, total int64)
}

// Computed is the state of a peer at a point, computed from the orders of its log in the build that it had.
type Computed struct {
	Peer  string       `json:"peer"`
	Point uint64       `json:"point"`
	Sim   string       `json:"sim"`
	Hash  merkle.Short `json:"hash"`
	// Confirmed reports whether the peer recorded this hash, or left a state with it.
	Confirmed bool   `json:"confirmed"`
	File      string `json:"file"` // "" if it is in none
}

// String describes it.
func (c *Computed) String() string {
	confirmed := "no hash that it recorded confirms it"
	if c.Confirmed {
		confirmed = "its hash is the one that " + c.Peer + " recorded"
	}
	return fmt.Sprintf("the state of %s at state point %d is computed in %s from the orders of its log; %s", c.Peer, c.Point, c.Sim, confirmed)
}

// Compute plays the first stretch of a log in a simulator and returns the log of a peer that computes the same as the
// simulator: the same orders, and the sync hash of every state point. The stretch has to begin at the start of the
// session.
func Compute(log *orderlog.Log, sim *Sim, opts ComputeOptions) (_ *orderlog.Log, err error) {
	list, _ := playedOf(log, false)
	first := list[0]
	if first.Loaded() || log.Header.FirstPoint != 0 {
		return nil, fmt.Errorf("%s begins at state point %d with a state from elsewhere, and %s plays from the start of a session", log.Name, first.From, sim.Name)
	}
	last := first.To
	if opts.Until != nil {
		if last = *opts.Until; last > first.To {
			return nil, fmt.Errorf("%s: its orders are known up to state point %d only, not to %d", log.Name, first.To, last)
		}
	}
	p := &player{log: log, sim: sim, opts: TrialOptions{Progress: opts.Progress}, out: &Trial{Sim: sim.Name, From: first.From, To: last}, orders: first.orders, all: int64(last - first.From)}
	defer func() { err = errors.Join(err, p.close()) }()
	s, err := p.start(sim)
	if err != nil {
		return nil, err
	}
	out := &orderlog.Log{Name: log.Name, Header: log.Header}
	out.Header.Peer, out.Header.Peers = opts.Peer, []string{opts.Peer}
	out.Header.Start = merkle.Hash{} // the simulator reports it only in short form
	saver, saves := As[Saver](s, CanState)
	stops := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(opts.At), last))))
	hashes := []orderlog.Observed{observedAt(s)}
	for _, stop := range stops {
		for s.Point() < min(stop, last) {
			from := s.Point()
			list, err := p.advance(nil, s, p.ahead(min(stop, last), s))
			if err != nil {
				return nil, err
			}
			for i := range list {
				hashes = append(hashes, orderlog.Observed{Point: from + uint64(i) + 1, Kind: orderlog.SyncHash, Bytes: list[i][:]})
			}
		}
		if opts.State == nil || !saves || stop > last || !slices.Contains(opts.At, stop) {
			continue
		}
		world, err := saver.World()
		if err != nil {
			return nil, fmt.Errorf("%s, state point %d: %w", sim.Name, stop, err)
		}
		own := *world
		own.Seed, own.Point, own.Peer = log.Header.Seed, snapshot.Point{Tick: stop}, opts.Peer
		if err := opts.State(&own); err != nil {
			return nil, err
		}
	}
	for i := range hashes[:len(hashes)-1] {
		number := first.From + uint64(i)
		out.Ticks = append(out.Ticks, orderlog.Tick{Number: number, InputHash: orderlog.InputHash(log.Header.Kinds, first.orders[number]), Orders: first.orders[number], Hashes: hashes[i : i+1]})
	}
	out.Epochs = []orderlog.Epoch{{Ticks: out.Ticks, Observed: hashes[len(hashes)-1:]}}
	return out, nil
}

// observedAt returns the sync hash of a simulator as a log has it.
func observedAt(s Simulator) orderlog.Observed {
	hash := s.SyncHash()
	return orderlog.Observed{Point: s.Point(), Kind: orderlog.SyncHash, Bytes: hash[:]}
}

package bisect

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Again describes another replay of a peer's orders.
type Again struct {
	Peer string // by its name in the result
	// Whole begins with the session; else the replay begins at the same point as the first one.
	Whole bool
	// Until is the last state point; the orders may end before.
	Until uint64
	// Options has the mode and its parameters. [Replay.Again] fills in where the replay begins and ends, and the hashes
	// that a plain replay is compared with.
	Options TrialOptions
}

// ErrUnplayable is wrapped by the error of a replay that the orders do not allow with any simulator.
var ErrUnplayable = errors.New("nothing can be replayed")

// Again replays the orders of a peer in another mode, or in another build: an experiment on what the first replay
// found. A simulator that cannot load the state where that one began begins with the session. The error wraps
// ErrUnplayable, or ErrUnsupported if the simulator cannot do it. Any other error means that the simulator failed or
// lacks something that the mode needs.
func (rep *Replay) Again(sim *Sim, a Again) (*Trial, error) {
	i := slices.IndexFunc(rep.Peers, func(p ReplayedPeer) bool { return p.Name == a.Peer })
	if i < 0 {
		return nil, fmt.Errorf("%w: %s has no orders that were replayed", ErrUnplayable, a.Peer)
	}
	opts := a.Options
	opts.Force = true
	log := rep.logOf(i)
	if !a.Whole && rep.ref.from.world != nil {
		opts.From = rep.ref.from.world
	}
	until := a.Until
	list, _ := playedOf(log, false)
	end := uint64(0)
	for _, s := range list {
		end = max(end, s.To)
	}
	until = min(until, end)
	opts.Until = &until
	if opts.Mode == Plain && opts.Expect == nil {
		opts.Expect = map[uint64]merkle.Short{}
		for _, x := range rep.known[i] {
			maps.Copy(opts.Expect, x.hashes)
		}
	}
	trial, err := tryAgain(log, sim, opts)
	if opts.From != nil && list[0].From == 0 && !list[0].Loaded() && errors.Is(err, ErrUnsupported) && errors.As(err, new(notLoaded)) {
		opts.From = nil
		return tryAgain(log, sim, opts)
	}
	return trial, err
}

// tryAgain replays a log, and returns an error that wraps ErrUnplayable if no part of it was replayed.
func tryAgain(log *orderlog.Log, sim *Sim, opts TrialOptions) (*Trial, error) {
	r, err := newRun(log, sim, opts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnplayable, err)
	}
	trial, err := r.try()
	if err == nil && trial.Stretches == 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnplayable, strings.Join(trial.Lost, "; "))
	}
	return trial, err
}

// Played returns the log with the orders that were replayed for a peer, and the state with which the replay began, nil for
// the start of the session. The peer must be one of rep.Peers, or the log is nil.
func (rep *Replay) Played(peer string) (*orderlog.Log, *snapshot.World) {
	i := slices.IndexFunc(rep.Peers, func(p ReplayedPeer) bool { return p.Name == peer })
	if i < 0 {
		return nil, nil
	}
	return rep.logOf(i), rep.ref.from.world
}

// logOf returns the log of a peer, or the log that it borrows orders from.
func (rep *Replay) logOf(i int) *orderlog.Log {
	if rep.runs[i].log == nil {
		return rep.ref.log
	}
	return rep.runs[i].log
}

// OrdersFrom returns the players who give orders to all peers in the ticks from from to before to, ascending, according
// to a peer's log.
func (rep *Replay) OrdersFrom(peer string, from, to uint64) (players []uint32) {
	i := slices.IndexFunc(rep.Peers, func(p ReplayedPeer) bool { return p.Name == peer })
	if i < 0 {
		return nil
	}
	log := rep.logOf(i)
	for k := range log.Ticks {
		t := &log.Ticks[k]
		if t.Number < from || t.Number >= to {
			continue
		}
		for _, o := range t.Orders {
			local := int(o.Kind) < len(log.Header.Kinds) && log.Header.Kinds[o.Kind].Local
			if !local && !slices.Contains(players, o.Player) {
				players = append(players, o.Player)
			}
		}
	}
	slices.Sort(players)
	return players
}

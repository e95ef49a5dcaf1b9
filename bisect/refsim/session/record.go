package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Sink takes the output of a session. Peers are numbered as Options.Peers names them. A function owns what it gets,
// except for the bytes that an Order's payload points to, which must not change. Functions that are nil are not called;
// an error ends the session.
type Sink struct {
	// Header is called once for each peer before anything else about it: at the start, or when it joins.
	Header func(peer int, h orderlog.Header) error

	// Tick is called for each peer and tick that it plays, with the orders as applied, their
	// input hash, and the peer's own hashes of the point before the tick: the
	// sync hash, and every 30 ticks, and where a peer comes or goes, the state hash and
	// the history hash.
	Tick func(peer int, t orderlog.Tick) error

	// Observed is called for each peer at the end, and when it goes away, with the
	// hashes of the last state point.
	Observed func(peer int, hashes []orderlog.Observed) error

	// State is called for each peer with the state hash of each point that it reaches, in ascending order, after Header
	// and before the ticks that it plays from there.
	State func(peer int, point uint64, hash merkle.Hash) error

	// Snapshot is called for each peer that is present at state point 0, every SnapshotEvery ticks, where a peer loads,
	// where comparing sync hashes first shows a difference, and at the end; never twice for the same point.
	Snapshot func(peer int, w *snapshot.World) error

	// Detected is called once, with the first point at which comparing sync
	// hashes shows a difference, before the snapshots of that point.
	Detected func(point uint64)

	// System is called for each peer after each system of each tick. The sim
	// must not be changed.
	System func(peer int, tick uint64, system string, sim *refsim.Sim) error
}

// session is a session that is being played.
type session struct {
	Options
	sink   Sink
	script *refsim.Script
	sims   []*refsim.Sim
	logs   []peerLog
	truth  *observer

	detected bool              // sync hashes have differed
	playing  uint64            // the tick that is played, or comes next
	markers  []orderlog.Marker // of the tick that comes next
}

// peerLog is a peer's record of its past.
type peerLog struct {
	state   merkle.Hash // at the current point
	history merkle.Hash
	orders  []orderlog.Order // of the current tick
	epoch   uint32
	load    *orderlog.Marker // that the next tick has to log
	begun   bool             // it has a header
}

// Record plays a session and returns the truth about it. Two sessions with the
// same Options are the same unless a mistake depends on threads or on the order
// of maps.
func Record(o Options, sink Sink) (*Truth, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &session{Options: o, sink: sink, script: refsim.NewScript(o.Config.Seed), logs: make([]peerLog, len(o.Peers))}
	for _, name := range o.Peers {
		sim, err := refsim.New(o.Config, o.mistakes(name)...)
		if err != nil {
			return nil, err
		}
		s.sims = append(s.sims, sim)
	}
	s.Config = s.sims[0].Config()
	s.truth = newObserver(s.sims, &s.Options)
	if err := s.play(); err != nil {
		return nil, err
	}
	s.truth.finish()
	return &s.truth.truth, nil
}

func (s *session) play() error {
	for i, sim := range s.sims {
		s.truth.there[i] = !s.away(i, 0)
		s.logs[i].state = sim.StateHash()
		s.logs[i].history = merkle.StartHistory(s.logs[i].state)
	}
	s.truth.initial()
	s.truth.recorded(0, s.sync())
	if err := s.begin(); err != nil {
		return err
	}
	for s.sims[0].Point() < s.Ticks {
		if s.Context != nil && s.Context.Err() != nil {
			return context.Cause(s.Context)
		}
		if err := s.goings(); err != nil {
			return err
		}
		if err := s.tick(); err != nil {
			return fmt.Errorf("tick %d: %w", s.sims[0].Point(), err)
		}
		if err := s.point(); err != nil {
			return fmt.Errorf("point %d: %w", s.sims[0].Point(), err)
		}
		if s.Progress != nil {
			s.Progress(int64(s.sims[0].Point()), int64(s.Ticks))
		}
	}
	return s.each(s.stop)
}

// stop has a peer write down the hashes of the point at which it stops.
func (s *session) stop(peer int) error {
	if err := s.writeState(peer); err != nil || s.sink.Observed == nil {
		return err
	}
	return s.sink.Observed(peer, s.hashes(peer))
}

func (s *session) writeState(peer int) error {
	if s.sink.State == nil {
		return nil
	}
	return s.sink.State(peer, s.sims[peer].Point(), s.logs[peer].state)
}

// each calls f for each peer that is there.
func (s *session) each(f func(peer int) error) error {
	for i := range s.sims {
		if s.away(i, s.playing) {
			continue
		}
		if err := f(i); err != nil {
			return fmt.Errorf("%s: %w", s.Peers[i], err)
		}
	}
	return nil
}

// begin writes what exists at state point 0.
func (s *session) begin() error {
	err := s.each(func(peer int) error {
		s.logs[peer].begun = true
		if s.sink.Header == nil {
			return nil
		}
		return s.sink.Header(peer, s.header(peer))
	})
	if err != nil {
		return err
	}
	s.detect()
	return s.snapshots()
}

func (s *session) header(peer int) orderlog.Header {
	return orderlog.Header{
		Seed:       s.Config.Seed,
		Peer:       s.Peers[peer],
		Build:      refsim.SimName,
		TickRate:   orderlog.Rate{Num: 30, Den: 1},
		Start:      s.logs[peer].state,
		FirstPoint: s.sims[peer].Point(),
		Epoch:      s.logs[peer].epoch,
		Kinds:      s.sims[peer].OrderKinds(),
		Peers:      append([]string(nil), s.Peers...),
		Params:     s.Config.Params(),
	}
}

// tick plays one tick on all peers, system by system.
func (s *session) tick() error {
	for i := range s.sims {
		s.truth.there[i] = !s.away(i, s.playing)
	}
	if err := s.reload(); err != nil {
		return err
	}
	orders := s.present(s.script.Orders(s.sims[0]))
	err := s.each(func(peer int) error {
		s.give(peer, orders)
		s.logs[peer].orders = s.sims[peer].Receive(s.heard(peer, orders))
		return s.writeTick(peer)
	})
	if err != nil {
		return err
	}
	s.markers = s.markers[:0]
	tick := s.sims[0].Point()
	if err := s.each(func(peer int) error { return s.sims[peer].Begin(s.logs[peer].orders) }); err != nil {
		return err
	}
	for order, system := range s.sims[0].Systems() {
		err := s.each(func(peer int) error {
			s.sims[peer].Next()
			if s.sink.System == nil {
				return nil
			}
			return s.sink.System(peer, tick, system, s.sims[peer])
		})
		if err != nil {
			return err
		}
		s.truth.afterSystem(order, system)
	}
	s.truth.afterTick()
	return nil
}

// reload makes peers with saves that lack a field load their own autosave once, in the mistake's tick. The hashes of
// that point are from before.
func (s *session) reload() error {
	for _, f := range s.Faults {
		if f.Name != "save-omits-field" || f.From != s.sims[0].Point() {
			continue
		}
		i := slices.Index(s.Peers, f.Peer)
		if s.away(i, f.From) || s.logs[i].load != nil { // it cannot, or it has just loaded
			continue
		}
		loaded, err := refsim.Load(s.sims[i].World(), s.mistakes(f.Peer)...)
		if err != nil {
			return err
		}
		s.sims[i] = loaded
	}
	return nil
}

// give makes a peer test and predict its own players' orders, as its machine does before they are confirmed.
func (s *session) give(peer int, orders []orderlog.Order) {
	for i := range orders {
		if int(orders[i].Player)%len(s.sims) == peer {
			s.sims[peer].Test(&orders[i])
		}
	}
	for player := peer; player < s.Config.Players; player += len(s.sims) {
		s.sims[peer].Predict(uint32(player), orders)
	}
}

// heard returns the orders that reach a peer: chat goes to the allies of its
// sender only.
func (s *session) heard(peer int, orders []orderlog.Order) []orderlog.Order {
	heard := make([]orderlog.Order, 0, len(orders))
	for _, o := range orders {
		if o.Kind != refsim.OrderChat || int(o.Player)%len(s.sims) == peer {
			heard = append(heard, o)
		}
	}
	return heard
}

func (s *session) writeTick(peer int) error {
	if err := s.writeState(peer); err != nil || s.sink.Tick == nil {
		return err
	}
	orders := append([]orderlog.Order(nil), s.logs[peer].orders...)
	return s.sink.Tick(peer, orderlog.Tick{
		Number:    s.sims[peer].Point(),
		InputHash: orderlog.InputHash(s.sims[peer].OrderKinds(), orders),
		Orders:    orders,
		Hashes:    s.hashes(peer),
		Markers:   s.marked(peer),
	})
}

// hashes returns what a peer logs of its state at the current point.
func (s *session) hashes(peer int) []orderlog.Observed {
	point, l := s.sims[peer].Point(), &s.logs[peer]
	sync := l.state.Short()
	list := []orderlog.Observed{{Point: point, Peer: uint32(peer), Kind: orderlog.SyncHash, Bytes: sync[:]}}
	if point%stateHashEvery == 0 || point == s.Ticks || len(s.markers) > 0 {
		state, history := l.state, l.history
		list = append(list,
			orderlog.Observed{Point: point, Peer: uint32(peer), Kind: orderlog.StateHash, Bytes: state[:]},
			orderlog.Observed{Point: point, Peer: uint32(peer), Kind: orderlog.HistoryHash, Bytes: history[:]})
	}
	return list
}

// point hashes and compares the peers at a new state point, and saves them if
// it is time.
func (s *session) point() error {
	for i, sim := range s.sims {
		if s.away(i, s.playing) {
			continue
		}
		l := &s.logs[i]
		l.state = sim.StateHash()
		l.history = merkle.NextHistory(l.history, l.state.Short())
	}
	point := s.sims[0].Point()
	s.playing = point
	loaded, err := s.comings()
	if err != nil {
		return err
	}
	s.truth.recorded(point, s.sync())
	due := loaded || point%s.SnapshotEvery == 0 || point == s.Ticks
	if point%s.DetectEvery == 0 && s.detect() {
		due = true
	}
	if !due {
		return nil
	}
	return s.snapshots()
}

// sync returns the sync hashes that the peers record of the current point.
func (s *session) sync() []merkle.Short {
	var list []merkle.Short
	for i := range s.logs {
		if s.truth.there[i] {
			list = append(list, s.logs[i].state.Short())
		}
	}
	return list
}

// detect compares the peers' sync hashes and reports whether they differ for
// the first time.
func (s *session) detect() bool {
	if s.detected {
		return false
	}
	hashes := s.sync()
	s.detected = slices.ContainsFunc(hashes, func(h merkle.Short) bool { return h != hashes[0] })
	if s.detected && s.sink.Detected != nil {
		s.sink.Detected(s.sims[0].Point())
	}
	return s.detected
}

// snapshots saves all peers at the current point.
func (s *session) snapshots() error {
	if s.sink.Snapshot == nil {
		return nil
	}
	return s.each(func(peer int) error {
		w := s.sims[peer].World()
		w.Peer = s.Peers[peer]
		w.Meta["build"] = refsim.SimName
		w.History, w.Epoch = s.logs[peer].history, s.logs[peer].epoch
		return s.sink.Snapshot(peer, w)
	})
}

package compare

import (
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot"
)

// hold compares every peer with the replay of its log.
func (p *player) hold() {
	for _, r := range p.list {
		if r.replay == nil {
			continue
		}
		r.why = ""
		var err error
		if _, r.pair, err = p.compareOwn(r, r.replay); err != nil {
			r.why = err.Error()
			continue
		}
		// The message of the peer's game was about another peer, and not about the replay.
		if b := r.pair.Bracket; b != nil && b.By == bisect.ByClaim {
			r.pair.Bracket = nil
		}
	}
}

// shown is a folder that a replay left, and under which name.
type shown struct{ name, folder string }

// compare compares the files below some paths, and replays, with each other.
func (p *player) compare(paths []string, replays ...shown) (*bundle.Session, *bisect.Result, error) {
	s, err := p.beside(paths, replays...)
	if err != nil {
		return nil, nil, err
	}
	r, err := Bisect(s, Builds{}, BisectOptions{})
	return s, r, err
}

// compareOwn compares a peer with a replay of its log, using only the peer's own results: its log may contain others'
// results.
func (p *player) compareOwn(r *recording, replay *gamereplay.Replay) (*bundle.Session, *bisect.Result, error) {
	s, err := p.beside(r.Paths, shown{r.name, replay.Folder})
	if err != nil {
		return nil, nil, err
	}
	s.KeepTraces(r.Said)
	result, err := Bisect(s, Builds{}, BisectOptions{})
	return s, result, err
}

// beside returns the session of the files below some paths, and of replays.
func (p *player) beside(paths []string, replays ...shown) (*bundle.Session, error) {
	paths = slices.Clone(paths)
	for _, r := range replays {
		if err := p.tree.Show(r.name, r.folder); err != nil {
			return nil, err
		}
		paths = append(paths, r.name)
	}
	s, err := bundle.Open(p.tree, paths)
	if err != nil || len(replays) == 0 {
		return s, err
	}
	alike(s)
	return s, nil
}

// alike leaves out the states of replays that have other columns than the states of the same points that peers left: a
// game's dump has what its script or its version writes, and another dump differs from it in any case.
func alike(s *bundle.Session) {
	replayed := func(p *bundle.Peer) bool { return s.Tree().Shown(p.Path) != "" }
	for _, r := range slices.Clone(s.Peers()) {
		for _, p := range s.Peers() {
			if !replayed(r) || replayed(p) {
				continue
			}
			i := slices.IndexFunc(r.States.Entries, func(e *snapshot.Entry) bool { return p.States.Has(e) })
			if i < 0 {
				continue
			}
			if e := r.States.Entries[i]; unlike(e, p.States.At(e.Point)) {
				s.LeaveStates(r)
				break
			}
		}
	}
}

// unlike reports whether tables that two states have in common have other columns. A state that cannot be read is like
// any other one: who compares it reports that.
func unlike(a, b *snapshot.Entry) bool {
	var states [2]snapshot.State
	for i, e := range []*snapshot.Entry{a, b} {
		state, err := e.Open()
		if state != nil {
			defer state.Close()
		}
		if err != nil {
			return false
		}
		states[i] = state
	}
	d, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{Limit: 1})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(d.Tables, func(t snapshot.TableDiff) bool {
		return slices.ContainsFunc(t.Schema, func(c snapshot.SchemaChange) bool { return c.A == nil || c.B == nil })
	})
}

// compared returns how many ticks of traces were compared.
func compared(r *bisect.Result) int {
	n := 0
	for _, t := range r.Traces {
		if len(t.Traces) > len(t.Uncompared)+1 {
			n += int(t.LastCompared.Number) + 1
		}
	}
	return n
}

// agrees returns the last moment up to which two sides were compared and did not differ.
func agrees(r *bisect.Result) (at *uint64) {
	further := func(n uint64) {
		if at == nil || n > *at {
			at = &n
		}
	}
	for _, at := range []*uint64{r.Equal, r.Agreed} {
		if at != nil {
			further(*at)
		}
	}
	for _, point := range r.Content {
		further(point.Tick)
	}
	if r.Bracket == nil && r.Pairs > 0 && r.Probes == r.Pairs && len(r.Peers) == 2 {
		for _, e := range r.Peers[0].States.Entries { // points inside a tick as well, which Equal does not name
			if at := e.Point; slices.ContainsFunc(r.Peers[1].States.Entries, func(e *snapshot.Entry) bool { return e.Point == at }) {
				further(at.Tick)
			}
		}
	}
	for _, t := range r.Traces {
		if len(t.Traces) > len(t.Uncompared)+1 && !t.Diverged() {
			further(t.LastCompared.Number + 1)
		}
	}
	return at
}

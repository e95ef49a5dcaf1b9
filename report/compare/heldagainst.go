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
	return bundle.Open(p.tree, paths)
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

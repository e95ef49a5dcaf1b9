package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot"
)

// Witness is a game that plays the recordings of a session again.
type Witness struct {
	*gamereplay.Witness
	Context context.Context
}

// witnessed has the game play the recordings again, and compares the peers with the game's results.
func (g *gatherer) witnessed() error {
	w := g.builds.Witness
	if w == nil || g.e.Bisect == nil {
		return nil
	}
	p, err := newPlayer(g.s, *w, g.logs, g.builds.Progress)
	if err != nil {
		return err
	}
	p.list = append(p.list, p.heard()...)
	g.player = p
	p.all(g.e.Bisect.Bracket)
	p.hold()
	g.e.Bisect.Witnessed = g.heardOf(p)
	return g.nearer()
}

// heardOf returns what came of playing the recordings.
func (g *gatherer) heardOf(p *player) *bisect.Witnessed {
	w := p.w
	out := &bisect.Witnessed{Spec: w.Spec, Game: w.Game.Title}
	if len(p.list) == 0 && len(p.lost) == 0 {
		p.fail(fmt.Errorf("no recording that %s plays is among the files", w.Game.Title))
	}
	if w.Context.Err() != nil {
		p.fail(errors.New("the replays were interrupted"))
	} else {
		same := g.e.Orders != nil && len(g.e.Orders.Differences) == 0 && g.e.Orders.Window != nil
		var twice []*recording
		twice, out.Differ = p.steady(same)
		out.Twice = append(out.Twice, lists.Map(twice, g.nameOf)...)
	}
	if w.Program.Version != "" {
		out.Game += " " + w.Program.Version
	}
	for _, r := range p.list {
		if r.replay == nil {
			continue
		}
		one := bisect.WitnessedReplay{Peer: g.nameOf(r), Replay: r.name, Why: r.why}
		switch {
		case r.pair == nil:
		case r.pair.Bracket != nil:
			at := *r.pair.Bracket
			at.GoodFiles, at.BadFiles = nil, nil // which are a replay's, and gone soon
			one.Departs = &at
		default:
			one.Agrees = agrees(r.pair)
		}
		if !one.Compared() && one.Why == "" {
			one.Why = "nothing in them has the same kind"
		}
		out.Replays = append(out.Replays, one)
	}
	out.Failed, out.Forced = p.lost, w.Forced()
	g.e.Warnings = append(g.e.Warnings, w.Warnings()...)
	return out
}

// nameOf returns the name that the peer of a recording has in the result.
func (g *gatherer) nameOf(r *recording) string {
	var names []string
	if g.e.Bisect != nil && r.in == nil {
		for _, p := range g.e.Bisect.Peers {
			if slices.Contains(r.Paths, p.Path) || p.Path == r.File.Path {
				names = append(names, p.Name)
			}
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return r.Peer
}

// setAt returns the states of the peer that has its folder or file among some paths.
func setAt(s *bundle.Session, paths []string) *snapshot.Set {
	for _, p := range s.Peers() {
		if slices.Contains(paths, p.Path) {
			return p.States
		}
	}
	return nil
}

// nearer takes over what the replays narrow: the bracket, if one peer departs inside the bracket of the peers while the
// others agree, and the values, if the peers left no states of one moment.
func (g *gatherer) nearer() error {
	guilty := g.e.Bisect.Witnessed.Guilty(g.e.Bisect)
	if len(guilty) == 0 {
		return g.besideOther()
	}
	if len(guilty) != 1 {
		return nil
	}
	for _, r := range g.player.list {
		if r.replay == nil || r.pair == nil || g.nameOf(r) != guilty[0] {
			continue
		}
		if b := meet(g.e.Bisect.Bracket, r.pair.Bracket); b != nil && !b.Same(g.e.Bisect.Bracket) {
			g.e.Bisect.Nearer(*b)
			g.e.Bisect.Witnessed.Narrowed = true
		}
		if g.e.Parted != nil && g.e.Diff != nil && len(g.e.Parted.Diff.Tables) > 0 {
			return nil
		}
		return g.valuesOf(r)
	}
	return nil
}

// valuesOf compares the states of a peer with the states of its replay.
func (g *gatherer) valuesOf(r *recording) error {
	s, err := g.player.beside(r.Paths, shown{r.name, r.replay.Folder})
	if err != nil {
		return err
	}
	return g.valuesIn(s, r.pair)
}

// besideOther handles a peer with a recording that cannot be played: it compares the peer's states with the replay of
// the only other peer's log, if that peer agrees with the replay.
func (g *gatherer) besideOther() error {
	w, others := g.e.Bisect.Witnessed, g.player.unplayed()
	if len(g.e.Bisect.Peers) != 2 || len(w.Replays) != 1 || len(others) != 1 || w.Differ != nil || g.e.Bisect.Bracket == nil ||
		g.e.Orders != nil && len(g.e.Orders.Differences) > 0 {
		return nil
	}
	for _, r := range g.player.list {
		if r.replay == nil || r.pair == nil || r.pair.Bracket != nil {
			continue
		}
		s, err := g.player.beside([]string{others[0].Path}, shown{r.name, r.replay.Folder})
		if err != nil {
			return err
		}
		pair, err := Bisect(s, Builds{}, BisectOptions{})
		if err != nil || pair.Bracket == nil {
			return nil // what it left cannot be compared
		}
		return g.valuesIn(s, pair)
	}
	return nil
}

// valuesIn takes the values over that differ between the two sides of a session, unless earlier ones are known.
func (g *gatherer) valuesIn(s *bundle.Session, r *bisect.Result) error {
	pair := &gatherer{s: s}
	pair.e.Bisect = r
	if err := pair.states(); err != nil || pair.e.Parted == nil {
		return err
	}
	if g.e.Parted != nil && g.e.Parted.States[0].Info().Point.Compare(pair.e.Parted.States[0].Info().Point) <= 0 {
		closeStates(pair.e.Parted)
		return nil
	}
	closeStates(g.e.Parted)
	g.e.Parted, g.e.Diff = pair.e.Parted, pair.e.Diff
	return nil
}

package compare

import (
	"errors"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/verdict"
)

// unplayedError reports that evidence of one peer cannot be compared, since its recording could not be played either.
type unplayedError struct {
	error
	lost []string
}

func (e *unplayedError) Unwrap() error { return e.error }

// withReplay compares the evidence of one peer with the replay of its log; why is the reason that there is nothing else
// to compare it with. The caller closes what it returns.
func (g *gatherer) withReplay(why error) (*gatherer, error) {
	p, err := newPlayer(g.s, *g.builds.Witness, g.logs, g.builds.Progress)
	if err != nil {
		return nil, err
	}
	g.player = p
	p.nearest()
	heard := g.heardOf(p)
	for _, r := range p.list {
		if r.replay == nil {
			continue
		}
		pair, err := g.besideReplay(r, heard)
		if err == nil {
			return pair, nil
		}
		p.fail(err)
		break
	}
	return nil, &unplayedError{why, p.lost}
}

// besideReplay compares the files that one peer left with the replay of its log. The caller closes what it returns.
func (g *gatherer) besideReplay(r *recording, heard *bisect.Witnessed) (*gatherer, error) {
	s, err := g.player.beside(r.Paths, shown{r.name, r.replay.Folder})
	if err != nil {
		return nil, err
	}
	pair := &gatherer{s: s, progress: g.progress, spread: true, e: verdict.Evidence{Ask: g.e.Ask, Given: g.e.Given, Engine: g.e.Engine, Replayer: g.e.Replayer, Warnings: g.e.Warnings}}
	if err := pair.compare(); err != nil {
		return nil, errors.Join(err, pair.Close())
	}
	if own := r.pair; own != nil && own.Bracket != nil && pair.e.Bisect.Bracket == nil { // by what the peer itself computed
		own.Notes = slices.Concat(own.Notes, pair.e.Bisect.Notes)
		pair.e.Bisect = own
	}
	only := *heard
	only.Replays = slices.DeleteFunc(slices.Clone(heard.Replays), func(one bisect.WitnessedReplay) bool { return one.Replay != r.name })
	for i := range only.Replays {
		only.Replays[i].Peer = pair.nameOf(r)
	}
	pair.e.Bisect.Witnessed = &only
	forget(pair.e.Bisect) // commands cannot take files of a replay, which are gone then
	return pair, nil
}

// departing returns the comparison of the only peer that left a recording with its replay, if that shows what nothing else
// does; else nil.
func (g *gatherer) departing() (*gatherer, error) {
	b := g.e.Bisect
	if g.player == nil || b.Bracket != nil || b.Kind != "" || b.Pairs > 0 || len(g.player.list) != 1 {
		return nil, nil
	}
	r := g.player.list[0]
	if r.pair == nil || r.pair.Bracket == nil {
		return nil, nil
	}
	return g.besideReplay(r, b.Witnessed)
}

// forget leaves the files out of a result at the ends of its bracket.
func forget(r *bisect.Result) {
	if b := r.Bracket; b != nil {
		b.GoodFiles, b.BadFiles = nil, nil
	}
	for i := range r.Splits {
		r.Splits[i].GoodFiles, r.Splits[i].BadFiles, r.Splits[i].HealedFiles = nil, nil, nil
	}
}

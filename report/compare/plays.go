package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
)

// Plays sets in which ways a game plays a recording again.
type Plays struct {
	Modes   []bisect.TrialMode  // Plain, Repeat, Serialize, FromEachSnapshot, Against
	Runs    int                 // for Repeat, at least 2
	Until   *uint64             // the last state point; nil for the recording's end
	Against *gamereplay.Witness // for that mode
	// Progress, if not nil, is called with what is played, and the ticks that are done and all.
	Progress func(what string, done, total int64)
}

// gameModes are the ways of playing for which games have a mode.
var gameModes = map[bisect.TrialMode]engine.Mode{bisect.Serialize: engine.Serialize, bisect.FromEachSnapshot: engine.Rejoin}

// Play has a game play the only recording of a session in some ways. An error reports that it cannot be played at all;
// what one way lacks is in its Trial.
func Play(s *bundle.Session, w Witness, opts Plays) (bisect.Trials, []string, error) {
	if err := s.Unknown(); err != nil {
		return nil, nil, err
	}
	g := &gatherer{s: s}
	if err := g.readLogs(); err != nil {
		return nil, nil, err
	}
	p, err := newPlayer(s, w, g.logs, opts.Progress)
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	switch {
	case len(p.list) == 0 && len(p.lost) > 0:
		return nil, nil, errors.New(p.lost[0])
	case len(p.list) == 0:
		return nil, nil, fmt.Errorf("no recording that %s plays is among the files", w.Game.Title)
	case len(p.list) > 1:
		return nil, nil, fmt.Errorf("the recordings of %d peers, expected one peer", len(p.list))
	}
	var out bisect.Trials
	for _, mode := range opts.Modes {
		t, err := p.trial(p.list[0], mode, &opts)
		if context.Cause(w.Context) != nil && len(out) > 0 {
			break // those that were made are shown
		}
		if err != nil {
			return nil, nil, err
		}
		for _, text := range w.Forced() {
			t.Notes = append(t.Notes, text+"; it was played all the same, so that what departs may be what its own version does")
		}
		out = append(out, t)
	}
	return out, w.Warnings(), nil
}

// trial plays a recording in one way.
func (p *player) trial(r *recording, mode bisect.TrialMode, opts *Plays) (*bisect.Trial, error) {
	ask := engine.Ask{Mode: gameModes[mode], Until: opts.Until}
	t := &bisect.Trial{Mode: mode, Sim: p.w.Spec, To: r.copy.Last + 1, Stretches: 1}
	if opts.Until != nil {
		t.To = min(t.To, *opts.Until)
	}
	switch mode {
	case bisect.Plain:
		return t, p.plain(t, r, ask)
	case bisect.Serialize, bisect.FromEachSnapshot:
		return t, p.selfTest(t, r, ask)
	case bisect.Repeat:
		return t, p.repeat(t, r, ask, opts.Runs)
	case bisect.Against:
		return t, p.other(t, r, ask, opts.Against)
	}
	return nil, fmt.Errorf("--%s needs a simulator that speaks the protocol, and %s is a game", mode, p.w.Game.Title)
}

// one makes a replay, and keeps it until the player is closed.
func (p *player) one(a *asked) error {
	p.play([]*asked{a})
	return a.err
}

// plain compares the recording with its replay.
func (p *player) plain(t *bisect.Trial, r *recording, ask engine.Ask) error {
	ask.Dump = dumpsAround(setAt(p.s, r.Paths), nil)
	a := &asked{of: r, by: p.w.Witness, ask: ask}
	if err := p.one(a); err != nil {
		return err
	}
	t.Ticks = t.To
	s, result, err := p.compareOwn(r, a.replay)
	var alone *bundle.AloneError
	if errors.As(err, &alone) {
		t.Lost = append(t.Lost, "the files that the game leaves cannot be compared with the files here: "+alone.Have)
		t.Means = "nothing was compared, so nothing follows"
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.departs(t, s, result, r.Peer, r.name); err != nil {
		return err
	}
	if t.First == nil {
		t.Means = fmt.Sprintf("what %s recorded is what %s computes of its orders", r.Peer, p.w.Game.Title)
		return nil
	}
	t.Means = fmt.Sprintf("%s departs from what %s computes of its log, %s: another build, other data, a machine that computes otherwise, or a game that does not do the same twice, which --runs shows", r.Peer, p.w.Game.Title, document.AtPoint(result.Bracket.Bad))
	return nil
}

// departs takes over where two sides part.
func (p *player) departs(t *bisect.Trial, s *bundle.Session, r *bisect.Result, a, b string) error {
	t.Compared += uint64(r.Recorded + r.Pairs + compared(r))
	if r.Recorded+r.Pairs+compared(r) == 0 {
		t.Lost = append(t.Lost, r.Lost...)
	}
	t.Notes = append(t.Notes, r.Notes...)
	if r.Bracket == nil {
		return nil
	}
	t.First = &bisect.Departure{Point: r.Bracket.Bad.Tick, A: a, B: b}
	if r.Bracket.Good != nil {
		t.Agreed = &r.Bracket.Good.Tick
	}
	pair := &gatherer{s: s}
	pair.e.Bisect = r
	defer pair.Close()
	if err := pair.states(); err != nil {
		return err
	}
	if x := pair.e.Diff; x != nil {
		t.First.A, t.First.B, t.First.Diff = pair.e.Parted.Names[0], pair.e.Parted.Names[1], x
	}
	return nil
}

// selfTest has the game compare two runs of the same ticks, and reads the results that it leaves.
func (p *player) selfTest(t *bisect.Trial, r *recording, ask engine.Ask) error {
	a := &asked{of: r, by: p.w.Witness, ask: ask}
	if err := p.one(a); err != nil {
		return err
	}
	t.Ticks = 2 * t.To
	s, result, err := p.compare(nil, shown{r.name, a.replay.Folder})
	if errors.As(err, new(*bundle.AloneError)) { // it left nothing about two runs
		t.Compared = t.To
		t.Means = fmt.Sprintf("%s found no difference in its own test", p.w.Game.Title)
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.departs(t, s, result, "first run", "second run"); err != nil {
		return err
	}
	t.Means = fmt.Sprintf("%s found no difference in its own test", p.w.Game.Title)
	if t.First != nil {
		t.Means = "a state that is saved and loaded goes on otherwise than one that is not: something is not saved, or is made again in another way"
	}
	return nil
}

// repeat plays the recording several times.
func (p *player) repeat(t *bisect.Trial, r *recording, ask engine.Ask, runs int) error {
	list := make([]*asked, runs)
	for i := range list {
		ask.Run = i
		list[i] = &asked{of: r, by: p.w.Witness, ask: ask}
	}
	p.play(list)
	for _, a := range list {
		if a.err != nil {
			return a.err
		}
	}
	t.Runs, t.Ticks = runs-1, uint64(runs)*t.To
	first := shown{r.name, list[0].replay.Folder}
	for i, a := range list[1:] {
		again := shown{fmt.Sprintf("run %d of %s", i+2, r.name), a.replay.Folder}
		s, result, err := p.compare(nil, first, again)
		if err != nil {
			return err
		}
		if result.Bracket == nil {
			t.Compared += uint64(result.Recorded + result.Pairs + compared(result))
			continue
		}
		if t.Hits++; t.First == nil || result.Bracket.Bad.Tick < t.First.Point {
			result.Bracket = p.closer([2]*asked{list[0], a}, [2]string{first.name, again.name}, result.Bracket)
			if err := p.departs(t, s, result, first.name, again.name); err != nil {
				return err
			}
		}
	}
	t.Low, t.High = bisect.Wilson(t.Hits, t.Runs)
	t.Means = fmt.Sprintf("%s did the same in %d runs", p.w.Game.Title, runs)
	if t.First != nil {
		t.Means = fmt.Sprintf("%s does not do the same twice with the same orders: a clock, threads, memory that was not set, or numbers that are not the game's own", p.w.Game.Title)
	}
	return nil
}

// other plays the recording with another game in addition: other builds, other data.
func (p *player) other(t *bisect.Trial, r *recording, ask engine.Ask, w *gamereplay.Witness) error {
	t.Against = w.Spec
	list := []*asked{{of: r, by: p.w.Witness, ask: ask}, {of: r, by: w, ask: ask}}
	p.play(list)
	for _, a := range list {
		if a.err != nil {
			return a.err
		}
	}
	t.Ticks = 2 * t.To
	names := [2]string{p.w.Spec, w.Spec}
	if names[0] == names[1] {
		return errors.New("--against: the same game with the same options; --runs plays a recording several times")
	}
	s, result, err := p.compare(nil, shown{names[0], list[0].replay.Folder}, shown{names[1], list[1].replay.Folder})
	if err != nil {
		return err
	}
	t.Means = "both compute the same"
	if result.Bracket != nil {
		result.Bracket = p.closer([2]*asked{list[0], list[1]}, names, result.Bracket)
		t.Means = "the two do not compute the same from the same orders: builds, data, settings or machines that differ"
	}
	return p.departs(t, s, result, names[0], names[1])
}

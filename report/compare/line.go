package compare

import (
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code/flow"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// Line looks for the line of source at which Sim and Own depart in a trial of a peer's log: by their branches, by their
// writes, or both. What it was not asked for is nil.
type Line func(r *bundle.Replayable, trial *bisect.Trial, opts bisect.TrialOptions) (*document.CodeDocument, *document.WritesDocument)

// line has both builds looked into, if that was asked for. A divergence counts without it: why there is no line is in
// the conclusion.
func (g *gatherer) line(c *verdict.Conclusion) {
	if g.builds.Line == nil || !c.Diverged() {
		return
	}
	r, trial, opts, err := g.depart(c)
	if err != nil {
		c.Found(&document.CodeDocument{Kind: flow.Unknown, Why: err.Error()}, nil)
		return
	}
	code, writes := g.builds.Line(r, trial, opts)
	if tick, _ := trial.Tick(); c.Tick != nil && c.Tick.Native == "" && c.Tick.Number != tick {
		note := fmt.Sprintf("the builds depart in tick %d, the peers diverged in tick %d", tick, c.Tick.Number)
		if code != nil {
			code.Notes = append(code.Notes, note)
		}
		if writes != nil {
			writes.Notes = append(writes.Notes, note)
		}
	}
	c.Found(code, writes)
}

// depart replays the orders of the peer that is wrong in both builds, until they depart.
func (g *gatherer) depart(c *verdict.Conclusion) (*bundle.Replayable, *bisect.Trial, bisect.TrialOptions, error) {
	b, opts := g.builds, bisect.TrialOptions{Mode: bisect.Against, Against: g.builds.Own}
	name, path := c.Wrong()
	if path == "" || !c.HasLog(name) {
		return nil, nil, opts, errors.New("the builds play an order log, and the peer that is wrong left none")
	}
	r, err := g.s.Replay(path)
	if err != nil {
		return nil, nil, opts, err
	}
	opts.Snapshots = r.Snapshots
	if c.Bracket != nil && !c.InitialState {
		opts.Until = &c.Bracket.Bad.Tick
	}
	if p := b.Progress; p != nil {
		opts.Progress = func(done, total int64) { p("the line of source", done, total) }
	}
	trial, err := bisect.Try(r.Log, b.Sim, opts)
	if err != nil {
		return nil, nil, opts, err
	}
	if !trial.Departed() {
		return nil, nil, opts, errors.New("both builds compute the same: the difference is in neither of them, or --own is another build than the peer had")
	}
	if _, ok := trial.Tick(); !ok {
		return nil, nil, opts, fmt.Errorf("no tick departs: the states of the builds differ at state point %d already", trial.First.Point)
	}
	opts.Until = nil
	return r, trial, opts, nil
}

package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/flow"
	"github.com/desynctool/desynctool/bisect/code/gdb"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// Code asks where in the code two builds depart.
type Code struct {
	Branches, Writes bool
	// Source is the folder of the game's source, empty for none.
	Source string
	// Programs are the builds for gdb, the sound one first. Only Writes needs them.
	Programs [2]gdb.Program
}

// Asked reports whether anything is to be found.
func (q *Code) Asked() bool { return q.Branches || q.Writes }

// Find lets two builds play the tick in which they depart, and compares their branches and their writes. A finding that
// cannot be made has the reason; one that nobody asked for is nil.
func (q *Code) Find(ctx context.Context, log *orderlog.Log, sims [2]*bisect.Sim, tick uint64, opts bisect.TrialOptions) (b *document.Branches, w *document.Writes) {
	opts.Context = ctx
	if q.Branches {
		found, err := branches(log, sims, tick, opts)
		if err == nil && q.Source != "" {
			err := code.Read(q.Source, found.At, found.Next[0], found.Next[1], found.Stack)
			if err != nil {
				found.Notes = append(found.Notes, err.Error())
			}
		}
		b = document.NewBranches(found, err)
	}
	if q.Writes {
		found, err := gdb.Find(log, q.Programs, tick, gdb.Options{Trial: opts})
		for i := 0; err == nil && q.Source != "" && i < len(found.Builds); i++ {
			if w := found.Builds[i].First; w != nil {
				at := []code.Place{w.At}
				if err := code.Read(q.Source, at, w.Stack); err != nil {
					found.Notes = append(found.Notes, err.Error())
					break
				}
				w.At = at[0]
			}
		}
		w = document.NewWrites(found, err)
	}
	return b, w
}

// branches compares the branches of two builds, with the recordings in a folder that is gone afterwards.
func branches(log *orderlog.Log, sims [2]*bisect.Sim, tick uint64, opts bisect.TrialOptions) (_ *flow.Finding, err error) {
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return flow.Find(log, sims, flow.Options{Tick: tick, Dir: dir, Trial: opts})
}

// coder returns what compares the code of the builds, nil if nobody asked.
func (g *gatherer) coder() verdict.Coder {
	q, b := &g.builds.Code, g.builds
	if !q.Asked() || b.Sim == nil || b.Own == nil {
		return nil
	}
	return func(peer string, tick uint64) (*document.Branches, *document.Writes, error) {
		opts := bisect.TrialOptions{Force: true, Snapshots: g.of(peer)}
		if p := b.Progress; p != nil {
			opts.Progress = func(done, total int64) { p("line of code", done, total) }
		}
		rep := g.e.Bisect.Replay
		if rep == nil {
			return nil, nil, errors.New("no orders were replayed")
		}
		side := opts
		side.Mode, side.Against = bisect.Against, b.Own
		trial, err := rep.Again(b.Sim, bisect.Again{Peer: peer, Until: tick + 1, Options: side})
		if err != nil {
			return nil, nil, err
		}
		switch departs, ok := trial.Tick(); {
		case trial.First == nil:
			return nil, nil, fmt.Errorf("%s comes to the same states as %s up to the end of tick %d: it does not make the difference", b.Own.Name, b.Sim.Name, tick)
		case !ok || departs != tick:
			return nil, nil, fmt.Errorf("%s departs from %s at state point %d, and the peers diverged in tick %d: it is another build than the peer's", b.Own.Name, b.Sim.Name, trial.First.Point, tick)
		}
		log, from := rep.Played(peer)
		if from != nil && trial.From == from.Point.Tick {
			opts.From = from
		}
		found, written := q.Find(b.Own.Context, log, [2]*bisect.Sim{b.Sim, b.Own}, tick, opts)
		return found, written, nil
	}
}

package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
)

// Judge is a minimize.Test by a game that plays candidates: two games side by side, one game twice, or the game's own
// test of saved states. It ignores hashes that were recorded.
type Judge struct {
	Witness *gamereplay.Witness
	Mode    bisect.TrialMode    // Against, Dual, Serialize or FromEachSnapshot
	Against *gamereplay.Witness // for that mode
	Format  string              // of recordings, by formats.Format.Name
	File    minimize.File       // how candidates are written
}

// Name implements minimize.Test.
func (j *Judge) Name() string {
	if j.Mode == bisect.Against {
		return fmt.Sprintf("%s against %s", j.Witness.Spec, j.Against.Spec)
	}
	return fmt.Sprintf("%s, %s", j.Witness.Spec, j.Mode)
}

// Run implements minimize.Test. It takes no state.
func (j *Judge) Run(ctx context.Context, c *minimize.Candidate, _ *snapshot.World) (o minimize.Outcome, err error) {
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	log := c.Log()
	path := filepath.Join(dir, j.File.Name)
	if err := j.write(path, c); err != nil {
		return o, err
	}
	last := uint64(0)
	if c.Until() > 0 {
		last = c.Until() - 1
	}
	rec := &recording{copy: &engine.Recording{Peer: "candidate", Path: j.File.Name, File: path, Format: j.Format, Header: log.Header, Last: last}}
	tree, err := archive.Open(nil, archive.Options{})
	if err != nil {
		return o, err
	}
	defer tree.Close()
	p := &player{w: Witness{Witness: j.Witness, Context: ctx}, tree: tree, remove: func() error { return nil }}
	defer p.Close()
	list := []*asked{{of: rec, by: j.Witness, ask: engine.Ask{Mode: gameModes[j.Mode]}}}
	switch j.Mode {
	case bisect.Against:
		list = append(list, &asked{of: rec, by: j.Against})
	case bisect.Dual:
		list = append(list, &asked{of: rec, by: j.Witness, ask: engine.Ask{Run: 1}})
	}
	p.play(list)
	o.Replays, o.Ticks = len(list), uint64(len(list))*(last+1)
	for _, a := range list {
		switch {
		case ctx.Err() != nil:
			return o, ctx.Err()
		case errors.Is(a.err, engine.ErrFailed), errors.As(a.err, new(*engine.Refusal)):
			o.Verdict, o.Why = minimize.Unknown, a.err.Error()
			return o, nil
		case a.err != nil:
			return o, a.err
		}
	}
	return j.judged(o, p, list)
}

// judged compares what the game left.
func (j *Judge) judged(o minimize.Outcome, p *player, list []*asked) (minimize.Outcome, error) {
	var shownList []shown
	for i, a := range list {
		shownList = append(shownList, shown{fmt.Sprintf("run %d", i+1), a.replay.Folder})
	}
	_, r, err := p.compare(nil, shownList...)
	switch {
	case err != nil && len(list) == 1: // a test that left nothing about two runs found nothing
		o.Verdict = minimize.InSync
	case err != nil:
		o.Verdict, o.Why = minimize.Unknown, err.Error()
	case r.Bracket == nil:
		o.Verdict = minimize.InSync
	default:
		o.Verdict, o.Signature, o.Point = minimize.Diverges, minimize.Signature{Kind: minimize.KindCommand}, &r.Bracket.Bad.Tick
	}
	return o, nil
}

// write writes a candidate as the game reads it.
func (j *Judge) write(path string, c *minimize.Candidate) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(j.File.Write(f, c.Log()), f.Close())
}

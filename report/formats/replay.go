package formats

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// HashWriter keeps the sync hash of a state point.
type HashWriter func(point uint64, hash merkle.Short) error

// WriteHashes writes a trace of sync hashes: the checkpoint of tick T has the sync hash of state point T + 1. The trace
// is only there if play succeeds.
func WriteHashes(path string, h *orderlog.Header, play func(HashWriter) error) error {
	return files.Replace(path, func(f *os.File) error {
		w, err := tracediff.NewWriter(f, tracediff.Header{Seed: h.Seed, HasSeed: true, Build: h.Build, RateNum: h.TickRate.Num, RateDen: h.TickRate.Den})
		if err != nil {
			return err
		}
		err = play(func(point uint64, hash merkle.Short) error {
			if point == 0 {
				return nil
			}
			return w.WriteCheckpoint(&tracediff.Checkpoint{Tick: point - 1, Sums: []tracediff.Sum{tracediff.BytesSum("", hash[:])}})
		})
		return errors.Join(err, w.Close())
	})
}

// ReadHashes reads what WriteHashes wrote.
func ReadHashes(tree files.Tree, path string) (map[uint64]merkle.Short, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := tracediff.NewReader(f, path, tracediff.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	hashes := map[uint64]merkle.Short{}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		c := rec.Checkpoint
		if c == nil || c.System != "" || c.Scope != "" || len(c.Sums) != 1 {
			continue
		}
		if b, ok := c.Sums[0].Bytes(nil); ok && len(b) == merkle.ShortSize {
			hashes[c.Tick+1] = merkle.Short(b)
		}
	}
	if len(hashes) == 0 {
		return nil, fmt.Errorf("%s: no sync hashes of whole states; replay --write-trace makes such a trace", path)
	}
	return hashes, nil
}

// traced reads a trace tick by tick.
type traced struct {
	r      *tracediff.Reader
	begun  bool // at the first tick that was asked for
	done   bool
	rolls  bool              // the trace predicts or restores: ticks are traced again
	ticks  map[uint64]*trial // that were read and not asked for yet
	held   int               // checkpoints in them
	newest uint64
	last   uint64 // tick of the last checkpoint
	pass   int    // grows when the trace goes back
}

// trial is what was traced in one tick.
type trial struct {
	pass int
	list []bisect.TracedSystem
}

const (
	// deepest is how many ticks a game rolls back at most.
	deepest = 128
	// maxHeld is how many checkpoints are held of ticks that may be traced again.
	maxHeld = 1 << 18
)

// OpenTraced opens a trace that has a checkpoint of the whole state after each
// system, and perhaps of its parts. Predicted checkpoints are left out. Of a tick that
// was traced again the last time counts if the trace rolls back, else the first. What is
// before the first tick that is asked for is not read where the trace can be searched.
func OpenTraced(tree files.Tree, path string) (bisect.Traced, error) {
	r, err := tracediff.OpenReader(tree, path, tracediff.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return &traced{r: r, ticks: map[uint64]*trial{}}, nil
}

// Close closes the file.
func (t *traced) Close() error { return t.r.Close() }

// Tick implements bisect.Traced.
func (t *traced) Tick(tick uint64) (list []bisect.TracedSystem, err error) {
	if !t.begun {
		t.begun = true
		if err := t.r.SeekTick(tick); err != nil {
			t.done = true
			return nil, err
		}
	}
	for !t.done && !t.over(tick) {
		if err = t.next(tick); err != nil {
			t.done = true
			if err == io.EOF {
				err = nil
			}
		}
	}
	if found := t.ticks[tick]; found != nil {
		list = found.list
	}
	for at := range t.ticks {
		if at <= tick {
			delete(t.ticks, at)
		}
	}
	if len(t.ticks) == 0 {
		t.held = 0
	}
	return list, err
}

// over reports whether all was read that the trace has of a tick.
func (t *traced) over(tick uint64) bool {
	if !t.rolls {
		return t.newest > tick
	}
	return t.newest > tick+deepest || t.newest > tick && t.held > maxHeld
}

// next reads one record; ticks before the one that is asked for are left out.
func (t *traced) next(from uint64) error {
	rec, err := t.r.Next()
	if err != nil {
		return err
	}
	if e := rec.Event; e != nil {
		t.rolls = t.rolls || e.Kind == tracediff.Restore
		return nil
	}
	c := rec.Checkpoint
	if c == nil || c.System == "" || len(c.Sums) == 0 {
		return nil
	}
	if c.Phase == tracediff.Predicted {
		t.rolls = true
		return nil
	}
	if c.Tick < t.last {
		t.pass++
	}
	t.last, t.newest = c.Tick, max(t.newest, c.Tick)
	if c.Tick < from {
		return nil
	}
	have := t.ticks[c.Tick]
	if have == nil || have.pass != t.pass && t.rolls {
		have = &trial{pass: t.pass}
		t.ticks[c.Tick] = have
	}
	if have.pass == t.pass {
		t.held++
		have.add(c)
	}
	return nil
}

func (t *trial) add(c *tracediff.Checkpoint) {
	b, ok := c.Sums[0].Bytes(nil)
	if !ok || len(b) != merkle.ShortSize {
		return
	}
	if n := len(t.list); n == 0 || t.list[n-1].System != c.System {
		t.list = append(t.list, bisect.TracedSystem{System: c.System, Sums: map[string]merkle.Short{}})
	}
	t.list[len(t.list)-1].Sums[c.Scope] = merkle.Short(b)
}

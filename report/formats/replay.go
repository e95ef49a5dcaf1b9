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

// WriteHashes writes a trace of sync hashes: the checkpoint of tick T has that of
// state point T + 1. The trace is only there if play succeeds.
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
	r     *tracediff.Reader
	begun bool                 // at the first tick that was asked for
	ahead tracediff.Checkpoint // the next one, if there is one
	have  bool
	done  bool
	list  []bisect.TracedSystem
}

// OpenTraced opens a trace that has a checkpoint of the whole state after each
// system, and perhaps of its parts. Of a tick that was traced again the first time
// counts. What is before the first tick that is asked for is not read where the trace
// can be searched.
func OpenTraced(tree files.Tree, path string) (bisect.Traced, error) {
	r, err := tracediff.OpenReader(tree, path, tracediff.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return &traced{r: r}, nil
}

// Close closes the file.
func (t *traced) Close() error { return t.r.Close() }

// Tick implements bisect.Traced.
func (t *traced) Tick(tick uint64) ([]bisect.TracedSystem, error) {
	t.list = t.list[:0]
	if !t.begun {
		t.begun = true
		if err := t.r.SeekTick(tick); err != nil {
			t.done = true
			return t.list, err
		}
	}
	for {
		if !t.have {
			if err := t.next(); t.done {
				return t.list, err
			}
		}
		if t.ahead.Tick > tick {
			return t.list, nil
		}
		if t.ahead.Tick == tick {
			t.add(&t.ahead)
		}
		t.have = false
	}
}

// next reads up to the next checkpoint after a system. An error is reported once.
func (t *traced) next() error {
	for !t.done {
		rec, err := t.r.Next()
		if err != nil {
			t.done = true
			if err == io.EOF {
				return nil
			}
			return err
		}
		if c := rec.Checkpoint; c != nil && c.System != "" && len(c.Sums) > 0 {
			t.ahead, t.have = *c, true
			return nil
		}
	}
	return nil
}

func (t *traced) add(c *tracediff.Checkpoint) {
	b, ok := c.Sums[0].Bytes(nil)
	if !ok || len(b) != merkle.ShortSize {
		return
	}
	if n := len(t.list); n == 0 || t.list[n-1].System != c.System {
		t.list = append(t.list, bisect.TracedSystem{System: c.System, Sums: map[string]merkle.Short{}})
	}
	t.list[len(t.list)-1].Sums[c.Scope] = merkle.Short(b)
}

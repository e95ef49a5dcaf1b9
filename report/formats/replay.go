package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// Replayable is what one peer left that can be replayed.
type Replayable struct {
	Log *orderlog.Log
	// Snapshots are the peer's, nil if a log alone was given.
	Snapshots *snapshot.Set
	Trace     string   // path of the peer's trace, empty if there is none
	Lost      []string // what of the log could not be read
	Warnings  []string
}

// OpenReplay reads the order log at path, or the one in a folder, and finds the
// snapshots beside it. A log that is torn is replayed as far as it goes.
func OpenReplay(tree files.Tree, path string) (*Replayable, error) {
	stat, err := tree.Stat(path)
	if err != nil {
		return nil, err
	}
	r := &Replayable{}
	file := path
	if stat.IsDir() {
		file = filepath.Join(path, bisect.LogName)
		sets, err := snapshot.Find(tree, path, Snapshots())
		if err != nil {
			return nil, err
		}
		if len(sets) != 1 {
			return nil, fmt.Errorf("%s: the snapshots of %d peers, expected the folder of one", path, len(sets))
		}
		r.Snapshots = sets[0]
		file = logAmong(sets[0].Others, file)
		r.Trace = traceAmong(sets[0].Others)
	}
	log, err := readLog(tree, file)
	var bad *frame.Error
	switch {
	case log == nil:
		return nil, err
	case errors.As(err, &bad), errors.Is(err, io.ErrUnexpectedEOF):
		r.Lost = append(r.Lost, fmt.Sprintf("%v; its first %d ticks are replayed", err, len(log.Ticks)))
	case err != nil:
		return nil, err
	}
	r.Log = log
	if r.Snapshots != nil {
		r.Snapshots.Session(log.Header.Seed)
		r.Warnings = append(r.Warnings, r.Snapshots.Warnings...)
	}
	return r, nil
}

// readLog reads an order log of ours, which may be compressed.
func readLog(tree files.Tree, path string) (*orderlog.Log, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := packed.Unpack(f, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	return orderlog.ReadAll(bufio.NewReaderSize(content, 1<<16), path)
}

// logAmong returns the order log among the files of a peer, which may be
// compressed, and otherwise the one it should have.
func logAmong(files []string, usual string) string {
	for _, file := range files {
		if file != usual && filepath.Base(packed.PlainName(file)) == bisect.LogName && !slices.Contains(files, usual) {
			return file
		}
	}
	return usual
}

// traceAmong returns the trace among the files of a peer, empty if there is none.
func traceAmong(files []string) (trace string) {
	for _, file := range files {
		if filepath.Ext(packed.PlainName(file)) == ".trace" {
			trace = file
		}
	}
	return trace
}

// tracedAmong opens the trace among the files of a peer, if there is one.
func tracedAmong(tree files.Tree, files []string) (bisect.Traced, error) {
	if trace := traceAmong(files); trace != "" {
		return OpenTraced(tree, trace)
	}
	return nil, nil
}

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
	f     files.File
	r     *tracediff.Reader
	ahead tracediff.Checkpoint // the next one, if there is one
	have  bool
	done  bool
	list  []bisect.TracedSystem
}

// OpenTraced opens a trace that has a checkpoint of the whole state behind each
// system, and perhaps of its parts. Of a tick that was traced again the first time
// counts.
func OpenTraced(tree files.Tree, path string) (bisect.Traced, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := tracediff.NewReader(f, path, tracediff.ReadOptions{})
	if err != nil {
		f.Close()
		return nil, err
	}
	return &traced{f: f, r: r}, nil
}

// Close closes the file.
func (t *traced) Close() error {
	t.r.Close()
	return t.f.Close()
}

// Tick implements bisect.Traced.
func (t *traced) Tick(tick uint64) ([]bisect.TracedSystem, error) {
	t.list = t.list[:0]
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

// next reads up to the next checkpoint behind a system. An error is told once.
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

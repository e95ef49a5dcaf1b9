package golden

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// replayed is a log that was played, and the trace of it.
type replayed struct {
	*Played
	from  uint64
	start *merkle.Short
	trace Digest // of the trace's bytes
	path  string // of the trace, not compressed
}

// run plays a log and writes the trace to path, of the state points that every divides, and of the
// last one.
func run(ctx context.Context, play Play, job Job, every uint64, path string) (*replayed, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	r := &recorder{out: bufio.NewWriterSize(f, 64<<10), hash: sha256.New(), every: every}
	played, err := play(ctx, job, r)
	if err == nil {
		err = r.close()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	played.Build.bound()
	return &replayed{Played: played, from: r.from, start: r.start, trace: Digest(r.hash.Sum(nil)), path: path}, nil
}

// maxFact is how many characters of a fact that a simulator reports about itself are kept.
const maxFact = 200

// bound cuts the facts that a simulator reports about itself.
func (b *Build) bound() {
	cut := func(s string) string { return prose.Cut(strings.ToValidUTF8(s, "?"), maxFact) }
	b.Game, b.Build = cut(b.Game), cut(b.Build)
	facts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(b.Facts)) {
		if value := cut(b.Facts[name]); cut(name) != "" && value != "" && len(facts) < maxFacts {
			facts[cut(name)] = value
		}
	}
	b.Facts = nil
	if len(facts) > 0 {
		b.Facts = facts
	}
}

// recorder is the Sink that writes a trace and computes its digest.
type recorder struct {
	out   *bufio.Writer
	hash  hash.Hash
	every uint64

	from  uint64
	start *merkle.Short
	trace *tracediff.Writer // nil before Begin
	any   bool
	held  []*tracediff.Checkpoint // of the last tick, if that is left out so far
}

// Begin implements Sink.
func (r *recorder) Begin(h tracediff.Header, from uint64, start *merkle.Short) (err error) {
	r.from, r.start = from, start
	r.trace, err = tracediff.NewWriter(io.MultiWriter(r.out, r.hash), h)
	return err
}

// Checkpoint implements Sink.
func (r *recorder) Checkpoint(c *tracediff.Checkpoint) error {
	if len(r.held) > 0 && r.held[0].Tick != c.Tick {
		r.held = r.held[:0]
	}
	if (c.Tick+1)%r.every != 0 {
		r.held = append(r.held, c.Clone())
		return nil
	}
	r.any = true
	return r.trace.WriteCheckpoint(c)
}

// close writes what ends the trace.
func (r *recorder) close() error {
	if r.trace == nil || !r.any && len(r.held) == 0 {
		return errors.New("it gave no hash of any tick")
	}
	for _, c := range r.held {
		if err := r.trace.WriteCheckpoint(c); err != nil {
			return err
		}
	}
	return errors.Join(r.trace.Close(), r.out.Flush())
}

// compress writes a file compressed. The same bytes give the same bytes.
func compress(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	_, err = io.Copy(z, f)
	return errors.Join(err, z.Close())
}

// kept writes the golden trace of a replay to path, not compressed. An error means that it is not the manifest's trace.
func (f *Folder) kept(name string, m *Manifest, path string) error {
	in, err := os.Open(f.path(name, TraceName))
	if err != nil {
		return f.plain(err)
	}
	defer in.Close()
	content, packing, err := compression.Unpack(bufio.NewReaderSize(in, 64<<10), 0)
	if err != nil {
		return fmt.Errorf("%s: %w", TraceName, err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	if packing != "zstd" {
		return fmt.Errorf("%s: not compressed with zstd", TraceName)
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), content)
	if closed := out.Close(); err == nil && closed != nil {
		return closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", TraceName, err)
	}
	if got := Digest(h.Sum(nil)); got != m.Trace {
		return fmt.Errorf("%s has SHA-256 %.16s…, the manifest has %.16s…: it is damaged, or of another replay", TraceName, got, m.Trace)
	}
	return nil
}

// First is where a replay first differs from its golden trace.
type First struct {
	// Tick is the tick in which they diverge; nil if the state at the start differs, or if only every N-th hash is
	// known.
	Tick *uint64 `json:"tick"`
	// Start reports whether the states at the start differ, before any tick.
	Start bool `json:"start,omitempty"`
	// Equal is the last tick that is known to be equal, nil if there is none; Differs the first that differs.
	Equal   *uint64 `json:"last_equal"`
	Differs *uint64 `json:"first_differing"`
	// System is the system after which they differ, "" if it is not known.
	System string `json:"system,omitempty"`
	// Expected and Got are the hashes as hex, empty where that side has none after the system.
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// errNoDifference means that two traces are not the same bytes and have no hash that differs.
var errNoDifference = errors.New("no hash differs, but the hashes are of other ticks or systems")

// differ finds where the trace in a file first differs from the golden one. Starts are the hashes
// at the first point, from.
func differ(golden, got string, from uint64, starts [2]*merkle.Short) (*First, error) {
	if a, b := starts[0], starts[1]; a != nil && b != nil && *a != *b {
		return &First{Start: true, Expected: a.String(), Got: b.String()}, nil
	}
	list, err := traces(golden, got)
	if err != nil {
		return nil, err
	}
	r, err := tracediff.Compare(list, tracediff.Options{FirstOnly: true, Context: -1})
	if err != nil {
		return nil, err
	}
	if r.First == nil || r.Bracket == nil {
		return nil, errNoDifference
	}
	bad := r.Bracket.Bad.Number
	first := &First{Differs: &bad, Expected: sumOf(r.First, 0), Got: sumOf(r.First, 1)}
	if r.Bracket.HasGood {
		first.Equal = &r.Bracket.Good.Number
	}
	if r.Bracket.Exact() || !r.Bracket.HasGood && bad == from && starts[0] != nil && starts[1] != nil {
		first.Tick, first.System = &bad, r.First.System
	}
	return first, nil
}

// traces opens the only trace of each of two files.
func traces(paths ...string) (list []*tracediff.Trace, err error) {
	for i, path := range paths {
		one, err := tracediff.Open(files.Disk, path, tracediff.ReadOptions{})
		if err != nil {
			return nil, err
		}
		if len(one) != 1 {
			return nil, fmt.Errorf("%d traces, expected one", len(one))
		}
		one[0].Name = [...]string{"golden", "replay"}[i]
		list = append(list, one[0])
	}
	return list, nil
}

// sumOf returns the main checksum of one side of a difference as hex, "" if it has none.
func sumOf(d *tracediff.Difference, side int) string {
	for _, s := range d.Values[side].Sums {
		if s.Name != "" {
			continue
		}
		if b, ok := s.Bytes(nil); ok {
			return hex.EncodeToString(b)
		}
		return string(s.Value)
	}
	return ""
}

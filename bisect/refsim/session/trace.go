package session

import (
	"cmp"
	"errors"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// TraceLevel is how fine a recorded trace is.
type TraceLevel string

// The levels. All of them have a checkpoint of the whole state after each
// system; finer ones have one for each part before it.
const (
	TraceNone      TraceLevel = "none"
	TraceSystem    TraceLevel = "system"
	TraceArchetype TraceLevel = "archetype" // scope is the archetype's label, "RNG" for the RNG
	TraceColumn    TraceLevel = "column"    // scope is also archetype/Component.field
)

// TraceName is the name of the trace in a peer's folder.
const TraceName = "checkpoints.trace"

// tracer writes one peer's checkpoints.
type tracer struct {
	*tracediff.Writer
	level TraceLevel
}

func (w *writer) newTracer(path string, h orderlog.Header) (*tracer, error) {
	f, err := w.create(path)
	if err != nil {
		return nil, err
	}
	trace, err := tracediff.NewWriter(f, tracediff.Header{
		Seed: h.Seed, HasSeed: true, Peer: h.Peer, Build: h.Build, RateNum: h.TickRate.Num, RateDen: h.TickRate.Den,
	})
	if err == nil {
		w.closers = append(w.closers, f.Sync, trace.Close)
	}
	return &tracer{trace, w.trace}, err
}

// system writes the checkpoints after one system, the finest first, so that the first one that differs is the most
// precise.
func (t *tracer) system(tick uint64, system string, sim *refsim.Sim) error {
	leaves := sim.Leaves()
	var err error
	if t.level == TraceColumn {
		sim.Columns(func(archetype, component, field string, digest merkle.Hash, rows int) {
			scope := archetype + "/" + field
			if component != "" {
				scope = archetype + "/" + component + "." + field
			}
			err = errors.Join(err, t.checkpoint(tick, system, scope, digest, rows, true))
		})
	}
	if t.level != TraceSystem {
		for _, leaf := range leaves {
			label := cmp.Or(leaf.Label, snapshot.RNG)
			err = errors.Join(err, t.checkpoint(tick, system, label, leaf.Hash, 0, false))
		}
	}
	return errors.Join(err, t.checkpoint(tick, system, "", merkle.Root(leaves), 0, false))
}

func (t *tracer) checkpoint(tick uint64, system, scope string, hash merkle.Hash, count int, counted bool) error {
	short := hash.Short()
	return t.WriteCheckpoint(&tracediff.Checkpoint{
		Tick: tick, System: system, Scope: scope,
		Sums: []tracediff.Sum{tracediff.BytesSum("", short[:])}, Count: uint64(count), HasCount: counted,
	})
}

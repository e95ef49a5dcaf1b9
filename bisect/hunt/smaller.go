package hunt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// locate finds out in which system a failure departs, where the simulators can be stepped so.
func (h *Hunter) locate(ctx context.Context, f *Failure, log *orderlog.Log) {
	drills := f.Mode == bisect.Against || f.Mode == bisect.Dual || f.Mode == bisect.Serialize
	if f.Point == nil || *f.Point == log.Header.FirstPoint || !drills || h.Systems == nil {
		return
	}
	opts, tries := h.options(f, *f.Point), 1
	opts.Context, opts.Drill, opts.DrillFrom = ctx, true, *f.Point-1
	if f.Mode == bisect.Dual { // the next time it departs elsewhere
		opts.DrillFrom, tries = 0, unsteadyRuns
	}
	for range tries {
		t, err := bisect.Try(log, h.target.Sim, opts)
		if err == nil && t.First != nil && t.First.System != "" {
			means := f.Means
			f.departs(t)
			f.Means = means
			return
		}
	}
}

// test returns what decides whether a smaller session fails in the same way.
func (h *Hunter) test(f *Failure) minimize.Test {
	switch {
	case f.Broke != "":
		return &breaks{h, f}
	case f.Mode == Checksum:
		return &sums{h}
	}
	return &minimize.Live{Sim: h.target.Sim, Mode: f.Mode, Against: h.target.Against, Depth: f.Depth, Predict: f.Predict, Unsteady: f.Mode == bisect.Dual}
}

// breaks is a test of whether the simulator breaks off.
type breaks struct {
	h *Hunter
	f *Failure
}

// Name implements minimize.Test.
func (b *breaks) Name() string {
	return fmt.Sprintf("%s, %s, %s", b.h.target.Sim.Name, b.f.Mode, b.f.Signature)
}

// Run implements minimize.Test.
func (b *breaks) Run(ctx context.Context, c *minimize.Candidate, _ *snapshot.World) (minimize.Outcome, error) {
	f := *b.f
	opts := b.h.options(&f, c.Until())
	if opts.Context = ctx; f.Mode == Play {
		opts.Mode = bisect.Plain
	}
	t, err := bisect.Try(c.Log(), b.h.target.Sim, opts)
	if ctx.Err() != nil {
		return minimize.Outcome{}, ctx.Err()
	}
	out := minimize.Outcome{Verdict: minimize.InSync, Replays: 1}
	if err == nil {
		out.Ticks = t.Ticks
		return out, nil
	}
	f.broke(err)
	out.Verdict, out.Signature, out.Why = minimize.Diverges, f.Signature, f.Why
	return out, nil
}

// sums is a test of whether the sync hash matches the state at every point.
type sums struct{ h *Hunter }

// Name implements minimize.Test.
func (s *sums) Name() string { return fmt.Sprintf("%s, %s", s.h.target.Sim.Name, Checksum) }

// Run implements minimize.Test.
func (s *sums) Run(ctx context.Context, c *minimize.Candidate, _ *snapshot.World) (out minimize.Outcome, err error) {
	log := c.Log()
	orders := make(map[uint64][]orderlog.Order, len(log.Ticks))
	for i := range log.Ticks {
		orders[log.Ticks[i].Number] = log.Ticks[i].Orders
	}
	out = minimize.Outcome{Verdict: minimize.InSync, Replays: 1}
	unknown := func(err error) (minimize.Outcome, error) {
		out.Verdict, out.Why = minimize.Unknown, err.Error()
		return out, nil
	}
	sim, err := s.h.target.Sim.Start(&log.Header)
	if err != nil {
		return unknown(err)
	}
	defer func() { _ = bisect.Close(sim) }()
	saver, ok := bisect.As[bisect.Saver](sim, bisect.CanState)
	if !ok {
		return unknown(bisect.ErrUnsupported)
	}
	for {
		if err := ctx.Err(); err != nil {
			return minimize.Outcome{}, err
		}
		w, err := saver.World()
		if err != nil {
			return unknown(err)
		}
		same, err := summed(w, sim)
		if err != nil {
			return unknown(err)
		}
		if point := sim.Point(); !same {
			out.Verdict, out.Signature, out.Point = minimize.Diverges, checksumSignature, &point
			return out, nil
		} else if point >= c.Until() {
			return out, nil
		}
		if err := sim.Step(orders[sim.Point()]); err != nil {
			return unknown(err)
		}
		out.Ticks++
	}
}

// unsteadyRuns is how often each candidate is tested of a simulator that does not agree with itself.
const unsteadyRuns = 4

// Smaller is the smallest session found of a failure.
type Smaller struct {
	// Orders and Ticks count the smallest session, GivenOrders and GivenTicks the session that failed, up to where it
	// did.
	Orders      int    `json:"orders"`
	Ticks       uint64 `json:"ticks"`
	GivenOrders int    `json:"given_orders"`
	GivenTicks  uint64 `json:"given_ticks"`
	Replays     int    `json:"replays"`
	// Minimal is set if no further order could be left out; otherwise Why explains why not.
	Minimal bool   `json:"minimal"`
	Why     string `json:"why,omitempty"`
}

// smaller minimises a failure, and writes the session to dir unless that is empty.
func (h *Hunter) smaller(ctx context.Context, f *Failure, log *orderlog.Log, dir string, opts minimize.Options) (*Smaller, error) {
	end := log.Header.FirstPoint
	if n := len(log.Ticks); n > 0 {
		end = log.Ticks[n-1].Number + 1
	}
	if f.Point != nil && f.Mode != Checksum && f.Mode != bisect.Dual {
		end = min(end, *f.Point) // what comes after it had no part in it
	}
	log = upTo(log, end)
	in, err := minimize.NewInput(log, nil)
	if err != nil {
		return nil, err
	}
	out := &Smaller{Orders: in.Orders(), GivenOrders: in.Orders(), Ticks: end, GivenTicks: end}
	file := minimize.File{Name: bisect.LogName, Write: writeLog}
	whole := func(why string) (*Smaller, error) {
		if out.Why = why; dir == "" {
			return out, nil
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
		return out, writeTo(filepath.Join(dir, file.Name), log)
	}
	if f.Broke == Silent {
		return whole("each try would take as long as the simulator may be silent")
	}
	if f.Mode == bisect.Dual {
		opts.Runs = unsteadyRuns
	}
	var r *minimize.Result
	if dir == "" {
		r, err = minimize.Run(ctx, in, h.test(f), opts)
	} else {
		r, err = minimize.RunTo(ctx, dir, in, h.test(f), file, opts)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, minimize.ErrSound) || errors.Is(err, minimize.ErrFlaky):
		return whole("it failed once, and not when it was played again")
	case err != nil:
		return nil, err
	}
	if dir != "" && r.Stopped == minimize.Bounded {
		if err := os.Remove(filepath.Join(dir, minimize.OutcomesName)); err != nil {
			return nil, err
		}
	}
	out.Orders, out.Ticks, out.Replays, out.Minimal = len(r.Best.Orders()), r.Best.Until(), r.Replays, r.Stopped == minimize.Finished
	if !out.Minimal {
		out.Why = "it took more replays than are allowed"
	}
	return out, nil
}

// upTo returns a log up to a state point.
func upTo(log *orderlog.Log, end uint64) *orderlog.Log {
	out := *log
	for len(out.Ticks) > 0 && out.Ticks[len(out.Ticks)-1].Number >= end {
		out.Ticks = out.Ticks[:len(out.Ticks)-1]
	}
	out.Epochs = []orderlog.Epoch{{Ticks: out.Ticks}}
	return &out
}

// writeTo writes a log to a file, in folders that are made.
func writeTo(path string, log *orderlog.Log) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(writeLog(w, log), w.Flush(), f.Sync(), f.Close())
}

// writeLog writes a log in the format order-log.bin.
func writeLog(to io.Writer, log *orderlog.Log) error {
	w, err := orderlog.NewWriter(to, log.Header, orderlog.WriterOptions{})
	if err != nil {
		return err
	}
	for i := range log.Ticks {
		t := log.Ticks[i]
		t.InputHash = orderlog.InputHash(log.Header.Kinds, t.Orders)
		if err := w.WriteTick(&t); err != nil {
			return err
		}
	}
	return w.Close()
}

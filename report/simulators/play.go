package simulators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// Play returns what plays order logs in a simulator for golden replays.
func Play(sim *bisect.Sim) golden.Play {
	p := &gamePlayer{sim: sim}
	return p.play
}

// gamePlayer plays logs in a simulator, perhaps several at once.
type gamePlayer struct {
	sim *bisect.Sim

	mu    sync.Mutex
	asked bool
	build golden.Build
}

func (p *gamePlayer) play(ctx context.Context, job golden.Job, out golden.Sink) (*golden.Played, error) {
	log, lost, err := bundle.ReadOrders(job.Tree, job.Log)
	if err != nil {
		return nil, err
	}
	h := &log.Header
	begun := false
	opts := bisect.TrialOptions{Mode: bisect.Plain, Until: job.Until, Context: ctx, Progress: job.Progress}
	if !job.Recorded {
		opts.Expect = map[uint64]merkle.Short{}
	}
	checkpoint := func(tick uint64, system string, hash merkle.Short) error {
		return out.Checkpoint(&tracediff.Checkpoint{Tick: tick, System: system, Sums: []tracediff.Sum{tracediff.BytesSum("", hash[:])}})
	}
	opts.Observe = func(point uint64, hash merkle.Short) error {
		if begun {
			return checkpoint(point-1, "", hash)
		}
		begun = true
		return out.Begin(tracediff.Header{Seed: h.Seed, HasSeed: true, Build: h.Build, RateNum: h.TickRate.Num, RateDen: h.TickRate.Den}, point, &hash)
	}
	if job.Systems {
		opts.ObserveSystem = checkpoint
	}
	t, err := bisect.Try(log, p.sim, opts)
	if err != nil {
		return nil, unnamed{err, p.sim.Name}
	}
	played := &golden.Played{To: t.To, Lost: append(lost, t.Lost...), Build: p.about(h)}
	if t.Departed() {
		played.Recorded = fmt.Sprintf("at state point %d it has hash %s, the log's own peer recorded %s", t.First.Point, t.First.Got, t.First.Expected)
		if t.Unsteady {
			played.Recorded = fmt.Sprintf("the simulator does not agree with itself at state point %d", t.First.Point)
		}
	}
	return played, nil
}

// unnamed is an error of a simulator without the command that starts it, which is another on each machine.
type unnamed struct {
	error
	name string
}

func (u unnamed) Error() string { return strings.ReplaceAll(u.error.Error(), u.name, "the simulator") }
func (u unnamed) Unwrap() error { return u.error }

// about returns the simulator's own description of its build. It is asked once, in a separate session.
func (p *gamePlayer) about(h *orderlog.Header) golden.Build {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.asked {
		p.asked = true
		if s, err := p.sim.Start(h); err == nil {
			p.build, err = ask(s)
			if err != nil {
				p.build.Facts = nil
			}
		}
	}
	return p.build
}

// told are the facts of a build that golden results have, of those that are known of machines.
var told = slices.Concat([]string{"build", "version", "engine_version", "engine"}, bundle.MachineFacts)

// ask asks a simulator what it is, and ends it.
func ask(s bisect.Simulator) (b golden.Build, err error) {
	defer func() { err = errors.Join(err, bisect.Close(s)) }()
	if i, ok := s.(bisect.Identified); ok {
		b.Game, b.Build = i.Identity()
	}
	saver, ok := bisect.As[bisect.Saver](s, bisect.CanState)
	if !ok {
		return b, nil
	}
	w, err := saver.World()
	if err != nil {
		return b, err
	}
	for _, name := range told {
		if value := w.Meta[name]; value != "" {
			if b.Facts == nil {
				b.Facts = map[string]string{}
			}
			b.Facts[name] = value
		}
	}
	if b.Build == "" {
		b.Build = b.Facts["build"]
	}
	delete(b.Facts, "build")
	return b, nil
}

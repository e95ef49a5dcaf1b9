package flow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// lead is how many ticks before the one in question are recorded too. The builds agree in them, which shows how the
// branches of one build correspond to the branches of the other.
const lead = 8

// run is a recording of a tick in a new instance of a build.
type run struct {
	lead []*Recording // of the ticks before, the latest last
	tick *Recording

	files []*os.File
}

// part is a system of a tick.
type part struct {
	system string
	until  uint64       // the branches of thread 0 up to its end
	hash   merkle.Short // of the state after it
}

// recorder records ticks of one build.
type recorder struct {
	log  *orderlog.Log
	sim  *bisect.Sim
	tick uint64
	opts bisect.TrialOptions
	dir  string
	made int // files
}

// errUnrecorded is the error of a build that cannot record its branches.
var errUnrecorded = errors.New("does not record its branches: docs/code.md shows how a build does")

// reach plays an instance to the beginning of a tick.
func (r *recorder) reach(tick uint64) (*bisect.Spot, bisect.Brancher, error) {
	spot, err := bisect.Reach(r.log, r.sim, tick, r.opts)
	if err != nil {
		return nil, nil, err
	}
	b, ok := bisect.As[bisect.Brancher](spot.Simulator, bisect.CanBranches)
	if !ok {
		return nil, nil, errors.Join(fmt.Errorf("%s %w", r.sim.Name, errUnrecorded), spot.Close())
	}
	return spot, b, nil
}

// record records the tick in a new instance, with the stack at branch number stop of thread 0, and before it up to n
// ticks.
func (r *recorder) record(n, stop uint64) (out *run, err error) {
	first := r.tick - min(n, r.tick)
	if w := r.opts.From; w != nil {
		first = min(max(first, w.Point.Tick), r.tick)
	}
	spot, b, err := r.reach(first)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, spot.Close()) }()
	out = &run{}
	defer func() {
		if err != nil {
			out.close()
		}
	}()
	for spot.Point() < r.tick {
		one, err := r.play(out, spot, b, math.MaxUint64)
		if err != nil {
			return nil, err
		}
		out.lead = append(out.lead, one)
	}
	if out.tick, err = r.play(out, spot, b, stop); err != nil {
		return nil, err
	}
	return out, nil
}

// play plays the current tick and records it.
func (r *recorder) play(out *run, spot *bisect.Spot, b bisect.Brancher, stop uint64) (*Recording, error) {
	r.made++
	path := filepath.Join(r.dir, fmt.Sprintf("branches-%d", r.made))
	if _, err := b.Branches(bisect.BranchesFile, path, stop); err != nil {
		return nil, err
	}
	if err := spot.Play(); err != nil {
		return nil, err
	}
	if _, err := b.Branches(bisect.BranchesOff, "", math.MaxUint64); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s wrote no recording: %w", r.sim.Name, err)
	}
	out.files = append(out.files, f)
	return Open(f)
}

// systems steps a tick system by system and notes how many branches each takes, with the branches of the hash after it. It
// returns none if the build cannot do so.
func (r *recorder) systems(tick uint64) (list []part, err error) {
	spot, b, err := r.reach(tick)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, spot.Close()) }()
	stepper, ok := bisect.As[bisect.Stepper](spot.Simulator, bisect.CanSystems)
	if !ok {
		return nil, nil
	}
	if _, err := b.Branches(bisect.BranchesHash, "", math.MaxUint64); err != nil {
		return nil, err
	}
	if err := stepper.Begin(spot.Orders); err != nil {
		return nil, err
	}
	for more := true; more; {
		var p part
		if p.system, more, err = stepper.Next(); err != nil {
			return nil, err
		}
		p.hash = spot.SyncHash()
		flows, err := b.Branches(bisect.BranchesHash, "", math.MaxUint64)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			p.until = list[len(list)-1].until
		}
		if len(flows) > 0 && flows[0].Thread == 0 {
			p.until += flows[0].Count
		}
		if list = append(list, p); len(list) > maxSystems {
			return nil, fmt.Errorf("%s: tick %d has more than %d systems", r.sim.Name, tick, maxSystems)
		}
	}
	_, err = b.Branches(bisect.BranchesOff, "", math.MaxUint64)
	return list, err
}

const maxSystems = 10_000

// firstTick returns the first tick in which the branches of two builds differ, at most the one in question.
func firstTick(recorders [2]*recorder) (tick uint64, err error) {
	first := recorders[0].log.Header.FirstPoint
	if w := recorders[0].opts.From; w != nil {
		first = w.Point.Tick
	}
	var spots [2]*bisect.Spot
	var branchers [2]bisect.Brancher
	defer func() {
		for _, s := range spots {
			if s != nil {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	for i, r := range recorders {
		if spots[i], branchers[i], err = r.reach(first); err != nil {
			return r.tick, nil // the log begins later, and its first part is not what leads to the tick
		}
		if _, err := branchers[i].Branches(bisect.BranchesHash, "", math.MaxUint64); err != nil {
			return 0, err
		}
	}
	for tick = first; tick < recorders[0].tick; tick++ {
		var flows [2][]bisect.Flow
		for i := range spots {
			if err := spots[i].Play(); err != nil {
				return 0, err
			}
			if flows[i], err = branchers[i].Branches(bisect.BranchesHash, "", math.MaxUint64); err != nil {
				return 0, err
			}
		}
		if !slices.Equal(flows[0], flows[1]) {
			return tick, nil
		}
	}
	return tick, nil
}

// close closes the files of a run.
func (r *run) close() {
	for _, f := range r.files {
		_ = f.Close()
	}
}

// interrupted returns why a search is to end early.
func interrupted(ctx context.Context) error {
	if ctx == nil {
		return nil
	}
	return ctx.Err()
}

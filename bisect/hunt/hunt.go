package hunt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/orderlog"
)

// Finding is what failures of one fingerprint have in common, and the smallest session that
// is known of them.
type Finding struct {
	Fingerprint string `json:"fingerprint"`
	// Seed is the seed of the first session that failed so. Sessions counts such sessions.
	Seed     uint64 `json:"seed"`
	Sessions uint64 `json:"sessions"`

	// Failure and Smaller belong to the session that the smallest one was made of.
	Failure
	Smaller Smaller `json:"smallest"`
	// Tries counts the sessions that were minimised for it.
	Tries int `json:"tries"`
}

// ModeCount counts the sessions that were played in a mode, and those that failed in it.
type ModeCount struct {
	Mode     bisect.TrialMode `json:"mode"`
	Sessions uint64           `json:"sessions"`
	Failed   uint64           `json:"failed"`
}

// Options sets how a hunt goes.
type Options struct {
	// Sessions is how many there are to be, counted from the first one; 0 for no end.
	Sessions uint64
	// Over, if not nil, is asked before each session: no more begin once it returns true.
	Over func() bool
	// Jobs is how many sessions are played at once, as many as there are processors if it is
	// 0. Nothing depends on it.
	Jobs int
	// MaxReplays bounds how many replays a failure is minimised with, DefaultMaxReplays if it is 0.
	MaxReplays int
	// Keep, if not nil, writes more into the folder of a finding: it is called before the
	// folder gets its name.
	Keep func(dir string, f *Finding) error
	// Progress, if not nil, is called with the sessions that are done and all.
	Progress func(done, total int64)
}

// DefaultMaxReplays is how many replays a failure is minimised with at most by default.
const DefaultMaxReplays = 400

// maxTries is how often a fingerprint is minimised.
const maxTries = 3

// saveEvery is how many sessions lie between two times that the state is written.
const saveEvery = 16

// ID identifies what is hunted in: hunts with the same ID have the same sessions.
func (h *Hunter) ID() string {
	sum := sha256.New()
	put := func(list ...string) {
		for _, s := range list {
			fmt.Fprintf(sum, "%d %s\n", len(s), s)
		}
	}
	put(fmt.Sprint(Version), h.target.Sim.Name, fmt.Sprint(h.target.MaxTicks))
	if h.target.Against != nil {
		put(h.target.Against.Name)
	}
	for _, m := range h.Modes {
		put(string(m))
	}
	for _, key := range slices.Sorted(maps.Keys(h.target.Params)) {
		put(key)
		put(h.target.Params[key]...)
	}
	for i := range h.base {
		b := &h.base[i]
		put(string(orderlog.AppendHeader(nil, &b.header)))
		for tick := range b.end {
			sum.Write(orderlog.AppendOrders(nil, b.orders[tick]))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Begin returns the state of a hunt that has not begun.
func (h *Hunter) Begin(first uint64) *State {
	s := &State{Schema: stateSchema, Hunt: h.ID(), First: first}
	for _, m := range slices.Concat([]bisect.TrialMode{Play}, h.Modes) {
		s.Modes = append(s.Modes, ModeCount{Mode: m})
	}
	s.Coverage = newCoverage(h.Kinds())
	return s
}

// Result is what a hunt came to.
type Result struct {
	*State
	Hunter *Hunter
	Store  *Store // nil if nothing is kept
	// Interrupted is set if the hunt was ended before its time.
	Interrupted bool
}

// Diverged reports whether anything was found, also by those that the store goes on from.
func (r *Result) Diverged() bool { return len(r.Findings) > 0 }

// Incomplete reports whether the hunt was interrupted, or has played no session.
func (r *Result) Incomplete() bool { return r.Interrupted || r.Done == 0 }

// turn is a session that is next.
type turn struct {
	session *Session
	err     error
	done    chan struct{}
}

// Run hunts on from a state, of a store if there is one. If ctx ends, Run returns what was found until then. The next
// Run plays the sessions again that had not been counted.
func (h *Hunter) Run(ctx context.Context, state *State, store *Store, opts Options) (*Result, error) {
	if opts.Jobs == 0 {
		opts.Jobs = runtime.GOMAXPROCS(0)
	}
	out := &Result{State: state, Hunter: h, Store: store}
	ahead, stop := context.WithCancel(ctx)
	defer stop()
	turns := h.ahead(ahead, state, opts)
	defer func() {
		stop()
		for t := range turns { // they hold simulators
			<-t.done
		}
	}()
	unsaved := 0
	var err error
	for t := range turns {
		if <-t.done; t.err != nil {
			err = t.err
			break
		}
		var kept bool
		if kept, err = h.count(ctx, out, t.session, opts); err != nil {
			break
		}
		if opts.Progress != nil {
			opts.Progress(int64(state.Done), int64(cmp.Or(opts.Sessions, state.Done+1)))
		}
		if unsaved++; store != nil && (kept || unsaved >= saveEvery) {
			unsaved = 0
			if err = store.save(); err != nil {
				return nil, err
			}
		}
	}
	if err != nil && h.ended(ctx) == nil {
		return nil, err
	}
	out.Interrupted = h.ended(ctx) != nil
	if store != nil {
		if err := store.save(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ahead plays sessions, several at once, and returns them in the order of their seeds.
func (h *Hunter) ahead(ctx context.Context, state *State, opts Options) <-chan *turn {
	const waiting = 4 // sessions that wait for their turn, for each that is played
	turns := make(chan *turn, waiting*opts.Jobs)
	free := make(chan struct{}, opts.Jobs)
	next := state.Done
	go func() {
		defer close(turns)
		for ; opts.Sessions == 0 || next < opts.Sessions; next++ {
			free <- struct{}{}
			if ctx.Err() != nil || opts.Over != nil && opts.Over() {
				return
			}
			t, seed := &turn{done: make(chan struct{})}, state.First+next
			go func() {
				defer close(t.done)
				defer func() { <-free }()
				if t.session, t.err = h.Session(ctx, seed); t.err == nil && len(t.session.Failures) == 0 {
					t.session.Log = nil // not needed any more
				}
			}()
			select {
			case turns <- t:
			case <-ctx.Done():
				<-t.done
				return
			}
		}
	}()
	return turns
}

// count takes a session into the state, and reports whether that has another finding, or a
// smaller one. After an error the state is as it was.
func (h *Hunter) count(ctx context.Context, out *Result, s *Session, opts Options) (kept bool, err error) {
	state := out.State
	var then []func()
	var seen []string
	for _, failure := range s.Failures {
		id := failure.Fingerprint()
		if slices.Contains(seen, id) {
			continue // two modes show the same
		}
		seen = append(seen, id)
		i := slices.IndexFunc(state.Findings, func(f *Finding) bool { return f.Fingerprint == id })
		f := Finding{Fingerprint: id, Seed: s.Seed}
		if i >= 0 {
			f = *state.Findings[i]
		}
		f.Sessions++
		if i < 0 || failure.Point != nil && *failure.Point < f.Smaller.Ticks && f.Tries < maxTries {
			f.Tries++
			smaller, err := h.keep(ctx, out.Store, &f, failure, s.Log, opts)
			if err != nil {
				return false, err
			}
			kept = kept || smaller
		}
		then = append(then, func() {
			if i < 0 {
				state.Findings = append(state.Findings, &f)
			} else {
				state.Findings[i] = &f
			}
		})
	}
	for _, do := range then {
		do()
	}
	state.Done++
	s.Coverage.Ticks = s.Ticks
	state.Coverage.add(&s.Coverage)
	for i := range state.Modes {
		m := &state.Modes[i]
		if slices.Contains(s.Played, m.Mode) {
			m.Sessions++
		}
		if slices.ContainsFunc(s.Failures, func(f *Failure) bool { return f.Mode == m.Mode }) {
			m.Failed++
		}
	}
	return kept, nil
}

// keep minimises a failure, and keeps the result if it is smaller than the finding's session.
func (h *Hunter) keep(ctx context.Context, store *Store, f *Finding, failure *Failure, log *orderlog.Log, opts Options) (kept bool, err error) {
	search := minimize.Options{Jobs: opts.Jobs, MaxReplays: cmp.Or(opts.MaxReplays, DefaultMaxReplays)}
	dir, begun := "", ""
	if store != nil {
		dir = store.Folder(f)
		begun = dir + ".new"
		if err := os.RemoveAll(begun); err != nil { // what a process left that was killed
			return false, err
		}
	}
	smaller, err := h.smaller(ctx, failure, log, begun, search)
	if err != nil {
		return false, err
	}
	had := &f.Smaller
	if f.Tries > 1 && (smaller.Ticks > had.Ticks || smaller.Ticks == had.Ticks && smaller.Orders >= had.Orders) {
		return false, os.RemoveAll(begun)
	}
	f.Failure, f.Smaller = *failure, *smaller
	if store == nil {
		return true, nil
	}
	if opts.Keep != nil {
		if err := opts.Keep(begun, f); err != nil {
			return false, err
		}
	}
	return true, errors.Join(os.RemoveAll(dir), os.Rename(begun, dir))
}

// Kept returns the log of a finding's smallest session, in its folder. If the session has several sides, it is the log
// of the first.
func (f *Finding) Kept(dir string) string {
	side := filepath.Join(dir, minimize.SideA, bisect.LogName)
	if _, err := os.Stat(side); err == nil {
		return side
	}
	return filepath.Join(dir, bisect.LogName)
}

// Name describes a finding in a line.
func (f *Finding) Name() string {
	parts := []string{string(f.Mode)}
	if f.System != "" {
		parts = append(parts, f.System)
	}
	return strings.Join(append(parts, f.Signature.String()), ", ")
}

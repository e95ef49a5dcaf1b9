package golden

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/parallel"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Result is how a replay ended.
type Result string

// Results.
const (
	Same      Result = "same"       // every hash is the golden one
	Diverged  Result = "diverged"   // one is not
	NotPlayed Result = "not-played" // it could not be played to its end
	Unusable  Result = "unusable"   // its kept files are damaged or missing
)

// Outcome is the result of a check for one replay.
type Outcome struct {
	Replay string  `json:"replay"`
	Golden *Digest `json:"golden"` // of the golden trace; nil if the manifest is unusable
	Result Result  `json:"result"`
	Ticks  uint64  `json:"ticks"`           // of the golden trace
	First  *First  `json:"first,omitempty"` // of one that diverged
	// Again is, for a replay that diverged, how a second replay on the same machine ended: "same" as the first, or
	// "other"; "" if it is not known.
	Again string `json:"again,omitempty"`
	// Why is the reason why it was not played or is unusable.
	Why string `json:"why,omitempty"`
}

// Values of Outcome.Again.
const (
	AgainSame  = "same"
	AgainOther = "other"
)

// Run is a check on one platform with one build.
type Run struct {
	Platform string `json:"platform"`
	Build
	// Interrupted reports whether it was ended before all replays were played.
	Interrupted bool      `json:"interrupted,omitempty"`
	Replays     []Outcome `json:"replays"` // by name
}

// Interrupted is why a replay was not played in a check that was ended early.
const Interrupted = "interrupted"

// Options configures the check of replays.
type Options struct {
	Play Play
	// Platform and Build name the run; an empty Platform is this process's, an empty Build is the one that the
	// simulator reports.
	Platform, Build string
	// Only are patterns of path.Match; without any all replays are checked.
	Only []string
	// Workers is how many replays are played side by side, 0 for as many as there are processors.
	Workers int
	// Progress, if not nil, is called with the number of finished ticks and of all ticks.
	Progress func(done, total int64)
}

// ThisPlatform is the platform of this process: "linux/amd64".
func ThisPlatform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// CheckPatterns reports the first pattern that path.Match does not accept.
func CheckPatterns(only []string) error {
	for _, pattern := range only {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%q: expected a pattern such as skirmish-*", pattern)
		}
	}
	return nil
}

// Chosen returns the entries that match one of the patterns, or all without patterns.
func (f *Folder) Chosen(only []string) (list []Entry) {
	for _, e := range f.Entries {
		fits := len(only) == 0
		for _, pattern := range only {
			if ok, _ := path.Match(pattern, e.Name); ok {
				fits = true
			}
		}
		if fits {
			list = append(list, e)
		}
	}
	return list
}

// Check plays the replays of a folder and compares each with its golden trace. A problem with one replay does not stop
// the others. When ctx is done the replays that were not played are reported as such.
func (f *Folder) Check(ctx context.Context, opts Options) (*Run, error) {
	entries := f.Chosen(opts.Only)
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return nil, err
	}
	c := &check{Folder: f, ctx: ctx, play: opts.Play, dir: dir, progress: newProgress(opts.Progress)}
	for _, e := range entries {
		if e.Manifest != nil {
			c.progress.total += int64(min(e.Manifest.Ticks(), 1<<40))
		}
	}
	r := &Run{Platform: opts.Platform, Replays: make([]Outcome, len(entries))}
	if r.Platform == "" {
		r.Platform = ThisPlatform()
	}
	builds := make([]*Build, len(entries))
	parallel.Each(opts.Workers, len(entries), func(i int) {
		r.Replays[i], builds[i] = c.check(&entries[i], strconv.Itoa(i))
	})
	for i, b := range builds {
		r.Interrupted = r.Interrupted || r.Replays[i].Why == Interrupted
		if b != nil && r.Build.Game == "" && r.Build.Build == "" && r.Facts == nil {
			r.Build = *b
		}
	}
	if opts.Build != "" {
		r.Build.Build = opts.Build
	}
	return r, remove()
}

// check is a Check on its way.
type check struct {
	*Folder
	ctx      context.Context
	play     Play
	dir      string // for traces
	progress *progress
}

// unusable is an error in the kept files, as opposed to an error of a replay.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// check plays one replay. The number is for names of temporary files.
func (c *check) check(e *Entry, number string) (Outcome, *Build) {
	o := Outcome{Replay: e.Name, Result: Same}
	if e.Err != nil {
		o.Result, o.Why = Unusable, c.plain(e.Err).Error()
		return o, nil
	}
	m := e.Manifest
	golden := m.Trace
	o.Golden, o.Ticks = &golden, m.Ticks()
	report, end := c.progress.part(int64(min(o.Ticks, 1<<40)))
	defer end()
	place := filepath.Join(c.dir, number)
	defer func() {
		for _, name := range []string{goldenFile, firstFile, secondFile} {
			os.Remove(place + name)
		}
	}()
	job := Job{Tree: files.Disk, Log: c.path(e.Name, m.Log), Systems: m.Systems, Progress: report}
	played, err := c.compare(e, job, place, &o)
	bad := unusable{}
	switch {
	case err == nil:
	case c.ctx.Err() != nil:
		o = Outcome{Replay: e.Name, Golden: &golden, Ticks: o.Ticks, Result: NotPlayed, Why: Interrupted}
	case errors.As(err, &bad):
		o.Result, o.Why = Unusable, c.plain(err).Error()
	default:
		o.Result, o.Why = NotPlayed, c.plain(err).Error()
	}
	if played == nil {
		return o, nil
	}
	return o, &played.Build
}

// Ends of the names of temporary traces.
const (
	goldenFile = ".golden"
	firstFile  = ".first"
	secondFile = ".second"
)

// compare plays a replay and finds out how it ended. The golden trace is read only if its digest differs from the
// replay's.
func (c *check) compare(e *Entry, job Job, place string, o *Outcome) (*Played, error) {
	m := e.Manifest
	if _, err := os.Stat(c.path(e.Name, TraceName)); err != nil {
		return nil, unusable{err}
	}
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	got, err := digestOf(job.Tree, job.Log)
	if err != nil {
		return nil, unusable{err}
	}
	if got != m.LogDigest {
		return nil, c.otherLog(job, m)
	}
	first, err := c.whole(job, m, place+firstFile)
	if err != nil {
		return nil, err
	}
	started := m.Start == nil || first.start == nil || *m.Start == *first.start
	if first.trace == m.Trace && started {
		return first.Played, nil
	}
	if err := c.kept(e.Name, m, place+goldenFile); err != nil {
		return first.Played, unusable{err}
	}
	o.First, err = differ(place+goldenFile, first.path, m.From, [2]*merkle.Short{m.Start, first.start})
	if err != nil {
		return first.Played, err
	}
	o.Result = Diverged
	c.again(job, m, first, place, o)
	return first.Played, nil
}

// whole plays a log, which has to reach the point at which the golden trace ends.
func (c *check) whole(job Job, m *Manifest, path string) (*replayed, error) {
	r, err := run(c.ctx, c.play, job, m.Every, path)
	switch {
	case err != nil:
		return nil, err
	case len(r.Lost) > 0:
		return nil, errors.New(r.Lost[0])
	case r.from != m.From || r.To != m.To && job.Until == nil:
		return nil, fmt.Errorf("it goes from state point %d to %d, the golden trace from %d to %d", r.from, r.To, m.From, m.To)
	}
	return r, nil
}

// otherLog reports why a log is not the one that was recorded: one that breaks off is not another log.
func (c *check) otherLog(job Job, m *Manifest) error {
	if r, err := run(c.ctx, c.play, job, m.Every, os.DevNull); err == nil && len(r.Lost) > 0 {
		return errors.New(r.Lost[0])
	}
	return unusable{fmt.Errorf("%s is not the log that was recorded: its SHA-256 is not the one in the manifest", m.Log)}
}

// again plays a log that diverged a second time, to the tick after which it differs: a replay that is not the same
// twice shows nothing about a platform.
func (c *check) again(job Job, m *Manifest, first *replayed, place string, o *Outcome) {
	until := m.From + 1
	if o.First.Differs != nil {
		until = *o.First.Differs + 1
	}
	job.Until, job.Progress = &until, nil
	second, err := c.whole(job, m, place+secondFile)
	if err != nil {
		return // it is not known
	}
	o.Again = AgainOther
	if _, err := differ(first.path, second.path, m.From, [2]*merkle.Short{first.start, second.start}); errors.Is(err, errNoDifference) {
		o.Again = AgainSame
	}
}

// progress adds up the ticks of replays that are played side by side.
type progress struct {
	report func(done, total int64)
	total  int64

	mu   sync.Mutex
	done int64
}

func newProgress(report func(done, total int64)) *progress { return &progress{report: report} }

// part returns a function that takes the progress of one replay of so many ticks, and a function that ends it.
func (p *progress) part(ticks int64) (report func(done, total int64), end func()) {
	if p.report == nil {
		return nil, func() {}
	}
	last := int64(0)
	set := func(now int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.done += now - last
		last = now
		p.report(p.done, p.total)
	}
	report = func(done, total int64) {
		if total > 0 {
			set(int64(float64(ticks) * min(float64(done)/float64(total), 1)))
		}
	}
	return report, func() { set(ticks) }
}

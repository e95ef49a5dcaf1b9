package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/survey"
)

// Isolated finds what [Opened] does, in separate processes that call [Serve].
type Isolated struct {
	Reader isolate.Reader
	// Asked is the request to a process. Limits of this process, and the evidence to read, are added.
	Asked isolate.Request
	// Stdin is read for the path -.
	Stdin io.Reader
	// Require refuses a system that cannot restrict a process. Missing receives what cannot be restricted, for the
	// first process. It may be nil.
	Require bool
	Missing func(what string)
	// Bars begins to show progress, and ends it; nil if no progress is shown.
	Bars func(what, unit string) (shown func(done, total int64), end func())
}

// Find starts a process and has it answer. That it died is a report.
func (x *Isolated) Find(ctx context.Context) (*Found, error) {
	p := &processes{Isolated: *x, ctx: ctx}
	p.Asked.Limits = limits.Given()
	if p.Asked.At != "" {
		p.Asked.Rules.Read = append(slices.Clone(p.Asked.Rules.Read), p.Asked.At)
	} else {
		p.Asked.Rules.Read = append(archive.OnDisk(p.Asked.Paths), p.Asked.Rules.Read...)
		page, err := survey.Path(files.Disk, p.Asked.Paths) // which may be in a folder above
		if err != nil {
			return nil, err
		}
		if page = cmp.Or(p.Asked.Game, page); page != "" {
			p.Asked.Rules.Read = append(p.Asked.Rules.Read, page)
		}
	}
	p.Asked.Rules.Limits = withUsual(p.Asked.Rules.Limits)
	if p.Asked.At == "" && slices.Contains(p.Asked.Paths, archive.Stdin) {
		if err := p.spool(); err != nil {
			return nil, err
		}
	}
	p.bound()
	f, err := p.find()
	if err != nil {
		p.Close()
		return nil, err
	}
	return f, nil
}

// withUsual returns limits of a process that reads. Limits that are 0 become the usual ones, large enough for the
// limits that were set for reading.
func withUsual(l sandbox.Limits) sandbox.Limits {
	usual := sandbox.Defaults()
	usual.Memory = max(usual.Memory, limits.Memory.Max()+1<<30)
	if wall, ok := limits.Deadline(); ok {
		usual.Wall = wall
	}
	return sandbox.Limits{
		Memory: cmp.Or(l.Memory, usual.Memory), Wall: cmp.Or(l.Wall, usual.Wall), CPU: l.CPU,
		Heap: l.Heap, Files: cmp.Or(l.Files, usual.Files), Written: cmp.Or(l.Written, usual.Written),
	}
}

// bound bounds a process by the size of what it reads, except where the caller has own limits, or a simulator may take
// any time and memory.
func (x *processes) bound() {
	if x.Asked.Sim != "" {
		return
	}
	paths := []string{x.Asked.At}
	if x.Asked.At == "" { // else Paths has the name of the bundle, which is no path
		paths = slices.DeleteFunc(slices.Clone(x.Asked.Paths), func(path string) bool { return path == archive.Stdin })
	}
	given := x.size + archive.SizeOnDisk(paths)
	l := &x.Asked.Rules.Limits
	l.Heap = cmp.Or(l.Heap, limits.Space(given))
	if budget, limited := limits.ProcessorTime(given); limited {
		l.CPU = cmp.Or(l.CPU, budget)
	}
}

// processes are those that were asked, one after the other.
type processes struct {
	Isolated
	ctx    context.Context
	asking *isolate.Asking      // the process that is asked; nil for none
	stdin  *files.TemporaryFile // what came on stdin, given to each process; nil without -
	size   int64

	used  time.Duration // processor time of the processes that died
	spent error         // how the last one died

	state  sandbox.State // of the first process
	usage  string        // of the process that is asked
	usages []string      // of those before
}

// spool keeps what comes on stdin, until the command is interrupted.
func (x *processes) spool() error {
	var err error
	if x.stdin, err = files.Temporary(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		size, err := io.Copy(x.stdin, x.Stdin)
		x.size = size
		done <- err
	}()
	select {
	case err = <-done:
	case <-x.ctx.Done():
		err = context.Cause(x.ctx)
	}
	if err != nil {
		err = fmt.Errorf("stdin: %w", errors.Join(err, x.stdin.Close()))
		x.stdin = nil
	}
	return err
}

// Close ends the process, and closes its input.
func (x *processes) Close() error {
	var err error
	if x.asking != nil {
		err = x.asking.Close()
	}
	if x.stdin != nil {
		err = errors.Join(err, x.stdin.Close())
	}
	return err
}

func (x *processes) find() (*Found, error) {
	f := &Found{Closer: x, Usage: x.read}
	if x.Asked.Names != "" && x.Asked.At != "" {
		f.Copy = x.copy
	}
	answer, err := x.start(x.Asked)
	if died := (*isolate.DiedError)(nil); errors.As(err, &died) && x.ctx.Err() == nil {
		f.Report, f.Died = document.NoReport(document.Inconclusive, x.name()+": "+died.Error()), died
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if f.Report = answer.Report; f.Report == nil {
		f.Matches, f.Named = answer.Matches, prose.OneLine(answer.Named)
		f.One = func(i int) (*document.Report, error) { return x.one(answer.Matches[i]) }
	}
	return f, nil
}

// one has the process report on one of several matches, or where it died another one.
func (x *processes) one(match document.MatchDocument) (*document.Report, error) {
	var answer *isolate.Answer
	var err error
	if x.asking != nil {
		answer, err = x.took(x.asking.Another(match.Number))
	} else {
		asked := x.Asked
		asked.Match, asked.OfSeveral = match.Number, true
		answer, err = x.start(asked)
	}
	if died := (*isolate.DiedError)(nil); errors.As(err, &died) {
		if x.Asked.Names != "" {
			// the process that knew the names has ended
			match = document.MatchDocument{Number: match.Number, Game: match.Game}
		}
		r := document.NoReport(document.Inconclusive, fmt.Sprintf("match %d of %s: %v", match.Number, x.name(), died))
		r.Session.Game, r.Match = match.Game, &match
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if x.Asked.Names == "" { // else the list was made before all names were known
		answer.Report.Match = &match // as in the list, whatever this process returned
	}
	return answer.Report, nil
}

// errGone reports that the process which knows the evidence has ended.
var errGone = errors.New("the process that read it has ended")

// copy has the process that has read write a copy.
func (x *processes) copy(_ context.Context, out io.Writer) ([]string, error) {
	if x.asking == nil {
		return nil, errGone
	}
	stat, err := os.Stat(x.Asked.At)
	if err != nil {
		return nil, err
	}
	most := limits.Free.Max() + limits.Ratio.Max()*stat.Size()
	left, err := x.asking.Copy(out, min(max(most, 0), limits.File.Max()))
	if err != nil && !errors.As(err, new(*isolate.CopyError)) {
		x.asking = nil
	}
	return left, err
}

// start has a process answer, and shows its progress if a progress display is wanted.
func (x *processes) start(q isolate.Request) (*isolate.Answer, error) {
	var stdin io.Reader
	if x.stdin != nil {
		stdin = io.NewSectionReader(x.stdin, 0, x.size)
	}
	reader := x.Reader
	reader.State = x.holds
	if x.Bars != nil && !q.OfSeveral {
		q.Progress = true
		var now string
		var bar func(done, total int64)
		end := func() {}
		defer func() { end() }()
		reader.Progress = func(what, unit string, done, total int64) {
			if bar == nil || what != now {
				end()
				now = what
				bar, end = x.Bars(what, unit)
			}
			bar(done, total)
		}
	}
	if limit := q.Rules.Limits.CPU; limit > 0 {
		if x.used >= limit {
			return nil, x.spent
		}
		q.Rules.Limits.CPU = limit - x.used // of all processes together
	}
	asking, answer, err := reader.Ask(x.ctx, &q, stdin)
	x.asking = asking
	return x.took(answer, err)
}

// took takes an answer of the process.
func (x *processes) took(a *isolate.Answer, err error) (*isolate.Answer, error) {
	if a != nil && a.Usage != "" {
		x.usage = prose.OneLine(a.Usage)
	}
	if died := (*isolate.DiedError)(nil); errors.As(err, &died) {
		x.used, x.spent = x.used+died.CPU, died
	}
	if err != nil { // the process is gone
		x.asking = nil
		if x.usage != "" {
			x.usages = append(x.usages, x.usage)
		}
		x.usage = ""
	}
	return a, err
}

// read describes the restrictions of the processes, and how much each of them read.
func (x *processes) read() string {
	lines := append([]string{"isolated: " + prose.OneLine(strings.Join(append(x.state.Holds, x.Asked.Rules.Limits.Wall.String()), ", "))}, x.usages...)
	if x.usage != "" {
		lines = append(lines, x.usage)
	}
	return strings.Join(lines, "\n")
}

// holds takes the restrictions of a process. It reports the missing ones of the first process, or refuses to go on
// without them.
func (x *processes) holds(s sandbox.State) error {
	if len(s.Missing) > 0 && x.Require {
		return fmt.Errorf("--isolate=require: here is missing: %s", prose.OneLine(strings.Join(s.Missing, "; ")))
	}
	if x.state.Holds == nil {
		x.state = s
		for _, missing := range s.Missing {
			if x.Missing != nil {
				x.Missing(missing)
			}
		}
	}
	if x.Reader.State != nil {
		return x.Reader.State(s)
	}
	return nil
}

// name names the evidence that a process read.
func (x *processes) name() string {
	return document.Safe(prose.Shorten(strings.Join(x.Asked.Paths, ", "), 200))
}

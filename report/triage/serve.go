package triage

import (
	"errors"
	"io"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/survey"
)

// Serve is the process that [Isolated] starts: it restricts itself, and answers as [Opened.Find] does, in a process
// that is trusted with nothing else. Interrupted is the error of a request that was interrupted. When Serve returns the
// process is to end.
func Serve(stdin io.Reader, stdout io.Writer, interrupted error, a *Answering) error {
	return isolate.Serve(stdin, stdout, interrupted, a.First, a.Other, a.Copy)
}

// Answering answers one request and those for other matches after it. The zero value replays nothing.
type Answering struct {
	// Builds returns the simulators that a request names; nil for none.
	Builds func(*isolate.Asked) (compare.Builds, error)
	// Names is [Names.New], nil for a process that replaces none.
	Names func(key string) (Scrubber, error)

	asked  *isolate.Asked
	names  Scrubber
	opened *Opened
}

// First answers the request that the process was started with.
func (w *Answering) First(a *isolate.Asked) *isolate.Answer {
	var set limits.Settings
	for _, text := range a.Limits {
		if err := set.Assign(text, "--limit"); err != nil {
			return w.failure(err)
		}
	}
	limits.Use(set)
	w.asked, w.names = a, kept{}
	if err := w.open(); err != nil {
		return w.failure(err)
	}
	if a.OfSeveral {
		return w.Other(a.Match)
	}
	var number *int
	if a.Match > 0 {
		number = &a.Match
	}
	f, err := w.opened.Find(number)
	if err != nil {
		return w.failure(err)
	}
	return &isolate.Answer{Report: f.Report, Matches: f.Matches, Named: f.Named, Usage: w.usage()}
}

// open opens what the request names.
func (w *Answering) open() error {
	a := w.asked
	var builds compare.Builds
	if w.Builds != nil {
		var err error
		if builds, err = w.Builds(a); err != nil {
			return err
		}
	}
	if a.Names != "" {
		if w.Names == nil {
			return errNames
		}
		names, err := w.Names(a.Names)
		if err != nil {
			return err
		}
		w.names = names
	}
	options := archive.Options{Memory: true, Count: a.Count, Known: formats.Pasted(), At: a.At}
	if builds.Sim == nil { // else the replays take long, and the findings before them are shown
		options.Context = a.Context
	}
	if a.At != "" {
		options.Name = a.Paths[0]
	} else {
		options.Stdin = a.Stdin
	}
	options.Progress = w.shown("reading the archive", "")
	if a.Game != "" {
		page, err := survey.Read(a.Game)
		if err != nil {
			return err
		}
		options.Description = page
	}
	tree, err := archive.Open(a.Paths, options)
	if err != nil {
		return err
	}
	if a.Progress != nil {
		builds.Progress = func(what string, done, total int64) { a.Progress(what, "ticks", done, total) }
	}
	if w.opened, err = open(a.Context, tree, a.Paths, builds, w.names); err != nil {
		return err
	}
	w.opened.Progress = w.shown("comparing", "")
	return nil
}

// shown returns the function that shows progress, nil if no progress is shown.
func (w *Answering) shown(what, unit string) func(done, total int64) {
	if w.asked.Progress == nil {
		return nil
	}
	return func(done, total int64) { w.asked.Progress(what, unit, done, total) }
}

// Other reports on one of several matches.
func (w *Answering) Other(match int) *isolate.Answer {
	x, err := w.opened.Matches.Get(match)
	if err != nil {
		return w.failure(err)
	}
	w.opened.Builds.Progress = nil
	return &isolate.Answer{Report: w.opened.one(x), Usage: w.usage()}
}

// Copy writes what was read without the names of players.
func (w *Answering) Copy(out io.Writer) (left []string, err error) {
	if w.opened == nil || w.asked.At == "" {
		return nil, errNames
	}
	return w.names.Copy(w.asked.Context, w.asked.At, out)
}

func (w *Answering) usage() string {
	if !w.asked.Count {
		return ""
	}
	return w.opened.Tree.Usage(w.asked.Paths).String()
}

// failure is an error as an answer.
func (w *Answering) failure(err error) *isolate.Answer {
	if w.asked != nil && w.asked.Names != "" {
		failed := failedFor(err, w.names)
		return &isolate.Answer{Failure: &isolate.Failure{Status: failed.status, Whole: failed.text, Lines: []string{failed.text}}}
	}
	list := []error{err}
	if unknown := (*bundle.UnknownError)(nil); errors.As(err, &unknown) {
		list = unknown.Files
	}
	f := &isolate.Failure{Status: document.StatusOfError(err), Whole: said(err)}
	f.Lines = lists.Map(list, said)
	return &isolate.Answer{Failure: f}
}

// said is an error in a line.
func said(err error) string { return prose.OneLine(prose.Plainly(err)) }

// Package triage makes triage reports of bundles: a bundle is a file, an archive or a folder on the disk,
// and each match in it has a report. [Reader] is for stores of many of them; [Opened] and [Isolated] are
// what the command triage finds by, in this process and by others.
package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/parallel"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/isolate"
)

// Reader triages bundles. The zero value reads in this process. It may be used by several goroutines at
// once.
type Reader struct {
	// Isolate starts a separate process for each bundle; nil reads in this one.
	Isolate *isolate.Reader
	// Require refuses a system that cannot restrict that process in everything.
	Require bool
	// Limits are the limits of that process. A limit of 0 becomes the default of triage --isolate.
	Limits sandbox.Limits
	// Names takes the names of players out of the reports; nil leaves them. What the bundle is called
	// stays.
	Names *Names
	// Died has Read return an error, a [*isolate.DiedError], if that process died before it reported anything. Else
	// that is a report.
	Died bool
}

// Read returns a report for each match of the evidence at path, in their order, at least one. Evidence that could not
// be read is a report of status error or inconclusive with the reason, as [document.NoReport] makes it. An error is
// returned only if nothing is known of the bundle because of this machine: it cannot be opened, ctx is done, no process
// can be started, or it cannot be restricted and Require is set.
//
// Name is what the bundle is called in reports, such as report.zip; of one that is empty, absolute or leads upwards
// only the last part counts. The path is in none of them. A saved report of triage, or an array of such reports, is
// returned as it is.
func (r *Reader) Read(ctx context.Context, path, name string) ([]*document.Report, error) {
	read, err := r.read(ctx, path, name, nil)
	if err != nil {
		return nil, err
	}
	return read.Reports, nil
}

// ReadCopy is Read, and writes the evidence to out without the names of players, if Names is set: a saved report as
// JSON, all else as a tar archive. Copied is set if it did. Left lists where in the copy names may be left, a line
// each, or why there is no copy; in that case, discard what was written to out.
func (r *Reader) ReadCopy(ctx context.Context, path, name string, out io.Writer) (list []*document.Report, copied bool, left []string, err error) {
	read, err := r.read(ctx, path, name, out)
	if err != nil {
		return nil, false, nil, err
	}
	return read.Reports, read.Copied, read.Left, nil
}

// result is what came of a bundle, as ReadCopy returns it.
type result struct {
	Reports []*document.Report
	Copied  bool
	Left    []string
}

// read is ReadCopy, without a copy if out is nil.
func (r *Reader) read(ctx context.Context, path, name string, out io.Writer) (*result, error) {
	name = called(name)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := canOpen(path); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	read := &result{}
	list, several, err := saved(path, name)
	switch failed := (*failedError)(nil); {
	case errors.As(err, &failed):
		read.Reports, read.Left, err = []*document.Report{failed.report()}, []string{uncopied + "it is a saved report that is damaged"}, nil
	case err != nil:
	case list == nil:
		err = r.matches(ctx, path, name, read, out)
	default:
		err = r.saved(list, several, read, out)
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause // what was found until then may lack anything
	}
	return read, err
}

// saved takes the names of players out of saved reports.
func (r *Reader) saved(list []*document.Report, several bool, read *result, out io.Writer) error {
	names, err := r.Names.scrubber()
	if err != nil {
		return err
	}
	names.Saved(list)
	read.Reports = list
	if out == nil {
		return nil
	}
	read.Copied = true
	if !several && len(list) == 1 {
		return document.WriteJSON(out, list[0])
	}
	return document.WriteJSON(out, list)
}

// called returns the name of a bundle in reports.
func called(name string) string {
	name = filepath.Clean(strings.Map(func(r rune) rune {
		if r == 0 || prose.Unseen(r) {
			return '_'
		}
		return r
	}, name))
	if !filepath.IsLocal(name) {
		name = filepath.Base(name)
	}
	if name == "." || name == ".." || name == string(filepath.Separator) || name == archive.Stdin {
		return "bundle"
	}
	return name
}

// canOpen returns why a path cannot be opened, without it.
func canOpen(path string) error {
	stat, err := os.Stat(path)
	if err == nil && !stat.Mode().IsRegular() && !stat.IsDir() {
		return errors.New("neither a file nor a folder")
	}
	if err == nil {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			return f.Close()
		}
	}
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// matches reports on each match of a bundle, and copies it to out if that is not nil.
func (r *Reader) matches(ctx context.Context, path, name string, read *result, out io.Writer) (err error) {
	defer func() {
		if v := recover(); v != nil {
			read.Reports, read.Copied, err = append(read.Reports, broken(name, v)), false, nil
			read.Left = []string{uncopied + "reading it ended in a mistake of desynctool"}
		}
	}()
	found, err := r.find(ctx, path, name)
	if failed := (*failedError)(nil); errors.As(err, &failed) {
		read.Reports, read.Left = []*document.Report{failed.report()}, []string{uncopied + "it cannot be read"}
		return nil
	}
	if err != nil {
		return err
	}
	defer found.Close()
	if found.Died != nil && r.Died {
		return found.Died
	}
	if found.Report != nil {
		read.Reports = []*document.Report{found.Report}
	}
	for i := range found.Matches {
		one, err := r.one(found, i, name)
		if err != nil {
			return err
		}
		if read.Reports = append(read.Reports, one); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if out == nil {
		return nil
	}
	if found.Copy == nil {
		read.Left = []string{uncopied + errNames.Error()}
		return nil
	}
	to := &written{w: out}
	left, err := found.Copy(ctx, to)
	switch {
	case err == nil:
		read.Copied, read.Left = true, left
	case to.err != nil: // which is not the bundle's fault
		return to.err
	default:
		read.Left = []string{uncopied + prose.OneLine(err.Error())}
	}
	return nil
}

// uncopied begins the reasons why there is no copy.
const uncopied = "the bundle is kept as it came: "

// written remembers that it could not be written.
type written struct {
	w   io.Writer
	err error
}

func (w *written) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// one reports on one of several matches.
func (r *Reader) one(found *Found, i int, name string) (one *document.Report, err error) {
	defer func() {
		if v := recover(); v != nil {
			one, err = broken(name, v), nil
			match := found.Matches[i]
			one.Session.Game, one.Match = match.Game, &match
		}
	}()
	return found.One(i)
}

// broken is the report of a bundle that this program cannot take.
func broken(name string, panicked any) *document.Report {
	if beside, is := panicked.(*parallel.Panic); is {
		panicked = beside.Value
	}
	why := document.Safe(prose.Shorten(prose.OneLine(fmt.Sprint(panicked)), 160))
	return document.NoReport(document.Failed, fmt.Sprintf("%s: reading it ended in a mistake of desynctool: panic: %s", name, why))
}

// failedError is why there is nothing to report on, because of the bundle.
type failedError struct {
	status document.Status
	text   string
}

func (e *failedError) Error() string { return e.text }

func (e *failedError) report() *document.Report {
	r := document.NoReport(e.status, e.text)
	r.EscapeBytes()
	return r
}

// failedFor explains why there is nothing to report on, without the names of players.
func failedFor(err error, names Scrubber) *failedError {
	r := document.NoReport(document.StatusOfError(err), said(err))
	names.Report(r)
	return &failedError{r.Status, r.Error}
}

// find looks into a bundle. What is wrong with it is a failedError.
func (r *Reader) find(ctx context.Context, path, name string) (*Found, error) {
	if r.Isolate == nil {
		names, err := r.Names.scrubber()
		if err != nil {
			return nil, err
		}
		f, err := findHere(ctx, path, name, names)
		if err != nil {
			return nil, failedFor(err, names)
		}
		if r.Names != nil {
			f.Copy = func(ctx context.Context, out io.Writer) ([]string, error) { return names.Copy(ctx, path, out) }
		}
		return f, nil
	}
	x := Isolated{
		Reader: *r.Isolate, Require: r.Require,
		Asked: isolate.Request{Paths: []string{name}, At: path, Rules: sandbox.Rules{Limits: r.Limits}},
	}
	if r.Names != nil {
		if _, err := r.Names.scrubber(); err != nil { // a key that cannot be used is not the bundle's fault
			return nil, err
		}
		x.Asked.Names = r.Names.Key
	}
	f, err := x.Find(ctx)
	if failed := (*isolate.Failure)(nil); errors.As(err, &failed) {
		err = &failedError{failed.Status, failed.Whole}
	}
	return f, err
}

func findHere(ctx context.Context, path, name string, names Scrubber) (*Found, error) {
	tree, err := archive.Open([]string{name}, archive.Options{Context: ctx, Known: formats.Pasted(), Name: name, At: path})
	if err != nil {
		return nil, err
	}
	opened, err := open(ctx, tree, []string{name}, compare.Builds{}, names)
	if err != nil {
		return nil, err
	}
	return opened.Find(nil)
}

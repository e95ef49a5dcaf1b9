package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
	"github.com/desynctool/desynctool/report/triage"
)

// howToSee returns the step with which a command shows one of several matches.
func howToSee(command string, paths []string, number int) document.Step {
	if slices.Contains(paths, archive.Stdin) {
		return document.Step{About: command + " of the same text with --match N shows one in full"}
	}
	args := []string{command}
	args = append(args, lists.Map(paths, document.PathArgument)...)
	return document.Step{Command: append(args, "--match", strconv.Itoa(number)), About: "shows one in full, by its number"}
}

// triageMatches reports on several matches, one after another, with a line each.
func (e *env) triageMatches(found *triage.Found, paths []string, flags triageFlags, format *cli.Outputs) error {
	if flags.start != "" {
		return fmt.Errorf("--write-up describes one match; --match N selects one: %s", found.Named)
	}
	whole := flags.open // a format needs more than a line for each
	for _, out := range format.Wanted() {
		whole = whole || out.Format != "text"
	}
	var saved spool
	if whole {
		if err := saved.open(); err != nil {
			return err
		}
		defer saved.Close()
	}
	progress, end := e.Progress("matches", "")
	defer end()
	status, number := document.InSync, 0 // for the first of the worst matches
	var short []*document.Report
	for i, match := range found.Matches {
		r, err := found.One(i)
		if e.Context.Err() != nil { // the result of this match may be incomplete
			e.Warn([]string{fmt.Sprintf("interrupted: %d of %d matches were looked at", i, len(found.Matches))})
			break
		}
		if err != nil {
			return err
		}
		if err := flags.seen(r); err != nil {
			return err
		}
		e.triageFailed(r)
		one, err := r.ExitFor(flags.failOn)
		if err != nil {
			return err
		}
		if worst := document.Worst(status, one); worst != status || i == 0 {
			status, number = worst, match.Number
		}
		if flags.redact {
			r = r.Redact()
			r.Match = &document.MatchDocument{Number: match.Number}
		}
		short = append(short, r.Line())
		if whole {
			if err := saved.add(r); err != nil {
				return err
			}
		}
		if progress != nil {
			progress(int64(i+1), int64(len(found.Matches)))
		}
	}
	end()
	next := howToSee("triage", paths, number)
	if err := e.RenderMatches(format, eachOf(short), saved.each, &next, flags.all); err != nil {
		return errors.Join(err, cli.Ended(status))
	}
	if flags.open {
		if err := e.openPage(format, func(w io.Writer) error { return page.WriteMatches(w, saved.each) }); err != nil {
			return err
		}
	}
	return cli.Ended(status)
}

// eachOf iterates over reports in memory.
func eachOf(list []*document.Report) document.Each {
	return func(yield func(*document.Report, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// spool keeps reports in a temporary file, so that only one of many is in memory.
type spool struct {
	file  *files.TemporaryFile
	sizes []int64
}

func (s *spool) open() (err error) {
	s.file, err = files.Temporary()
	return err
}

func (s *spool) add(r *document.Report) error {
	var b bytes.Buffer
	if err := document.WriteJSON(&b, r); err != nil {
		return err
	}
	s.sizes = append(s.sizes, int64(b.Len()))
	_, err := s.file.Write(b.Bytes())
	return err
}

// each reads the reports.
func (s *spool) each(yield func(*document.Report, error) bool) {
	at := int64(0)
	for _, size := range s.sizes {
		r, err := document.ReadReport(bufio.NewReader(io.NewSectionReader(s.file, at, size)), s.file.Name())
		if !yield(r, err) || err != nil {
			return
		}
		at += size
	}
}

func (s *spool) Close() error { return s.file.Close() }

// checkMatches lists several matches, and the evidence that each lacks.
func (e *env) checkMatches(matches *bundle.Matches, paths []string, format *cli.Outputs) error {
	progress, end := e.Progress("matches", "")
	defer end()
	var list []document.CheckedMatch
	for i, x := range matches.List {
		s, err := x.Open()
		var c *document.Checkup
		if err == nil {
			c, err = bundle.Examine(s, nil)
		}
		if err != nil {
			list = append(list, document.CheckedMatch{MatchDocument: x.Document(), Status: document.StatusOfError(err), Error: prose.OneLine(err.Error())})
		} else {
			list = append(list, document.NewCheckedMatch(x.Document(), c))
		}
		if progress != nil {
			progress(int64(i+1), int64(len(matches.List)))
		}
	}
	end()
	return e.Finish(format, document.DoctorOfMatches(list, howToSee("doctor", paths, 1)), false)
}

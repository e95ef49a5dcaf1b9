package triage

import (
	"context"
	"io"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/isolate"
)

// Found is what triage finds before anything is rendered: the report of one match, or several matches.
type Found struct {
	Report *document.Report // nil of several

	Matches []document.MatchDocument
	Named   string                                // all of them, in a line
	One     func(i int) (*document.Report, error) // reports on Matches[i]

	// Copy writes the evidence without the names of players. It returns where in the copy names may be left, a line
	// each. It may be called once, after all reports were made. Nil where names are not replaced.
	Copy func(ctx context.Context, out io.Writer) (left []string, err error)

	// Died is how the reading process ended, and Report reports on it; nil if it did not end early.
	Died *isolate.DiedError

	Usage func() string // how much was read
	io.Closer
}

// Opened is evidence that was opened, and the builds to replay it with.
type Opened struct {
	Paths   []string
	Tree    *archive.Tree
	Matches *bundle.Matches
	Builds  compare.Builds

	// Context ends with the command, or with its time.
	Context context.Context
	// Wall returns which limit of time has ended the context, "" for none; what was found until then is a report. Nil
	// for none.
	Wall func() string
	// Progress is how far comparing is, nil to hear nothing.
	Progress func(done, total int64)

	names Scrubber
}

// Open looks at the files below some paths in a tree. Without an error Found closes the tree, else Open has.
func Open(ctx context.Context, tree *archive.Tree, paths []string, builds compare.Builds) (*Opened, error) {
	return open(ctx, tree, paths, builds, kept{})
}

func open(ctx context.Context, tree *archive.Tree, paths []string, builds compare.Builds, names Scrubber) (*Opened, error) {
	matches, err := names.Open(tree, paths)
	if err != nil {
		err = tree.Explain(err)
		tree.Close()
		return nil, err
	}
	return &Opened{Paths: paths, Tree: tree, Matches: matches, Builds: builds, Context: ctx, names: names}, nil
}

// Find reports on the only match, or on the one that number names, or lists several if it is nil. After
// an error the tree is closed.
func (o *Opened) Find(number *int) (*Found, error) {
	f := &Found{Closer: o.Tree, Usage: func() string { return o.Tree.Usage(o.Paths).String() }}
	list := o.Matches.List
	if len(list) > 1 && number == nil {
		o.Builds.Progress = nil
		f.Named = o.Matches.String()
		for _, x := range list {
			f.Matches = append(f.Matches, x.Document())
		}
		f.One = func(i int) (*document.Report, error) { return o.one(list[i]), nil }
		return f, nil
	}
	x, err := list[0], error(nil)
	if number != nil {
		x, err = o.Matches.Get(*number)
	}
	if err == nil {
		if f.Report, err = o.report(x); err == nil {
			o.names.Report(f.Report)
		}
	}
	if err != nil {
		o.Tree.Close()
		return nil, err
	}
	return f, nil
}

// report reports on the only match, or on the match that the user named.
func (o *Opened) report(x *bundle.Match) (*document.Report, error) {
	s, err := x.Open()
	if err != nil {
		return nil, o.Tree.Explain(err)
	}
	r, err := compare.Triage(s, o.Builds, o.Progress)
	wall := ""
	if o.Wall != nil {
		wall = o.Wall()
	}
	if over := o.Tree.Interrupted(); over != nil && (wall == "" || err != nil) {
		return nil, over
	}
	if err != nil {
		return nil, o.Tree.Explain(err)
	}
	r.Warnings = append(r.Warnings, x.Doubts...)
	switch {
	case wall != "":
		r.Warnings = append(r.Warnings, wall+"; this is what was found until then")
	case o.Context.Err() != nil:
		r.Warnings = append(r.Warnings, "interrupted: this is what was found until then")
	}
	r.EscapeBytes()
	return r, nil
}

// one reports on one of several matches. That there is nothing to report on is a report.
func (o *Opened) one(x *bundle.Match) *document.Report {
	of := x.Document()
	s, err := x.Open()
	var r *document.Report
	if err == nil {
		r, err = compare.Triage(s, o.Builds, nil)
	}
	if err != nil {
		r = document.NoReport(document.StatusOfError(err), prose.OneLine(err.Error()))
		r.Session.Game = x.Game
	}
	r.Match = &of
	r.EscapeBytes()
	o.names.Report(r)
	return r
}

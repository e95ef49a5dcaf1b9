package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// reportFormat is a format of reports.
type reportFormat struct {
	name     string
	one      func(w io.Writer, r *document.Report) error
	many     func(w io.Writer, each document.Each) error // nil if the format shows one match
	programs bool                                        // programs read it, also that a command has no result
}

// reportFormats are the formats of reports, except for text, which is the default and the only one with colours.
var reportFormats = []reportFormat{
	{"json", func(w io.Writer, r *document.Report) error { return document.WriteJSON(w, r) }, document.MatchesJSON, true},
	{"html", page.Write, page.WriteMatches, false},
	{"markdown", func(w io.Writer, r *document.Report) error { return r.Markdown(w) }, document.MatchesMarkdown, false},
	{"comment", func(w io.Writer, r *document.Report) error { return r.Comment(w) }, nil, false},
	{"junit", ci.JUnit, ci.JUnitOfMatches, true},
	{"sarif", func(w io.Writer, r *document.Report) error { return ci.SARIF(w, r, ThisBuild().Version) },
		func(w io.Writer, each document.Each) error { return ci.SARIFOfMatches(w, each, ThisBuild().Version) }, true},
	{"github", ci.GitHub, ci.GitHubOfMatches, false},
}

// formatOf returns a format of reports by its name, one without functions for any other name.
func formatOf(name string) reportFormat {
	if i := slices.IndexFunc(reportFormats, func(f reportFormat) bool { return f.name == name }); i >= 0 {
		return reportFormats[i]
	}
	return reportFormat{}
}

// AddReportFormats adds the flag --format to a command that makes or reads a Report.
func AddReportFormats(cmd *cobra.Command) *Outputs {
	names := []string{"text"}
	names = append(names, lists.Map(reportFormats, func(f reportFormat) string { return f.name })...)
	return AddFormats(cmd, names...)
}

// RenderReport writes a report in every requested format.
func (e *Env) RenderReport(o *Outputs, r *document.Report, all bool) error {
	return e.RenderSummed(o, r.Markdown, func(w io.Writer, format string, style document.Style) error {
		if format == "text" {
			return r.Text(w, style, all)
		}
		return formatOf(format).one(w, r)
	})
}

// RenderMatches writes several reports in every requested format. short provides enough of each for text.
func (e *Env) RenderMatches(o *Outputs, short, saved document.Each, next *document.Step, all bool) error {
	summary := func(w io.Writer) error { return document.MatchesMarkdown(w, saved) }
	return e.RenderSummed(o, summary, func(w io.Writer, format string, style document.Style) error {
		if format == "text" {
			return document.MatchesText(w, style, short, next, all)
		}
		many := formatOf(format).many
		if many == nil {
			return fmt.Errorf("--format %s shows one match, and these are several", format)
		}
		return many(w, saved)
	})
}

// RenderSummed writes a result in every requested format. If one of them is github, it also writes GitHub's job summary
// once.
func (e *Env) RenderSummed(o *Outputs, summary func(w io.Writer) error, write func(w io.Writer, format string, s document.Style) error) error {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	return o.Each(func(out Output) error {
		err := e.RenderTo(out, func(w io.Writer, style document.Style) error { return write(w, out.Format, style) })
		if err != nil || out.Format != "github" || path == "" {
			return err
		}
		once := path
		path = ""
		return ci.JobSummary(once, summary)
	})
}

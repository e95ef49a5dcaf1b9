package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/page"
)

// addReportFormats adds the flag --format to a command that makes or reads a Report.
func addReportFormats(cmd *cobra.Command) *outputs {
	return addFormats(cmd, "text", "json", "html", "markdown", "comment", "junit", "sarif", "github")
}

// renderReport writes a report in every format asked for, and GitHub's summary of a job once
// if one of them is github.
func (e *env) renderReport(o *outputs, r *report.Report, all bool) error {
	summarized := false
	return o.each(func(out output) error {
		err := e.renderTo(out, func(w io.Writer, style report.Style) error {
			switch out.format {
			case "text":
				return r.Text(w, style, all)
			case "html":
				return page.Write(w, r)
			case "json":
				return report.WriteJSON(w, r)
			case "markdown":
				return r.Markdown(w)
			case "comment":
				return r.Comment(w)
			case "junit":
				return ci.JUnit(w, r)
			case "sarif":
				return ci.SARIF(w, r, thisBuild().Version)
			case "github":
				return ci.GitHub(w, r)
			}
			return fmt.Errorf("no format %q", out.format)
		})
		if err != nil {
			return err
		}
		summary := os.Getenv("GITHUB_STEP_SUMMARY")
		if out.format != "github" || summary == "" || summarized {
			return nil
		}
		summarized = true
		return ci.JobSummary(summary, r)
	})
}

package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// AddReportFormats adds the flag --format to a command that makes or reads a Report.
func AddReportFormats(cmd *cobra.Command) *Outputs {
	return AddFormats(cmd, "text", "json", "html", "markdown", "comment", "junit", "sarif", "github")
}

// RenderReport writes a report in every requested format. If one of them is github, it also writes GitHub's job summary
// once.
func (e *Env) RenderReport(o *Outputs, r *document.Report, all bool) error {
	summarized := false
	return o.Each(func(out Output) error {
		err := e.RenderTo(out, func(w io.Writer, style document.Style) error {
			switch out.Format {
			case "text":
				return r.Text(w, style, all)
			case "html":
				return page.Write(w, r)
			case "json":
				return document.WriteJSON(w, r)
			case "markdown":
				return r.Markdown(w)
			case "comment":
				return r.Comment(w)
			case "junit":
				return ci.JUnit(w, r)
			case "sarif":
				return ci.SARIF(w, r, ThisBuild().Version)
			case "github":
				return ci.GitHub(w, r)
			}
			return fmt.Errorf("no format %q", out.Format)
		})
		if err != nil {
			return err
		}
		summary := os.Getenv("GITHUB_STEP_SUMMARY")
		if out.Format != "github" || summary == "" || summarized {
			return nil
		}
		summarized = true
		return ci.JobSummary(summary, r)
	})
}

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/document"
)

// TestReportFormats renders a saved report in every format, to stdout and to files.
func TestReportFormats(t *testing.T) {
	saved, err := os.ReadFile(filepath.Join("..", "..", "..", "report", "document", "testdata", "triage.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := document.ReadReport(bytes.NewReader(saved), "triage.json")
	if err != nil {
		t.Fatal(err)
	}
	begins := map[string]string{
		"json": "{\n  \"schema\": \"desynctool.triage/1\"", "markdown": "## desynctool: diverged in tick 1234, in `Combat`\n",
		"comment": "**desynctool: diverged in tick 1234, in `Combat`** `refsim refsim 1`\n",
		"junit":   "<?xml version=", "sarif": "{\n  \"$schema\": ", "github": "::error title=desynctool",
		"text": "DIVERGED  host and client diverged in tick 1234", "html": "<!DOCTYPE html>\n",
	}
	dir := t.TempDir()
	summary := filepath.Join(dir, "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	render := func(formats ...string) string {
		t.Helper()
		var stdout bytes.Buffer
		e := &Env{Stdout: &stdout, Stderr: &stdout, Color: "never"}
		cmd := &cobra.Command{}
		o := AddReportFormats(cmd)
		for _, format := range formats {
			if err := cmd.Flags().Set("format", format); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.RenderReport(o, r, false); err != nil {
			t.Fatal(err)
		}
		return stdout.String()
	}
	var toFiles []string
	for _, format := range AddReportFormats(&cobra.Command{}).Allowed {
		os.Remove(summary)
		begin := begins[format]
		if got := render(format); begin == "" || !strings.HasPrefix(got, begin) {
			t.Errorf("--format %s begins with %.60q", format, got)
		}
		if _, err := os.Stat(summary); (err == nil) != (format == "github") {
			t.Errorf("--format %s and the job summary: %v", format, err)
		}
		toFiles = append(toFiles, format+"="+filepath.Join(dir, format))
	}
	os.Remove(summary)
	if got := render(append(toFiles, "github")...); !strings.HasPrefix(got, begins["github"]) {
		t.Errorf("formats to files, and on stdout %.60q", got)
	}
	for format, begin := range begins {
		if got, err := os.ReadFile(filepath.Join(dir, format)); err != nil || !bytes.HasPrefix(got, []byte(begin)) {
			t.Errorf("the file of %s begins with %.60q (%v)", format, got, err)
		}
	}
	// Asked for twice, it is written once.
	got, err := os.ReadFile(summary)
	if err != nil || bytes.Count(got, []byte("## desynctool: ")) != 1 {
		t.Errorf("the job summary: %v\n%s", err, got)
	}
}

// TestFormatFlag tries what cannot be asked for.
func TestFormatFlag(t *testing.T) {
	for _, c := range []struct {
		add     func(*cobra.Command) *Outputs
		formats []string
		want    string
	}{
		{AddFormat, []string{"junit"}, "expected text or json"},
		{AddReportFormats, []string{"xml"}, "expected text, json, html, "},
		{AddReportFormats, []string{"junit="}, "expected a file after ="},
		{AddReportFormats, []string{"junit", "sarif"}, "two formats for stdout"},
		{AddReportFormats, []string{"junit=a", "sarif=b", "json=a"}, "two formats for a"},
	} {
		cmd := &cobra.Command{}
		c.add(cmd)
		var err error
		for _, format := range c.formats {
			if err == nil {
				err = cmd.Flags().Set("format", format)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("--format %v: %v, want %q", c.formats, err, c.want)
		}
	}
}

// TestOtherResults: a command that reads reports of several kinds writes only triage reports in the formats of CI
// systems.
func TestOtherResults(t *testing.T) {
	var stdout bytes.Buffer
	e := &Env{Stdout: &stdout, Stderr: &stdout, Color: "never"}
	file := filepath.Join(t.TempDir(), "junit.xml")
	o := &Outputs{Allowed: []string{"text", "json", "junit"}, List: []Output{{"junit", file}}}
	text := func(w io.Writer, _ document.Style) error { _, err := io.WriteString(w, "text"); return err }
	if err := e.Render(o, text, func() any { return "json" }); err == nil || !strings.Contains(err.Error(), "text or json") {
		t.Errorf("junit of another result: %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file of it is there")
	}
}

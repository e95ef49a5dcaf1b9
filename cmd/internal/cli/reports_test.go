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
		"junit":   "<?xml version=", "sarif": "{\n  \"$schema\": ", "github": "::error file=",
		"text": "DIVERGED  host and client diverged in tick 1234", "html": "<!DOCTYPE html>\n",
	}
	place := func(line int) document.CodePlace {
		return document.CodePlace{Function: "hit<T>", File: "sim/combat.c", Line: line, Text: "if (a < b) { // <&>"}
	}
	tick, at, next := uint64(1234), place(212), [2][]document.CodePlace{{place(215)}, {place(219)}}
	r.Code = &document.Code{
		Kind: document.CodeBranch, Tick: &tick, Equal: 17, By: "branches", CodePlace: at,
		Branches: &document.Branches{Kind: document.CodeBranch, Tick: &tick, Builds: []string{"exec:./sound", "exec:./own"}, Equal: 17, By: "branches", At: []document.CodePlace{at}, Next: &next},
	}
	named := map[string][]string{ // the line, and where the format shows them what each build does
		"json": {`"line": 212`, `"line": 219`}, "text": {"hit<T> (combat.c:212)", "exec:./own goes on at hit<T> (combat.c:219)   if (a < b) {"},
		"html": {"hit&lt;T&gt; (combat.c:212)", "hit&lt;T&gt; (combat.c:219)", "if (a &lt; b) {"}, "markdown": {"(combat.c:212)", "<code>hit&#60;T&#62; (combat.c&#58;219)</code>", "<code>if (a &#60; b)"},
		"sarif": {`"uri": "sim/combat.c"`, `"startLine": 212`}, "github": {"::error file=sim/combat.c,line=212,title=desynctool"},
		"junit": {`<property name="code" value="hit&lt;T&gt; (combat.c:212)"`}, "comment": {"**desynctool"},
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
		for _, want := range named[format] {
			if got := render(format); !strings.Contains(got, want) {
				t.Errorf("--format %s has no %q:\n%.3000s", format, want, got)
			}
		}
		if named[format] == nil {
			t.Errorf("--format %s is not tried with a line of code", format)
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

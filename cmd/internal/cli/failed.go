package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
)

// failed reports that a command has no result to programs that read its output. It writes every requested format that
// can express this, to stdout or its file. The reason for people is on stderr.
func (e *Env) failed(cmd *cobra.Command, why string, status document.Status) error {
	flag := cmd.Flags().Lookup("format")
	if flag == nil || e.Rendered {
		return nil
	}
	o, ok := flag.Value.(*Outputs)
	if !ok {
		return nil
	}
	o.rest(e.args)
	for _, out := range o.List {
		write := e.failure(e.schemaOf(cmd), out.Format, why, status)
		if write == nil {
			continue
		}
		if err := e.RenderTo(out, func(w io.Writer, _ document.Style) error { return write(w) }); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf returns the name of the documents of a command.
func (e *Env) schemaOf(cmd *cobra.Command) string {
	if e.program.Schema != nil {
		return e.program.Schema(cmd)
	}
	return cmd.Name()
}

// failure returns a function that writes in a format that a command has no result. It returns nil for formats that are
// not for programs.
func (e *Env) failure(command, format, why string, status document.Status) func(w io.Writer) error {
	r := document.NoReport(status, why)
	switch {
	case format == "github":
		return func(w io.Writer) error { return ci.GitHubFailed(w, why) }
	case format == "junit" && command == "golden":
		return func(w io.Writer) error { return ci.JUnitOfGoldenFailed(w, why) }
	case format == "junit" && strings.HasPrefix(command, "desk-"):
		return func(w io.Writer) error {
			return ci.JUnitOfSuite(w, ci.Suite{Name: strings.ReplaceAll(command, "-", " "), Class: "desynctool.desk",
				Cases: []ci.Case{{Name: "desk", Status: document.Failed, Message: "no result", Text: []string{why}}}})
		}
	case format == "json" && command != "triage":
		return func(w io.Writer) error {
			return document.WriteJSON(w, document.Failure{Head: document.NewHead(command, status, nil), Error: why})
		}
	case formatOf(format).programs:
		return func(w io.Writer) error { return formatOf(format).one(w, r) }
	}
	return nil
}

// rest collects the formats on a command line that were not parsed because an argument before them is wrong.
func (o *Outputs) rest(args []string) {
	for i, arg := range args {
		value, found := strings.CutPrefix(arg, "--format=")
		if arg == "--format" && i+1 < len(args) {
			value, found = args[i+1], true
		}
		if arg == "--" {
			return
		}
		if found {
			_ = o.Set(value) // a value that was already parsed is refused as a duplicate
		}
	}
}

package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/ci"
)

// failed writes, for what reads results by machine, that a command has none: in every format
// asked for that can say so, to stdout or its file. A person reads why on stderr.
func (e *env) failed(cmd *cobra.Command, why string, status report.Status) error {
	flag := cmd.Flags().Lookup("format")
	if flag == nil || e.rendered {
		return nil
	}
	o, ok := flag.Value.(*outputs)
	if !ok {
		return nil
	}
	o.rest(e.args)
	for _, out := range o.list {
		write := e.failure(schemaOf(cmd), out.format, why, status)
		if write == nil {
			continue
		}
		if err := e.renderTo(out, func(w io.Writer, _ report.Style) error { return write(w) }); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf returns what the documents of a command are called.
func schemaOf(cmd *cobra.Command) string {
	switch {
	case cmd.CommandPath() == "desynctool desk show":
		return "desk-group"
	case cmd.Parent().Name() == "desk":
		return "desk-" + cmd.Name()
	case cmd.CommandPath() == "desynctool desk show report":
		return "triage"
	case cmd.Parent().Name() != "golden":
		return cmd.Name()
	}
	if cmd.Name() == "record" {
		return "golden-record"
	}
	return "golden"
}

// failure returns what writes in a format that a command has no result, nil if the format is not
// for machines.
func (e *env) failure(command, format, why string, status report.Status) func(w io.Writer) error {
	r := report.NoReport(status, why)
	switch {
	case format == "github":
		return func(w io.Writer) error { return ci.GitHubFailed(w, why) }
	case format == "junit" && command == "golden":
		return func(w io.Writer) error { return ci.JUnitOfGoldenFailed(w, why) }
	case format == "junit" && strings.HasPrefix(command, "desk-"):
		return func(w io.Writer) error {
			return ci.JUnitOfSuite(w, ci.Suite{Name: strings.ReplaceAll(command, "-", " "), Class: "desynctool.desk",
				Cases: []ci.Case{{Name: "desk", Status: report.Failed, Message: "no result", Text: []string{why}}}})
		}
	case format == "junit":
		return func(w io.Writer) error { return ci.JUnit(w, r) }
	case format == "sarif":
		return func(w io.Writer) error { return ci.SARIF(w, r, thisBuild().Version) }
	case format == "json" && command == "triage":
		return func(w io.Writer) error { return report.WriteJSON(w, r) }
	case format == "json":
		return func(w io.Writer) error {
			return report.WriteJSON(w, report.Failure{Head: report.NewHead(command, status, nil), Error: why})
		}
	}
	return nil
}

// rest takes from a command line the formats that were not read because an argument before them
// is wrong.
func (o *outputs) rest(args []string) {
	for i, arg := range args {
		value, found := strings.CutPrefix(arg, "--format=")
		if arg == "--format" && i+1 < len(args) {
			value, found = args[i+1], true
		}
		if arg == "--" {
			return
		}
		if found {
			_ = o.Set(value) // what was read already is refused as a second one
		}
	}
}

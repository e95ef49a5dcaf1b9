// Command desynctool-desk stores many reports of desyncs, and groups the reports of each bug. "desynctool desk" starts
// it. See docs/desk.md, or run it with --help.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/report/triage"
)

func main() {
	if readsBundles() {
		serveBundles(os.Stdin, os.Stdout)
		return
	}
	cli.Main(program())
}

// readsBundles reports whether this process reads bundles for another one.
func readsBundles() bool { return len(os.Args) == 2 && os.Args[1] == intake.Command }

func program() cli.Program {
	read := &intake.Processes{}
	return cli.Program{
		Root: func(e *cli.Env) *cobra.Command { return newRoot(e, read) }, End: read.Close,
		Complete: completions, Answering: answering, Schema: schemaOf,
	}
}

// run runs one command line and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(program(), args, stdin, stdout, stderr)
}

// answering reads bundles in a separate process, and replaces the names of players with pseudonyms.
func answering() *triage.Answering {
	return &triage.Answering{Names: func(key string) (triage.Scrubber, error) {
		k, err := pseudonyms.ParseKey(key, "the key")
		if err != nil {
			return nil, err
		}
		return pseudonyms.NewScrubber(k), nil
	}}
}

// completions returns how the values of a command's flags are completed, by name.
func completions(*cobra.Command) map[string]cli.Completer {
	return map[string]cli.Completer{
		"fail-on": cli.Words(string(desk.FailOnNew), string(desk.FailOnRegression), string(desk.FailOnAny)),
		"order":   cli.Words(string(desk.ByReports), string(desk.ByLast), string(desk.ByFirst)),
	}
}

// schemaOf returns the name of the documents of a command.
func schemaOf(cmd *cobra.Command) string {
	switch {
	case !cmd.HasParent():
		return "limits" // the only document of the root
	case cmd.Name() == "version":
		return "version"
	case cmd.Name() == "show":
		return "desk-group"
	case cmd.Parent().Name() == "show": // a report of triage
		return "triage"
	}
	return "desk-" + cmd.Name()
}

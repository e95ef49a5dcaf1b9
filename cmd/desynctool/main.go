// Command desynctool finds out where and why the peers of a deterministic game diverged. See docs/cli.md, or run it
// with --help.
package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
)

func main() { cli.Main(program(new(env))) }

// program returns the program whose commands work with e.
func program(e *env) cli.Program {
	return cli.Program{
		Root: func(shared *cli.Env) *cobra.Command {
			e.Env = shared
			return newRoot(e)
		},
		Complete:  completions,
		Answering: answering,
		Schema:    schemaOf,
		End: func() {
			if e.replayed != nil {
				e.replayed.Close()
			}
		},
	}
}

// run runs one command line and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(program(new(env)), args, stdin, stdout, stderr)
}

// schemaOf returns the name of the documents of a command.
func schemaOf(cmd *cobra.Command) string {
	switch {
	case !cmd.HasParent():
		return "limits" // the only document of the root
	case cmd.Parent().Name() == "sim":
		return "sim-" + cmd.Name()
	case cmd.Parent().Name() != "golden":
		return cmd.Name()
	case cmd.Name() == "record":
		return "golden-record"
	}
	return "golden"
}

package cli

import (
	"io"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/triage"
)

// Values of --isolate.
const (
	IsolateOn       = "on"
	IsolateRequired = "require"
)

// AddIsolate adds the flag --isolate.
func AddIsolate(cmd *cobra.Command, value *string) {
	cmd.Flags().Var(OneOf(value, "MODE", IsolateOn, IsolateRequired), "isolate", "read each match in a process that can do nothing else; =require: fail where the system cannot ensure it")
	cmd.Flags().Lookup("isolate").NoOptDefVal = IsolateOn
}

// serveIsolated runs the process that reads for --isolate.
func serveIsolated(p *Program, stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(endings...) // requests to end arrive on stdin
	if err := triage.Serve(stdin, stdout, ErrInterrupted, p.Answering()); err != nil {
		(&Env{Stdout: stdout, Stderr: stderr, Color: "never"}).complain(err)
		return document.Failed.ExitCode()
	}
	return 0
}

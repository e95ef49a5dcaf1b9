package cli

import (
	"fmt"
	"io"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/triage"
)

// Values of --isolate.
const (
	IsolateOn       = "on"
	IsolateRequired = "require"
)

// isolateFlag is the flag --isolate.
type isolateFlag struct{ value *string }

func (f isolateFlag) String() string { return "" }
func (f isolateFlag) Type() string   { return "MODE" }
func (f isolateFlag) Set(s string) error {
	allowed := []string{IsolateOn, IsolateRequired}
	if !slices.Contains(allowed, s) {
		return fmt.Errorf("expected %s%s", Alternatives(allowed), prose.DidYouMean(s, allowed))
	}
	*f.value = s
	return nil
}

// AddIsolate adds the flag --isolate.
func AddIsolate(cmd *cobra.Command, value *string) {
	cmd.Flags().Var(isolateFlag{value}, "isolate", "read each match in a process that can do nothing else; =require: fail where the system cannot ensure it")
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

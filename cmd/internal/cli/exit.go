package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect/gitbisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/isolate"
)

// outcome is the end of a command that did its work. It is returned as an error so that a command has only one way to
// end; nothing prints it.
type outcome document.Status

func (o outcome) Error() string { return string(o) }

// exit is end, but with --git-bisect-run it returns the status that means a commit that cannot be tested.
func (e *Env) exit(cmd *cobra.Command, err error) int {
	status := e.end(cmd, err)
	untested := status == document.Failed.ExitCode() || status == document.Inconclusive.ExitCode()
	// A wrong command line may not have been parsed up to the flag.
	if untested && (e.gitBisectRun || slices.Contains(e.args, "--"+gitBisectRun)) {
		return gitbisect.CannotTell
	}
	return status
}

// gitBisectRun is the flag for commands that git bisect run runs.
const gitBisectRun = "git-bisect-run"

// end maps the error of a command to the exit status and prints it as one line on stderr, whatever the error's text
// contains.
func (e *Env) end(cmd *cobra.Command, err error) int {
	var (
		o outcome
		x exited
	)
	if status := e.Interrupted(); status > 0 {
		e.complain(ErrInterrupted)
		return status
	}
	switch {
	case err == nil:
		return document.InSync.ExitCode()
	case errors.As(err, &o):
		return document.Status(o).ExitCode()
	case errors.As(err, &x):
		return int(x)
	}
	status := document.StatusOfError(err)
	list := []error{err}
	if unknown := (*bundle.UnknownError)(nil); errors.As(err, &unknown) {
		list = unknown.Files
	}
	if failed := (*isolate.Failure)(nil); errors.As(err, &failed) {
		list = nil
		list = append(list, lists.Map(failed.Lines, errors.New)...)
	}
	for _, err := range list {
		e.complain(err)
	}
	if err := e.failed(cmd, prose.OneLine(prose.Plainly(err)), status); err != nil {
		e.complain(err)
	}
	return status.ExitCode()
}

// complain prints an error on stderr, on one line.
func (e *Env) complain(err error) {
	e.Note(fmt.Sprintf("%s %s", e.ErrStyle().Paint(document.Bad, "desynctool:"), prose.OneLine(prose.Plainly(err))))
}

// Ended turns a result's status into a command's error.
func Ended(s document.Status) error {
	if s == document.InSync {
		return nil
	}
	return outcome(s)
}

// ExitHelp is part of the help of every command that compares.
const ExitHelp = `Exit status:
  0  no difference found
  1  a divergence is proven
  2  an argument is unusable: wrong usage, unreadable, corrupt, another game
  3  inconclusive: evidence is lost or missing, the output shows which
A command that a signal ends exits with 128 and the number of the signal, 130
for Ctrl-C, after it has printed the findings so far.`

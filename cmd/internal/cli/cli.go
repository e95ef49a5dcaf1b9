// Package cli runs the command lines of desynctool's programs. A program provides its commands. cli adds the flags that
// all commands have (limits, colour, pager), writes results in the requested formats, explains mistakes, and maps the
// end of a command to its exit status:
//
//	func main() { cli.Main(program) }
//
//	0  no difference found
//	1  a divergence is proven
//	2  an argument is unusable
//	3  inconclusive
package cli

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/triage"
)

// TakesPaths is an annotation of a root command. It names the command for files and folders, which is suggested to a
// user who gave a path without a command.
const TakesPaths = "takes paths"

// Program is one of the programs.
type Program struct {
	// Root returns the root command with the program's own commands. Its Use is the name of the executable.
	Root func(e *Env) *cobra.Command
	// Complete returns the completion of flags, by name, in addition to the flags that all commands have. It may be
	// nil.
	Complete func(cmd *cobra.Command) map[string]Completer
	// Answering returns the reader of evidence in the process that --isolate starts.
	Answering func() *triage.Answering
	// Reader is the reader for --isolate. Its zero value starts this program again.
	Reader isolate.Reader
	// Schema returns the name of a command's documents, if it is not the command's name. It may be nil.
	Schema func(cmd *cobra.Command) string
	// End releases the resources of a command line. It may be nil.
	End func()
}

// Env is the environment of a command, in addition to its flags.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Context is done when the process is asked to end, or the time limit is reached.
	Context context.Context
	// Color is auto, always or never.
	Color string
	// Reader is the Reader of the program.
	Reader isolate.Reader
	// Rendered is set when a result has been written.
	Rendered bool

	program      *Program
	args         []string
	interrupts   *interrupts
	bar          *progressBar // the last one; nil before the first
	noPager      bool
	gitBisectRun bool // map statuses 2 and 3 to the status of a commit that cannot be tested
	limits       limitFlags
	endWall      func()     // releases the timers of limits.Wall; nil without it
	endBound     func()     // ends the watches of Bound; nil before it
	overdue      chan error // receives limits.Wall, CPU or Heap if the command still runs some time after that limit
}

// Main runs the command line of the process and ends it.
func Main(p Program) {
	TuneProcess()
	os.Exit(Run(p, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs one command line and returns its exit status.
func Run(p Program, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == isolate.Command {
		return serveIsolated(&p, stdin, stdout, stderr)
	}
	interrupts, stop := listen()
	defer stop()
	e := &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Context: interrupts.ctx, Reader: p.Reader, program: &p, args: args, interrupts: interrupts, overdue: make(chan error, 3)}
	status := make(chan int, 1)
	go func() { status <- e.run(stdout) }()
	select {
	case s := <-status:
		return s
	case over := <-e.overdue: // it computes and does not look at its context
		e.complain(over)
		return e.exit(nil, Ended(document.Inconclusive))
	}
}

// run runs the command line and returns its exit status.
func (e *Env) run(stdout io.Writer) int {
	root := e.Commands()
	help := &heeded{to: stdout}
	root.SetOut(help)
	root.SetArgs(e.args)
	cmd, err := root.ExecuteC()
	if err == nil {
		err = help.err
	}
	if e.program.End != nil {
		defer e.program.End()
	}
	if e.endWall != nil {
		defer e.endWall()
	}
	if e.endBound != nil {
		defer e.endBound()
	}
	return e.exit(cmd, err)
}

// NewEnv returns an environment for commands that run without a command line, as in tests.
func NewEnv(p Program, stdin io.Reader, stdout, stderr io.Writer) *Env {
	return &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Context: context.Background(), program: &p}
}

// Needs returns which of a program's commands this command line needs: the command in its first word, or all commands
// if the first word is something else, such as a flag or help. --version alone needs none. Creating all commands takes
// longer than running most of them.
func (e *Env) Needs(names []string) func(name string) bool {
	if len(e.args) == 1 && (e.args[0] == "--version" || e.args[0] == "-v") {
		return func(string) bool { return false }
	}
	if len(e.args) > 0 && (e.args[0] == "version" || slices.Contains(names, e.args[0])) {
		return func(name string) bool { return name == e.args[0] }
	}
	return func(string) bool { return true }
}

// Commands returns all commands of the program, ready to be run.
func (e *Env) Commands() *cobra.Command {
	root := e.program.Root(e)
	e.complete(root)
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	addCompletion(root)
	explainMistakes(root)
	addLimits(e, root)
	if len(e.args) > 0 && strings.HasPrefix(e.args[0], cobra.ShellCompRequestCmd) {
		e.addCompletions(root)
	}
	fitHelp(root)
	return root
}

// heeded is stdout for cobra's output. It keeps write errors, which cobra ignores.
type heeded struct {
	to  io.Writer
	err error
}

func (h *heeded) Write(b []byte) (int, error) {
	n, err := h.to.Write(b)
	if h.err == nil {
		h.err = err
	}
	return n, err
}

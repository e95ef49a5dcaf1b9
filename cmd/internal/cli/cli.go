// Package cli runs the command lines of desynctool's programs. A program gives its commands; cli
// gives them the flags that all have (limits, colour, pager), writes results in the formats asked
// for, explains mistakes, and maps the end of a command to its exit status:
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

	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/triage"
)

// TakesPaths is the annotation of a root command that names its command for files and folders, which is proposed to a
// user who gave a path and no command.
const TakesPaths = "takes paths"

// Program is one of the programs.
type Program struct {
	// Root returns the root command with the program's own commands below it. Its Use is the name
	// of the executable.
	Root func(e *Env) *cobra.Command
	// Complete returns how the values of flags are completed, by the names of the flags, beyond
	// those of the flags that all commands have; nil for none.
	Complete func(cmd *cobra.Command) map[string]Completer
	// Answering returns what reads evidence in the process that --isolate starts.
	Answering func() *triage.Answering
	// Reader is what --isolate reads with. Its zero value starts this program again.
	Reader isolate.Reader
	// Schema returns the name of the documents of a command, where it is not the command's name; nil for none.
	Schema func(cmd *cobra.Command) string
	// End frees what a command line left; nil for nothing.
	End func()
}

// Env is what a command works with besides its flags.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Context is done as soon as the process is told to end, or the limit of time is reached.
	Context context.Context
	// Color is auto, always or never.
	Color string
	// Reader is the Reader of the program.
	Reader isolate.Reader
	// Rendered is whether a result has been written.
	Rendered bool

	program      *Program
	args         []string
	interrupts   *interrupts
	bar          *progressBar // the last one; nil before there is any
	noPager      bool
	gitBisectRun bool // statuses 2 and 3 become the status of a commit that cannot be tested
	limits       limitFlags
	endWall      func() // frees what limits.Wall takes; nil without it
}

// Main runs the command line of the process and ends it.
func Main(p Program) {
	TuneMemory()
	os.Exit(Run(p, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs one command line and returns its exit status.
func Run(p Program, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == isolate.Command {
		return serveIsolated(&p, stdin, stdout, stderr)
	}
	interrupts, stop := listen()
	defer stop()
	e := &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Context: interrupts.ctx, Reader: p.Reader, program: &p, args: args, interrupts: interrupts}
	root := e.Commands()
	help := &heeded{to: stdout}
	root.SetOut(help)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		err = help.err
	}
	if p.End != nil {
		defer p.End()
	}
	if e.endWall != nil {
		defer e.endWall()
	}
	return e.exit(cmd, err)
}

// NewEnv returns what the commands of a program work with where no command line is run, as in tests.
func NewEnv(p Program, stdin io.Reader, stdout, stderr io.Writer) *Env {
	return &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Context: context.Background(), program: &p}
}

// Needs returns which of a program's commands this command line needs: the one that its first word names, and all of
// them where the first word names none, such as a flag or help. To build all commands takes longer than most commands
// run.
func (e *Env) Needs(names []string) func(name string) bool {
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

// heeded is stdout for what cobra prints, which heeds no error.
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

// Command desynctool finds out where and why the peers of a deterministic game
// parted. See docs/cli.md, or run it with --help.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/isolate"
)

func main() {
	tuneMemory()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// newCommands returns all commands, ready to be run.
func newCommands(e *env) *cobra.Command {
	root := newRoot(e)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	addCompletion(root)
	explainMistakes(root)
	addLimits(e, root)
	addCompletions(root)
	fitHelp(root)
	return root
}

// run executes one command line and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == isolate.Command {
		return serveIsolated(stdin, stdout, stderr)
	}
	interrupts, stop := listen()
	defer stop()
	e := &env{interrupts: interrupts, args: args, stdin: stdin, stdout: stdout, stderr: stderr}
	root := newCommands(e)
	help := &heeded{to: stdout}
	root.SetOut(help)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		err = help.err
	}
	if e.replayed != nil {
		defer e.replayed.Close()
	}
	if e.endWall != nil {
		defer e.endWall()
	}
	return e.exit(cmd, err)
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

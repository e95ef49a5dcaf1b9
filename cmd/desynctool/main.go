// Command desynctool finds out where and why the peers of a deterministic game
// parted. See docs/cli.md, or run it with --help.
package main

import (
	"io"
	"os"
)

func main() {
	tuneMemory()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	interrupts, stop := listen()
	defer stop()
	e := &env{interrupts: interrupts, args: args, stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	addCompletion(root)
	addCompletions(root)
	cmd, err := root.ExecuteC()
	return e.exit(cmd, err)
}

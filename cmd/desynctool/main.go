// Command desynctool finds out where and why the peers of a deterministic game
// parted. See docs/cli.md, or run it with --help.
package main

import (
	"io"
	"os"
	"runtime/debug"
)

func main() {
	// A command is short-lived: let it use some memory before the first
	// collection, and collect more eagerly as it nears the limit.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(softMemory)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// softMemory is how much memory a command takes, in bytes, before it would
// rather collect than grow.
const softMemory = 160 << 20

// run executes one command line and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &env{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	addCompletion(root)
	cmd, err := root.ExecuteC()
	return e.exit(cmd, err)
}

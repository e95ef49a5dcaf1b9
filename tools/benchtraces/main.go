//go:build unix

// Command benchtraces compares desynctool tracediff with cmp and GNU diff. It generates pairs of traces, runs each
// comparison and the other tool alternately, and prints a table of ratios in Markdown. .ci/bench-traces starts it.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
)

func main() {
	mib := flag.Int("mib", 1024, "size of each trace in MiB")
	rounds := flag.Int("rounds", 5, "measurements of each row")
	dir := flag.String("dir", "", "where the traces are written (default a temporary folder)")
	tool := flag.String("tool", "desynctool tracediff", "command and arguments that compare two traces named after it, with --first up to the first difference")
	flag.Parse()
	err := fmt.Errorf("%d arguments, expected none", flag.NArg())
	if flag.NArg() == 0 {
		err = run(*dir, strings.Fields(*tool), *mib, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtraces:", err)
		os.Exit(2)
	}
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

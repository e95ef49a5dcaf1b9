// Command benchtraces measures the comparison of traces against cmp and GNU
// diff. It generates pairs of traces, runs each comparison and its peer in turn
// and prints a table of ratios in Markdown. .ci/bench-traces starts it.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/tracediff"
)

func main() {
	mib := flag.Int("mib", 1024, "size of each trace in MiB")
	rounds := flag.Int("rounds", 5, "measurements of each row")
	dir := flag.String("dir", "", "where the traces are written (default a temporary folder)")
	tool := flag.String("tool", "", "command and arguments that compare two traces named behind them (default this program)")
	first := flag.Bool("first", false, "with two arguments: compare them, and end at the first difference")
	flag.Parse()
	var err error
	switch flag.NArg() {
	case 0:
		err = run(*dir, *tool, *mib, *rounds)
	case 2:
		err = compare(flag.Arg(0), flag.Arg(1), *first)
	default:
		err = fmt.Errorf("%d arguments, expected none or two traces", flag.NArg())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtraces:", err)
		os.Exit(2)
	}
}

// compare does what the command does, and prints the least.
func compare(a, b string, first bool) error {
	var list []*tracediff.Trace
	for _, path := range []string{a, b} {
		traces, err := tracediff.Open(files.Disk, path, tracediff.ReadOptions{})
		if err != nil {
			return err
		}
		list = append(list, traces...)
	}
	res, err := tracediff.Compare(list, tracediff.Options{FirstOnly: first})
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		fmt.Println(w)
	}
	if d := res.First; d != nil {
		fmt.Printf("first difference: tick %s, system %s, %s and %s\n", d.Tick, d.System, d.Values[0].Pos, d.Values[1].Pos)
	}
	fmt.Printf("changed %d, missing %d\n", res.Changed, res.Missing)
	return nil
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// Command accuracy plays seeded sessions and prints how often the verdicts on them are
// right, as docs/accuracy.md has it:
//
//	go run ./.ci/accuracy -sessions 600 -clean 200
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/accuracy"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/narrow"
	"github.com/desynctool/desynctool/report/playbook"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run() error {
	faulty := flag.Int("sessions", 600, "sessions with a mistake")
	clean := flag.Int("clean", 200, "sessions without one")
	shuffled := flag.Bool("shuffled", false, "all sessions have shuffled names, not every second")
	flag.Parse()
	dir, err := os.MkdirTemp("", "accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	list := append(accuracy.Faulty(*faulty), accuracy.Clean(*clean)...)
	for i := range list {
		list[i].Shuffled = list[i].Shuffled || *shuffled
	}
	measured := accuracy.Measured{
		Narrow: func(dirs []string) (*playbook.Conclusion, error) {
			s, err := evidence.OpenPaths(dirs...)
			if err != nil {
				return nil, err
			}
			defer s.Close()
			return narrow.Narrow(s, refsim.Simulator())
		},
		Triage: func(dirs []string) (*report.Report, error) {
			s, err := evidence.OpenPaths(dirs...)
			if err != nil {
				return nil, err
			}
			defer s.Close()
			return narrow.Triage(s, nil, nil)
		},
	}
	scores, err := accuracy.Run(list, func(i int) string { return fmt.Sprintf("%s/%d", dir, i) }, measured,
		func(done int) { fmt.Fprintf(os.Stderr, "\r%d of %d", done, len(list)) })
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return err
	}
	if err := accuracy.Table(os.Stdout, scores); err != nil {
		return err
	}
	fmt.Println()
	return accuracy.CauseTable(os.Stdout, scores)
}

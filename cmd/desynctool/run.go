package main

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/pflag"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/report/bundle"
)

// runFlags are the flags of commands that let another command decide whether a log diverges.
type runFlags struct {
	line, against  string
	diverges, keep string
	timeout        time.Duration
}

// runHelp is part of the help of these commands.
const runHelp = `
The exit status of CMD is its verdict: 0 means in sync, 1 to 124 diverges, 125
undecided; 126 and above, or a signal, ends everything with exit status 2. With
--run-diverges a line of the output is the verdict. With --run-against the
verdict is whether another build prints the same. CMD is split into words as a
shell does it; to use other features of a shell, write sh -c '…'.
`

func (f *runFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.line, "run", "", "a command that decides whether a log diverges; {} is the path of the log")
	flags.StringVar(&f.diverges, "run-diverges", "", "with --run: the log diverges if a line of the output matches this pattern")
	flags.StringVar(&f.against, "run-against", "", "with --run: the log diverges if this command prints a different output")
	flags.StringVar(&f.keep, "run-keep", "", "with --run-against: compare only the parts of lines that match this pattern")
	flags.DurationVar(&f.timeout, "run-timeout", 0, "with --run: a command that takes longer is undecided (30s, 5m)")
}

// unused returns an error if flags are set that have no effect without --run.
func (f *runFlags) unused() error {
	if f.diverges != "" || f.against != "" || f.keep != "" || f.timeout != 0 {
		return errors.New("--run-diverges, --run-against, --run-keep and --run-timeout are for --run CMD")
	}
	return nil
}

// command returns a test that runs the command.
func (f *runFlags) command(session *bundle.Recording) (*minimize.Command, error) {
	switch {
	case f.diverges != "" && f.against != "":
		return nil, errors.New("--run-diverges and --run-against: one output decides, or two are compared, give one of them")
	case f.keep != "" && f.against == "":
		return nil, errors.New("--run-keep is for --run-against CMD")
	case f.timeout < 0:
		return nil, fmt.Errorf("--run-timeout is %v, expected more than 0", f.timeout)
	}
	c := &minimize.Command{Line: f.line, Against: f.against, Timeout: f.timeout, File: session.Format.File}
	var err error
	if f.diverges != "" {
		if c.Diverges, err = regexp.Compile(f.diverges); err != nil {
			return nil, fmt.Errorf("--run-diverges: %w", err)
		}
	}
	if f.keep != "" {
		if c.Keep, err = regexp.Compile(f.keep); err != nil {
			return nil, fmt.Errorf("--run-keep: %w", err)
		}
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	return c, nil
}

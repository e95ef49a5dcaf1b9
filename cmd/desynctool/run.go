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
The exit status of CMD is its verdict: 0 in sync, 1 to 124 diverges, 125 cannot
tell; 126 and above, or a signal, ends everything with exit status 2. With
--run-diverges a line of the output is the verdict, with --run-against whether
another build prints the same. CMD is split into words as a shell does; for more
of a shell write sh -c '…'.
`

func (f *runFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.line, "run", "", "a command that decides what diverges; {} is the path of a log")
	flags.StringVar(&f.diverges, "run-diverges", "", "with --run: it diverges if a line of the output matches this")
	flags.StringVar(&f.against, "run-against", "", "with --run: it diverges if this command prints otherwise")
	flags.StringVar(&f.keep, "run-keep", "", "with --run-against: compare only what matches this")
	flags.DurationVar(&f.timeout, "run-timeout", 0, "with --run: a command that takes longer cannot tell (30s, 5m)")
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

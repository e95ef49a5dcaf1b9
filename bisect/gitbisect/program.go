package gitbisect

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/internal/processgroup"
)

// CommitVar is the environment variable that tells programs which commit they belong to.
const CommitVar = "DESYNCTOOL_COMMIT"

// CannotTell is the exit status of a program for a commit that cannot be tested, as for git bisect run.
const CannotTell = 125

// Program is a program that is run in the folder of a commit.
type Program struct {
	Argv    []string
	Dir     string
	Commit  string
	Timeout time.Duration // 0 for none
}

// Ended is how a program ended.
type Ended struct {
	Status int    // -1 if a signal ended it
	How    string // "exit status 2", "signal: killed", "it took longer than 1m0s"; empty for status 0
	Output *extsim.Tail
}

// Why describes in a line how the program ended and its last output.
func (e *Ended) Why() string {
	if last := e.Output.Last(); last != "" {
		return e.How + ": " + last
	}
	return e.How
}

// Run runs the program to its end, and ends all processes that it started. A program that cannot be started counts as
// ended with status 127. The only error is ctx's.
func (p *Program) Run(ctx context.Context) (*Ended, error) {
	limited := ctx
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, p.Timeout)
		defer cancel()
	}
	e := &Ended{Output: new(extsim.Tail)}
	cmd := exec.CommandContext(limited, p.Argv[0], p.Argv[1:]...)
	cmd.Dir = p.Dir
	cmd.Env = append(Environ(), CommitVar+"="+p.Commit)
	cmd.Stdout, cmd.Stderr = e.Output, e.Output
	processgroup.Own(cmd)
	cmd.Cancel = func() error { return processgroup.Kill(cmd.Process) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = processgroup.Kill(cmd.Process) // processes that it left running
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		e.Status, e.How = -1, fmt.Sprintf("it took longer than %v", p.Timeout)
	case errors.As(err, &exit):
		e.Status, e.How = exit.ExitCode(), exit.String()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		e.Status, e.How = 127, err.Error()
	}
	return e, nil
}

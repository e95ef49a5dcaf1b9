//go:build unix && !linux

package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// grouped is a program in its own process group.
type grouped struct {
	cmd     *exec.Cmd
	lacking []string
}

func start(c *Command, out *os.File) (process, error) {
	cmd := &exec.Cmd{Path: c.Args[0], Args: c.Args, Env: c.Env, Dir: c.Dir, Stdout: out, Stderr: out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, cannotRun(c.Args[0], err)
	}
	g := &grouped{cmd: cmd, lacking: []string{Children, Reaching, Writing}}
	if len(c.Private) > 0 {
		g.lacking = append(g.lacking, Reading)
	}
	if c.Memory > 0 {
		g.lacking = append(g.lacking, Weighing)
	}
	if !c.Network {
		g.lacking = append(g.lacking, Network)
	}
	return g, nil
}

func (g *grouped) wait() outcome {
	err := g.cmd.Wait()
	g.kill() // the rest of the group
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return outcome{code: -1, err: fmt.Errorf("how the program ended is not known: %w", err)}
	}
	o := outcome{code: g.cmd.ProcessState.ExitCode()}
	if s, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		o.signal, o.full = signalName(s.Signal()), s.Signal() == syscall.SIGXFSZ
	}
	return o
}

func (g *grouped) end() {
	g.signal(syscall.SIGTERM)
	time.AfterFunc(grace, g.kill)
}

func (g *grouped) kill() { g.signal(syscall.SIGKILL) }

// signal sends a signal to the whole group.
func (g *grouped) signal(s syscall.Signal) { _ = syscall.Kill(-g.cmd.Process.Pid, s) }

func (g *grouped) usage() (held int64, threads int, known bool) { return 0, 0, false }

func (g *grouped) missing() []string { return g.lacking }

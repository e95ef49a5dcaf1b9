//go:build unix

package extsim

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup has a command start in a process group of its own, so that what it starts
// can be killed with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and all that it started.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// isReset reports whether the other end of a connection is gone.
func isReset(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

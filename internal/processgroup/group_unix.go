//go:build unix

package processgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Own has a command start in a process group of its own, so that what it starts can be killed with it,
// and the terminal's Ctrl-C reaches only this process, which then ends it.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Kill kills a process that began with [Own] and all that it started.
func Kill(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

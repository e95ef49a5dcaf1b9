//go:build unix

package processgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Own makes a command start in its own process group, so that its children can be killed with it. Ctrl-C in the
// terminal then reaches only this process, which ends the command.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Kill kills a process that was started with [Own], and its children.
func Kill(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// Foreground makes the group of a command that [Own] has prepared the one that a terminal is for: its input and Ctrl-C.
func Foreground(cmd *exec.Cmd, terminal *os.File) {
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(terminal.Fd())
}

//go:build unix

package minimize

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command the head of a process group, so that what it starts ends with
// it, and the terminal's Ctrl-C reaches only this process, which then ends it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

//go:build !windows

package browser

import (
	"os/exec"
	"syscall"
)

// detach starts a program in its own session, so that it does not end with the terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

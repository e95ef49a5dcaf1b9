//go:build !windows

package browser

import (
	"os/exec"
	"syscall"
)

// detach has a program be of a session of its own, so that it does not end with the terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

package browser

import (
	"os/exec"
	"syscall"
)

// detach has a program have no console, so that it does not end with ours.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x8 // DETACHED_PROCESS
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}

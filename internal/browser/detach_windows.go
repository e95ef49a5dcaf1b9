package browser

import (
	"os/exec"
	"syscall"
)

// detach starts a program without a console, so that it does not end with this program's console.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x8 // DETACHED_PROCESS
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}

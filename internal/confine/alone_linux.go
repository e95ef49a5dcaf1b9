package confine

import (
	"runtime"
	"syscall"
)

// alone returns the attributes of a server that desynctool starts: without a terminal, and ended with the thread that
// started it.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// withThread locks the goroutine to its thread.
func withThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

package confine

import (
	"runtime"
	"syscall"
)

// alone are the attributes of a server of ours: without a terminal, and ended with the thread that started it.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// withThread has the goroutine keep its thread.
func withThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

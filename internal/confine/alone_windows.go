package confine

import "syscall"

// alone returns the attributes of a server that desynctool starts: without a window.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{HideWindow: true} }

func withThread() (unlock func()) { return func() {} }

package confine

import "syscall"

// alone are the attributes of a server of ours: without a window.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{HideWindow: true} }

func withThread() (unlock func()) { return func() {} }

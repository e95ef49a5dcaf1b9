//go:build unix && !linux

package confine

import "syscall"

// alone are the attributes of a server of ours: without a terminal.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func withThread() (unlock func()) { return func() {} }

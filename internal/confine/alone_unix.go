//go:build unix && !linux

package confine

import "syscall"

// alone returns the attributes of a server that desynctool starts: without a terminal.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func withThread() (unlock func()) { return func() {} }

//go:build !linux

package isolate

import "syscall"

const namespaces = 0

// attributes are none: the process ends when its standard input does.
func attributes(uintptr) *syscall.SysProcAttr { return nil }

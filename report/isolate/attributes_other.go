//go:build !linux

package isolate

import "syscall"

// attributes are none: the process ends when its standard input does.
func attributes() *syscall.SysProcAttr { return nil }

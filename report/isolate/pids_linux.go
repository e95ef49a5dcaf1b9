//go:build !cgo

package isolate

import "syscall"

// pids gives the process a namespace of processes.
const pids = syscall.CLONE_NEWPID

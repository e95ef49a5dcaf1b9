//go:build unix

package cli

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process, 0 if the system does not show it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

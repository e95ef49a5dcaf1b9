//go:build !unix

package cli

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process, 0 if the system does not show it.
func processorTime() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	if self, err := syscall.GetCurrentProcess(); err != nil || syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	const tick = 100 // nanoseconds
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(tick * (ticks(kernel) + ticks(user)))
}

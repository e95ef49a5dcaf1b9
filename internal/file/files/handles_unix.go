//go:build unix

package files

import (
	"math"
	"syscall"
)

// Handles returns how many files this process may have open at once.
func Handles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return usualHandles
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}

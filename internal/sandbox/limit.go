//go:build linux || darwin

package sandbox

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// limit sets the limits that Linux and macOS have in common.
func limit(l Limits) error {
	whole := func(t time.Duration) uint64 { return uint64((t + time.Second - 1) / time.Second) }
	seconds := whole(l.CPU)
	if seconds == 0 {
		seconds = whole(l.Wall) * uint64(runtime.NumCPU())
	}
	return errors.Join(
		lower(unix.RLIMIT_CORE, 0),
		lower(unix.RLIMIT_NOFILE, uint64(l.Files)),
		lower(unix.RLIMIT_FSIZE, uint64(l.Written)),
		lower(unix.RLIMIT_CPU, seconds),
	)
}

// lower sets a limit of the process, unless it already has a lower one.
func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	now.Cur, now.Max = min(now.Cur, most), min(now.Max, most)
	return unix.Setrlimit(resource, &now)
}

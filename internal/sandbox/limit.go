//go:build linux || darwin

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
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
		limitCPU(seconds),
	)
}

// limitCPU has the process end when it has used so many seconds of processor time, or be killed a second later.
func limitCPU(seconds uint64) error {
	used := make(chan os.Signal, 1)
	signal.Notify(used, unix.SIGXCPU)
	go func() {
		<-used
		fmt.Fprintln(os.Stderr, OutOfTime)
		os.Exit(2)
	}()
	return lowerTo(unix.RLIMIT_CPU, seconds, seconds+1)
}

// lower sets a limit of the process, unless it already has a lower one.
func lower(resource int, most uint64) error { return lowerTo(resource, most, most) }

// lowerTo is lower with a limit at which the system warns the process first.
func lowerTo(resource int, warns, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	now.Cur, now.Max = min(now.Cur, warns), min(now.Max, most)
	return unix.Setrlimit(resource, &now)
}

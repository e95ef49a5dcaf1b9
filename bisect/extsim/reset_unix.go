//go:build unix

package extsim

import (
	"errors"
	"syscall"
)

// isReset reports whether the other end of a connection is gone.
func isReset(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

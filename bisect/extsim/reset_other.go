//go:build !unix

package extsim

import (
	"errors"
	"net"
)

// isReset reports whether the other end of a connection is gone.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

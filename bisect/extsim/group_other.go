//go:build !unix

package extsim

import (
	"errors"
	"net"
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills a process; what it started has to notice that its connection ended.
func killGroup(p *os.Process) { _ = p.Kill() }

// isReset reports whether the other end of a connection is gone.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

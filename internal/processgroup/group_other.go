//go:build !unix

package processgroup

import (
	"os"
	"os/exec"
)

// Own does nothing where there are no process groups.
func Own(*exec.Cmd) {}

// Kill kills a process; what it started has to notice that by itself.
func Kill(p *os.Process) error { return p.Kill() }

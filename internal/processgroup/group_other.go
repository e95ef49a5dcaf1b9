//go:build !unix

package processgroup

import (
	"os"
	"os/exec"
)

// Own does nothing, because this system has no process groups.
func Own(*exec.Cmd) {}

// Kill kills a process. Processes that it started must notice this themselves.
func Kill(p *os.Process) error { return p.Kill() }

// Foreground does nothing.
func Foreground(*exec.Cmd, *os.File) {}

//go:build unix

package confine

import "syscall"

// signalName returns the name of the signal that killed a program, empty for none.
func signalName(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	return s.String()
}

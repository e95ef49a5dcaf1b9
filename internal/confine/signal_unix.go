//go:build unix

package confine

import "syscall"

// signalName returns what killed a program in words, empty for nothing.
func signalName(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	return s.String()
}

//go:build unix

package files

import (
	"os"
	"syscall"
)

// CanMap reports whether [Map] works on this system.
const CanMap = true

func mapDisk(f *os.File, begin int64, length int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), begin, length, syscall.PROT_READ, syscall.MAP_SHARED)
}

// Unmap frees bytes that [Map] returned.
func Unmap(b []byte) { _ = syscall.Munmap(b) }

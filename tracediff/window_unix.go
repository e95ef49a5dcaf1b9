//go:build unix

package tracediff

import (
	"os"
	"syscall"
)

const canMap = true

// hugePage is what mappings are aligned to, so that the system can map a file's
// large pages in one piece. It is a multiple of the size of any page.
const hugePage = 2 << 20

func mapFile(f *os.File, begin int64, length int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), begin, length, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) { _ = syscall.Munmap(b) }

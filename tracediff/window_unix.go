//go:build unix

package tracediff

import (
	"errors"
	"os"
	"syscall"

	"github.com/desynctool/desynctool/internal/file/files"
)

const canMap = true

// hugePage is the alignment of mappings, so that the system can map large pages of a file in one piece. It is a
// multiple of every page size.
const hugePage = 2 << 20

func mapFile(f files.File, begin int64, length int) ([]byte, error) {
	onDisk, ok := f.(*os.File)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return syscall.Mmap(int(onDisk.Fd()), begin, length, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) { _ = syscall.Munmap(b) }

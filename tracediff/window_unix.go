//go:build unix

package tracediff

import (
	"errors"
	"os"
	"syscall"

	"github.com/desynctool/desynctool/internal/file/files"
)

const canMap = true

// hugePage is what mappings are aligned to, so that the system can map a file's
// large pages in one piece. It is a multiple of the size of any page.
const hugePage = 2 << 20

func mapFile(f files.File, begin int64, length int) ([]byte, error) {
	onDisk, ok := f.(*os.File)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return syscall.Mmap(int(onDisk.Fd()), begin, length, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) { _ = syscall.Munmap(b) }

//go:build unix

package archive

import (
	"io/fs"
	"syscall"
)

// allocated returns how many bytes of a file are on the disk, if the system reports it.
func allocated(info fs.FileInfo) (int64, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int64(stat.Blocks) * 512, true // independent of the block size of the disk
}

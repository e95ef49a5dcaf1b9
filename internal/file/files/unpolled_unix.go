//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// OpenUnpolled opens a regular file for reading. Unlike [os.Open] it does not ask the system whether reads of the file
// can be waited for, which takes as many calls as opening, describing, reading and closing a small file.
func OpenUnpolled(path string) (File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if err != syscall.EINTR {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

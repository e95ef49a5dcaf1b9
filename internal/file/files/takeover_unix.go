//go:build unix && !aix && !solaris

package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// renamesOpen means that a file can be renamed and removed while it is open.
const renamesOpen = true

// takeOver opens a file for this process only and truncates it. A file from a killed process is not locked. If a
// running process writes the file, it is locked, and the error is ErrInUse.
func takeOver(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o666)
		if err != nil {
			return nil, err
		}
		if Lock(f) != nil {
			f.Close()
			return nil, ErrInUse
		}
		// The previous owner may have finished since. Then f is no longer the file with that name.
		own, err := f.Stat()
		there, errThere := os.Lstat(name)
		if errors.Is(errThere, fs.ErrNotExist) || err == nil && errThere == nil && !os.SameFile(own, there) {
			f.Close()
			continue
		}
		if err := errors.Join(err, errThere, f.Truncate(0)); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}

// Lock locks a file for this process until it is closed or the process ends. The lock only affects other calls of Lock.
// It returns ErrInUse if another process has it. On systems without such locks it does nothing.
func Lock(f *os.File) error {
	if errors.Is(flock(f), syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return nil // or a file system without locks
}

func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// removeLeftFolder removes a folder that a process of this user created before some time and that no process uses any
// more.
func removeLeftFolder(path string, before time.Time) {
	stat, err := os.Lstat(path)
	if err != nil || !stat.IsDir() || stat.ModTime().After(before) {
		return
	}
	if own, ok := stat.Sys().(*syscall.Stat_t); !ok || int(own.Uid) != os.Geteuid() {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f) == nil {
		os.RemoveAll(path)
	}
}

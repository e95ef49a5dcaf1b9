package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

// From the system's headers: O_TMPFILE, AT_FDCWD, AT_SYMLINK_FOLLOW.
const (
	nameless     = 0o20000000 | syscall.O_DIRECTORY
	currentDir   = -100
	followTheOld = 0x400
)

// openNameless opens a new file without a name in a folder.
func openNameless(dir, name string, mode uint32) (*os.File, error) {
	for {
		fd, err := syscall.Open(dir, nameless|syscall.O_RDWR|syscall.O_CLOEXEC, mode)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}

// begin creates the file for path.
func begin(path string) (*unfinished, error) {
	removeLeft(unfinishedName(path))
	f, err := openNameless(filepath.Dir(path), path, 0o666)
	switch {
	case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EINVAL):
		return beginNamed(path) // the file system has no such files
	case err != nil:
		return nil, err
	}
	if _, err := os.Stat(openPath(f)); err != nil { // without /proc it could not get a name
		f.Close()
		return beginNamed(path)
	}
	_ = Lock(f) // for the moment in which it has the name of an unfinished file
	return &unfinished{File: f}, nil
}

// removeLeft removes an unfinished file of a killed process.
func removeLeft(name string) {
	if _, err := os.Lstat(name); err != nil {
		return
	}
	if f, err := takeOver(name); err == nil {
		os.Remove(name)
		f.Close()
	}
}

// openPath is the path under which the system shows an open file.
func openPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// publish gives the file its final name, and closes it.
func (u *unfinished) publish(path string) error {
	if u.name != "" {
		return u.publishNamed(path)
	}
	err := u.link(path)
	if errors.Is(err, fs.ErrExist) {
		// The name of an existing file cannot be given directly, and a file without a name can get a name only once.
		step := unfinishedName(path)
		for err = u.link(step); errors.Is(err, fs.ErrExist); err = u.link(step) {
			step = filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%d", unfinishedPrefix, rand.Uint64()))
		}
		if err == nil {
			u.name = step
			return u.publishNamed(path)
		}
	}
	if err != nil {
		return err
	}
	return u.Close()
}

// link gives the open file a name.
func (u *unfinished) link(name string) error {
	old, err := syscall.BytePtrFromString(openPath(u.File))
	if err != nil {
		return err
	}
	now, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	dir := currentDir
	_, _, number := syscall.Syscall6(syscall.SYS_LINKAT, uintptr(dir), uintptr(unsafe.Pointer(old)), uintptr(dir), uintptr(unsafe.Pointer(now)), followTheOld, 0)
	if number != 0 {
		return &fs.PathError{Op: "open", Path: name, Err: number}
	}
	return nil
}

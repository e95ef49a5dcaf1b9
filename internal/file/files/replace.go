package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file whole or not at all: what was there before stays until write has
// succeeded and its bytes are on the disk. Until then the file has no name where the system
// knows such files, so that nothing is left however the process ends. Elsewhere it has a
// name of its own beside path, see IsUnfinished, which the next Replace of path takes over.
// A link stays one, and a file keeps its permissions. A path that is not a regular file,
// such as /dev/full or a pipe, is written directly. Errors name path.
func Replace(path string, write func(f *os.File) error) error { return replace(path, begin, write) }

func replace(path string, begin func(path string) (*unfinished, error), write func(f *os.File) error) (err error) {
	stat, err := os.Stat(path)
	if err == nil && !stat.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	u, err := begin(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			u.discard()
			err = naming(err, u.name, path)
		}
	}()
	if err := write(u.File); err != nil {
		return err
	}
	if stat != nil {
		if err := u.Chmod(stat.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := u.Sync(); err != nil {
		return err
	}
	if err := u.publish(path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// unfinished is a file that Replace writes.
type unfinished struct {
	*os.File
	name string // that it has until it is published, empty if it has none
}

// beginNamed begins the file that is to be at path under a name beside it. What another process
// that was killed has left there is taken over.
func beginNamed(path string) (*unfinished, error) {
	name := unfinishedName(path)
	f, err := takeOver(name)
	if errors.Is(err, ErrInUse) {
		f, err = os.CreateTemp(filepath.Dir(path), unfinishedPrefix+"*")
		if err == nil {
			err = f.Chmod(0o644)
		}
	}
	if err != nil {
		return nil, naming(err, name, path)
	}
	return &unfinished{File: f, name: f.Name()}, nil
}

// publishNamed gives the file the name that it is to have.
func (u *unfinished) publishNamed(path string) error {
	// The name must not be another process's to take over before it is gone, so that
	// systems with locks close the file, which ends its lock, after that. Others cannot rename
	// what is open.
	if !renamesOpen {
		if err := u.Close(); err != nil {
			return err
		}
		return os.Rename(u.name, path)
	}
	if err := os.Rename(u.name, path); err != nil {
		return err
	}
	u.name = ""
	return u.Close()
}

// discard removes a file that is not to be.
func (u *unfinished) discard() {
	if u.name != "" && renamesOpen {
		os.Remove(u.name) // while its lock is held
	}
	u.Close()
	if u.name != "" && !renamesOpen {
		os.Remove(u.name)
	}
}

// naming has an error name the path that was asked for, not the one that it was written to.
func naming(err error, name, path string) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &link) && (link.Old == name || link.New == path):
		return &fs.PathError{Op: link.Op, Path: path, Err: link.Err}
	case errors.As(err, &at) && name != "" && at.Path == name:
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

// syncFolder has the names in a folder reach the disk, where the system can.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync() // some systems cannot, and the file itself is there
		f.Close()
	}
}

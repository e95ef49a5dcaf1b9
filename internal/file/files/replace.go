package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file completely or not at all. The previous file stays until write has succeeded and the bytes are
// on the disk. Until then the new file has no name, on systems with such files, so that nothing is left however the
// process ends. On other systems it has a name next to path, see IsUnfinished, and the next Replace of path takes it
// over. A link stays a link, and a file keeps its permissions. A path that is not a regular file, such as /dev/full or
// a pipe, is written directly. Errors contain path.
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

// unfinished is a file that Replace is writing.
type unfinished struct {
	*os.File
	name string // name until it is published, empty if it has none
}

// beginNamed creates the file for path under a name next to it. It takes over a file that a killed process left there.
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

// publishNamed gives the file its final name.
func (u *unfinished) publishNamed(path string) error {
	// Before the file's temporary name is gone, no other process may take it over. So systems with locks close the
	// file, which releases its lock, after the rename. Other systems cannot rename an open file.
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

// discard removes the file without publishing it.
func (u *unfinished) discard() {
	if u.name != "" && renamesOpen {
		os.Remove(u.name) // while its lock is held
	}
	u.Close()
	if u.name != "" && !renamesOpen {
		os.Remove(u.name)
	}
}

// naming replaces the path in an error by the path that the caller gave.
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

// syncFolder syncs the names in a folder to the disk, if the system can.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync() // some systems cannot, and the file itself is synced
		f.Close()
	}
}

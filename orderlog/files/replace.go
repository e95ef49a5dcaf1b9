package files

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file by way of a temporary one beside it: what was there before stays
// until write has succeeded. A link stays one. A path that is not a regular file, such as
// /dev/full or a pipe, is written directly.
func Replace(path string, write func(f *os.File) error) (err error) {
	if stat, err := os.Stat(path); err == nil && !stat.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".desynctool-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

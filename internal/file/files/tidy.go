package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Tidy makes a folder safe to read after an untrusted program has written to it. All files and folders become readable
// and writable for their owner. Everything is removed that is neither a file, nor a folder, nor a relative link to one
// of them in the folder. Examples are a pipe, which would block, and a link to a user's keys. Links for which keep
// returns true stay. If keep is nil, no other links stay.
func Tidy(dir string, keep func(path string) bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for again := true; again; { // until no link leads to a removed file
		again = false
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (d.Type() == 0 || d.IsDir()) {
				err = allow(path, d)
			}
			switch {
			case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG): // nothing else finds it either
				return nil
			case err != nil:
				return err
			}
			switch d.Type() {
			case 0, fs.ModeDir:
				return nil
			case fs.ModeSymlink:
				name, err := filepath.Rel(dir, path)
				if err != nil {
					return err
				}
				if _, err := root.Stat(name); err == nil || keep != nil && keep(path) {
					return nil
				}
			}
			again = true
			return os.Remove(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// allow makes a file or folder readable and writable for its owner.
func allow(path string, d fs.DirEntry) error {
	stat, err := d.Info()
	if err != nil {
		return err
	}
	need := fs.FileMode(0o600)
	if d.IsDir() {
		need = 0o700
	}
	if mode := stat.Mode().Perm(); mode&need != need {
		return os.Chmod(path, mode|need)
	}
	return nil
}

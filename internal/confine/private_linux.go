package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// conceal mounts an empty folder over each private folder, with only what is kept in it, which was opened before.
func conceal(private []string, kept []*os.File) error {
	empty := func(dir string) error {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil // in another private folder
		}
		return unix.Mount("none", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=256k,mode=0755")
	}
	for _, dir := range private {
		if err := empty(dir); err != nil {
			return err
		}
	}
	for _, f := range kept {
		if err := bind(f); err != nil {
			return err
		}
		for _, dir := range nested(f.Name(), private) {
			if err := empty(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// bind mounts an open file or folder at its own path again, which a mount has hidden.
func bind(f *os.File) error {
	stat, err := f.Stat()
	if err == nil && stat.IsDir() {
		err = os.MkdirAll(f.Name(), 0o700)
	} else if err == nil {
		if err = os.MkdirAll(filepath.Dir(f.Name()), 0o700); err == nil {
			var made *os.File
			if made, err = os.OpenFile(f.Name(), os.O_CREATE, 0o600); err == nil {
				err = made.Close()
			}
		}
	}
	return errors.Join(err, unix.Mount(byDescriptor(f), f.Name(), "", unix.MS_BIND|unix.MS_REC, ""))
}

// besides returns the files and folders that contain everything below a folder except private folders, without links:
// what they lead to is in the list itself. Landlock cannot take anything out of a folder.
func besides(dir string, private []string) (list []string, err error) {
	if len(private) == 0 {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&os.ModeSymlink != 0 || slices.Contains(private, path) {
			continue
		}
		more, err := besides(path, nested(path, private))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, err
}

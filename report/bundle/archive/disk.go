package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
)

// disk is the file system: all of it, or only a file or folder at, which is named name. Paths are then those below
// name, and no link is followed there.
type disk struct{ name, at string }

var errLink = errors.New("a link, which is not followed")

// all reports whether everything on the disk can be seen.
func (d disk) all() bool { return d.at == "" }

// real returns the real place of a path.
func (d disk) real(path string) (string, error) {
	if d.all() {
		return path, nil
	}
	rest, below := strings.CutPrefix(filepath.Clean(path), d.name)
	if !below || rest != "" && rest[0] != filepath.Separator {
		return "", &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	at := d.at
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, string(filepath.Separator)), string(filepath.Separator)) {
		if part == "" {
			continue
		}
		at = filepath.Join(at, part)
		stat, err := os.Lstat(at)
		if err != nil {
			return "", d.called(path, err)
		}
		if stat.Mode()&fs.ModeSymlink != 0 {
			return "", &fs.PathError{Op: "open", Path: path, Err: errLink}
		}
	}
	return at, nil
}

// called returns an error about a path as that is called.
func (d disk) called(path string, err error) error {
	var of *fs.PathError
	if d.all() || !errors.As(err, &of) {
		return err
	}
	return &fs.PathError{Op: of.Op, Path: path, Err: of.Err}
}

func (d disk) stat(path string) (fs.FileInfo, error) {
	at, err := d.real(path)
	if err != nil {
		return nil, err
	}
	stat, err := os.Stat(at)
	return stat, d.called(path, err)
}

func (d disk) open(path string) (files.File, error) {
	at, err := d.real(path)
	if err != nil {
		return nil, err
	}
	f, err := files.Disk.Open(at)
	return f, d.called(path, err)
}

func (d disk) names(path string) ([]string, error) {
	at, err := d.real(path)
	if err != nil {
		return nil, err
	}
	names, err := files.Disk.Names(at)
	return names, d.called(path, err)
}

// existing returns the longest part of a path that is on the disk, without @TICK.
func (d disk) existing(path string) (string, fs.FileInfo) {
	for path = filepath.Clean(path); ; {
		if stat, err := d.stat(path); err == nil {
			return path, stat
		}
		if i := strings.LastIndexByte(path, '@'); i > 0 {
			if stat, err := d.stat(path[:i]); err == nil {
				return path[:i], stat
			}
		}
		parent := filepath.Dir(path)
		if parent == path {
			return "", nil
		}
		path = parent
	}
}

// Real returns a path without links, empty if it is not on the disk under that name.
func (t *Tree) Real(path string) string {
	if t.whole != nil {
		return t.whole.Real(path)
	}
	if !t.disk.all() {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if real, err = filepath.Abs(real); err != nil {
		return ""
	}
	return real
}

package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/internal/file/files"
)

// disk is what lies on the disk: everything, or only a file or folder at, which is called name. Paths
// are then those below name, and no link is followed there. Of everything, links below given folders are followed that
// lead to somewhere in a given folder.
type disk struct {
	name, at string
	given    []givenFolder
	inside   *sync.Map // of folders that were seen: whether those below given ones are in one; bool, by path
}

// givenFolder is a folder of a command line, and where it is without links.
type givenFolder struct{ path, real string }

var (
	errLink    = errors.New("a link, which is not followed")
	errOutside = errors.New("a link that leads out of the folders that were given, which is not followed; name its target to read it")
)

// give adds a folder of the command line.
func (d *disk) give(path string) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err == nil {
		d.given = append(d.given, givenFolder{filepath.Clean(path), real})
	}
}

// leadsOut reports whether a path below a given folder is, by a link, in none of them. It also returns what it saw at the
// path, nil for a link or if it did not look.
func (d disk) leadsOut(path string) (out bool, seen fs.FileInfo) {
	for _, g := range d.given {
		rest, below := strings.CutPrefix(path, g.path)
		if g.path == "." && !filepath.IsAbs(path) {
			rest, below = string(filepath.Separator)+path, path != "."
		}
		if !below || rest == "" || rest[0] != filepath.Separator {
			continue
		}
		if out, known := d.inside.Load(path); known {
			return !out.(bool), nil
		}
		stat, err := os.Lstat(path)
		if err != nil {
			return false, nil // the error is of who opens it
		}
		out, _ := d.leadsOut(filepath.Dir(path))
		link := stat.Mode()&fs.ModeSymlink != 0
		if !out && link {
			real, err := filepath.EvalSymlinks(path)
			if err == nil {
				real, err = filepath.Abs(real)
			}
			out = err == nil && !slices.ContainsFunc(d.given, func(g givenFolder) bool {
				rest, below := strings.CutPrefix(real, strings.TrimSuffix(g.real, string(filepath.Separator)))
				return below && (rest == "" || rest[0] == filepath.Separator)
			})
		}
		if out || stat.IsDir() {
			d.inside.Store(path, !out)
		}
		if link {
			stat = nil
		}
		return out, stat
	}
	return false, nil
}

// all reports whether everything on the disk can be seen.
func (d disk) all() bool { return d.at == "" }

// real returns the real place of a path, and what is there if that is known.
func (d disk) real(path string) (at string, seen fs.FileInfo, err error) {
	if d.all() {
		out, seen := d.leadsOut(filepath.Clean(path))
		if out {
			return "", nil, &fs.PathError{Op: "open", Path: path, Err: errOutside}
		}
		return path, seen, nil
	}
	rest, below := strings.CutPrefix(filepath.Clean(path), d.name)
	if !below || rest != "" && rest[0] != filepath.Separator {
		return "", nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	at = d.at
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, string(filepath.Separator)), string(filepath.Separator)) {
		if part == "" {
			continue
		}
		at = filepath.Join(at, part)
		if _, folder := d.inside.Load(at); folder {
			seen = nil
			continue
		}
		if seen, err = os.Lstat(at); err != nil {
			return "", nil, d.called(path, err)
		}
		if seen.Mode()&fs.ModeSymlink != 0 {
			return "", nil, &fs.PathError{Op: "open", Path: path, Err: errLink}
		}
		if seen.IsDir() {
			d.inside.Store(at, true)
		}
	}
	return at, seen, nil
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
	at, stat, err := d.real(path)
	if err != nil || stat != nil {
		return stat, err
	}
	stat, err = os.Stat(at)
	return stat, d.called(path, err)
}

// open opens a file, or only a regular one.
func (d disk) open(path string, regular bool) (f files.File, err error) {
	at, seen, err := d.real(path)
	if err == nil && seen == nil && regular {
		seen, err = os.Stat(at)
		err = d.called(path, err)
	}
	switch {
	case err != nil:
		return nil, err
	case seen != nil && seen.Mode().IsRegular():
		f, err = files.OpenUnpolled(at)
	case regular && !seen.IsDir():
		return nil, files.NotRegular(path)
	default:
		f, err = files.Disk.Open(at)
	}
	return f, d.called(path, err)
}

func (d disk) names(path string) ([]string, error) {
	at, _, err := d.real(path)
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

package archive

import (
	"io/fs"
	"path/filepath"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// Show makes a folder on the disk appear at a path that need not exist, as an archive does: files that were made for
// this session, under their name in reports. Links in it are left out. It replaces the folder that was shown there
// before.
func (t *Tree) Show(path, dir string) error {
	if t.whole != nil {
		return t.whole.Show(path, dir)
	}
	root := newFolder(filepath.Base(path))
	entries := 0
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if entries++; entries > t.limits.Entries {
			return limits.Entries.Reached(path, int64(entries))
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		root.put(filepath.ToSlash(name), &node{size: info.Size(), open: func(*node) (files.File, error) {
			f, _, err := disk{}.bounded(at, false)
			return f, err
		}})
		return nil
	})
	if err != nil {
		return err
	}
	clean := filepath.Clean(path)
	t.keeper.forget(clean)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mounts[clean] = root
	if t.shown == nil {
		t.shown = map[string]bool{}
	}
	t.shown[clean] = true
	return nil
}

// Shown returns the path that Show was given for the folder of a file, empty if it is in none.
func (t *Tree) Shown(path string) string {
	if t.whole != nil {
		return t.whole.Shown(path)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.shown) == 0 {
		return ""
	}
	for at := filepath.Clean(path); ; {
		if t.shown[at] {
			return at
		}
		parent := filepath.Dir(at)
		if parent == at || len(parent) > len(at) {
			return ""
		}
		at = parent
	}
}

// Modified returns when an entry of an archive was last changed, as the archive has it; zero if the archive does not
// contain it, and for files outside of archives: the times of files on the disk belong to a copy.
func (t *Tree) Modified(path string) time.Time {
	if t.whole != nil {
		return t.whole.Modified(path)
	}
	n, err := t.find(path)
	if n == nil || err != nil {
		return time.Time{}
	}
	return n.time
}

package archive

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/desynctool/desynctool/internal/file/files"
)

// Usage is how much of the given files was read.
type Usage struct {
	Given, Files int64 // bytes and files below the paths; unpacked ones for archives
	Read, Opened int64 // bytes that were read, some more than once, and files that were opened
	Opens        int64 // how often, those included that were opened again
}

// String describes it in a line.
func (u Usage) String() string {
	share := 0.0
	if u.Given > 0 {
		share = float64(u.Read) / float64(u.Given)
	}
	return fmt.Sprintf("read %d bytes, %.2f times the %d that were given; opened %d of %d files, %.2f times each", u.Read, share, u.Given, u.Opened, u.Files, float64(u.Opens)/float64(max(u.Opened, 1)))
}

// Usage returns how much of the files below some paths was read, if Options.Count is set.
func (t *Tree) Usage(paths []string) Usage {
	if t.whole != nil {
		return t.whole.Usage(paths)
	}
	u := Usage{Read: t.meter.read.Load(), Opens: t.meter.opens.Load()}
	t.meter.opened.Range(func(any, any) bool { u.Opened++; return true })
	for _, path := range paths {
		t.weigh(filepath.Clean(path), maxFolders, &u)
	}
	return u
}

func (t *Tree) weigh(path string, deeper int, u *Usage) {
	stat, err := t.Stat(path)
	if err != nil {
		return
	}
	if !stat.IsDir() {
		u.Given += stat.Size()
		u.Files++
		return
	}
	names, err := t.Names(path)
	if err != nil || deeper == 0 {
		return
	}
	for _, name := range names {
		t.weigh(filepath.Join(path, name), deeper-1, u)
	}
}

// meter counts what is read.
type meter struct {
	on     bool
	read   atomic.Int64
	opened sync.Map // paths
	opens  atomic.Int64
}

// count counts the bytes that are read of an opened file, if Options.Count is set.
func (m *meter) count(path string, f files.File, err error) (files.File, error) {
	if err != nil || !m.on {
		return f, err
	}
	m.opened.Store(filepath.Clean(path), true)
	m.opens.Add(1)
	return &files.Counted{File: f, Count: func(n int) { m.read.Add(int64(n)) }}, nil
}

// SizeOnDisk returns how many bytes the files at some paths have on the disk, archives as they are packed. A state of a
// file, or a file in an archive, counts as the whole file on the disk.
func SizeOnDisk(paths []string) (bytes int64) {
	for _, path := range paths {
		if at := strings.LastIndexByte(path, '@'); at > 0 && !exists(path) {
			path = path[:at]
		}
		for path = filepath.Clean(path); !exists(path) && filepath.Dir(path) != path; {
			path = filepath.Dir(path)
		}
		_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					bytes += info.Size()
				}
			}
			return nil
		})
	}
	return bytes
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/files"
)

// locked is the life of a worker for a folder. It is a locked file in the folder. On systems without such locks, it is
// an open file, which cannot be removed.
type locked struct {
	dir  string
	file *os.File
	name string
}

// workersDir is the folder of these files in the store's folder.
const workersDir = "workers"

func newLocked(store string) (*locked, error) {
	l := &locked{dir: filepath.Join(store, workersDir)}
	if err := os.MkdirAll(l.dir, 0o777); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(l.dir); err == nil {
		for _, e := range entries { // left by killed workers, which have no jobs any more
			l.runs(e.Name())
		}
	}
	for {
		l.name = workerID(rand.Int32())
		f, err := os.OpenFile(filepath.Join(l.dir, l.name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		own, err := f.Stat()
		if err == nil {
			err = files.Lock(f)
		}
		there, gone := os.Lstat(f.Name())
		if err != nil || gone != nil || !os.SameFile(own, there) { // removed before it was locked
			f.Close()
			continue
		}
		l.file = f
		if !l.runs(l.name) {
			return nil, errors.Join(fmt.Errorf("%s: this file system has no locks, so that nobody knows which workers run; use a folder on a disk of this machine, or PostgreSQL", l.dir), l.Close())
		}
		return l, nil
	}
}

func (l *locked) id() string { return l.name }

func (l *locked) keep(context.Context) error { return nil }

func (l *locked) alive(_ context.Context, ids []string) (map[string]bool, error) {
	alive := map[string]bool{}
	for _, id := range ids {
		alive[id] = l.runs(id)
	}
	return alive, nil
}

// runs reports whether the worker of a file runs. If it does not, runs removes the file.
func (l *locked) runs(id string) bool {
	path := filepath.Join(l.dir, filepath.Base(id))
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	if files.Lock(f) != nil {
		f.Close()
		return true
	}
	removed := os.Remove(path) == nil // while nobody else can lock it
	f.Close()
	if removed {
		return false
	}
	err = os.Remove(path)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

func (l *locked) Close() error {
	return errors.Join(l.file.Close(), os.Remove(l.file.Name()))
}

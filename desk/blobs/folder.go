package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	incoming = "incoming"    // subfolder for files that are being written
	left     = 6 * time.Hour // age at which a file there counts as abandoned
)

// folder is a store on a file system. A blob gets its name by a rename, which is the only step that others see. If two
// processes write the same blob, even on different machines, the second replaces the first with the same bytes.
type folder struct {
	dir string

	mu      sync.Mutex
	shelves map[string]bool // two-digit folders that exist and are synced
}

func openFolder(dir string) (*folder, error) {
	if dir == "" {
		return nil, errors.New("a store of bundles needs a folder, or s3://BUCKET/PREFIX")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, incoming), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := errors.Join(syncFolder(filepath.Dir(filepath.Clean(dir))), syncFolder(dir)); err != nil {
		return nil, err
	}
	f := &folder{dir: dir, shelves: map[string]bool{}}
	return f, f.tidy(time.Now().Add(-left))
}

// tidy removes files left by writers that were killed before some time.
func (f *folder) tidy(before time.Time) error {
	dir := filepath.Join(f.dir, incoming)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may have removed it
		}
	}
	return nil
}

func (f *folder) path(hash string) string { return filepath.Join(f.dir, filepath.FromSlash(key(hash))) }

// create creates a file with a name that no other process knows.
func (f *folder) create() (*os.File, error) {
	for {
		name := filepath.Join(f.dir, incoming, fmt.Sprintf("%016x%s", rand.Uint64(), suffix))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

// Put implements Store.
func (f *folder) Put(ctx context.Context, r io.Reader, limit int64) (k Kept, err error) {
	file, err := f.create()
	if err != nil {
		return Kept{}, err
	}
	published := false
	defer func() {
		file.Close()
		if !published {
			os.Remove(file.Name())
		}
		if err != nil {
			k = Kept{}
		}
	}()
	if k, err = pour(ctx, file, r, limit); err != nil {
		return k, err
	}
	path := f.path(k.Hash)
	old, err := os.Lstat(path)
	if err == nil && old.Mode().IsRegular() && old.Size() == k.Stored && time.Since(old.ModTime()) < settled {
		// The process that renamed it may not have synced the folder yet.
		return k, syncFolder(filepath.Dir(path))
	}
	k.New = errors.Is(err, fs.ErrNotExist)
	if err := file.Sync(); err != nil {
		return k, err
	}
	if err := file.Close(); err != nil {
		return k, err
	}
	if err := f.shelf(k.Hash[:2]); err != nil {
		return k, err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return k, err
	}
	published = true
	return k, syncFolder(filepath.Dir(path))
}

// shelf creates a two-digit folder.
func (f *folder) shelf(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shelves[name] {
		return nil
	}
	if err := os.Mkdir(filepath.Join(f.dir, name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncFolder(f.dir); err != nil {
		return err
	}
	f.shelves[name] = true
	return nil
}

// Open implements Store.
func (f *folder) Open(_ context.Context, hash string) (io.ReadCloser, error) {
	if err := checkHash(hash); err != nil {
		return nil, err
	}
	path := f.path(hash)
	if stat, err := os.Lstat(path); err == nil && !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: bundle %s: %w: it is not a regular file", f.dir, hash, ErrDamaged)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(f.dir, hash)
	}
	if err != nil {
		return nil, err
	}
	return newContent(f.dir, hash, file)
}

// Delete implements Store.
func (f *folder) Delete(_ context.Context, hash string) error {
	if err := checkHash(hash); err != nil {
		return err
	}
	path := f.path(hash)
	if err := os.Remove(path); err != nil {
		return ignoreMissing(err)
	}
	return syncFolder(filepath.Dir(path))
}

// DeleteBefore implements Store. It moves the file away before it finally checks the time. A file that Put writes
// meanwhile is put back, or stays.
func (f *folder) DeleteBefore(_ context.Context, hash string, t time.Time) (gone bool, err error) {
	if err := checkHash(hash); err != nil {
		return false, err
	}
	path := f.path(hash)
	stat, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !stat.ModTime().Before(t) {
		return false, err
	}
	aside := filepath.Join(f.dir, incoming, fmt.Sprintf("%016x.gone", rand.Uint64()))
	if err := os.Rename(path, aside); err != nil {
		return errors.Is(err, fs.ErrNotExist), ignoreMissing(err)
	}
	if stat, err = os.Lstat(aside); err != nil || !stat.ModTime().Before(t) {
		return false, errors.Join(err, os.Rename(aside, path))
	}
	return true, errors.Join(os.Remove(aside), syncFolder(filepath.Dir(path)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List implements Store.
func (f *folder) List(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for shelf := range 256 {
			name := fmt.Sprintf("%02x", shelf)
			entries, err := os.ReadDir(filepath.Join(f.dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(Info{}, err)
				return
			}
			for _, e := range entries {
				hash := hashOf(name + "/" + e.Name())
				stat, err := e.Info()
				if hash == "" || errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
					continue
				}
				if err != nil {
					yield(Info{}, err)
					return
				}
				if !yield(Info{Hash: hash, Stored: stat.Size(), Kept: stat.ModTime()}, nil) {
					return
				}
			}
		}
	}
}

// syncFolder syncs the names in a folder to the disk. Systems and file systems without this operation store names like
// files.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

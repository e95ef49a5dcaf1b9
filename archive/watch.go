package archive

import (
	"sync"

	"github.com/desynctool/desynctool/internal/file/files"
)

// Watch calls report with the number of bytes read from all files that are opened from now on, and their total size.
func (t *Tree) Watch(report func(done, total int64)) {
	if t.whole != nil {
		t.whole.Watch(report)
		return
	}
	t.watch = &watch{report: report}
}

// watch counts the bytes that are read of files. It is nil if they are not counted.
type watch struct {
	report func(done, total int64)

	mu          sync.Mutex
	done, total int64
}

func (w *watch) file(f files.File) (files.File, error) {
	if w == nil {
		return f, nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, nil // how it is read does not depend on the watch
	}
	one := &watchedFile{watch: w, left: info.Size()}
	one.Counted = &files.Counted{File: f, Count: one.read}
	w.move(0, one.left)
	return one, nil
}

func (w *watch) move(done, total int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += done
	w.total += total
	w.report(w.done, w.total)
}

// watchedFile is a file that counts its bytes once, in whatever order they are read.
type watchedFile struct {
	*files.Counted
	watch *watch

	mu   sync.Mutex
	left int64 // bytes that do not count yet
}

func (f *watchedFile) read(count int) {
	f.mu.Lock()
	n := min(int64(count), f.left)
	f.left -= n
	f.mu.Unlock()
	if n > 0 {
		f.watch.move(n, 0)
	}
}

// Close subtracts the bytes that were not read.
func (f *watchedFile) Close() error {
	f.mu.Lock()
	left := f.left
	f.left = 0
	f.mu.Unlock()
	f.watch.move(0, -left)
	return f.Counted.Close()
}

package main

import (
	"sync"

	"github.com/desynctool/desynctool/orderlog/files"
)

// watch returns a tree like the one given, with a bar for what is read of all files
// that are opened in it, and a function that ends the bar.
func (e *env) watch(tree files.Tree, what string) (files.Tree, func()) {
	report, end := e.progress(what, "")
	if report == nil {
		return tree, end
	}
	return &watchedTree{Tree: tree, report: report}, end
}

// watchedTree counts what is read of its files.
type watchedTree struct {
	files.Tree
	report func(done, total int64)

	mu          sync.Mutex
	done, total int64
}

func (t *watchedTree) Open(path string) (files.File, error) {
	f, err := t.Tree.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, nil // how it is read does not depend on the bar
	}
	w := &watchedFile{tree: t, left: info.Size()}
	w.File = files.Counted{File: f, Count: w.read}
	t.move(0, w.left)
	return w, nil
}

func (t *watchedTree) move(done, total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += done
	t.total += total
	t.report(t.done, t.total)
}

// watchedFile is a file whose bytes count once, in whatever order they are read.
type watchedFile struct {
	files.File
	tree *watchedTree

	mu   sync.Mutex
	left int64 // bytes that do not count yet
}

func (f *watchedFile) read(count int) {
	f.mu.Lock()
	n := min(int64(count), f.left)
	f.left -= n
	f.mu.Unlock()
	if n > 0 {
		f.tree.move(n, 0)
	}
}

// Close takes back what was not read.
func (f *watchedFile) Close() error {
	f.mu.Lock()
	left := f.left
	f.left = 0
	f.mu.Unlock()
	f.tree.move(0, -left)
	return f.File.Close()
}

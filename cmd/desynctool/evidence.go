package main

import (
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/evidence/archive"
	"github.com/desynctool/desynctool/report/formats"
)

// open returns the tree that paths of the command line are read from, archives as
// folders. Empty paths are none.
func (e *env) open(paths ...string) (*archive.Tree, error) {
	return e.openWith(archive.Options{}, paths...)
}

// openWith is open with other limits.
func (e *env) openWith(options archive.Options, paths ...string) (*archive.Tree, error) {
	given := make([]string, 0, len(paths))
	for _, path := range paths {
		if path != "" && (path != archive.Stdin || options.Stdin != nil) {
			given = append(given, path)
		}
	}
	progress, end := e.progress("reading the archive", "")
	defer end()
	options.Progress, options.Known = progress, formats.Pasted()
	return archive.Open(given, options)
}

// openRecording reads one order log, whole.
func (e *env) openRecording(path string) (*evidence.Recording, error) {
	tree, err := e.open(path)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	recording, err := evidence.OpenRecording(tree, path)
	return recording, tree.Explain(err)
}

// watch shows a bar for what is read of all files that are opened in a tree, until the
// function that it returns is called.
func (e *env) watch(tree *archive.Tree, what string) (end func()) {
	report, end := e.progress(what, "")
	if report != nil {
		tree.Watch(report)
	}
	return end
}

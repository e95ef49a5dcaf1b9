package main

import (
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
		if path != "" && path != "-" {
			given = append(given, path)
		}
	}
	progress, end := e.progress("reading the archive", "")
	defer end()
	options.Progress = progress
	return archive.Open(given, options)
}

// openSession reads the session of one order log, whole.
func (e *env) openSession(path string) (*formats.Session, error) {
	tree, err := e.open(path)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	session, err := formats.OpenSession(tree, path)
	return session, tree.Explain(err)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
)

// open returns the tree for paths on the command line, with archives as folders, for a command that reads and plays
// nothing: limits.CPU bounds it. It ignores empty paths.
func (e *env) open(paths ...string) (*archive.Tree, error) {
	return e.openWith(e.reading(paths), paths...)
}

// openToPlay is open for a command that plays what it reads.
func (e *env) openToPlay(paths ...string) (*archive.Tree, error) {
	return e.openWith(archive.Options{Context: e.Context}, paths...)
}

// reading bounds a command that reads some paths, and returns its options.
func (e *env) reading(paths []string) archive.Options {
	e.Bound(func() int64 {
		onDisk := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == "" || path == archive.Stdin })
		return archive.SizeOnDisk(onDisk) + e.piped.Load()
	})
	return archive.Options{Context: e.Context}
}

// piped is stdin. It counts what is read.
type piped struct {
	io.Reader
	read *atomic.Int64
}

func (p piped) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read.Add(int64(n))
	return n, err
}

// openWith is open with other options.
func (e *env) openWith(options archive.Options, paths ...string) (*archive.Tree, error) {
	given := make([]string, 0, len(paths))
	for _, path := range paths {
		if path != "" && (path != archive.Stdin || options.Stdin != nil) {
			given = append(given, path)
		}
	}
	progress, end := e.Progress("reading the archive", "")
	defer end()
	options.Progress, options.Known = progress, formats.Pasted()
	if e.game != "" {
		page, err := survey.Read(e.game)
		if err != nil {
			return nil, err
		}
		options.Description = page
	}
	return archive.Open(given, options)
}

// openRecording reads one whole order log.
func (e *env) openRecording(path string) (*bundle.Recording, error) {
	tree, err := e.openToPlay(path)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	recording, err := bundle.OpenRecording(tree, path)
	return recording, tree.Explain(err)
}

// watch shows a progress bar for reading all files that are opened in a tree, until end is called.
func (e *env) watch(tree *archive.Tree, what string) (end func()) {
	report, end := e.Progress(what, "")
	if report != nil {
		tree.Watch(report)
	}
	return end
}

// addGame adds the flag --game, which names the page with the description of the game's files.
func addGame(e *env, cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.game, "game", "", "read the files as this page describes them, not as desynctool.toml does")
}

// addMatch adds the flag --match, which selects one of several matches.
func addMatch(cmd *cobra.Command) *matchFlag {
	m := &matchFlag{}
	cmd.Flags().IntVarP(&m.number, "match", "m", 0, "use only the match with this number, if there are several")
	m.given = func() bool { return cmd.Flags().Changed("match") }
	return m
}

// matchFlag is the flag --match.
type matchFlag struct {
	number int
	given  func() bool
}

// named returns the number, nil if none was given.
func (m *matchFlag) named() *int {
	if !m.given() {
		return nil
	}
	return &m.number
}

// session opens the match below some paths that --match selects. Without --match, several matches are an error, except
// for files of other seeds, which every command omits anyway; with force all of them are used.
func (e *env) session(tree *archive.Tree, paths []string, m *matchFlag, force bool) (*bundle.Session, error) {
	matches, err := bundle.OpenMatches(tree, paths)
	if err != nil {
		return nil, err
	}
	if m.given() {
		x, err := chosen(matches, m)
		if err != nil {
			return nil, err
		}
		e.Warn(x.Doubts)
		return x.Open()
	}
	s, err := matches.Whole()
	if n := len(matches.List); n > 1 && !force {
		switch {
		case err == nil && matches.OnlySeeds():
			e.Warn([]string{fmt.Sprintf("files of %d matches; --match N takes only the files of one: %s", n, matches)})
			return s, nil
		case err == nil:
			err = errors.New("files of several matches")
		}
		return nil, fmt.Errorf("%w; --match N takes the files of one: %s", err, matches)
	}
	if n := len(matches.List); n == 1 && err == nil {
		e.Warn(matches.List[0].Doubts)
	}
	return s, err
}

// chosen returns the match that --match selects, else the only one.
func chosen(matches *bundle.Matches, m *matchFlag) (*bundle.Match, error) {
	if !m.given() {
		return matches.List[0], nil
	}
	return matches.Get(m.number)
}

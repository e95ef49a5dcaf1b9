// Package archive shows archives as folders, including archives in archives, and pasted texts as the files in them.
//
// An archive appears as a folder at its own path, so that the file host/x.snap in report.zip is report.zip/host/x.snap,
// and everything that reads folders reads archives. Nothing is unpacked to the disk. Zip archives and plain tar
// archives are read in place, and deflated entries are inflated as far as they are read; compressed tar archives are
// read once and kept in memory. If everything in an archive is in one folder, the names leave it out.
//
// A text in which package paste finds several files, for example a diff of two, is also a folder; a text with a single
// file is that file, without the text around it.
//
// Nothing in an archive is trusted: [Options] bounds its unpacked size, and entries with names that lead elsewhere,
// links, encrypted entries and the like are left out and listed by Lost.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/archive/paste"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/prose"
)

// Options bounds archives. Zero numbers have the values of package limits.
type Options struct {
	// Total is how many bytes of unpacked content all archives together may keep in memory: limits.Archive.
	Total int64
	// Ratio is how many times larger than its compressed bytes content may be, beyond
	// its first Free bytes: limits.Ratio and limits.Free.
	Ratio, Free int64
	// Entries is how many entries an archive may have: limits.Entries.
	Entries int

	// At, if not empty, is a file or folder on the disk that appears at the path Name, also in errors. Nothing else on
	// the disk is seen then, and links below it are not followed.
	Name, At string

	// Description describes the files of the game, nil if a page next to them does, or nothing.
	Description *description.Description

	// Known is what is recognised in texts that people paste. The zero value leaves them as they are.
	Known paste.Known

	// Stdin, if not nil, is read for the path -.
	Stdin io.Reader
	// Memory keeps the content of Stdin in memory, whatever its size: for a process that must not make files.
	Memory bool

	// Context, if not nil, ends all reading when it is done: with its cause.
	Context context.Context

	// Count counts the bytes that are read, for Tree.Usage.
	Count bool

	// Beside, if not nil, is a tree of the same paths: while it is open, small files in archives that it has in memory
	// are not read again.
	Beside *Tree

	// Progress, if not nil, is called with how many bytes of a compressed archive have been read.
	Progress func(done, total int64)
}

// maxName is the length in bytes of the longest name of an entry, and maxFolders how many folders deep it may be.
const (
	maxName    = 1024
	maxFolders = 32
)

func (l *Options) setDefaults() {
	if l.Total == 0 {
		l.Total = limits.Archive.Max()
	}
	if l.Ratio == 0 {
		l.Ratio = limits.Ratio.Max()
	}
	if l.Free == 0 {
		l.Free = limits.Free.Max()
	}
	if l.Entries == 0 {
		l.Entries = int(limits.Entries.Max())
	}
}

// Tree is the disk with archives as folders.
type Tree struct {
	limits Options
	disk   disk
	held   limits.Held // content in memory
	meter  meter
	watch  *watch
	keeper keeper

	// Of a tree that Cut returned, the whole one and the parts that are shown.
	whole *Tree
	parts map[string][]Span

	laid Layout

	holding sync.Mutex // of held
	packed  int64      // bytes of all archives on the disk or from stdin
	entries int64      // of all archives

	mu      sync.Mutex
	mounts  map[string]*node // roots of archives by their cleaned paths; nil for files that are none
	shown   map[string]bool  // paths that Show was given
	closers []io.Closer
	lost    files.Notes
	notes   files.Notes
}

// Description returns the given page, nil if there is none.
func (t *Tree) Description() *description.Description {
	if t.whole != nil {
		return t.whole.Description()
	}
	return t.limits.Description
}

// Open returns the tree of some paths, as a command line gives them: files, folders, archives, or files in archives,
// perhaps followed by @TICK. Given files are recognised as archives by their content, files in folders by name and
// content. A given archive that cannot be read is an error; if there are several paths, an archive of a kind that is
// not read is a plain file. The caller must Close the tree.
func Open(paths []string, limits Options) (*Tree, error) {
	limits.setDefaults()
	t := &Tree{limits: limits, mounts: map[string]*node{}}
	if limits.At != "" {
		t.disk = disk{name: filepath.Clean(limits.Name), at: limits.At}
	}
	t.disk.inside = new(sync.Map)
	t.meter.on = limits.Count
	if limits.Beside != nil {
		t.keeper.beside = &limits.Beside.keeper
	}
	var given []os.FileInfo // archives
	for _, path := range paths {
		if path == Stdin && limits.Stdin != nil {
			if err := t.mountStdin(limits.Stdin); err != nil {
				t.Close()
				return nil, err
			}
			continue
		}
		onDisk, stat := t.disk.existing(path)
		if stat == nil || !stat.Mode().IsRegular() {
			if stat != nil && stat.IsDir() && t.disk.all() {
				t.disk.give(onDisk)
			}
			continue
		}
		root, err := t.mount(onDisk, true)
		if errors.Is(err, frame.ErrUnrecognized) && len(paths) > 1 {
			t.mounts[onDisk] = nil // an ordinary file; the code that opens it determines its kind
			continue
		}
		if err == nil && root != nil && onDisk == filepath.Clean(path) {
			if slices.ContainsFunc(given, func(other os.FileInfo) bool { return os.SameFile(other, stat) }) {
				err = fmt.Errorf("%s: given twice", path)
			}
			given = append(given, stat)
		}
		if err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

// Lost lists what could not be used in the archives, after the search for files of interest.
func (t *Tree) Lost() files.Notes {
	if t.whole != nil {
		return t.whole.Lost()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lost)
}

// Warnings lists what is odd about the archives but harmless.
func (t *Tree) Warnings() files.Notes {
	if t.whole != nil {
		return t.whole.Warnings()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.notes)
}

// Archives returns the paths of the archives that were opened, in order.
func (t *Tree) Archives() (paths []string) {
	if t.whole != nil {
		return t.whole.Archives()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for path, root := range t.mounts {
		if root != nil {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Close closes the archives. Files that were opened in them cannot be read any more.
func (t *Tree) Close() error {
	if t.whole != nil {
		return t.whole.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.keeper.Close()
	t.held.Free()
	for _, c := range t.closers {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	t.closers = nil
	return first
}

// hold accounts for content in memory; a negative n gives it back.
func (t *Tree) hold(n int64) error {
	t.holding.Lock()
	defer t.holding.Unlock()
	all := t.held.Bytes() + n
	switch {
	case n <= 0:
	case all > t.limits.Total:
		return fmt.Errorf("unpack the archive to a folder: %w", limits.Archive.Reached("", 0))
	case all > t.limits.Free && all/t.limits.Ratio > t.packed: // archives in archives together
		return fmt.Errorf("unpack the archive to a folder: %w", limits.Ratio.Reached("", 0))
	}
	return t.held.Resize("", all)
}

// enter accounts for entries of an archive.
func (t *Tree) enter(n int64) error {
	t.holding.Lock()
	defer t.holding.Unlock()
	if t.entries += n; t.entries > limits.FreeEntries && (t.entries-limits.FreeEntries)*1024 > limits.Density.Max()*t.packed {
		return limits.Density.Reached("", 0)
	}
	return nil
}

// count adds an archive on the disk or from stdin to the bytes by which hold bounds the content.
func (t *Tree) count(size int64) {
	t.holding.Lock()
	t.packed += size
	t.holding.Unlock()
}

// mount returns the root of the archive at a path on the disk, nil if it is not an archive. Given means that a person
// named it, so its content counts whatever its name, and an archive that cannot be read is an error.
func (t *Tree) mount(path string, given bool) (*node, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if root, seen := t.mounts[path]; seen {
		return root, nil
	}
	if !given && !t.named(path) {
		return nil, nil
	}
	f, err := t.disk.open(path, false)
	if err != nil {
		if given {
			return nil, err
		}
		return nil, nil // the code that opens it will report that
	}
	if stat, err := f.Stat(); err == nil {
		t.count(stat.Size())
	}
	a := &archive{tree: t, path: path, depth: 1}
	root, keep, err := a.read(f)
	if keep {
		t.closers = append(t.closers, f)
	} else {
		f.Close()
	}
	a.report()
	if err != nil && given {
		return nil, err
	}
	if err != nil {
		t.lost = append(t.lost, failed(path, err))
	}
	t.mounts[path] = root
	return root, nil
}

// find returns the entry at a path that leads into an archive. The error is set if there is no such entry.
func (t *Tree) find(path string) (*node, error) {
	clean := filepath.Clean(path)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.mounts) == 0 {
		return nil, nil
	}
	for at := clean; ; {
		if root := t.mounts[at]; root != nil {
			rest := filepath.ToSlash(strings.TrimPrefix(clean[len(at):], string(filepath.Separator)))
			if n := root.at(rest); n != nil {
				return n, nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		parent := filepath.Dir(at)
		if parent == at || len(parent) > len(at) {
			return nil, nil
		}
		at = parent
	}
}

// Stat implements files.Tree.
func (t *Tree) Stat(path string) (fs.FileInfo, error) {
	if t.whole != nil {
		return t.statCut(path)
	}
	path = t.laidAt(path)
	n, err := t.find(path)
	if err != nil {
		return nil, err
	}
	if n != nil {
		return n, nil
	}
	stat, err := t.disk.stat(path)
	if err != nil || !stat.Mode().IsRegular() || !t.named(path) {
		return stat, err
	}
	root, err := t.mount(filepath.Clean(path), false)
	if err != nil {
		return nil, err
	}
	if root != nil {
		return root, nil
	}
	return stat, nil
}

// Open implements files.Tree.
func (t *Tree) Open(path string) (files.File, error) { return t.open(path, false) }

// OpenRegular opens a file that can be read at any offset, or a folder, see [files.OpenRegular].
func (t *Tree) OpenRegular(path string) (files.File, error) {
	if t.whole == nil && t.named(path) {
		if _, err := t.Stat(path); err != nil { // it may be an archive
			return nil, err
		}
	}
	return t.open(path, true)
}

func (t *Tree) open(path string, regular bool) (files.File, error) {
	if err := t.limits.ended(); err != nil {
		return nil, err
	}
	if t.whole != nil {
		if spans, ok := t.cutOf(path); ok {
			return t.openCut(path, spans)
		}
		return t.whole.open(path, regular)
	}
	path = t.laidAt(path)
	n, err := t.find(path)
	if err != nil {
		return nil, err
	}
	if n == nil {
		f, err := t.keeper.get(path, nil, func() (files.File, fs.FileInfo, error) {
			f, stat, err := t.disk.bounded(path, regular)
			if err == nil {
				if err = t.limits.dense(stat); err != nil {
					f.Close()
					return nil, nil, fmt.Errorf("%s: %w", path, err)
				}
			}
			f, err = t.meter.count(path, f, err)
			return f, stat, err
		})
		if err != nil {
			return nil, err
		}
		return t.watch.file(t.limits.interruptible(f))
	}
	if n.folder != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("is a folder of an archive")}
	}
	f, err := t.keeper.get(path, n, func() (files.File, fs.FileInfo, error) {
		if limits.File.Over(n.size) {
			return nil, nil, limits.File.Reached("", n.size)
		}
		f, err := n.open(n)
		f, err = t.meter.count(path, f, err)
		return f, n, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t.watch.file(f)
}

// Names implements files.Tree.
func (t *Tree) Names(path string) ([]string, error) {
	if t.whole != nil {
		return t.whole.Names(path)
	}
	if names, is := t.laid.Folders[filepath.Clean(path)]; is {
		return slices.Clone(names), nil
	}
	n, err := t.find(path)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return t.keeper.list(path, t.disk.names)
	}
	if n.folder == nil {
		return nil, &fs.PathError{Op: "readdir", Path: path, Err: fmt.Errorf("is a file of an archive")}
	}
	names := make([]string, 0, len(n.folder))
	for name := range n.folder {
		names = append(names, name)
	}
	return names, nil
}

// Explain adds to an error what was lost in the archives, which may be the reason.
func (t *Tree) Explain(err error) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	lost := slices.DeleteFunc(t.Lost().Texts(), func(lost string) bool { return strings.Contains(said, lost) })
	if len(lost) == 0 {
		return err
	}
	return fmt.Errorf("%w; %s", err, prose.Few(lost, maxReasons))
}

// maxReasons is how many lost things an error names.
const maxReasons = 20

package archive

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
)

// node is a file or folder in an archive. It is its own fs.FileInfo.
type node struct {
	name   string
	size   int64
	time   time.Time        // when it was last changed, as the archive has it; zero if the archive does not contain it
	folder map[string]*node // nil for a file
	open   func(n *node) (files.File, error)

	deflated bool // an entry of a zip archive that is inflated, as it is
}

func newFolder(name string) *node { return &node{name: name, folder: map[string]*node{}} }

func (n *node) Name() string       { return n.name }
func (n *node) Size() int64        { return n.size }
func (n *node) ModTime() time.Time { return n.time }
func (n *node) IsDir() bool        { return n.folder != nil }
func (n *node) Sys() any           { return nil }
func (n *node) Mode() fs.FileMode {
	if n.folder != nil {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// at returns what is at a path with slashes below n, nil if nothing is.
func (n *node) at(path string) *node {
	for path != "" && n != nil {
		var first string
		first, path, _ = strings.Cut(path, "/")
		n = n.folder[first]
	}
	return n
}

// put adds a file at a path that is clean. It reports what it replaces, and false if a
// folder or file of that name is in the way.
func (n *node) put(at string, file *node) (replaced *node, ok bool) {
	for {
		first, rest, deeper := strings.Cut(at, "/")
		if !deeper {
			break
		}
		next := n.folder[first]
		if next == nil {
			next = newFolder(first)
			n.folder[first] = next
		}
		if next.folder == nil {
			return nil, false
		}
		n, at = next, rest
	}
	replaced = n.folder[at]
	if replaced != nil && replaced.folder != nil {
		return nil, false
	}
	file.name = at
	n.folder[at] = file
	return replaced, true
}

// unwrapped returns the folder that holds everything: n, or the only thing in it.
func (n *node) unwrapped() *node {
	for {
		var only *node
		seen := 0
		for name, child := range n.folder {
			if name[0] == '.' {
				continue
			}
			only = child
			seen++
		}
		if seen != 1 || only.folder == nil {
			return n
		}
		n = only
	}
}

var (
	errLeadsOut = errors.New("leads out of the archive")
	errLongName = errors.New("is too long")
	errBadName  = errors.New("is not a name")
)

// cleanName returns the path that an entry has in the tree, and whether it was given
// as an absolute one. It is empty for a folder that is the root.
func cleanName(name string) (clean string, absolute bool, err error) {
	if len(name) > maxName {
		return "", false, errLongName
	}
	if strings.IndexByte(name, 0) >= 0 {
		return "", false, errBadName
	}
	name = strings.ReplaceAll(name, `\`, "/") // as some Windows programs write them
	if len(name) >= 2 && name[1] == ':' {
		name, absolute = name[2:], true
	}
	if strings.HasPrefix(name, "/") {
		absolute = true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", absolute, errLeadsOut
		}
	}
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	if strings.Count(clean, "/") >= maxFolders {
		return "", absolute, errLongName
	}
	return clean, absolute, nil
}

// part is an open file that can be read at any offset.
type part struct {
	*io.SectionReader
	info *node
}

func (p *part) Close() error               { return nil }
func (p *part) Stat() (fs.FileInfo, error) { return p.info, nil }

// inPlace returns what opens size bytes from an offset of r on.
func inPlace(r io.ReaderAt, offset, size int64) func(*node) (files.File, error) {
	return func(n *node) (files.File, error) { return &part{io.NewSectionReader(r, offset, size), n}, nil }
}

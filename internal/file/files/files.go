// Package files reads evidence from the disk, or from other sources with folders and files, such as archives.
package files

import (
	"io"
	"io/fs"
	"os"
)

// Tree is a tree of folders and files. Its paths are paths of package path/filepath, as given by the user. It is safe
// for concurrent use.
type Tree interface {
	// Open opens a file. A folder can be opened but not read.
	Open(path string) (File, error)

	// Stat describes a file or folder. It follows links.
	Stat(path string) (fs.FileInfo, error)

	// Names returns the names in a folder, in any order.
	Names(path string) ([]string, error)
}

// File is an open file. If it is not a regular file, such as a pipe, it can only be read from start to end.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Disk is the Tree of the operating system. Its files are of type *os.File.
const Disk = disk(0)

type disk int

func (disk) Open(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (disk) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (disk) Names(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// usualHandles is how many files a process may have open if the system does not report it.
const usualHandles = 1024

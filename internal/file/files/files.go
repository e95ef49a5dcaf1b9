// Package files is where evidence is read from: the disk, or whatever else looks
// like folders and files, such as archives.
package files

import (
	"io"
	"io/fs"
	"os"
)

// Tree is a tree of folders and files. Paths are those of package path/filepath,
// as a person gives them. A Tree may be used by several goroutines at once.
type Tree interface {
	// Open opens a file. A folder can be opened but not read.
	Open(path string) (File, error)

	// Stat describes a file or folder; of a link, what it leads to.
	Stat(path string) (fs.FileInfo, error)

	// Names returns the names in a folder, in no order.
	Names(path string) ([]string, error)
}

// File is an open file. What is not a regular file, such as a pipe, can only be
// read from start to end.
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

// usualHandles is how many files a process may have open where the system does not say.
const usualHandles = 1024

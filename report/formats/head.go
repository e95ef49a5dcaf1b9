package formats

import (
	"bufio"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// HeadLen is how many leading bytes of a file show its format.
const HeadLen = tracediff.SniffLen

// Head returns the leading bytes, at most [HeadLen], of the content of a file, which may be compressed.
func Head(tree files.Tree, path string) ([]byte, error) { return headOf(tree, path, HeadLen) }

// headOf is Head for so many bytes.
func headOf(tree files.Tree, path string, size int) ([]byte, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := Content(bufio.NewReaderSize(f, HeadLen), path)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	head := make([]byte, size)
	n, err := io.ReadFull(content, head)
	if err != nil && err != io.EOF && n == 0 { // else the next reader of the file reports it
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return head[:n], nil
}

// Content returns what is in a file, which may be compressed. Closing it frees what the
// decompressor holds, and leaves the file open.
func Content(r io.Reader, name string) (io.ReadCloser, error) {
	content, _, err := compression.Unpack(r, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c, ok := content.(io.ReadCloser); ok {
		return c, nil
	}
	return io.NopCloser(content), nil
}

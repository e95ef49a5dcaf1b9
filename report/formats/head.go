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
	head, _, err := begin(tree, path, size)
	if err != nil && len(head) == 0 { // else the next reader of the file reports it
		return nil, err
	}
	return head, nil
}

// Begin is Head, and also returns how the file is compressed, "" if it is not. If the file cannot be unpacked so far, it
// returns the bytes before the damage and the error.
func Begin(tree files.Tree, path string) (head []byte, packing string, err error) {
	return begin(tree, path, HeadLen)
}

func begin(tree files.Tree, path string, size int) (head []byte, packing string, err error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	content, packing, err := compression.Unpack(bufio.NewReaderSize(f, HeadLen), 0)
	if err != nil {
		return nil, packing, fmt.Errorf("%s: %w", path, err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	head = make([]byte, size)
	n, err := io.ReadFull(content, head)
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF: // it is short
		err = nil
	case err != nil:
		err = fmt.Errorf("%s: %w", path, err)
	}
	return head[:n], packing, err
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

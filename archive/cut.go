package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sort"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
)

// Span is a part of a file's unpacked content, in bytes, From inclusive.
type Span struct{ From, To int64 }

// maxCut is how many bytes the unpacked content of a compressed file may have if only parts of it are shown.
const maxCut = 256 << 20

// Cut returns a tree that shows only parts of some files, by their cleaned paths; spans ascend. The text between them
// reads as spaces, with its line ends, so that offsets and line numbers stay the same. The file ends after the last
// part. Compressed files are shown unpacked. The caller closes the original tree, not this one.
func (t *Tree) Cut(parts map[string][]Span) *Tree { return &Tree{whole: t, parts: parts} }

// openCut opens a file that is shown in part.
func (t *Tree) openCut(path string, spans []Span) (files.File, error) {
	f, err := t.whole.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	var content io.ReaderAt = f
	size := info.Size()
	head := make([]byte, compression.MagicLen)
	if n, _ := f.ReadAt(head, 0); compression.Packing(head[:n]) != "" {
		unpacked, _, err := compression.Unpack(f, maxCut)
		if err == nil {
			var all []byte
			all, err = io.ReadAll(unpacked)
			content, size = bytes.NewReader(all), int64(len(all))
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(spans) > 0 {
		size = min(size, spans[len(spans)-1].To)
	}
	return &cut{in: f, content: content, spans: spans, info: cutInfo{info, size}}, nil
}

// cut is a file that is shown in part.
type cut struct {
	in      files.File
	content io.ReaderAt
	spans   []Span
	info    cutInfo
	offset  int64
}

// cutInfo describes a file with a cut end.
type cutInfo struct {
	fs.FileInfo
	size int64
}

func (i cutInfo) Size() int64 { return i.size }

func (c *cut) Stat() (fs.FileInfo, error) { return c.info, nil }
func (c *cut) Close() error               { return c.in.Close() }

// ReadAt implements io.ReaderAt.
func (c *cut) ReadAt(p []byte, at int64) (int, error) {
	if at >= c.info.size {
		return 0, io.EOF
	}
	end := int(min(int64(len(p)), c.info.size-at))
	n, err := c.content.ReadAt(p[:end], at)
	c.blank(p[:n], at)
	if err == nil && end < len(p) {
		err = io.EOF
	}
	return n, err
}

func (c *cut) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.ReadAt(p, c.offset)
	c.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// blank replaces the bytes at an offset that are outside of the parts with spaces.
func (c *cut) blank(p []byte, at int64) {
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].To > at })
	for ; len(p) > 0; i++ {
		from, to := int64(len(p)), int64(len(p))
		if i < len(c.spans) {
			from, to = min(from, max(0, c.spans[i].From-at)), min(to, c.spans[i].To-at)
		}
		for k, char := range p[:from] {
			if char != '\n' && char != '\r' {
				p[k] = ' '
			}
		}
		p, at = p[to:], at+to
	}
}

// cutOf returns the parts of a file that are shown, and whether these are not all.
func (t *Tree) cutOf(path string) ([]Span, bool) {
	spans, ok := t.parts[filepath.Clean(path)]
	return spans, ok
}

// statCut is Stat of a tree that Cut returned.
func (t *Tree) statCut(path string) (fs.FileInfo, error) {
	spans, ok := t.cutOf(path)
	if !ok {
		return t.whole.Stat(path)
	}
	f, err := t.openCut(path, spans)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close())
}

package bundle

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bytediff"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// Bytes is how two files differ byte by byte, with the names of their peers.
type Bytes struct {
	*bytediff.Result
	Names [2]string
}

// CompareBytes compares the content of two files byte by byte, if one of them has no known format. It returns nil where
// both have one, or where one of them is not a file.
func CompareBytes(tree *archive.Tree, a, b string) (*Bytes, error) {
	paths := []string{a, b}
	known := 0
	var stats [2]os.FileInfo
	for i, path := range paths {
		stat, err := tree.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case !stat.Mode().IsRegular():
			return nil, nil
		case stat.Size() == 0:
			return nil, &frame.Error{Name: path, Msg: "empty file, expected a snapshot", Err: frame.ErrUnrecognized}
		}
		head, err := formats.Head(tree, path)
		if err != nil {
			return nil, err
		}
		if f := formats.Recognize(path, head); f != nil && (f.Native || f.Snapshot != nil || f.Log != nil) { // not a text with messages
			known++
		}
		stats[i] = stat
	}
	if known == len(paths) {
		return nil, nil
	}
	if os.SameFile(stats[0], stats[1]) {
		return nil, givenTwice(a, b)
	}
	var pair [2]bytediff.File
	for i, path := range paths {
		f, size, err := content(tree, path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		pair[i] = bytediff.File{Name: path, ReaderAt: f, Size: size}
	}
	result, err := bytediff.Compare(pair[0], pair[1])
	if err != nil {
		return nil, err
	}
	return &Bytes{result, [2]string(snapshot.PeerNames([]string{"", ""}, paths))}, nil
}

// content opens the content of a file, which may be compressed. Unpacked content is in a scratch file.
func content(tree *archive.Tree, path string) (f files.File, size int64, err error) {
	raw, err := tree.Open(path)
	if err != nil {
		return nil, 0, err
	}
	head := make([]byte, snapshot.SniffLen)
	n, err := raw.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", path, err), raw.Close())
	}
	if compression.Packing(head[:n]) == "" {
		stat, err := raw.Stat()
		if err != nil {
			return nil, 0, errors.Join(err, raw.Close())
		}
		return raw, stat.Size(), nil
	}
	defer raw.Close()
	unpacked, err := formats.Content(raw, path)
	if err != nil {
		return nil, 0, err
	}
	defer unpacked.Close()
	scratch := files.Spool()
	if size, err = io.Copy(scratch, unpacked); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", path, err), scratch.Close())
	}
	return scratch, size, nil
}

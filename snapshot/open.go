package snapshot

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// OpenPath opens a state from a file of that format. Closing the state closes the file.
//
// A file that contains several states is an error.
func OpenPath(tree files.Tree, path string, format *Format) (State, error) {
	if format.Parts != nil {
		p, err := openParts(tree, path, format)
		if err != nil {
			return nil, err
		}
		return p.only()
	}
	f, size, _, err := openContent(tree, path)
	if err != nil {
		return nil, err
	}
	return openWhole(f, format, path, size, func() (State, error) { return format.Open(f, size, path) })
}

// openContent opens the content of a file and returns its size. The content of a compressed file is unpacked into a
// scratch file.
func openContent(tree files.Tree, path string) (f files.File, size int64, unpacked bool, err error) {
	raw, err := files.OpenRegular(tree, path)
	if err != nil {
		return nil, 0, false, err
	}
	if f, err = unpackFile(raw, path); err != nil {
		return nil, 0, false, err
	}
	size, err = sizeOf(f, path)
	return f, size, f != raw, err
}

// readMemory is how many times the bytes of a state are in memory while it is read whole.
const readMemory = 3

// openWhole opens a state of size bytes in f. Closing the state closes f. Unless its format is light, the state is read
// at once.
func openWhole(f files.File, format *Format, path string, size int64, open func() (State, error)) (State, error) {
	c := &closing{file: f}
	err := error(nil)
	if !format.Light {
		err = c.memory.Take(path, readMemory*size)
	}
	if err == nil {
		c.State, err = open()
	}
	if whole, ok := c.State.(*held); ok && err == nil {
		err = c.memory.Resize(path, whole.world.memory())
	}
	if err != nil {
		c.memory.Free()
		f.Close()
		return nil, err
	}
	if s, ok := c.State.(*File); ok { // it closes the file itself
		return s, nil
	}
	return c, nil
}

// unpackFile returns f. If f is compressed, it returns the content in a scratch file that is removed on close. It
// closes f if it does not return it.
func unpackFile(f files.File, path string) (files.File, error) {
	head := make([]byte, SniffLen)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		f.Close()
		return nil, err
	}
	if compression.Packing(head[:n]) == "" {
		return f, nil
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content, _, err := compression.UnpackState(f, stat.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	temporary := files.Scratch()
	_, err = io.Copy(temporary, content)
	if c, ok := content.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		temporary.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return temporary, nil
}

// sizeOf returns the size of an open file. If it is not a regular file, sizeOf closes it and returns an error.
func sizeOf(f files.File, path string) (int64, error) {
	stat, err := f.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = files.NotRegular(path)
	}
	if err != nil {
		f.Close()
		return 0, err
	}
	return stat.Size(), nil
}

// closing is a State that closes the file it came from.
type closing struct {
	State
	file   io.Closer
	memory limits.Held
}

func (c *closing) Close() error {
	c.memory.Free()
	return errors.Join(c.State.Close(), c.file.Close())
}

// Recognize returns the format of the file at path by its first bytes. If these match none, it decides by the name for
// formats that need not be visible in the content. It returns nil if no format matches.
func Recognize(tree files.Tree, path string, formats []Format) (*Format, error) {
	f, err := files.OpenRegular(tree, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := compression.UnpackState(f, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	head := make([]byte, SniffLen)
	n, err := io.ReadFull(content, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range formats {
		if n > 0 && formats[i].Described && formats[i].Paths(path) {
			return &formats[i], nil
		}
	}
	for i := range formats {
		if formats[i].Sniff(head[:n]) {
			return &formats[i], nil
		}
	}
	for i := range formats {
		if n > 0 && (formats[i].Named(path) || formats[i].Paths != nil && formats[i].Paths(path)) {
			return &formats[i], nil
		}
	}
	return nil, nil
}

// OpenAny opens a state from a file. The first bytes decide its format.
func OpenAny(tree files.Tree, path string, formats []Format) (State, error) {
	format, err := recognized(tree, path, formats)
	if err != nil {
		return nil, err
	}
	return OpenPath(tree, path, format)
}

// recognized is Recognize, with an error for a file that matches no format.
func recognized(tree files.Tree, path string, formats []Format) (*Format, error) {
	if format, err := Recognize(tree, path, formats); err != nil || format != nil {
		return format, err
	}
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].Name
	}
	msg := fmt.Sprintf("not a snapshot of a known format (%s)", strings.Join(names, ", "))
	if stat, err := tree.Stat(path); err == nil && stat.Size() == 0 {
		msg = "empty file, expected a snapshot"
	}
	return nil, &frame.Error{Name: path, Msg: msg, Err: frame.ErrUnrecognized}
}

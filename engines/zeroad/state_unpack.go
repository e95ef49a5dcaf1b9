package zeroad

import (
	"bytes"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// unpack reads a file's content and decompresses it if it is compressed.
func (s *scratch) unpack(r io.ReaderAt, size int64) error {
	if limits.State.Over(size) {
		return limits.State.Reached("", size)
	}
	content, packing, err := compression.UnpackState(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return err
	}
	if packing == "" { // its size is known
		s.content = slices.Grow(s.content[:0], int(size))[:size]
		n, err := r.ReadAt(s.content, 0)
		if s.content = s.content[:n]; err == io.EOF {
			err = nil
		}
		return err
	}
	text := bytes.NewBuffer(s.content[:0])
	_, err = text.ReadFrom(content)
	s.content = text.Bytes()
	if c, ok := content.(io.Closer); ok {
		err = joinClose(err, c)
	}
	return err
}

// joinClose closes c and returns err, or the error of closing if err is nil.
func joinClose(err error, c io.Closer) error {
	if closeErr := c.Close(); err == nil {
		return closeErr
	}
	return err
}

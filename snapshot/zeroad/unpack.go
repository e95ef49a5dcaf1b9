package zeroad

import (
	"io"

	"github.com/desynctool/desynctool/orderlog/limits"
	"github.com/desynctool/desynctool/orderlog/packed"
)

// unpack reads a file and decompresses it if it is compressed.
func unpack(r io.ReaderAt, size int64) ([]byte, error) {
	if limits.State.Over(size) {
		return nil, limits.State.Reached("", size)
	}
	content, packing, err := packed.UnpackState(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return nil, err
	}
	if packing == "" { // its size is known
		text := make([]byte, size)
		n, err := r.ReadAt(text, 0)
		if err == io.EOF {
			err = nil
		}
		return text[:n], err
	}
	text, err := io.ReadAll(content)
	if c, ok := content.(io.Closer); ok {
		err = joinClose(err, c)
	}
	return text, err
}

// joinClose closes c and returns err, or what closing says if that is nil.
func joinClose(err error, c io.Closer) error {
	if closeErr := c.Close(); err == nil {
		return closeErr
	}
	return err
}

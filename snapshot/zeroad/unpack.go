package zeroad

import (
	"fmt"
	"io"

	"github.com/desynctool/desynctool/orderlog/packed"
)

const (
	// maxText is the largest size of a dump. One of a large match is some
	// megabytes.
	maxText = 256 << 20

	// A compressed dump may expand to freeText bytes, and beyond that maxRatio
	// times. Real ones expand 20 times.
	freeText = 16 << 20
	maxRatio = 256
)

// unpack reads a file and decompresses it if it is compressed.
func unpack(r io.ReaderAt, size int64) ([]byte, error) {
	if size > maxText {
		return nil, fmt.Errorf("file of %d bytes, expected at most %d", size, maxText)
	}
	limit := min(maxText, freeText+maxRatio*size)
	content, _, err := packed.Unpack(io.NewSectionReader(r, 0, size), limit)
	if err != nil {
		return nil, err
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

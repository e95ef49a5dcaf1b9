package compression

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gunzip is a decompressor with its read buffer.
type gunzip struct {
	ahead *bufio.Reader
	gzip.Reader
}

// gunzips are reused, because their windows are expensive.
var gunzips = sync.Pool{New: func() any { return &gunzip{ahead: bufio.NewReaderSize(nil, readAhead)} }}

// openGzip returns the content of r, which begins with the magic of gzip.
func openGzip(r io.Reader) (io.Reader, error) {
	g := gunzips.Get().(*gunzip)
	g.ahead.Reset(r)
	if err := g.Reset(g.ahead); err != nil {
		g.free()
		return nil, err
	}
	return Lend(g, g.back), nil
}

// back closes g, and makes it reusable.
func (g *gunzip) back() error {
	err := g.Close()
	g.free()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// free makes g reusable, without references to this file.
func (g *gunzip) free() {
	g.ahead.Reset(nil)
	gunzips.Put(g)
}

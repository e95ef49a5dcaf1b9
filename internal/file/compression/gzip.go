package compression

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gunzip is a decompressor and what it reads ahead.
type gunzip struct {
	ahead *bufio.Reader
	gzip.Reader
}

// gunzips are reused: what one costs is its windows.
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

// back closes g, and frees it.
func (g *gunzip) back() error {
	err := g.Close()
	g.free()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// free gives g to the next file, without this one.
func (g *gunzip) free() {
	g.ahead.Reset(nil)
	gunzips.Put(g)
}

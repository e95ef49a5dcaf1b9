package packed

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
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
	return &gunzipping{from: g}, nil
}

// free gives g to the next file, without this one.
func (g *gunzip) free() {
	g.ahead.Reset(nil)
	gunzips.Put(g)
}

// gunzipping is the content of a file until it is closed.
type gunzipping struct {
	mu   sync.Mutex // Close may come while Read waits
	from *gunzip
}

func (g *gunzipping) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.from == nil {
		return 0, fs.ErrClosed
	}
	return g.from.Read(p)
}

func (g *gunzipping) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.from == nil {
		return nil
	}
	err := g.from.Close()
	g.from.free()
	g.from = nil
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

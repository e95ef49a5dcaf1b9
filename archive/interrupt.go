package archive

import (
	"context"
	"io"

	"github.com/desynctool/desynctool/internal/file/files"
)

// ended returns why reading is to end, nil if it is not.
func (l *Options) ended() error {
	if l.Context == nil || l.Context.Err() == nil {
		return nil
	}
	return context.Cause(l.Context)
}

// Interrupted returns why reading was ended early, nil if it was not.
func (t *Tree) Interrupted() error { return t.limits.ended() }

// longRead is the size from which on each read of a file checks whether to continue.
const longRead = 16 << 20

// interruptible returns a file that can be read until Options.Context is done.
func (l *Options) interruptible(f files.File) files.File {
	if l.Context == nil {
		return f
	}
	if stat, err := f.Stat(); err != nil || stat.Size() < longRead {
		return f
	}
	return &interruptible{f, l}
}

type interruptible struct {
	files.File
	limits *Options
}

func (f *interruptible) Read(p []byte) (int, error) {
	if err := f.limits.ended(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *interruptible) ReadAt(p []byte, at int64) (int, error) {
	if err := f.limits.ended(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

// Map implements files.Mapper.
func (f *interruptible) Map(begin int64, length int) ([]byte, error) {
	if err := f.limits.ended(); err != nil {
		return nil, err
	}
	return files.Map(f.File, begin, length)
}

// read returns a reader that can be read until Options.Context is done, also while it waits.
func (l *Options) read(r io.Reader) io.Reader {
	if l.Context == nil {
		return r
	}
	return &waiting{in: r, limits: l}
}

type waiting struct {
	in     io.Reader
	limits *Options
	buffer []byte // that a read which was given up may still write to
}

func (w *waiting) Read(p []byte) (int, error) {
	if err := w.limits.ended(); err != nil {
		return 0, err
	}
	if w.buffer == nil {
		w.buffer = make([]byte, 64<<10)
	}
	type result struct {
		n   int
		err error
	}
	done, part := make(chan result, 1), w.buffer[:min(len(p), len(w.buffer))]
	go func() {
		n, err := w.in.Read(part)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, part[:r.n]), r.err
	case <-w.limits.Context.Done():
		return 0, w.limits.ended()
	}
}

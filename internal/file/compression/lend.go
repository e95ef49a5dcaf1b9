package compression

import (
	"io"
	"io/fs"
	"sync"
)

// Lend returns a reader of from. When it is closed, it calls back once; from may then be used for something else. Close
// waits for a Read in progress.
func Lend(from io.Reader, back func() error) io.ReadCloser { return &lent{from: from, back: back} }

type lent struct {
	mu   sync.Mutex // Close may be called while Read waits
	from io.Reader
	back func() error
}

func (l *lent) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil {
		return 0, fs.ErrClosed
	}
	return l.from.Read(p)
}

func (l *lent) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil {
		return nil
	}
	l.from = nil
	return l.back()
}

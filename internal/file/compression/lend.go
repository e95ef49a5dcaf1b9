package compression

import (
	"io"
	"io/fs"
	"sync"
)

// Lend returns a reader of what from has, until it is closed: then from is given back, once, and may be used for
// something else. Closing waits for a Read that is under way.
func Lend(from io.Reader, back func() error) io.ReadCloser { return &lent{from: from, back: back} }

type lent struct {
	mu   sync.Mutex // Close may come while Read waits
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

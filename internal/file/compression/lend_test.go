package compression_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/internal/file/compression"
)

// slow is a reader that waits in Read, and may be in one Read at a time.
type slow struct {
	in, on  chan struct{}
	reading sync.Mutex
}

func (s *slow) Read(p []byte) (int, error) {
	if !s.reading.TryLock() {
		return 0, errors.New("read twice at once")
	}
	defer s.reading.Unlock()
	close(s.in)
	<-s.on
	return copy(p, "x"), nil
}

func TestLend(t *testing.T) {
	backs := 0
	r := compression.Lend(strings.NewReader("content"), func() error { backs++; return io.ErrClosedPipe })
	b := make([]byte, 3)
	if n, err := r.Read(b); err != nil || string(b[:n]) != "con" {
		t.Errorf("%q %v", b[:n], err)
	}
	if err := r.Close(); err != io.ErrClosedPipe || backs != 1 {
		t.Errorf("%v, given back %d times", err, backs)
	}
	if err := r.Close(); err != nil || backs != 1 {
		t.Errorf("again %v, given back %d times", err, backs)
	}
	if n, err := r.Read(make([]byte, 3)); n != 0 || err != fs.ErrClosed {
		t.Errorf("after the end %d bytes, %v", n, err)
	}

	// It is not given back while it is read.
	s := &slow{in: make(chan struct{}), on: make(chan struct{})}
	r = compression.Lend(s, func() error {
		if !s.reading.TryLock() {
			return errors.New("given back while it is read")
		}
		return nil
	})
	done := make(chan error)
	go func() {
		_, err := r.Read(make([]byte, 1))
		done <- err
	}()
	<-s.in
	go func() { done <- r.Close() }()
	close(s.on)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

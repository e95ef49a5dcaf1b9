package server

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Pace limits how slow a client may be. At any moment of a transfer, the elapsed time is at most Grace plus a second
// for each Bytes transferred.
type Pace struct {
	Grace time.Duration
	Bytes int64 // per second
}

// allowed is how long a transfer of n bytes may have taken.
func (p Pace) allowed(n int64) time.Duration {
	return p.Grace + time.Duration(float64(n)/float64(p.Bytes)*float64(time.Second))
}

// pacedBody reads the body of a request and stops if the client is too slow. Read then returns an error that is
// os.ErrDeadlineExceeded.
type pacedBody struct {
	io.ReadCloser
	pace  Pace
	c     *http.ResponseController
	begin time.Time
	n     int64
	ended bool        // all of it was read
	over  atomic.Bool // stop was called
}

// stop ends the current Read, and all later ones, as if the client had been too slow.
func (b *pacedBody) stop() {
	b.over.Store(true)
	_ = b.c.SetReadDeadline(time.Unix(1, 0))
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.begin.IsZero() {
		b.begin = time.Now()
	}
	// A connection without deadlines is not a network connection.
	_ = b.c.SetReadDeadline(b.begin.Add(b.pace.allowed(b.n)))
	if b.over.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	if err == io.EOF {
		b.ended = true
		_ = b.c.SetReadDeadline(time.Time{}) // later operations are not about the body
	}
	return n, err
}

// rest limits how long the server reads the unwanted rest of a body, which it does to be able to answer.
func (b *pacedBody) rest() {
	if !b.ended && !b.over.Load() {
		_ = b.c.SetReadDeadline(time.Now().Add(b.pace.Grace))
	}
}

// unread is rest once the answer is known, which is sent only after that: it then has a time of its own.
func (b *pacedBody) unread() {
	b.rest()
	if !b.ended {
		_ = b.c.SetWriteDeadline(time.Now().Add(2 * b.pace.Grace))
	}
}

// answer is the writer for handlers. It records the data for the log, and stops if the reader is too slow.
type answer struct {
	http.ResponseWriter
	pace   Pace
	c      *http.ResponseController
	status int
	bytes  int64
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.status = cmp.Or(a.status, http.StatusOK)
	_ = a.c.SetWriteDeadline(time.Now().Add(a.pace.allowed(int64(len(p)))))
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

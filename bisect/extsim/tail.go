package extsim

import (
	"bytes"
	"strings"
	"sync"
)

// Tail keeps the end of what a target writes to its log.
type Tail struct {
	mu sync.Mutex
	b  []byte
}

// tailSize is how much of a log is kept.
const tailSize = 64 << 10

// Write implements io.Writer.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b[max(0, len(b)-tailSize):]...)
	if len(t.b) > 2*tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	return len(b), nil
}

// Last returns the last line that is not empty, shortened if it is long.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 300
	b := bytes.TrimRight(t.b, " \t\r\n")
	line := string(b[bytes.LastIndexByte(b, '\n')+1:])
	if len(line) > most {
		line = line[:most] + "…"
	}
	return strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
}

// Bytes returns what is kept.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.b)
}

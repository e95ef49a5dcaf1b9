package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// LineError is an error in the text of a state.
type LineError struct {
	Name string // of the file
	Line int    // counts from 1 after decompression; 0 where the file as a whole cannot be read
	Err  error  // the expectation
}

func (e *LineError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: line %d: %v", e.Name, e.Line, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// ReadText returns the content of a state's text of size bytes. An error in reading is a *[LineError].
func ReadText(r io.ReaderAt, size int64, name string) ([]byte, error) {
	return ReadTextInto(nil, r, size, name)
}

// ReadTextInto is ReadText. The content is in the memory of room if there is enough, else in memory with room for a
// somewhat longer text.
func ReadTextInto(room []byte, r io.ReaderAt, size int64, name string) ([]byte, error) {
	if limits.State.Over(size) {
		return nil, limits.State.Reached(name, size)
	}
	if int64(cap(room)) < size {
		room = make([]byte, size+size/64)
	}
	text := room[:size]
	if n, err := r.ReadAt(text, 0); n < len(text) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &LineError{Name: name, Err: err}
	}
	return text, nil
}

// ParseInt parses digits as engines print them: at most 18, a minus sign if the number is negative, and no leading
// zeros.
func ParseInt(text []byte) (int64, bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	n := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) != len(text) {
		n = -n
	}
	return n, true
}

// WriteFile creates a file and writes its content, buffered.
func WriteFile(path string, write func(w io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}

// CopyFile copies a file.
func CopyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// GlobOf returns a pattern for filepath.Glob that matches only a path itself.
func GlobOf(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

package files

import (
	"errors"
	"io/fs"
	"os"
)

// Temporary returns a new file that can be read and written, and is gone when it is closed. Where
// the system allows it the file has no name from the beginning, so that nothing is left
// however the process ends.
func Temporary() (*TemporaryFile, error) {
	f, err := os.CreateTemp("", "desynctool-*")
	if err != nil {
		return nil, err
	}
	t := &TemporaryFile{File: f}
	t.removed = os.Remove(f.Name()) == nil
	return t, nil
}

// TemporaryFile is a file that Temporary made.
type TemporaryFile struct {
	*os.File
	removed bool
}

// Close closes the file, and removes it where that was not possible before.
func (t *TemporaryFile) Close() error {
	err := t.File.Close()
	if !t.removed && !errors.Is(err, fs.ErrClosed) {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

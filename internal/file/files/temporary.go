package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Temporary returns a new file that can be read and written, and is removed when it is closed. If the system allows it,
// the file never has a name, so that nothing is left however the process ends.
func Temporary() (*TemporaryFile, error) {
	dir := os.TempDir()
	if f, err := openNameless(dir, filepath.Join(dir, "desynctool"), 0o600); err == nil {
		return &TemporaryFile{File: f, removed: true}, nil
	}
	f, err := os.CreateTemp(dir, "desynctool-*")
	if err != nil {
		return nil, NoTemporary(dir, err)
	}
	t := &TemporaryFile{File: f}
	t.removed = os.Remove(f.Name()) == nil
	return t, nil
}

// NoTemporary returns the error for a folder in which temporary files cannot be created.
func NoTemporary(dir string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if dir != os.TempDir() {
		return fmt.Errorf("%s: temporary files cannot be made there: %w", dir, err)
	}
	variable := "TMPDIR"
	if runtime.GOOS == "windows" {
		variable = "TMP"
	}
	return fmt.Errorf("%s: temporary files cannot be made there: %w; %s names another folder", dir, err, variable)
}

// TemporaryFile is a file from Temporary.
type TemporaryFile struct {
	*os.File
	removed bool
}

// Close closes the file, and removes it if that was not possible before.
func (t *TemporaryFile) Close() error {
	err := t.File.Close()
	if !t.removed && !errors.Is(err, fs.ErrClosed) {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

package main

import (
	"io"
	"os"

	"github.com/desynctool/desynctool/internal/file/files"
)

// copyTemporary lets write fill a temporary file and copies it to w. It is for output that needs seeking but goes to a
// pipe.
func copyTemporary(w io.Writer, write func(f *os.File) error) error {
	f, err := files.Temporary()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f.File); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

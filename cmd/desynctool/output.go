package main

import (
	"io"
	"os"
)

// copyTemporary lets write fill a temporary file and copies it to w: for what
// needs to seek and goes to a pipe.
func copyTemporary(w io.Writer, write func(f *os.File) error) error {
	f, err := os.CreateTemp("", "desynctool-*")
	if err != nil {
		return err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	if err := write(f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

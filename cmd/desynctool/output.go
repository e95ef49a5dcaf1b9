package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeFile writes a file by way of a temporary one beside it: what was there
// before stays until write has succeeded. A path that is no regular file, such
// as /dev/full or a pipe, is written directly.
func writeFile(path string, write func(f *os.File) error) (err error) {
	if stat, err := os.Stat(path); err == nil && !stat.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link stays one
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".desynctool-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

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

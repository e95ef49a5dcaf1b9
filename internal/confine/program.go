package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
)

// program returns the path of a program that is named, as a shell finds it.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrDot):
		return "", fmt.Errorf("%s: found in the working folder only, which is not looked into; write ./%s", name, name)
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: there is no such program", name)
	case err != nil:
		return "", cannotRun(name, err)
	}
	return filepath.Abs(path)
}

// cannotRun says of a program that it could not be started.
func cannotRun(name string, err error) error {
	var found *exec.Error
	var started *fs.PathError
	switch {
	case errors.As(err, &found):
		err = found.Err
	case errors.As(err, &started):
		err = started.Err
	}
	return fmt.Errorf("%s: cannot be run: %w", name, err)
}

// Minimal returns the environment of a program whose home is a folder of its own: nothing of this process's
// environment but PATH, so neither a display nor an agent of keys, nor who asks for passwords. Games make no sound.
func Minimal(home string) []string { return minimal(home) }

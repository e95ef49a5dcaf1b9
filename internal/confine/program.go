package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
)

// program returns the path of a program, looked up like in a shell.
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

// cannotRun returns the error for a program that could not be started.
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

// Minimal returns the environment for a program with a separate home folder. It contains only PATH from this process's
// environment, so neither a display nor a key agent, nor a program that asks for passwords. Games make no sound.
func Minimal(home string) []string { return minimal(home) }

// Package programs finds the other programs of desynctool. They are installed together: beside the one that runs, or
// anywhere in PATH.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// NotInstalledError says that a program is nowhere.
type NotInstalledError struct {
	Name string // desynctool-desk
}

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("%[1]s is not installed: it is neither beside this program nor in PATH; install the package of a release, or go install github.com/desynctool/desynctool/cmd/%[1]s@latest", e.Name)
}

// Find returns the path of the program called name: the one that the user named, if that is not empty, else the one
// beside the running program, following links, else the first in PATH. The error is a [*NotInstalledError] if none
// was named and there is none.
func Find(name, named string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return path, nil
	}
	file := name
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	for _, dir := range here() {
		path := filepath.Join(dir, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", &NotInstalledError{name}
}

// here returns the folders in which the running program is: as it was called, and where a link leads.
func here() (dirs []string) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	dirs = append(dirs, filepath.Dir(self))
	if real, err := filepath.EvalSymlinks(self); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}

// Package programs finds the other programs of desynctool.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// MissingError is the error for a program that cannot be found.
type MissingError struct {
	Name  string
	Named string // the path or name that the user gave instead; empty if none
}

func (e *MissingError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("%s: no program is there; it was given as %s", e.Named, e.Name)
	}
	return fmt.Sprintf("%s is not installed: get it by go install github.com/desynctool/desynctool/cmd/%s@latest, or from the package of a release", e.Name, e.Name)
}

// Find returns the path of a program: the one that the user named, else the one next to this program, else the one in
// PATH. If there is none, the error is a *MissingError.
func Find(name, named string) (string, error) {
	if named != "" {
		path, err := inPath(named)
		if err != nil {
			return "", &MissingError{Name: name, Named: named}
		}
		return path, nil
	}
	self, err := os.Executable()
	if err != nil { // /proc is not mounted
		self = os.Args[0]
	}
	if strings.ContainsRune(self, filepath.Separator) {
		if path, ok := beside(self, name); ok {
			return path, nil
		}
	}
	path, err := inPath(name)
	if err != nil {
		return "", &MissingError{Name: name}
	}
	return path, nil
}

// inPath looks a program up like a shell, and returns an absolute path, because the program may be started in another
// folder.
func inPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// beside looks for a program in the folder of another one, and in the folder of that program's link target.
func beside(self, name string) (string, bool) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	folders := []string{filepath.Dir(self)}
	if target, err := filepath.EvalSymlinks(self); err == nil {
		folders = append(folders, filepath.Dir(target))
	}
	for _, folder := range folders {
		if path, err := inPath(filepath.Join(folder, name)); err == nil {
			return path, true
		}
	}
	return "", false
}

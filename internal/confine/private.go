package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// Home returns the home folders of the user who runs this program, for Command.Private.
func Home() []string {
	var list []string
	if dir, err := os.UserHomeDir(); err == nil {
		list = append(list, dir)
	}
	return list
}

// Within reports whether a path is one of the folders, or below one.
func Within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	})
}

// nested returns those of the folders that are below a path.
func nested(path string, folders []string) (list []string) {
	return lists.Where(folders, func(dir string) bool { return path != dir && Within(dir, []string{path}) })
}

// settlePrivate makes the paths of Private and Reads absolute, without links and those that do not exist. Of Reads it
// keeps what is in a private folder; no path makes all of one readable.
func (c *Command) settlePrivate() {
	real := func(paths []string) (list []string) {
		for _, path := range paths {
			if path == "" {
				continue
			}
			whole, err := filepath.Abs(path)
			if err == nil {
				whole, err = filepath.EvalSymlinks(whole)
			}
			if err == nil && filepath.Dir(whole) != whole { // all of a disk is no private folder
				list = append(list, whole)
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	c.Private = slices.DeleteFunc(real(c.Private), func(dir string) bool { return isFolder(dir) != nil })
	c.Reads = slices.DeleteFunc(real(append(programFolders(c.Args[0]), append(c.Reads, c.Dir)...)), func(path string) bool {
		return slices.Contains(c.Private, path) || !Within(path, c.Private)
	})
}

// programFolders returns what a program needs at least: its file, its folder, the folder above if that one is called
// bin, and the same where it is a link.
func programFolders(path string) (list []string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, file := range []string{path, real} {
		dir := filepath.Dir(file)
		list = append(list, file, dir)
		if filepath.Base(dir) == "bin" && filepath.Base(filepath.Dir(dir)) != ".local" {
			list = append(list, filepath.Dir(dir))
		}
	}
	return list
}

package files

import "fmt"

// OpenRegular opens a file that can be read at any offset, or a folder. Anything else is an error, so that a pipe is not
// waited for. A tree that has a method OpenRegular decides by itself, which may cost fewer calls of the system.
func OpenRegular(tree Tree, path string) (File, error) {
	if t, ok := tree.(interface{ OpenRegular(string) (File, error) }); ok {
		return t.OpenRegular(path)
	}
	stat, err := tree.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() && !stat.IsDir() {
		return nil, NotRegular(path)
	}
	return tree.Open(path)
}

// NotRegular is the error of a path that is neither a regular file nor a folder.
func NotRegular(path string) error { return fmt.Errorf("%s: not a regular file", path) }

package code

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// Read fills in the lines of source of places, from the files in a folder. A compiler notes the path of a file as it was on
// its own machine: the file in the folder is the one that has the most of its last elements. Places whose file is not in
// the folder stay without a line; others get the file's path in the folder, which is the same on every machine. Files
// outside the folder are not read, even if a link in it leads there.
func Read(dir string, lists ...[]Place) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("the folder of sources: %w", err)
	}
	defer root.Close()
	type source struct {
		path  string // in the folder, empty if it is not there
		lines []string
	}
	files := map[string]source{}
	for _, list := range lists {
		for i := range list {
			p := &list[i]
			if p.File == "" || p.Line == 0 {
				continue
			}
			s, known := files[p.File]
			if !known {
				s.path, s.lines = readLines(root, p.File)
				files[p.File] = s
			}
			if p.Line <= len(s.lines) {
				p.File, p.Text = s.path, strings.TrimSpace(s.lines[p.Line-1])
			}
		}
	}
	return nil
}

// maxSource bounds the lines that are read of a file.
const maxSource = 1 << 20

// readLines returns the file with the longest end of a path, and its lines; "" if there is no such file.
func readLines(root *os.Root, name string) (found string, lines []string) {
	elements := strings.Split(path.Clean(strings.ReplaceAll(name, `\`, "/")), "/")
	elements = slices.DeleteFunc(elements, func(e string) bool { return e == "" || e == ".." })
	for i := range elements {
		found = path.Join(elements[i:]...)
		f, err := root.Open(found)
		if err != nil {
			continue
		}
		in := bufio.NewScanner(f)
		for in.Scan() && len(lines) < maxSource {
			lines = append(lines, in.Text())
		}
		_ = f.Close() // it was only read
		return found, lines
	}
	return "", nil
}

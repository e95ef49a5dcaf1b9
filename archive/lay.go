package archive

import "path/filepath"

// Layout shows files at other paths than they have, and the folders that these are in.
type Layout struct {
	Files   map[string]string   // by the path at which a file is shown, cleaned
	Folders map[string][]string // the names in a folder, by its cleaned path; it may be none of the disk
}

// Lay shows files at other paths from now on. No file is open yet.
func (t *Tree) Lay(l Layout) { t.laid = l }

// laidAt returns the path that a file or folder has.
func (t *Tree) laidAt(path string) string {
	if len(t.laid.Folders) == 0 {
		return path
	}
	clean := filepath.Clean(path)
	if real, is := t.laid.Files[clean]; is {
		return real
	}
	if names, is := t.laid.Folders[clean]; is && len(names) > 0 {
		if _, err := t.disk.stat(path); err != nil { // it exists only so: any folder of its files describes it
			return filepath.Dir(t.laidAt(filepath.Join(clean, names[0])))
		}
	}
	return path
}

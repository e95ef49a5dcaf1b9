package archive

import "path/filepath"

// OnDisk returns the files and folders on the disk that some paths of a command line name or lead into: for a file in
// an archive the archive, for FOLDER@TICK the folder. Paths that do not exist are left out.
func OnDisk(paths []string) (found []string) {
	for _, path := range paths {
		at, stat := disk{}.existing(path)
		clean := filepath.Clean(path)
		if stat == nil || stat.IsDir() && at != clean && (len(clean) <= len(at) || clean[len(at)] != '@') {
			continue // of a path that is not there only the folder is
		}
		found = append(found, at)
	}
	return found
}

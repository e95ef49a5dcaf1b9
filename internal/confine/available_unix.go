//go:build linux || darwin

package confine

import "golang.org/x/sys/unix"

// available returns how many bytes a user may still write to the disk of a folder.
func available(dir string) (bytes int64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

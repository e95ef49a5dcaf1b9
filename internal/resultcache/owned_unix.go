//go:build unix

package resultcache

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ownedAlone returns an error for a folder that another user may write to.
func ownedAlone(stat fs.FileInfo) error {
	own, ok := stat.Sys().(*syscall.Stat_t)
	switch {
	case !stat.IsDir():
		return errors.New("expected a folder")
	case ok && int(own.Uid) != os.Geteuid():
		return errors.New("the folder is another user's")
	case stat.Mode().Perm()&0o022 != 0:
		return errors.New("other users may write to the folder")
	}
	return nil
}

package files

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// temporaryFolders are the names of folders that TemporaryFolder makes.
const temporaryFolders = "desynctool-run-*"

// settled is how old such a folder is before another process may take it for one that was left: whoever
// made it has locked it by then.
const settled = time.Minute

// TemporaryFolder makes a folder that only this user reads, in dir or, where that is empty, where temporary
// files belong. Remove removes it and what is in it. Such folders that processes have left there that were
// killed are removed first, where the system has locks that show it.
func TemporaryFolder(dir string) (path string, remove func() error, err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	left, _ := filepath.Glob(filepath.Join(dir, temporaryFolders))
	for _, path := range left {
		removeLeftFolder(path, time.Now().Add(-settled))
	}
	path, err = os.MkdirTemp(dir, temporaryFolders)
	if err != nil {
		return "", nil, NoTemporary(dir, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(path))
	}
	_ = Lock(f)
	return path, func() error { return errors.Join(os.RemoveAll(path), f.Close()) }, nil
}

package files

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// temporaryFolders is the name pattern of folders that TemporaryFolder creates.
const temporaryFolders = "desynctool-run-*"

// settled is the minimum age at which another process may consider such a folder abandoned. The process that created it
// has locked it by then.
const settled = time.Minute

// TemporaryFolder creates a folder that only this user can read, in dir, or in the system's temporary folder if dir is
// empty. remove removes it with its content. On systems with file locks, it first removes such folders of killed
// processes.
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

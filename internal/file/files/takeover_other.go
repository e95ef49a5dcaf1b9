//go:build !unix || aix || solaris

package files

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// renamesOpen means that a file can be renamed and removed while it is open.
const renamesOpen = false

// takeOver creates a file for this process only. It removes a file that a killed process left. If a running process has
// the file open, it cannot be removed, and the error is ErrInUse.
func takeOver(name string) (*os.File, error) {
	os.Remove(name)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrInUse
	}
	return f, err
}

// Lock does nothing here.
func Lock(*os.File) error { return nil }

// removeLeftFolder does nothing, because it is not known whether a process still uses the folder.
func removeLeftFolder(string, time.Time) {}

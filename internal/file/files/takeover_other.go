//go:build !unix || aix || solaris

package files

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// renamesOpen says that a file can be renamed and removed while it is open.
const renamesOpen = false

// takeOver makes a file for this process alone. What a process that was killed has left is
// removed; what one that runs has open cannot be, which is ErrInUse.
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

// removeLeftFolder does nothing: nothing shows whether a process still has the folder.
func removeLeftFolder(string, time.Time) {}

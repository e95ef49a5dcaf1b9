package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unfinishedPrefix is how the names of files begin that Replace has not finished, on systems where
// such files have names.
const unfinishedPrefix = ".desynctool-"

// unfinishedName returns the name that the file at path has until it is whole.
func unfinishedName(path string) string {
	digest := sha256.Sum256([]byte(filepath.Base(path)))
	return filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%x", unfinishedPrefix, digest[:8]))
}

// IsUnfinished reports whether a file of that name, without its folder, is one that was being
// written when its writer was killed: by Replace, or, with the name of a snapshot or a report of a
// peer after a full stop, by one of the single files for games. It is nobody's evidence.
func IsUnfinished(name string) bool {
	return strings.HasPrefix(name, unfinishedPrefix) || strings.HasPrefix(name, ".desync_")
}

// ErrInUse says that another process is writing a file.
var ErrInUse = errors.New("another process is writing it")

// Hold makes an empty file that this process alone has until it closes it or ends, in place of one
// that a process left. While another has it the error is ErrInUse.
func Hold(path string) (*os.File, error) {
	f, err := takeOver(path)
	if errors.Is(err, ErrInUse) {
		err = &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, err
}

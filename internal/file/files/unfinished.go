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

// unfinishedPrefix begins the names of files that Replace has not finished, on systems where such files have names.
const unfinishedPrefix = ".desynctool-"

// unfinishedName returns the name of the file at path until it is complete.
func unfinishedName(path string) string {
	digest := sha256.Sum256([]byte(filepath.Base(path)))
	return filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%x", unfinishedPrefix, digest[:8]))
}

// IsUnfinished reports whether a file with that name, without its folder, was being written when its writer was killed.
// The writer was Replace, or, if the name of a snapshot or a peer's report follows a full stop, one of the single files
// for games. Such a file is not evidence.
func IsUnfinished(name string) bool {
	return strings.HasPrefix(name, unfinishedPrefix) || strings.HasPrefix(name, ".desync_")
}

// ErrInUse reports that another process is writing a file.
var ErrInUse = errors.New("another process is writing it")

// Hold creates an empty file that belongs to this process until it closes the file or ends. It replaces a file that a
// process left. If another process has the file, the error is ErrInUse.
func Hold(path string) (*os.File, error) {
	f, err := takeOver(path)
	if errors.Is(err, ErrInUse) {
		err = &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, err
}

//go:build !unix

package resultcache

import (
	"errors"
	"io/fs"
)

// ownedAlone returns an error for what is not a folder: whose it is follows from where the user's folders are.
func ownedAlone(stat fs.FileInfo) error {
	if !stat.IsDir() {
		return errors.New("expected a folder")
	}
	return nil
}

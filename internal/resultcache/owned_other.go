//go:build !unix

package resultcache

import (
	"errors"
	"io/fs"
)

// ownedAlone returns an error unless it is a folder. The location of the user's folders determines the owner.
func ownedAlone(stat fs.FileInfo) error {
	if !stat.IsDir() {
		return errors.New("expected a folder")
	}
	return nil
}

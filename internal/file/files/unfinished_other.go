//go:build !linux

package files

import (
	"errors"
	"os"
)

// openNameless opens a new file in a folder that has no name: no such thing here.
func openNameless(string, string, uint32) (*os.File, error) { return nil, errors.ErrUnsupported }

// begin begins the file that is to be at path.
func begin(path string) (*unfinished, error) { return beginNamed(path) }

// publish gives the file the name that it is to have, and closes it.
func (u *unfinished) publish(path string) error { return u.publishNamed(path) }

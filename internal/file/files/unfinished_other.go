//go:build !linux

package files

import (
	"errors"
	"os"
)

// openNameless is not supported on this system.
func openNameless(string, string, uint32) (*os.File, error) { return nil, errors.ErrUnsupported }

// begin creates the file for path.
func begin(path string) (*unfinished, error) { return beginNamed(path) }

// publish gives the file its final name, and closes it.
func (u *unfinished) publish(path string) error { return u.publishNamed(path) }

//go:build !unix

package files

import (
	"errors"
	"os"
)

// CanMap reports whether [Map] works on this system.
const CanMap = false

func mapDisk(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// Unmap frees bytes that [Map] returned.
func Unmap([]byte) {}

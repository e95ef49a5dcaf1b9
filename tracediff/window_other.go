//go:build !unix

package tracediff

import (
	"errors"
	"os"
)

const (
	canMap   = false
	hugePage = 2 << 20
)

func mapFile(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) {}

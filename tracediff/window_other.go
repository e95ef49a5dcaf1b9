//go:build !unix

package tracediff

import (
	"errors"

	"github.com/desynctool/desynctool/internal/file/files"
)

const (
	canMap   = false
	hugePage = 2 << 20
)

func mapFile(files.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) {}

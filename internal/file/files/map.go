package files

import (
	"errors"
	"os"
)

// MapUnit is the alignment of mapped bytes, so that the system can map large pages of a file in one piece. It is a
// multiple of every page size.
const MapUnit = 2 << 20

// Mapper is a File that is no *os.File, and whose bytes [Map] may map nevertheless.
type Mapper interface {
	File
	Map(begin int64, length int) ([]byte, error)
}

// Map maps a part of a file into memory. It begins at a multiple of [MapUnit]. Unmap frees it. Reading a byte that the
// file does not have any more is a fault. Map returns errors.ErrUnsupported if the file, or the system, cannot do it:
// then the bytes must be read.
func Map(f File, begin int64, length int) ([]byte, error) {
	switch f := f.(type) {
	case *os.File:
		return mapDisk(f, begin, length)
	case Mapper:
		return f.Map(begin, length)
	}
	return nil, errors.ErrUnsupported
}

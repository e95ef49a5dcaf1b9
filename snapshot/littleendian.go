package snapshot

import (
	"encoding/binary"
	"unsafe"
)

// Number is the constraint of LittleEndianBytes.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

var hostIsLittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// LittleEndianBytes returns the values' little-endian bytes, as in a column. On a little-endian machine the result
// aliases values.
func LittleEndianBytes[T Number](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	width := int(unsafe.Sizeof(values[0]))
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*width)
	if hostIsLittleEndian || width == 1 {
		return raw
	}
	swapped := make([]byte, len(raw))
	for i := 0; i < len(raw); i += width {
		for j := range width {
			swapped[i+j] = raw[i+width-1-j]
		}
	}
	return swapped
}

// FromLittleEndian decodes values from little-endian bytes. It copies. Bytes after the last whole value are ignored.
func FromLittleEndian[T Number](data []byte) []T {
	var zero T
	width := int(unsafe.Sizeof(zero))
	values := make([]T, len(data)/width)
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*width)
	copy(raw, data)
	if !hostIsLittleEndian && width > 1 {
		copy(raw, LittleEndianBytes(values))
	}
	return values
}

package archive

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// The list of a zip archive's entries is at its end, so an archive that was cut off, as uploads are, has none. A copy
// of each entry's header precedes its data: name and method, and the sizes, unless these follow the data.
const (
	localHeader    = 30
	localSignature = "PK\x03\x04"
	sizesSignature = "PK\x07\x08"
	sizesFollow    = 8 // a flag, as encrypted is
	encrypted      = 1
	unknownSize    = 0xffffffff
)

// local is an entry as its own header has it.
type local struct {
	name          string
	flags, method uint16
	sum           uint32
	packed, size  int64
	offset, after int64 // of the data, and of what follows the entry
}

var errNoEntry = errors.New("no entry")

// salvage lists the entries that are whole of a zip archive without its list. It returns
// how many there are.
func (a *archive) salvage(root *node, r io.ReaderAt, size int64) (count int) {
	for at := int64(0); count < a.tree.limits.Entries && a.tree.enter(1) == nil; count++ {
		e, err := readLocal(r, at, size)
		if err == nil {
			err = a.measure(e, r, size)
		}
		if err != nil {
			if e != nil {
				a.leave(e.name, "is cut off with the archive")
			}
			return count
		}
		at = e.after
		a.addLocal(root, r, e)
	}
	return count
}

// readLocal reads the header of an entry. Its data may be cut off.
func readLocal(r io.ReaderAt, at, size int64) (*local, error) {
	var h [localHeader]byte
	if n, _ := r.ReadAt(h[:], at); n < len(h) || string(h[:4]) != localSignature {
		return nil, errNoEntry
	}
	le := binary.LittleEndian
	e := &local{flags: le.Uint16(h[6:]), method: le.Uint16(h[8:]), sum: le.Uint32(h[14:]), packed: int64(le.Uint32(h[18:])), size: int64(le.Uint32(h[22:]))}
	name := make([]byte, le.Uint16(h[26:]))
	if n, _ := r.ReadAt(name, at+localHeader); n < len(name) {
		return nil, errNoEntry
	}
	e.name = string(name)
	e.offset = at + localHeader + int64(len(name)) + int64(le.Uint16(h[28:]))
	if e.offset > size {
		return e, io.ErrUnexpectedEOF
	}
	return e, nil
}

// measure finds the end of an entry, and whether its content is what was packed.
func (a *archive) measure(e *local, r io.ReaderAt, size int64) error {
	follow := e.flags&sizesFollow != 0
	in := &counted{r: io.NewSectionReader(r, e.offset, size-e.offset)}
	packed := bufio.NewReader(in) // flate takes single bytes of it, and no more than it needs
	var content io.Reader
	switch {
	case !follow && (e.packed == unknownSize || e.size == unknownSize):
		return errNoEntry // beyond 4 GiB the sizes are elsewhere
	case !follow && e.offset+e.packed > size:
		return io.ErrUnexpectedEOF
	case !follow && e.flags&encrypted != 0:
		e.after = e.offset + e.packed
		return nil
	case e.method == zip.Deflate:
		content = flate.NewReader(packed)
	case e.method == zip.Store && !follow && e.packed == e.size:
		content = io.LimitReader(packed, e.size)
	case !follow:
		e.after = e.offset + e.packed
		return nil
	default:
		return errNoEntry
	}
	bounds := &a.tree.limits
	sum := crc32.NewIEEE()
	n, err := io.Copy(sum, &counted{r: content, bound: func(read int64) error {
		if read > bounds.Free && read/bounds.Ratio > in.n {
			return limits.Ratio.Reached("", 0)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	used := in.n - int64(packed.Buffered())
	e.after = e.offset + used
	if follow {
		e.packed, e.size = used, n
		head, _ := packed.Peek(24)
		skip := int64(12)
		if len(head) >= 4 && string(head[:4]) == sizesSignature {
			head, skip = head[4:], 16
		}
		if len(head) < 12 {
			return io.ErrUnexpectedEOF
		}
		e.sum = binary.LittleEndian.Uint32(head)
		if int64(binary.LittleEndian.Uint32(head[4:])) != used || int64(binary.LittleEndian.Uint32(head[8:])) != n {
			skip += 8 // sizes of 8 bytes
		}
		e.after += skip
	}
	if n != e.size || used != e.packed || sum.Sum32() != e.sum {
		return zip.ErrChecksum
	}
	return nil
}

// addLocal adds an entry that was measured.
func (a *archive) addLocal(root *node, r io.ReaderAt, e *local) {
	f := &zip.File{FileHeader: zip.FileHeader{Name: e.name, Flags: e.flags, Method: e.method, CompressedSize64: uint64(e.packed), UncompressedSize64: uint64(e.size)}}
	a.addZip(root, f, func() (int64, error) { return e.offset, nil }, r, func() (io.ReadCloser, error) {
		return flate.NewReader(io.NewSectionReader(r, e.offset, e.packed)), nil
	})
}

package snapshot

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// File is a .snap that is read piece by piece. It is not safe for concurrent use.
type File struct {
	r      io.ReaderAt
	size   int64
	name   string
	info   Info
	places []indexPlace
	tables []*fileTable
	zstd   *zstd.Decoder
	keys   cellBuffers
	values cellBuffers
	read   int64

	expanded int64 // bytes of the cells in all tables with an index that was read
	held     limits.Held
}

// headSize is how much of a file the first read fetches for the header.
const headSize = 16 << 10

// Open reads the head of a .snap of size bytes. It needs one read of at most 16 KiB, and a second one for a longer
// header. Errors contain name. They are a *frame.Error if the file is at fault.
func Open(r io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{r: r, size: size, name: name}
	head := make([]byte, min(size, headSize))
	if err := f.readAt(head, 0); err != nil {
		return nil, err
	}
	if !IsSnap(head) {
		msg := fmt.Sprintf("expected the magic of a snapshot, got %q", head[:min(len(head), len(magic))])
		if size == 0 {
			msg = "empty file, expected a snapshot"
		}
		return nil, &frame.Error{Name: name, Msg: msg, Err: frame.ErrUnrecognized}
	}
	if len(head) < preambleSize {
		return nil, f.torn(fmt.Sprintf("file of %d bytes ends inside the preamble of %d", size, preambleSize))
	}
	if sum := binary.LittleEndian.Uint32(head[28:]); sum != checksum(head[:28]) {
		return nil, corrupt(name, 0, "checksum of the preamble does not fit")
	}
	if v := binary.LittleEndian.Uint16(head[8:]); v != version {
		return nil, &frame.Error{Name: name, Offset: 8, Msg: fmt.Sprintf("snapshot of version %d, expected %d", v, version), Err: frame.ErrVersion}
	}
	if flags := binary.LittleEndian.Uint16(head[10:]); flags != 0 {
		return nil, corrupt(name, 10, fmt.Sprintf("flags are %#x, expected 0", flags))
	}
	if length := binary.LittleEndian.Uint64(head[20:]); length != uint64(size) {
		if length > uint64(size) {
			return nil, f.torn(fmt.Sprintf("file ends at %d of %d bytes", size, length))
		}
		return nil, corrupt(name, int64(length), fmt.Sprintf("%d bytes after the end", uint64(size)-length))
	}
	length := int64(binary.LittleEndian.Uint32(head[12:]))
	if preambleSize+length+int64(len(endMarker)) > size {
		return nil, corrupt(name, 12, fmt.Sprintf("header of %d bytes in a file of %d", length, size))
	}
	if limits.Header.Over(length) {
		return nil, limits.Header.Reached(name, length)
	}
	header := head[preambleSize:]
	if int64(len(header)) < length {
		header = make([]byte, length)
		if err := f.readAt(header, preambleSize); err != nil {
			return nil, err
		}
	}
	header = header[:length]
	if checksum(header) != binary.LittleEndian.Uint32(head[16:]) {
		return nil, corrupt(name, preambleSize, "checksum of the header does not fit")
	}
	if err := f.decodeHeader(header); err != nil {
		return nil, refused(name, preambleSize, "header: ", err)
	}
	f.tables = make([]*fileTable, len(f.info.Tables))
	return f, nil
}

// OpenFile opens the .snap at path. Closing the File closes the file.
func OpenFile(path string) (*File, error) {
	osFile, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	stat, err := osFile.Stat()
	if err != nil {
		osFile.Close()
		return nil, err
	}
	f, err := Open(osFile, stat.Size(), path)
	if err != nil {
		osFile.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) torn(msg string) error {
	return &frame.Error{Name: f.name, Offset: f.size, Msg: msg, Err: frame.ErrTorn}
}

// readAt fills b from offset.
func (f *File) readAt(b []byte, offset int64) error {
	n, err := f.r.ReadAt(b, offset)
	f.read += int64(n)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return &frame.Error{Name: f.name, Offset: offset + int64(n), Msg: "file became shorter while it was read", Err: frame.ErrTorn}
	}
	return err
}

// Info implements State.
func (f *File) Info() *Info { return &f.info }

// BytesRead returns how many bytes have been read from the file so far.
func (f *File) BytesRead() int64 { return f.read }

// Close closes the underlying reader if it can be closed.
func (f *File) Close() error {
	f.held.Free()
	if f.zstd != nil {
		f.zstd.Close()
		f.zstd = nil
	}
	if c, ok := f.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

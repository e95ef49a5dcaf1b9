package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// maxDirectory is how many bytes of a zip archive are read to list its entries. The
// smallest takes 46 of them.
const maxDirectory = 24 << 20

// directory bounds what zip.NewReader reads, and so how many entries it makes, until
// they are listed.
type directory struct {
	io.ReaderAt
	left   int64
	listed bool
}

func (d *directory) ReadAt(p []byte, at int64) (int, error) {
	if !d.listed {
		if d.left -= int64(len(p)); d.left < 0 {
			return 0, errManyEntries
		}
	}
	return d.ReaderAt.ReadAt(p, at)
}

var errManyEntries = errors.New("too many entries")

// errOtherList means that the list of entries belongs to an archive in the archive, for example because the outer one
// is cut off.
var errOtherList = errors.New("the list belongs to an archive in it")

// listsFirst reports whether the list of an archive has the entry with which the file begins, if
// it begins with one.
func listsFirst(z *zip.Reader, r io.ReaderAt) bool {
	var head [30]byte // of an entry; its last fields are the lengths of the name and of what is extra
	if n, _ := r.ReadAt(head[:], 0); n < len(head) || string(head[:4]) != "PK\x03\x04" {
		return true
	}
	content := int64(len(head)) + int64(binary.LittleEndian.Uint16(head[26:])) + int64(binary.LittleEndian.Uint16(head[28:]))
	return slices.ContainsFunc(z.File, func(f *zip.File) bool {
		at, err := f.DataOffset()
		return err == nil && at == content
	})
}

// readZip lists a zip archive.
func (a *archive) readZip(r io.ReaderAt, size int64) (*node, error) {
	list := &directory{ReaderAt: r, left: maxDirectory}
	z, err := zip.NewReader(list, size)
	list.listed = true
	if err == nil && !listsFirst(z, r) {
		err = errOtherList
	}
	switch {
	case errors.Is(err, errManyEntries):
		return nil, fmt.Errorf("a zip archive of more than %d bytes of names, expected at most that many", maxDirectory)
	case errors.Is(err, zip.ErrInsecurePath): // names are checked below
	case err != nil:
		root := newFolder("")
		if n := a.salvage(root, r, size); n > 0 {
			a.leave(fmt.Sprintf("after %d entries", n), "the archive is cut off or damaged: its list of entries, which is at its end, cannot be read")
			return root, nil
		}
		return nil, fmt.Errorf("a zip archive with a list of entries, at its end, that is cut off or damaged (%v): %w", err, frame.ErrTorn)
	}
	z.RegisterDecompressor(zip.Deflate, inflater)
	if len(z.File) > a.tree.limits.Entries {
		return nil, limits.Entries.Reached("", int64(len(z.File)))
	}
	if err := a.tree.enter(int64(len(z.File))); err != nil {
		return nil, err
	}
	packed := uint64(0)
	for _, f := range z.File {
		if packed += f.CompressedSize64; packed > uint64(size) {
			return nil, fmt.Errorf("a zip archive of %d bytes with entries that claim more: they overlap", size)
		}
	}
	root := newFolder("")
	for _, f := range z.File {
		a.addZip(root, f, f.DataOffset, r, f.Open)
	}
	return root, nil
}

// addZip adds an entry. Its data begins at the offset that offset returns; inflate inflates it.
func (a *archive) addZip(root *node, f *zip.File, offset func() (int64, error), r io.ReaderAt, inflate func() (io.ReadCloser, error)) {
	bounds := &a.tree.limits
	mode := f.Mode()
	switch {
	case mode.IsDir() || f.Name == "":
		return
	case mode&fs.ModeSymlink != 0:
		a.leave(f.Name, "is a link, which is not followed")
		return
	case !mode.IsRegular():
		a.remark(f.Name, "is neither a file nor a folder")
		return
	case f.Flags&encrypted != 0:
		a.keep(f.Name, "is encrypted; ask for it without a password").why = files.Encrypted
		return
	case f.Method != zip.Store && f.Method != zip.Deflate:
		a.leave(f.Name, fmt.Sprintf("is compressed in a way that is not read (method %d)", f.Method))
		return
	case f.UncompressedSize64 > 1<<62 || f.CompressedSize64 > 1<<62:
		a.leave(f.Name, "has an impossible size")
		return
	}
	size, packed := int64(f.UncompressedSize64), int64(f.CompressedSize64)
	n := &node{size: size, time: f.Modified}
	switch {
	case f.Method == zip.Store && size != packed:
		a.leave(f.Name, "has two sizes")
		return
	case f.Method == zip.Store:
		n.open = func(n *node) (files.File, error) {
			at, err := offset()
			if err != nil {
				return nil, fmt.Errorf("its entry in the zip archive is damaged: %w", err)
			}
			return inPlace(r, at, size)(n)
		}
	case size > bounds.Free && size/bounds.Ratio > packed:
		a.unread(f.Name, limits.Ratio)
		return
	case size > bounds.Total:
		a.unread(f.Name, limits.Archive)
		return
	default:
		n.deflated = true
		n.open = func(n *node) (files.File, error) { return &inflating{info: n, entry: inflate, tree: a.tree}, nil }
	}
	a.add(root, f.Name, n)
}

// reusable is an inflater that is used again, and what it inflates if that is small.
type reusable struct {
	io.ReadCloser
	packed  []byte
	content bytes.Reader
}

// maxPacked is the largest compressed size that is read at once.
const maxPacked = 1 << 20

// inflaters are reused: their cost is the window.
var inflaters = sync.Pool{New: func() any { return &reusable{ReadCloser: flate.NewReader(empty{})} }}

// inflater takes two thirds of the time of the one in package zip.
func inflater(r io.Reader) io.ReadCloser {
	f := inflaters.Get().(*reusable)
	_ = f.ReadCloser.(flate.Resetter).Reset(f.source(r), nil) // of no dictionary it has no error
	return compression.Lend(f, f.back)
}

// back closes f and gives it to the next entry, without this one.
func (f *reusable) back() error {
	err := f.Close()
	_ = f.ReadCloser.(flate.Resetter).Reset(empty{}, nil) // so that it holds no file
	inflaters.Put(f)
	return err
}

// source returns what r has, from memory if it is small.
func (f *reusable) source(r io.Reader) io.Reader {
	entry, ok := r.(*io.SectionReader)
	if !ok || entry.Size() > maxPacked {
		return r
	}
	f.packed = slices.Grow(f.packed[:0], int(entry.Size()))[:entry.Size()]
	if n, err := entry.ReadAt(f.packed, 0); n < len(f.packed) || err != nil && err != io.EOF {
		return r // which will report that
	}
	f.content.Reset(f.packed)
	return &f.content
}

// empty has nothing to read.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }

// inflating is an open file of a zip archive that is deflated. Read goes through it as a stream; ReadAt keeps the
// content before its offset in memory.
type inflating struct {
	info  *node
	entry func() (io.ReadCloser, error)
	tree  *Tree

	stream io.ReadCloser // of Read

	mu    sync.Mutex
	again io.ReadCloser // of ReadAt
	buf   []byte
	err   error // after buf
}

func (f *inflating) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *inflating) start() (io.ReadCloser, error) {
	r, err := f.entry()
	if err != nil {
		return nil, fmt.Errorf("its entry in the zip archive is damaged: %w", err)
	}
	return r, nil
}

func (f *inflating) Read(p []byte) (int, error) {
	if f.stream == nil {
		var err error
		if f.stream, err = f.start(); err != nil {
			return 0, err
		}
	}
	n, err := f.stream.Read(p)
	return n, damaged(err)
}

// damaged turns an error of package zip into an error of this file.
func damaged(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("its entry in the zip archive is damaged: %w", err)
}

func (f *inflating) ReadAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at < 0 {
		return 0, errors.New("negative offset")
	}
	if at >= f.info.size {
		return 0, io.EOF
	}
	end := min(at+int64(len(p)), f.info.size)
	if err := f.inflate(end); err != nil && int64(len(f.buf)) < end {
		return copy(p, f.buf[min(at, int64(len(f.buf))):]), err
	}
	n := copy(p, f.buf[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

const (
	leastInflated = 64 << 10 // bytes that are inflated at a time, at least
	onceInflated  = 1 << 20  // up to how many bytes a file has memory for all of it at once
)

// part returns n bytes from an offset on in memory, without a copy. It may be called as long as the file is open; nil
// means that the file must be read instead.
func (f *inflating) part(at, n int64) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.info.size > onceInflated || f.inflate(at+n) != nil || int64(len(f.buf)) < at+n {
		return nil
	}
	return f.buf[at : at+n : at+n]
}

// inflate brings the bytes before end into memory.
func (f *inflating) inflate(end int64) error {
	if int64(len(f.buf)) >= end || f.err != nil {
		return f.err
	}
	if f.again == nil {
		if f.again, f.err = f.start(); f.err != nil {
			return f.err
		}
	}
	until := min(max(end, 2*int64(len(f.buf)), leastInflated), f.info.size)
	if int64(cap(f.buf)) < until {
		room := until
		if f.info.size <= onceInflated {
			room = f.info.size
		}
		if err := f.tree.hold(room - int64(cap(f.buf))); err != nil {
			return err
		}
		f.buf = append(make([]byte, 0, room), f.buf...)
	}
	n, err := io.ReadFull(f.again, f.buf[len(f.buf):until])
	f.buf = f.buf[:len(f.buf)+n]
	if err == nil && int64(len(f.buf)) == f.info.size {
		// The checksum is compared after the last byte.
		if n, err = f.again.Read(make([]byte, 1)); n > 0 {
			err = errors.New("it is longer than its declared length")
		}
		if err != nil && err != io.EOF {
			f.buf = f.buf[:0] // none of it is to be believed
		}
	}
	if err == io.EOF {
		err = nil
	}
	f.err = damaged(err)
	return f.err
}

// Close implements files.File.
func (f *inflating) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.tree.hold(-int64(cap(f.buf)))
	f.buf = nil
	for _, r := range []io.Closer{f.stream, f.again} {
		if r != nil {
			r.Close()
		}
	}
	return nil
}

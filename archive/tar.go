package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// tarBlock is the size of a header in a tar archive.
const tarBlock = 512

// isTar reports whether a block is the header of an entry: the sum of its bytes, with
// the sum itself as spaces, is in it.
func isTar(head []byte) bool {
	if len(head) < tarBlock || head[0] == 0 {
		return false
	}
	const from, to = 148, 156
	want, err := strconv.ParseUint(strings.Trim(string(head[from:to]), " \x00"), 8, 32)
	if err != nil {
		return false
	}
	sum := uint64(0)
	for i, c := range head[:tarBlock] {
		if i >= from && i < to {
			c = ' '
		}
		sum += uint64(c)
	}
	return sum == want
}

// readTar lists a tar archive: in place if it is not compressed, and else by keeping
// its content.
func (a *archive) readTar(f files.File, size int64, packing string) (*node, error) {
	root := newFolder("")
	if packing == "" {
		return root, a.readPlainTar(root, f, size)
	}
	packedBytes := &counted{r: io.NewSectionReader(f, 0, size)}
	content, _, err := compression.Unpack(packedBytes, 0)
	if err != nil {
		return nil, err
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	bounds := &a.tree.limits
	out := &counted{r: content, bound: func(read int64) error {
		if bounds.Progress != nil {
			bounds.Progress(packedBytes.n, size)
		}
		if read > bounds.Free && read/bounds.Ratio > packedBytes.n {
			return limits.Ratio.Reached("", 0)
		}
		if read > 4*bounds.Total { // entries that are not kept are skipped
			return limits.Archive.Reached("", read)
		}
		return nil
	}}
	return root, a.readEntries(root, tar.NewReader(out), func(in io.Reader, h *tar.Header) (*node, error) {
		if err := a.tree.hold(h.Size); err != nil {
			a.unread(h.Name, reached(err))
			return nil, nil
		}
		b, err := readUpTo(in, h.Size)
		if err != nil { // a part of it is better than none
			_ = a.tree.hold(int64(len(b)) - h.Size)
		}
		return &node{size: int64(len(b)), open: inPlace(bytes.NewReader(b), 0, int64(len(b)))}, err
	})
}

// readPlainTar lists an archive that is not compressed.
func (a *archive) readPlainTar(root *node, r io.ReaderAt, size int64) error {
	in := io.NewSectionReader(r, 0, size)
	return a.readEntries(root, tar.NewReader(in), func(_ io.Reader, h *tar.Header) (*node, error) {
		offset, err := in.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		n := &node{size: min(h.Size, size-offset)}
		n.open = inPlace(r, offset, n.size)
		if n.size < h.Size {
			return n, io.ErrUnexpectedEOF
		}
		return n, nil
	})
}

// readEntries lists the entries of a tar archive. Take returns the file of an entry, nil if there is no room for it;
// take reports that.
func (a *archive) readEntries(root *node, in *tar.Reader, take func(io.Reader, *tar.Header) (*node, error)) error {
	for count := 0; ; count++ {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if errors.Is(err, tar.ErrInsecurePath) { // names are checked below
			err = nil
		}
		if err == nil && count >= a.tree.limits.Entries {
			err = limits.Entries.Reached("", 0)
		} else if err == nil {
			err = a.tree.enter(1)
		}
		if err == nil {
			err = a.addTar(root, in, h, take)
		}
		if err != nil && count == 0 && len(root.folder) == 0 {
			return fmt.Errorf("%w: %w", errCut, err)
		}
		if err != nil {
			after := fmt.Sprintf("after %d entries", count)
			if over := (*limits.Error)(nil); errors.As(err, &over) {
				a.keep(after, "the rest of the archive was not read: "+over.Error()).why = files.OverLimit
			} else {
				a.leave(after, "the archive is cut off or damaged: "+err.Error())
			}
			return nil
		}
	}
}

func (a *archive) addTar(root *node, in io.Reader, h *tar.Header, take func(io.Reader, *tar.Header) (*node, error)) error {
	switch {
	case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		a.leave(h.Name, "is a link, which is not followed")
		return nil
	case isSparse(h):
		a.leave(h.Name, "is a sparse file, which is not read")
		return nil
	case h.Typeflag != tar.TypeReg:
		a.remark(h.Name, "is neither a file nor a folder")
		return nil
	}
	n, err := take(in, h)
	if n == nil {
		return err
	}
	n.time = h.ModTime
	a.add(root, h.Name, n)
	return err
}

func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// readUpTo reads size bytes. It does not allocate for bytes that it has not seen.
func readUpTo(r io.Reader, size int64) ([]byte, error) {
	b := make([]byte, 0, min(size, 1<<20))
	for int64(len(b)) < size {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(2*int64(cap(b)), size)), b...)
		}
		n, err := io.ReadFull(r, b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return b, err
		}
	}
	return b, nil
}

// counted counts what is read. It ends with an error when bound, if there is one, does.
type counted struct {
	r     io.Reader
	n     int64
	bound func(read int64) error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.bound != nil {
		if over := c.bound(c.n); over != nil {
			return 0, over
		}
	}
	return n, err
}

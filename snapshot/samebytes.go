package snapshot

import (
	"bytes"
	"io"
	"path/filepath"
	"sync"

	"github.com/desynctool/desynctool/internal/file/files"
)

// SameBytes reports whether two snapshots are equal byte for byte. It returns false for files that cannot be read, and
// if the answer would cost more than reading their heads. If they are equal, b then uses the data that a has in memory.
func SameBytes(a, b *Entry) bool {
	same := sameBytes(a, b)
	if same {
		a.share(b)
	}
	return same
}

// share makes e use the data that another snapshot with the same bytes has in memory.
func (e *Entry) share(other *Entry) {
	if e.kept == nil || other.kept == nil || e.kept.Load() != nil || e.Seed != other.Seed || !e.Point.Same(other.Point) {
		return
	}
	if known := other.kept.Load(); known != nil {
		e.kept.Store(known.of(e.Peer))
	}
}

// Numbered reports whether the state is one of several in a file that are read together.
func (e *Entry) Numbered() bool { return e.part != nil && e.part.Numbered }

func sameBytes(a, b *Entry) bool {
	if a.Format.Light || a.Format.Name != b.Format.Name || a.Numbered() {
		return false
	}
	ra, sizeA, err := a.raw()
	if err != nil {
		return false
	}
	defer ra.Close()
	rb, sizeB, err := b.raw()
	if err != nil {
		return false
	}
	defer rb.Close()
	return sizeA == sizeB && equalBytes(ra, rb, 0, 0, sizeA)
}

// comparing is a pool of buffers for reading two files.
var comparing = sync.Pool{New: func() any { return new([2][32 << 10]byte) }}

// equalBytes reports whether left bytes of a from atA equal those in b from atB.
func equalBytes(a, b io.ReaderAt, atA, atB, left int64) bool {
	bufs := comparing.Get().(*[2][32 << 10]byte)
	defer comparing.Put(bufs)
	for left > 0 {
		n := min(left, int64(len(bufs[0])))
		na, _ := a.ReadAt(bufs[0][:n], atA)
		nb, _ := b.ReadAt(bufs[1][:n], atB)
		if int64(na) != n || int64(nb) != n || !bytes.Equal(bufs[0][:n], bufs[1][:n]) {
			return false
		}
		atA, atB, left = atA+n, atB+n, left-n
	}
	return true
}

// OpenLike opens a snapshot that has much in common with another one of the same point. If it is an exact copy of the
// other one, and that one is in memory, it is not read again.
func (e *Entry) OpenLike(other *Entry) (State, error) {
	if other != nil && e.kept.state() == nil && other.kept.state() != nil {
		SameBytes(e, other)
	}
	return e.openLike(other)
}

// rawState is the bytes of a snapshot as stored in its file.
type rawState struct {
	io.ReaderAt
	file io.Closer // nil if the file stays open
}

func (r rawState) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

func (e *Entry) raw() (rawState, int64, error) {
	if e.part != nil && e.parts.temp != nil {
		return rawState{io.NewSectionReader(e.parts.temp, e.part.Offset, e.part.Size), nil}, e.part.Size, nil
	}
	path := e.Dir + string(filepath.Separator) + e.Base
	f, err := files.OpenRegular(e.Tree, path)
	if err != nil {
		return rawState{}, 0, err
	}
	if e.part != nil {
		return rawState{io.NewSectionReader(f, e.part.Offset, e.part.Size), f}, e.part.Size, nil
	}
	size, err := sizeOf(f, path)
	return rawState{f, f}, size, err
}

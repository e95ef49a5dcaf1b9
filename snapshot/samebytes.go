package snapshot

import (
	"bytes"
	"io"
	"path/filepath"
	"sync"
)

// SameBytes reports whether two snapshots are equal byte for byte, so that what is
// in one is in the other. It reports false where finding out would take more than
// reading their heads does, and for files that cannot be read. What is in memory of b is then that of a, too.
func SameBytes(a, b *Entry) bool {
	same := sameBytes(a, b)
	if same {
		a.share(b)
	}
	return same
}

// share has e keep what another snapshot, of which it is a copy, keeps in memory.
func (e *Entry) share(other *Entry) {
	if e.kept == nil || other.kept == nil || e.kept.Load() != nil || e.Seed != other.Seed || !e.Point.Same(other.Point) {
		return
	}
	if known := other.kept.Load(); known != nil {
		e.kept.Store(known.of(e.Peer))
	}
}

func sameBytes(a, b *Entry) bool {
	if a.Format.Light || a.Format.Name != b.Format.Name {
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
	if sizeA != sizeB {
		return false
	}
	return equalBytes(ra, rb, 0, 0, sizeA)
}

// comparing are what two files are read into.
var comparing = sync.Pool{New: func() any { return new([2][32 << 10]byte) }}

// equalBytes reports whether a from one offset on and b from another on have the same bytes, so many of them.
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

// OpenLike opens a snapshot of which much is as in another one of the same point. If it is a copy of that, byte for byte,
// and that is in memory, it is not read again.
func (e *Entry) OpenLike(other *Entry) (State, error) {
	if other != nil && e.kept.state() == nil && other.kept.state() != nil {
		SameBytes(e, other)
	}
	return e.openLike(other)
}

// rawState is the bytes of a snapshot as they stand in its file.
type rawState struct {
	io.ReaderAt
	file io.Closer // nil if it stays open
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
	f, err := openRegular(e.Tree, path)
	if err != nil {
		return rawState{}, 0, err
	}
	if e.part != nil {
		return rawState{io.NewSectionReader(f, e.part.Offset, e.part.Size), f}, e.part.Size, nil
	}
	size, err := sizeOf(f, path)
	return rawState{f, f}, size, err
}

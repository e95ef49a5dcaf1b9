package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
)

// content is the result of reading a snapshot's content.
type content struct{ err error }

// Checksummed reports whether the snapshot has digests that its content may contradict. For states in other formats,
// the only digests are computed while reading.
func (e *Entry) Checksummed() bool { return e.Format != nil && e.Format.Checksummed && e.Format.Light }

// Check reads the content of a snapshot once and checks it against its digests, like the function [Check]. It returns
// nil for a snapshot that is not Checksummed. Like, if not nil, is a snapshot that was already checked: where both have
// the same digests and the same bytes, its result is reused.
func (e *Entry) Check(like *Entry) error {
	if !e.Checksummed() {
		return nil
	}
	if e.content == nil {
		e.content = &content{err: e.check(like)}
	}
	return e.content.err
}

// Undamaged reads all bytes of a snapshot once and compares them with the file's own checksums. Unlike [Entry.Check] it
// neither decompresses the content nor computes digests, so it costs little more than reading. It returns the result of
// Check where there is one. A state in another format with checksums is read once, unless it was read before; a state
// without checksums is not.
func (e *Entry) Undamaged() error {
	if !e.Checksummed() {
		if e.Format == nil || e.info != nil || e.part != nil || !e.Format.Checksummed && e.Format.ChecksummedFile == nil {
			return nil
		}
		_, err := e.Info()
		if errors.As(err, new(*MisnamedError)) {
			return nil
		}
		return err
	}
	if e.content != nil {
		return e.content.err
	}
	if e.bytes == nil {
		e.bytes = &stored{}
		e.bytes.err = e.undamaged()
	}
	return e.bytes.err
}

// StoredLike reports whether Undamaged has read two snapshots and their states are the same stored bytes. Where their
// roots are equal and these bytes are not, different programs wrote them, or the content of one contradicts its digests.
func (e *Entry) StoredLike(other *Entry) bool {
	return e.bytes != nil && other.bytes != nil && e.bytes.hash == other.bytes.hash
}

// stored is what reading the bytes of a snapshot shows.
type stored struct {
	err  error
	hash uint64 // of the stored cells of its state
}

// seed makes the hashes of stored cells unpredictable to whoever writes a file.
var seed = maphash.MakeSeed()

func (e *Entry) undamaged() error {
	s, err := e.Open()
	if s != nil {
		defer s.Close()
	}
	if err != nil && !errors.As(err, new(*MisnamedError)) {
		return err
	}
	f, ok := s.(*File)
	if !ok {
		return Check(s)
	}
	var hash maphash.Hash
	hash.SetSeed(seed)
	for i := range f.info.Tables {
		if err := f.checkSums(i, &hash); err != nil {
			return err
		}
	}
	e.bytes.hash = hash.Sum64()
	return f.checkEnd()
}

// checkSums compares the stored cells of table i with their checksums, and adds those of a state to a hash.
func (f *File) checkSums(i int, hash *maphash.Hash) error {
	t, err := f.table(i)
	if err != nil {
		return err
	}
	for cell, size := range t.cells.stored {
		if err := f.hold(&f.keys, int(size), 0, codecPlain); err != nil {
			return err
		}
		f.keys.stored = resize(f.keys.stored, int(size))
		if err := f.readAt(f.keys.stored, t.offsets[cell]); err != nil {
			return err
		}
		if checksum(f.keys.stored) != t.cells.crcs[cell] {
			return corrupt(f.name, t.offsets[cell], fmt.Sprintf("a cell of %s %q: checksum does not fit", f.info.Tables[i].Class, f.info.Tables[i].Label))
		}
		if f.info.Tables[i].Class == Archetype {
			hash.Write(f.keys.stored)
		}
	}
	return nil
}

func (e *Entry) check(like *Entry) error {
	s, err := e.Open()
	if s != nil {
		defer s.Close()
	}
	if err != nil {
		return err
	}
	if f, ok := s.(*File); ok && like != nil && like.content != nil && like.content.err == nil {
		if f.sameAs(like) {
			return nil
		}
	}
	err = Check(s)
	if errors.As(err, new(*HashError)) {
		return fmt.Errorf("%s: corrupt: %w", e.Path(), err)
	}
	return err
}

// sameAs reports whether a file has the same tables as a snapshot that was checked: the same digests over the same
// stored cells. It returns false if anything cannot be read.
func (f *File) sameAs(like *Entry) bool {
	s, err := like.Open()
	if s != nil {
		defer s.Close()
	}
	other, ok := s.(*File)
	if err != nil || !ok || f.info.Root != other.info.Root || !slices.Equal(f.info.Tables, other.info.Tables) || f.checkEnd() != nil {
		return false
	}
	for i := range f.info.Tables {
		if !f.sameTable(other, i) {
			return false
		}
	}
	return true
}

// sameTable reports whether two files store table i as the same bytes.
func (f *File) sameTable(other *File, i int) bool {
	a, errA := f.table(i)
	b, errB := other.table(i)
	if errA != nil || errB != nil || !a.cells.equal(&b.cells) {
		return false
	}
	if len(a.offsets) == 0 { // it has no rows
		return true
	}
	size := int64(f.places[i].offset) - a.offsets[0]
	f.read += size
	other.read += size
	return equalBytes(f.r, other.r, a.offsets[0], b.offsets[0], size)
}

func (t *cellTable) equal(u *cellTable) bool {
	return bytes.Equal(t.digests, u.digests) && slices.Equal(t.raw, u.raw) && slices.Equal(t.stored, u.stored) &&
		bytes.Equal(t.codecs, u.codecs) && slices.Equal(t.crcs, u.crcs)
}

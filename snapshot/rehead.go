package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Rehead writes a copy of the file with another peer and other properties. No hash covers these two. Everything else
// stays as stored, except offsets and checksums. The file is read once.
func (f *File) Rehead(out io.Writer, peer string, meta map[string]string) error {
	info := f.info
	info.Peer, info.Meta = peer, meta
	if err := checkText(peer); err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	places := append([]indexPlace(nil), f.places...)
	header, err := encodeHeader(&info, places) // its length does not depend on the values in places
	if err != nil {
		return err
	}
	begin, err := f.dataStart(0)
	if err != nil {
		return err
	}
	shift := preambleSize + int64(len(header)) - begin
	for i := range places {
		places[i].offset = uint64(int64(places[i].offset) + shift)
	}
	if header, err = encodeHeader(&info, places); err != nil {
		return err
	}
	if len(header) > maxHeader {
		return fmt.Errorf("header has %d bytes, at most %d are allowed", len(header), maxHeader)
	}
	if _, err := out.Write(withPreamble(header, f.size+shift)); err != nil {
		return err
	}
	at := begin
	for i := range f.places {
		place := f.places[i]
		if int64(place.offset) < at {
			return corrupt(f.name, int64(place.offset), "an index lies before the end of what precedes it")
		}
		if err := f.copyTo(out, at, int64(place.offset)); err != nil {
			return err
		}
		index := make([]byte, place.length)
		if err := f.readAt(index, int64(place.offset)); err != nil {
			return err
		}
		if err := f.moveIndex(index, int64(place.offset), shift); err != nil {
			return err
		}
		if _, err := out.Write(index); err != nil {
			return err
		}
		at = int64(place.offset) + int64(place.length)
	}
	return f.copyTo(out, at, f.size)
}

// copyTo copies the bytes between two offsets to out.
func (f *File) copyTo(out io.Writer, from, to int64) error {
	n, err := io.Copy(out, io.NewSectionReader(f.r, from, to-from))
	f.read += n
	if err == nil && n < to-from {
		return f.torn("file became shorter while it was read")
	}
	return err
}

// moveIndex changes the offset of the first cell in an index. The index ends with its checksum.
func (f *File) moveIndex(index []byte, at, shift int64) error {
	body := index[:len(index)-4]
	if checksum(body) != binary.LittleEndian.Uint32(index[len(body):]) {
		return corrupt(f.name, at, "checksum of an index does not fit")
	}
	const array4, uint64Code = 0x94, 0xcf // the fixed-size forms that a writer uses, so that the length stays the same
	if len(body) < 10 || body[0] != array4 || body[1] != uint64Code {
		return errors.New("its index has numbers of another form than the form of their types")
	}
	binary.BigEndian.PutUint64(body[2:], uint64(int64(binary.BigEndian.Uint64(body[2:]))+shift))
	binary.LittleEndian.PutUint32(index[len(body):], checksum(body))
	return nil
}

package openttd

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/anchore/go-lzo"
)

// FuzzBlock gives the LZO reader blocks with right sizes and checksums.
func FuzzBlock(f *testing.F) {
	f.Add([]byte{0x11, 0, 0})
	f.Add([]byte("\x15MAPS\x11\x00\x00")) // four literals and the end
	f.Add([]byte("\x15MAPS\x20\x00\xff\x0c\x00\x11\x00\x00"))
	f.Add([]byte("\x00\x05the literals of a longer run\x11\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), lzoPacked)]
		file := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		file = append(file, data...)
		file = append(binary.BigEndian.AppendUint32(nil, lzoChecksum(file)), file...)
		var block [lzoBlock]byte
		n, err := lzo.Decompress(data, block[:])
		if err == nil && n > lzoBlock {
			t.Fatalf("%d bytes in a block of %d", n, lzoBlock)
		}
		content := append([]byte("OTTD\x01\x2e\x00\x00"), file...)
		_, body, unpackErr := unpack(bytes.NewReader(content), int64(len(content)), "x.sav")
		if (err == nil) != (unpackErr == nil) {
			t.Fatalf("a block that gives %v makes the save %v", err, unpackErr)
		}
		if err == nil && !bytes.Equal(body, block[:n]) {
			t.Fatalf("the save has %d bytes, the block %d", len(body), n)
		}
		if w, err := Read(bytes.NewReader(content), int64(len(content)), "x.sav"); err == nil {
			if err := w.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

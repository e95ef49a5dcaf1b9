package check

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	preambleSize    = 16
	frameHeaderSize = 16
	endFrame        = 0xffffffff
	maxFrame        = 16 << 20 // bytes of a payload
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// readFrames checks the framing of order logs and traces and hands each frame with a complete payload to take: its
// number from 0, the offset of its payload, its kind. A payload is valid during the call.
func readFrames(c *checker, in io.Reader, take func(n int, offset int64, kind uint32, payload []byte)) error {
	le := binary.LittleEndian
	head := make([]byte, preambleSize)
	n, err := io.ReadFull(in, head)
	switch {
	case err == io.ErrUnexpectedEOF:
		c.add("frame-end", offsetAt(int64(n), ""), "the file ends inside the preamble")
		return nil
	case err != nil:
		return err
	}
	if sum := le.Uint32(head[12:]); sum != crc(head[:12]) {
		c.add("frame-preamble-sum", offsetAt(12, ""), "the checksum of the preamble is 0x%08x, its 12 bytes give 0x%08x", sum, crc(head[:12]))
	}
	if v := le.Uint16(head[8:]); v != 1 {
		c.add("frame-version", offsetAt(8, ""), "the version is %d, expected 1", v)
		return nil
	}
	if flags := le.Uint16(head[10:]); flags != 0 {
		c.add("frame-flags", offsetAt(10, ""), "the flags are 0x%04x, expected 0", flags)
	}
	at := int64(preambleSize)
	for number := 0; ; number++ {
		where := offsetAt(at, fmt.Sprintf("frame %d", number))
		n, err := io.ReadFull(in, head)
		switch {
		case err == io.EOF:
			c.add("frame-end", where, "the file ends without an end marker")
			return nil
		case err == io.ErrUnexpectedEOF:
			c.add("frame-end", where, "the file ends %d bytes into a frame", n)
			return nil
		case err != nil:
			return err
		}
		length, kind, want := le.Uint32(head), le.Uint32(head[4:]), le.Uint32(head[8:])
		headGood := le.Uint32(head[12:]) == crc(head[:12])
		if length > maxFrame {
			if !headGood {
				c.add("frame-header-sum", where, "the checksum of the frame's header is 0x%08x, its 12 bytes give 0x%08x; nothing after it can be read", le.Uint32(head[12:]), crc(head[:12]))
			} else {
				c.add("frame-length", where, "the payload has %d bytes, at most %d are allowed; nothing after it can be read", length, maxFrame)
			}
			return nil
		}
		payload, err := io.ReadAll(io.LimitReader(in, int64(length))) // as much as is there
		if err != nil {
			return err
		}
		whole := len(payload) == int(length)
		payloadGood := whole && crc(payload) == want
		if !headGood {
			text := "the checksum of the frame's header is 0x%08x, its 12 bytes give 0x%08x"
			if !payloadGood {
				text += "; nothing after it can be read"
			}
			c.add("frame-header-sum", where, text, le.Uint32(head[12:]), crc(head[:12]))
			if !payloadGood {
				return nil
			}
		}
		if !whole {
			c.add("frame-end", where, "the file ends %d bytes into a payload of %d", len(payload), length)
			return nil
		}
		if !payloadGood {
			c.add("frame-payload-sum", where, "the checksum of the payload is 0x%08x, its %d bytes give 0x%08x", want, length, crc(payload))
		}
		at += frameHeaderSize
		if kind == endFrame {
			switch {
			case length != 8:
				c.add("frame-end-count", where, "the end marker has %d bytes, expected 8", length)
			case le.Uint64(payload) != uint64(number):
				c.add("frame-end-count", where, "the end marker counts %d frames, there are %d", le.Uint64(payload), number)
			}
			var one [1]byte
			if _, err := io.ReadFull(in, one[:]); err == nil {
				c.add("frame-after-end", offsetAt(at+int64(length), ""), "bytes follow the end marker")
			} else if err != io.EOF {
				return err
			}
			return nil
		}
		if payloadGood {
			take(number, at, kind, payload)
		}
		at += int64(length)
	}
}

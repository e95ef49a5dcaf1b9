package warzone

import "sync"

// crcPoly is the polynomial of the engine's CRC-32, highest bit first. It begins with 0 and is inverted at the end.
const crcPoly = 0x04c11db7

// crcTables are for a byte alone, and for a byte with one, two and three bytes after it.
var crcTables = sync.OnceValue(func() *[4][256]uint32 {
	t := new([4][256]uint32)
	for i := range t[0] {
		c := uint32(i) << 24
		for range 8 {
			if c>>31 != 0 {
				c = c<<1 ^ crcPoly
			} else {
				c <<= 1
			}
		}
		t[0][i] = c
	}
	for k := 1; k < 4; k++ {
		for i, c := range t[k-1] {
			t[k][i] = c<<8 ^ t[0][c>>24]
		}
	}
	return t
})

// syncCRC is the running CRC of a dump.
type syncCRC struct {
	tables *[4][256]uint32
	sum    uint32
}

// text adds a string and the NUL after it.
func (c *syncCRC) text(s []byte) {
	t, sum := &c.tables[0], c.sum
	for _, b := range s {
		sum = sum<<8 ^ t[byte(sum>>24)^b]
	}
	c.sum = sum<<8 ^ t[byte(sum>>24)]
}

// words adds numbers, big-endian.
func (c *syncCRC) words(words []uint32) {
	t, sum := c.tables, c.sum
	for _, w := range words {
		sum ^= w
		sum = t[3][sum>>24] ^ t[2][byte(sum>>16)] ^ t[1][byte(sum>>8)] ^ t[0][byte(sum)]
	}
	c.sum = sum
}

func (c *syncCRC) value() uint32 { return ^c.sum }

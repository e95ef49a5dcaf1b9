package snapshot

import "encoding/binary"

// shuffle writes the bytes of src to dst, of the same length, by planes: first
// byte 0 of every group of 8, then byte 1 of every group, and so on; the bytes
// behind the last whole group follow unchanged. Columns of numbers compress
// better and faster that way.
func shuffle(dst, src []byte) {
	n := len(src) / 8
	for i := 0; i+8 <= n; i += 8 {
		x := transpose8(load8(src[8*i:]))
		for p := range 8 {
			binary.LittleEndian.PutUint64(dst[p*n+i:], x[p])
		}
	}
	for i := n &^ 7; i < n; i++ {
		for p := range 8 {
			dst[p*n+i] = src[8*i+p]
		}
	}
	copy(dst[8*n:], src[8*n:])
}

// unshuffle undoes shuffle.
func unshuffle(dst, src []byte) {
	n := len(src) / 8
	for i := 0; i+8 <= n; i += 8 {
		var x [8]uint64
		for p := range 8 {
			x[p] = binary.LittleEndian.Uint64(src[p*n+i:])
		}
		x = transpose8(x)
		out := dst[8*i : 8*i+64]
		for p := range 8 {
			binary.LittleEndian.PutUint64(out[8*p:], x[p])
		}
	}
	for i := n &^ 7; i < n; i++ {
		for p := range 8 {
			dst[8*i+p] = src[p*n+i]
		}
	}
	copy(dst[8*n:], src[8*n:])
}

func load8(b []byte) (x [8]uint64) {
	b = b[:64]
	for i := range x {
		x[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return x
}

// transpose8 transposes an 8×8 matrix of bytes: byte j of word i becomes byte
// i of word j. It swaps 4×4 blocks, then 2×2, then single bytes.
func transpose8(x [8]uint64) [8]uint64 {
	for i := range 4 {
		a, b := x[i], x[i+4]
		x[i] = a&0x00000000FFFFFFFF | b<<32
		x[i+4] = a>>32 | b&0xFFFFFFFF00000000
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		a, b := x[i], x[i+2]
		x[i] = a&0x0000FFFF0000FFFF | b&0x0000FFFF0000FFFF<<16
		x[i+2] = a>>16&0x0000FFFF0000FFFF | b&0xFFFF0000FFFF0000
	}
	for i := 0; i < 8; i += 2 {
		a, b := x[i], x[i+1]
		x[i] = a&0x00FF00FF00FF00FF | b&0x00FF00FF00FF00FF<<8
		x[i+1] = a>>8&0x00FF00FF00FF00FF | b&0xFF00FF00FF00FF00
	}
	return x
}

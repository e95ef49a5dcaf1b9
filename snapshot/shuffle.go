package snapshot

import "encoding/binary"

// shuffle writes the bytes of src to dst by planes: first byte 0 of every group of 8, then byte 1 of every group, and
// so on. Bytes after the last whole group follow unchanged. dst has the same length as src. Columns of numbers compress
// better and faster in this form.
func shuffle(dst, src []byte) {
	n := len(src) / 8
	whole := n &^ 7
	p := planes(dst, n)
	for i := 0; i < whole; i += 8 {
		in := src[8*i : 8*i+64 : 8*i+64]
		a, b, c, d, e, f, g, h := transpose8(
			binary.LittleEndian.Uint64(in[0:8]), binary.LittleEndian.Uint64(in[8:16]),
			binary.LittleEndian.Uint64(in[16:24]), binary.LittleEndian.Uint64(in[24:32]),
			binary.LittleEndian.Uint64(in[32:40]), binary.LittleEndian.Uint64(in[40:48]),
			binary.LittleEndian.Uint64(in[48:56]), binary.LittleEndian.Uint64(in[56:64]))
		binary.LittleEndian.PutUint64(p[0][i:], a)
		binary.LittleEndian.PutUint64(p[1][i:], b)
		binary.LittleEndian.PutUint64(p[2][i:], c)
		binary.LittleEndian.PutUint64(p[3][i:], d)
		binary.LittleEndian.PutUint64(p[4][i:], e)
		binary.LittleEndian.PutUint64(p[5][i:], f)
		binary.LittleEndian.PutUint64(p[6][i:], g)
		binary.LittleEndian.PutUint64(p[7][i:], h)
	}
	for i := whole; i < n; i++ {
		for k := range p {
			p[k][i] = src[8*i+k]
		}
	}
	copy(dst[8*n:], src[8*n:])
}

// unshuffle reverses shuffle.
func unshuffle(dst, src []byte) {
	n := len(src) / 8
	whole := n &^ 7
	p := planes(src, n)
	for i := 0; i < whole; i += 8 {
		a, b, c, d, e, f, g, h := transpose8(
			binary.LittleEndian.Uint64(p[0][i:]), binary.LittleEndian.Uint64(p[1][i:]),
			binary.LittleEndian.Uint64(p[2][i:]), binary.LittleEndian.Uint64(p[3][i:]),
			binary.LittleEndian.Uint64(p[4][i:]), binary.LittleEndian.Uint64(p[5][i:]),
			binary.LittleEndian.Uint64(p[6][i:]), binary.LittleEndian.Uint64(p[7][i:]))
		out := dst[8*i : 8*i+64 : 8*i+64]
		binary.LittleEndian.PutUint64(out[0:8], a)
		binary.LittleEndian.PutUint64(out[8:16], b)
		binary.LittleEndian.PutUint64(out[16:24], c)
		binary.LittleEndian.PutUint64(out[24:32], d)
		binary.LittleEndian.PutUint64(out[32:40], e)
		binary.LittleEndian.PutUint64(out[40:48], f)
		binary.LittleEndian.PutUint64(out[48:56], g)
		binary.LittleEndian.PutUint64(out[56:64], h)
	}
	for i := whole; i < n; i++ {
		for k := range p {
			dst[8*i+k] = p[k][i]
		}
	}
	copy(dst[8*n:], src[8*n:])
}

// planes returns the first 8 planes in b, with n bytes each.
func planes(b []byte, n int) (p [8][]byte) {
	for k := range p {
		p[k] = b[k*n : (k+1)*n : (k+1)*n]
	}
	return p
}

// transpose8 transposes an 8×8 matrix of bytes: byte j of word i becomes byte
// i of word j. It swaps 4×4 blocks, then 2×2, then single bytes.
func transpose8(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	const m32, m16, m8 = 0x00000000FFFFFFFF, 0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF
	a, e = a&m32|e<<32, a>>32|e&^m32
	b, f = b&m32|f<<32, b>>32|f&^m32
	c, g = c&m32|g<<32, c>>32|g&^m32
	d, h = d&m32|h<<32, d>>32|h&^m32

	a, c = a&m16|c&m16<<16, a>>16&m16|c&^m16
	b, d = b&m16|d&m16<<16, b>>16&m16|d&^m16
	e, g = e&m16|g&m16<<16, e>>16&m16|g&^m16
	f, h = f&m16|h&m16<<16, f>>16&m16|h&^m16

	a, b = a&m8|b&m8<<8, a>>8&m8|b&^m8
	c, d = c&m8|d&m8<<8, c>>8&m8|d&^m8
	e, f = e&m8|f&m8<<8, e>>8&m8|f&^m8
	g, h = g&m8|h&m8<<8, g>>8&m8|h&^m8
	return a, b, c, d, e, f, g, h
}

package bytediff

import (
	"encoding/binary"
	"math"
)

// Number is some bytes of both files as numbers of one width and byte order.
type Number struct {
	Offset   int64
	Width    int // 1, 2, 4 or 8 bytes
	Big      bool
	Unsigned [2]uint64
	Float    *[2]float64 // nil where the bytes of a file are hardly a float
}

// Signed returns the numbers as signed integers.
func (n *Number) Signed() [2]int64 {
	shift := 64 - 8*n.Width
	return [2]int64{int64(n.Unsigned[0]) << shift >> shift, int64(n.Unsigned[1]) << shift >> shift}
}

// Covers reports whether the number has all bytes of a range.
func (n *Number) Covers(g *Range) bool { return n.Offset+int64(n.Width) >= g.Offset+g.Length }

// numbers returns the bytes at an offset as numbers of each width and byte order. Near has the bytes of both files from
// an offset on. A number begins at a multiple of its width: of the file, or of the stride where that has such multiples
// at another place.
func numbers(offset, from int64, near [2][]byte, stride *Stride) (list []Number) {
	for width := int64(1); width <= 8; width *= 2 {
		at := offset - offset%width
		if stride != nil && stride.Distance%width != 0 && offset%stride.Distance == stride.Offset {
			at = offset
		}
		low := at - from
		if low < 0 || low+width > int64(len(near[0])) {
			continue
		}
		for _, big := range []bool{false, true} {
			if big && width == 1 {
				continue
			}
			n := Number{Offset: at, Width: int(width), Big: big}
			for i := range near {
				n.Unsigned[i] = unsigned(near[i][low:low+width], big)
			}
			if a, b := n.float(0), n.float(1); plausible(a) && plausible(b) {
				n.Float = &[2]float64{a, b}
			}
			list = append(list, n)
		}
	}
	return list
}

// unsigned returns up to 8 bytes as an integer.
func unsigned(raw []byte, big bool) uint64 {
	var b [8]byte
	if big {
		copy(b[8-len(raw):], raw)
		return binary.BigEndian.Uint64(b[:])
	}
	copy(b[:], raw)
	return binary.LittleEndian.Uint64(b[:])
}

// float returns the number of a file as a float, NaN if no float is so wide.
func (n *Number) float(file int) float64 {
	switch n.Width {
	case 4:
		return float64(math.Float32frombits(uint32(n.Unsigned[file])))
	case 8:
		return math.Float64frombits(n.Unsigned[file])
	}
	return math.NaN()
}

// plausible reports whether a game may compute with a float. Most integers are not such floats.
func plausible(f float64) bool {
	f = math.Abs(f)
	return f == 0 || f >= 1e-6 && f <= 1e9
}

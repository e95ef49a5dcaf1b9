package refsim

const (
	fractionBits = 16
	one          = 1 << fractionBits // 1 world unit
	cellShift    = fractionBits + 3  // a cell is 8 units wide
	cellSize     = 1 << cellShift
)

func abs[T int32 | int64](v T) T {
	if v < 0 {
		return -v
	}
	return v
}

// distance returns the length of (dx, dy), at most 7 % off.
func distance(dx, dy int64) int64 {
	dx, dy = abs(dx), abs(dy)
	if dx < dy {
		dx, dy = dy, dx
	}
	return dx + dy*3/8
}

// angle returns the direction of (dx, dy), a full turn being 65536. Within
// an eighth of a turn it is linear in the tangent.
func angle(dx, dy int64) uint16 {
	ax, ay := abs(dx), abs(dy)
	if ax == 0 && ay == 0 {
		return 0
	}
	var a int64 // within the first quadrant, 0…16384
	if ax >= ay {
		a = 8192 * ay / ax
	} else {
		a = 16384 - 8192*ax/ay
	}
	switch {
	case dx < 0 && dy < 0:
		a = 32768 + a
	case dx < 0:
		a = 32768 - a
	case dy < 0:
		a = 65536 - a
	}
	return uint16(a)
}

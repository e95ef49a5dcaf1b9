package notation

import (
	"math"
	"testing"
)

func TestAppendFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		bits int
		want string
	}{
		{0.1, 64, "0.1"}, {float64(float32(0.1)), 32, "0.1"}, {float64(float32(0.1)), 64, "0.10000000149011612"}, {1e21, 64, "1e+21"},
		{1e20, 64, "100000000000000000000"}, {1e-7, 64, "1e-07"}, {math.Copysign(0, -1), 64, "-0"}, {math.NaN(), 32, "nan"},
		{math.Inf(1), 32, "inf"}, {math.Inf(-1), 64, "-inf"}, {100, 32, "100"},
	} {
		if got := string(appendFloat(nil, c.f, c.bits)); got != c.want {
			t.Errorf("%g of %d bits: %s, want %s", c.f, c.bits, got, c.want)
		}
	}
}

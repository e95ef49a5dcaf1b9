package notation

import (
	"math"
	"testing"
)

func TestPlainNumber(t *testing.T) {
	for text, want := range map[string]string{
		"5": "5", "-5": "-5", "+5": "5", "1.50": "1.50", "-1e9": "-1e9", "+1.5E-3": "1.5E-3", ".5": "0.5", "-.5": "-0.5", "5.": "5",
		"5.e3": "5e3", "0": "0", "-0": "-0", "0.5": "0.5", "0e0": "0e0", "0x1F": "31", "-0x10": "-16", "0o17": "15", "0b11": "3",
		"0xffffffffffffffffff": "4722366482869645213695",
		"":                     "", "-": "", "007": "", "0x": "", "0x-1": "", "0xg": "", "1_000": "", ".": "", "1.2.3": "", "..5": "", "5..": "", "e5": "",
		"5e": "", "12:30": "", "1-2": "", "--5": "", ".e5": "", "inf": "", "0x1_0": "", "-.": "", "00": "", "0o8": "",
	} {
		got, ok := plainNumber([]byte(text))
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s: %s %t, want %s", text, got, ok, want)
		}
	}
}

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

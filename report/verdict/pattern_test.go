package verdict

import (
	"math"
	"testing"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// TestPattern: how values differ, as far as it is the same each time. Rounding may change one bit.
func TestPattern(t *testing.T) {
	bit := &snapshot.Change{Kind: snapshot.KindFloat, BitsChanged: 1}
	for want, list := range map[string][]shape{
		"":                        {{}, {floats: true}, {single: &snapshot.Change{Kind: snapshot.KindInteger, BitsChanged: 1}}, {single: &snapshot.Change{Kind: snapshot.KindFloat, BitsChanged: 2}}},
		document.PatternRounding:  {{floats: true, near: true}, {floats: true, near: true, single: bit}},
		document.PatternOneBit:    {{floats: true, single: bit}},
		document.PatternExchanged: {{traded: 1, rows: 2}},
	} {
		for i := range list {
			if got := (&traits{shape: &list[i], exact: true}).pattern(); got != want {
				t.Errorf("%+v: %q, expected %q", list[i], got, want)
			}
			if got := (&traits{shape: &list[i]}).pattern(); got != "" {
				t.Errorf("states of a later point have the pattern %q", got)
			}
		}
	}
}

// TestByRounding: rounding makes only the last bits of a float, those of a float of 4 bytes if the values are such.
func TestByRounding(t *testing.T) {
	for _, test := range []struct {
		a    float64
		bit  int
		want bool
	}{
		{0.8577440391953125, 31, false}, {0.8577440391953125, 2, true}, {476.25, 29, true}, {476.25, 40, false},
	} {
		b := math.Float64frombits(math.Float64bits(test.a) ^ 1<<test.bit)
		change := snapshot.Change{A: f64(test.a), B: f64(b), ULP: 1 << test.bit, BitsChanged: 1}
		if got := byRounding(&change); got != test.want {
			t.Errorf("bit %d of %v: %v", test.bit, test.a, got)
		}
	}
}

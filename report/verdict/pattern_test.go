package verdict

import (
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

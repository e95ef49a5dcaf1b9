package tracediff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// TestBounds: a file that never names the same thing twice is refused before it
// takes memory without bounds.
func TestBounds(t *testing.T) {
	for what, c := range map[string]struct {
		line func(side, i int) string
		want string
	}{
		"scopes":                {func(side, i int) string { return fmt.Sprintf("tick=%d scope=s%d sum=0x%02x\n", i/1000, i, side) }, "limit checkpoints is reached"},
		"checkpoints in a tick": {func(side, i int) string { return fmt.Sprintf("tick=1 scope=s%d sum=0x01\n", (i*(1+2*side))%50_021) }, "limit checkpoints is reached"},
	} {
		var list []*Trace
		for side := range 2 {
			var b strings.Builder
			for i := range int(limits.Checkpoints.Max() * 5 / 4) {
				b.WriteString(c.line(side, i))
			}
			traces, err := Read(strings.NewReader(b.String()), what, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, traces...)
		}
		if _, err := Compare(list, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

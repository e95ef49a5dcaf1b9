package formats_test

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/formats"
)

// TestPastedTraces: a text trace with its header is a file wherever it is, so that nothing else is searched for in it.
// Lines of checksums without one are in logs, too.
func TestPastedTraces(t *testing.T) {
	lines := strings.Repeat("tick=1 scope=Combat sum=0x01\n", 3)
	known := formats.Pasted()
	if got := known.Whole([]byte("%desynctool trace 1\n" + lines)); got != "text-trace" {
		t.Errorf("with its header it is %q", got)
	}
	if got := known.Whole([]byte(lines)); got != "" {
		t.Errorf("without a header it is %q", got)
	}
}

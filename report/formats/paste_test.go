package formats_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive/paste"
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

// TestPastedRest: the last lines of a report, which a report without a state begins with, do not hide those before them.
func TestPastedRest(t *testing.T) {
	report, err := os.ReadFile("../../testdata/openra/syncreport-2023-11-05T181503Z-1.log")
	if err != nil {
		t.Fatal(err)
	}
	for n := 5; n < 20; n++ {
		rest := bytes.Join(bytes.SplitAfter(report, []byte("\n"))[n:], nil)
		found, err := paste.Peel(rest, formats.Pasted())
		if err != nil || !found.Alone() || bytes.Count(found.Files[0].Text, []byte("\n")) < bytes.Count(rest, []byte("\n")) {
			t.Errorf("from line %d: %+v, %v", n+1, found, err)
		}
	}
}

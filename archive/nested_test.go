package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
)

// TestNestedTogether: archives in an archive that each stay within the bounds are bounded together, by
// the size of what was given.
func TestNestedTogether(t *testing.T) {
	const each = 1 << 20
	inner := archivetest.Pack(t, ".gz", archivetest.Tar(t, []archivetest.Entry{{Name: "host/order-log.bin", Content: make([]byte, each)}}))
	for _, c := range []struct {
		archives int
		bounded  bool
	}{{2, false}, {12, true}} {
		var list []archivetest.Entry
		for i := range c.archives {
			list = append(list, archivetest.Entry{Name: fmt.Sprintf("p%d.tar.gz", i), Content: inner})
		}
		path := filepath.Join(t.TempDir(), "report.tar.gz")
		if err := os.WriteFile(path, archivetest.Pack(t, ".gz", archivetest.Tar(t, list)), 0o644); err != nil {
			t.Fatal(err)
		}
		tree, err := archive.Open([]string{path}, archive.Options{Free: 4 * each, Ratio: 20})
		if err != nil {
			t.Fatal(err)
		}
		lost := strings.Join(tree.Lost().Texts(), "\n")
		if got := strings.Contains(lost, "limit ratio is reached"); got != c.bounded {
			t.Errorf("%d archives: bounded is %v: %s", c.archives, got, lost)
		}
		tree.Close()
	}
}

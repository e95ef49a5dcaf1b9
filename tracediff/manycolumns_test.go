package tracediff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
)

// TestTooManyColumns: a table of more peers than can be compared is refused before each of its columns
// is read by itself.
func TestTooManyColumns(t *testing.T) {
	for columns, want := range map[int]string{maxPeers: "", maxPeers + 1: ": a table of 65 columns of checksums, expected at most 64"} {
		path := filepath.Join(t.TempDir(), "t.csv")
		text := ""
		for tick := range 3 {
			text += fmt.Sprint(tick, strings.Repeat(",0123abcd", columns), "\n")
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		list, err := Open(files.Disk, path, ReadOptions{})
		if want == "" && (err != nil || len(list) != columns) || want != "" && (err == nil || err.Error() != path+want) {
			t.Errorf("%d columns: %d traces, %v", columns, len(list), err)
		}
	}
}

package survey

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
)

// TestSampleOf: of a small file little is read to learn its lines, however much it unpacks to.
func TestSampleOf(t *testing.T) {
	for size, want := range map[int]int64{0: 64 << 10, 2000: 128_000, 20_000: sampleLen} {
		path := filepath.Join(t.TempDir(), "a.trace.zst")
		if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := (&Survey{tree: files.Disk}).sampleOf(path); got != want {
			t.Errorf("of %d bytes: %d, expected %d", size, got, want)
		}
	}
}

package tracediff

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// TestProgress compares traces of every way of reading: the progress only grows, and comes near the size of the file.
func TestProgress(t *testing.T) {
	small := textOf(session(20))
	for name, packing := range map[string]string{"plain": "", "gzip": "gzip", "zstd": "zstd"} {
		t.Run(name, func(t *testing.T) {
			b := textOf(session(effort.Of(25_000, 40_000))) // 12 MB at most
			if packing != "" {
				b = pack(t, packing, textOf(session(4000)))
			}
			path := filepath.Join(t.TempDir(), "a")
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			large, err := Open(files.Disk, path, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			// The largest one counts, wherever it is.
			list := append(open(t, "small.txt", small), large...)
			calls, last := 0, int64(0)
			_, err = Compare(append(list, large...), Options{Progress: func(done, total int64) {
				if calls++; done < last || total != int64(len(b)) {
					t.Errorf("%d of %d after %d, expected growth up to %d", done, total, last, len(b))
				}
				last = done
			}})
			if err != nil {
				t.Fatal(err)
			}
			if calls < 2 || last < int64(len(b))/2 {
				t.Errorf("called %d times up to %d of %d", calls, last, len(b))
			}
		})
	}
}

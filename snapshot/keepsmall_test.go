package snapshot

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
)

// TestKeepSmall: a small state that must be read whole is read once, by whichever clone of its entry; a large one
// each time.
func TestKeepSmall(t *testing.T) {
	for _, c := range []struct{ rows, want int }{{100, 1}, {smallState/8 + 1, 3}} {
		dir, reads := t.TempDir(), 0
		if err := os.WriteFile(filepath.Join(dir, "7.whole"), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		format := Format{
			Name: "whole",
			ParseName: func(base string) (FileName, bool) {
				var tick uint64
				_, err := fmt.Sscanf(base, "%d.whole", &tick)
				return FileName{Point: Point{Tick: tick}}, err == nil
			},
			Open: func(io.ReaderAt, int64, string) (State, error) {
				reads++
				w := &World{Head: Head{Point: Point{Tick: 7}}, Tables: []Table{{Label: "T"}}}
				for i := range c.rows {
					w.Tables[0].Keys.A = append(w.Tables[0].Keys.A, uint64(i))
				}
				return Hold(w)
			},
		}
		set, _, err := ReadDir(files.Disk, dir, []Format{format})
		if err != nil || len(set.Entries) != 1 {
			t.Fatal(err, set)
		}
		for _, e := range []*Entry{set.Entries[0], set.Clone().Entries[0], set.Entries[0]} {
			s, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			if rows := s.Info().Tables[0].Rows; rows != uint64(c.rows) {
				t.Errorf("%d rows, expected %d", rows, c.rows)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if reads != c.want {
			t.Errorf("a state of %d rows was read %d times, expected %d", c.rows, reads, c.want)
		}
	}
}

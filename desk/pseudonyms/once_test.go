package pseudonyms

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
)

// TestCopyOnce: a bundle that was opened by another name than its path is not opened and triaged again for its copy,
// and the path is not in its reports.
func TestCopyOnce(t *testing.T) {
	dir := archivetest.Record(t, filepath.Join(t.TempDir(), "session"), 1)
	key, err := EnsureKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	copied := func(s *Scrubber) (string, []string) {
		var out bytes.Buffer
		left, err := s.Copy(t.Context(), dir, &out)
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), left
	}
	opened := NewScrubber(key)
	tree, err := archive.Open([]string{"report"}, archive.Options{Name: "report", At: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if _, err := opened.Open(tree, []string{"report"}); err != nil {
		t.Fatal(err)
	}
	got, left := copied(opened)
	if len(opened.roots) != 1 {
		t.Errorf("the bundle was opened %d times", len(opened.roots))
	}
	if text := strings.Join(left, "\n"); strings.Contains(text, filepath.Dir(dir)) {
		t.Errorf("the path is in %s", text)
	}
	if want, _ := copied(NewScrubber(key)); got != want || len(got) < 10_000 {
		t.Errorf("the copy has %d bytes, that of a bundle that was not opened before %d", len(got), len(want))
	}
}

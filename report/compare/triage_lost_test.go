package compare_test

import (
	"archive/zip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/document"
)

// TestTriageLostEntry: an archive of a session in sync lost one entry. The status, the first line, the first step, the
// next step and the text for the players all report it.
func TestTriageLostEntry(t *testing.T) {
	dir := t.TempDir()
	recordCalm(t, filepath.Join(dir, "calm"))
	list := append(archivetest.Entries(t, filepath.Join(dir, "calm"), ""), archivetest.Entry{Name: "../evil.sav", Content: []byte("x")})
	r, said := triaged(t, archive.Options{}, archivetest.Write(t, filepath.Join(dir, "x.zip"), archivetest.Zip(t, zip.Deflate, list)))
	if r == nil {
		t.Fatal(said)
	}
	if r.Status != document.Inconclusive || !strings.HasPrefix(r.Verdict[0], "No difference was found in what could be read: ") || len(r.Verdict) != 2 {
		t.Errorf("%s: %q", r.Status, r.Verdict)
	}
	if g := r.Ladder[0]; g.Step != "preflight" || g.State != document.RungTrouble || !strings.Contains(g.Found, "1 piece of evidence lost") {
		t.Errorf("the first step is %+v", g)
	}
	if len(r.Missing) != 1 || !strings.Contains(r.Missing[0], "evil.sav") {
		t.Errorf("missing is %q", r.Missing)
	}
	if len(r.Next) == 0 || !strings.Contains(r.Ask, "the archive again") {
		t.Errorf("next is %q, and the players are asked %q", r.Next, r.Ask)
	}
}

package compare_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/document"
)

// TestGameLogsBesideStates: in addition to the artifacts of a session, the report shows what one peer alone has in its
// log before the split, in the session's ticks. It does not show what comes later. It makes no cause. In a session
// without a divergence nothing is shown.
func TestGameLogsBesideStates(t *testing.T) {
	folder := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1)
	before, why := triaged(t, archive.Options{}, folder)
	if before == nil || before.FirstDivergence == nil {
		t.Fatalf("%s %+v", why, before)
	}
	bad := before.FirstDivergence.Bracket.Bad
	line := func(clock int, tick uint64, text string) string {
		return fmt.Sprintf("[12:%02d:00] [tick %d] %s\n", clock, tick, text)
	}
	host := "CPU: A\n" + line(1, 1, "start") + line(2, bad-1, "WARN: slow")
	client := "CPU: B\n" + line(30, 1, "start") + line(31, 2, "ERROR: cannot load units/giant.xml") + line(32, bad-3, "WARN: only here") + line(33, bad-1, "WARN: slow") + line(34, bad+2, "ERROR: too late")
	archivetest.Write(t, filepath.Join(folder, "host", "game.log"), []byte(host))
	archivetest.Write(t, filepath.Join(folder, "client", "game.log"), []byte(client))
	r, why := triaged(t, archive.Options{}, folder)
	if r == nil || r.GameLogs == nil || len(r.GameLogs.Lines) != 2 {
		t.Fatalf("%s %+v", why, r)
	}
	near, far := r.GameLogs.Lines[0], r.GameLogs.Lines[1]
	if near.Text != "only here" || near.Who() != "only client" || *near.TicksBefore != 3 || near.Have[0].First != 4 || near.Data {
		t.Errorf("%+v", near)
	}
	if far.Text != "cannot load units/giant.xml" || !far.Data || *far.TicksBefore != bad-2 || far.Have[0].At != "tick 2" {
		t.Errorf("%+v", far)
	}
	if fmt.Sprint(r.Causes) != fmt.Sprint(before.Causes) || r.Fingerprint != before.Fingerprint {
		t.Error("the log changed the cause")
	}
	if len(r.Next) == 0 || !strings.Contains(r.Next[0], "cannot load units/giant.xml") {
		t.Errorf("next: %q", r.Next)
	}
	var text strings.Builder
	if err := r.Text(&text, document.NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	if at, ladder := strings.Index(text.String(), "only client"), strings.Index(text.String(), "preflight"); at < 0 || at > ladder {
		t.Errorf("not below the verdict:\n%s", text.String())
	}
}

package verdicts_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
)

// TestLessEvidence takes pieces of evidence away one by one: the known facts may only become fewer. No answer that is
// right with less evidence is wrong or lost with more.
func TestLessEvidence(t *testing.T) {
	less := func(list []verdicts.Session) {
		for _, s := range list {
			if strings.HasPrefix(s.Fault, "unsorted-merge") { // threads do it again or not, with whatever evidence
				continue
			}
			s.Lack, s.Trace = verdicts.Nothing, session.TraceColumn
			lines, err := verdicts.Less(s, t.TempDir(), conclude, s.Seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				t.Error(line)
			}
		}
	}
	faults := len(refsim.Faults())
	list := verdicts.Faulty(verdicts.Reference{}, 3*faults)
	for i := range list {
		list[i].Peers, list[i].Entities, list[i].Ticks = min(list[i].Peers, 3), 100, effort.Of[uint64](60, 250)
	}
	if !effort.Full() {
		list = []verdicts.Session{list[6]}
	} else {
		list = slices.DeleteFunc(list, func(s verdicts.Session) bool { return !effort.Turn(int(s.Seed), 18) })
	}
	less(list)
	if !effort.Full() {
		return
	}
	for i, name := range []string{"arena", "moles"} {
		if !effort.Turn(i, 2) {
			continue
		}
		game, err := verdicts.Compile("../../..", name, t.TempDir())
		if errors.Is(err, exec.ErrNotFound) && os.Getenv("DESYNCTOOL_SDK_TESTS") == "" {
			t.Logf("%s: %v", name, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		less(verdicts.Faulty(game, effort.Long(2, 12)))
	}
}

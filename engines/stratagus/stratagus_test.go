package stratagus_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/stratagus"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

const folder = "../../testdata/messages"

func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRead(t *testing.T) {
	log := content(t, "stratagus-a.log")
	s, err := stratagus.Format().Read(bytes.NewReader(log), "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tracediff.WriteSource(&out, s); err != nil {
		t.Fatal(err)
	}
	const want = `%desynctool trace 1
tick=145 scope="unit 0 unit-gold-mine" sum=0x0206020a sum.order=1 sum.refs=1
tick=145 scope="unit 1 unit-gold-mine" sum=0x40c44148 sum.order=1 sum.refs=1
tick=145 scope="unit 17 unit-peon" sum=0x188c2900 sum.order=4 sum.refs=2
tick=146 scope="unit 0 unit-gold-mine" sum=0x00000007 sum.order=UnitAction::Still sum.refs=1
%end
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !stratagus.Format().Sniff(log) {
		t.Error("not recognised")
	}
}

// TestCompare has two players' outputs, unit by unit.
func TestCompare(t *testing.T) {
	f := stratagus.Format()
	var traces []*tracediff.Trace
	for _, name := range []string{"stratagus-a.log", "stratagus-b.log"} {
		list, err := tracediff.OpenForeign(files.Disk, filepath.Join(folder, name), &f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, list...)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.First == nil || r.First.Tick.Number != 145 || r.First.Scope != "unit 17 unit-peon" || !cmp.Equal(r.First.Sums, []string{"", "order"}) {
		t.Errorf("%+v", r.First)
	}
}

func TestOther(t *testing.T) {
	for _, line := range []string{
		"", "GameCycle: 145d", "GameCycle: 145d, new SyncHash: x (unit: 0:a, order: 1, refs: 1)", "GameCycle: 145d, new SyncHash: 123456789 (unit: 0:a, order: 1, refs: 1)",
		"GameCycle: 145d, new SyncHash: 1 (unit: 0:, order: 1, refs: 1)", "GameCycle: 145d, new SyncHash: 1 (unit: 0:a, order: 1, refs: 1", " GameCycle: 145d, new SyncHash: 1 (unit: 0:a, order: 1, refs: 1)",
		"<Bob> GameCycle: 145d, new SyncHash: 1 (unit: 0:a, order: 1, refs: 1)",
	} {
		if stratagus.Format().Sniff([]byte(line + "\n")) {
			t.Errorf("%q is taken for a hash", line)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(content(f, "stratagus-a.log"))
	f.Fuzz(func(t *testing.T, log []byte) {
		stratagus.Format().Sniff(log)
		s, err := stratagus.Format().Read(bytes.NewReader(log), "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := tracediff.WriteSource(new(bytes.Buffer), s); err != nil {
			t.Fatal(err)
		}
	})
}

package engines_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

const traces = "../testdata/messages"

// format returns the format of the logs with checkpoints that a page describes.
func format(t testing.TB, name string) *engine.Format {
	t.Helper()
	for _, e := range engines.All() {
		for i := range e.Formats {
			if e.Formats[i].Name == name {
				return &e.Formats[i]
			}
		}
	}
	t.Fatal("no format", name)
	return nil
}

// compare compares the traces in some logs.
func compare(t *testing.T, format *tracediff.Format, paths ...string) *tracediff.Result {
	t.Helper()
	var list []*tracediff.Trace
	for _, path := range paths {
		traces, err := tracediff.OpenForeign(files.Disk, path, format, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, traces...)
	}
	r, err := tracediff.Compare(list, tracediff.Options{})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	return r
}

func TestStratagus(t *testing.T) {
	f := format(t, "stratagus").Trace
	log, err := os.ReadFile(filepath.Join(traces, "stratagus-a.log"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Read(bytes.NewReader(log), "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tracediff.WriteSource(&out, s); err != nil {
		t.Fatal(err)
	}
	const want = `%desynctool trace 1
tick=145 scope="unit 0 unit-gold-mine" sum=206020a sum.order=1 sum.refs=1
tick=145 scope="unit 1 unit-gold-mine" sum=40c44148 sum.order=1 sum.refs=1
tick=145 scope="unit 17 unit-peon" sum=188c2900 sum.order=4 sum.refs=2
tick=146 scope="unit 0 unit-gold-mine" sum=7 sum.order=UnitAction::Still sum.refs=1
%end
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !f.Sniff(log) {
		t.Error("not recognised")
	}
	r := compare(t, f, filepath.Join(traces, "stratagus-a.log"), filepath.Join(traces, "stratagus-b.log"))
	if r.First == nil || r.First.Tick.Number != 145 || r.First.Scope != "unit 17 unit-peon" || !cmp.Equal(r.First.Sums, []string{"", "order"}) {
		t.Errorf("%+v", r.First)
	}
	for _, line := range []string{
		"", "GameCycle: 145d", "GameCycle: 145d, new SyncHash: x (unit: 0:a, order: 1, refs: 1)", "GameCycle: 145d, new SyncHash: 123456789 (unit: 0:a, order: 1, refs: 1)",
		"GameCycle: 145d, new SyncHash: 1 (unit: 0:, order: 1, refs: 1)", "GameCycle: 145d, new SyncHash: 1 (unit: 0:a, order: 1, refs: 1", " GameCycle: 145d, new SyncHash: 1 (unit: 0:a, order: 1, refs: 1)",
		"<Bob> GameCycle: 145d, new SyncHash: 1 (unit: 0:a, order: 1, refs: 1)",
	} {
		if f.Sniff([]byte(line + "\n")) {
			t.Errorf("%q is taken for a hash", line)
		}
	}
}

// TestOpenClonk names the sums that differ between the two sides.
func TestOpenClonk(t *testing.T) {
	f := format(t, "openclonk").Trace
	for name, want := range map[string]struct {
		peers [2]string
		frame uint64
		sums  []string
	}{
		"openclonk.log":   {[2]string{"host", "client"}, 400, []string{"Rnc", "MMi"}},
		"legacyclonk.log": {[2]string{"client", "recording"}, 1500, []string{"Rn3"}},
	} {
		r := compare(t, f, filepath.Join(folder, name))
		if got := [2]string{r.Traces[0].Name, r.Traces[1].Name}; got != want.peers {
			t.Errorf("%s: peers %s", name, got)
		}
		if r.First == nil || r.First.Tick.Number != want.frame || !cmp.Equal(r.First.Sums, want.sums) {
			t.Errorf("%s: %+v", name, r.First)
		}
		if !f.Sniff(content(t, name)) {
			t.Errorf("%s is not recognised", name)
		}
	}
	for _, line := range []string{
		"", "Network: Client Frm 400 Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct\n",
		"Network: Client Frm x Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 1\n",
		"Network: Client Frm 400 Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 1 Abc 2\n",
		"Network: Client Frm 400 Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 1",
	} {
		if f.Sniff([]byte(line)) {
			t.Errorf("%q is a side", line)
		}
	}
}

package openclonk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/openclonk"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

const folder = "../../testdata/loglines"

func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSums names the sums that differ between the two sides.
func TestSums(t *testing.T) {
	f := openclonk.Format()
	for name, want := range map[string]struct {
		peers [2]string
		frame uint64
		sums  []string
	}{
		"openclonk.log":   {[2]string{"host", "client"}, 400, []string{"Rnc", "MMi"}},
		"legacyclonk.log": {[2]string{"client", "recording"}, 1500, []string{"Rn3"}},
	} {
		traces, err := tracediff.OpenForeign(files.Disk, filepath.Join(folder, name), &f, tracediff.ReadOptions{})
		if err != nil || len(traces) != 2 {
			t.Fatal(traces, err)
		}
		r, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
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
}

func TestOther(t *testing.T) {
	const host = "Network: Host Frm 400 Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 2655\n"
	for _, text := range []string{
		"", host, host + host, host + "Network: Client Frm 400 Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct\n",
		host + "Network: Client Frm x Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 1\n",
		host + "Network: Client Frm 400 Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 1 Abc 2\n",
		host + "Network: Client Frm 400 Ctrl 200 Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 1",
	} {
		if openclonk.Format().Sniff([]byte(text)) {
			t.Errorf("%q has both sides", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(content(f, "openclonk.log"))
	f.Add(content(f, "legacyclonk.log"))
	f.Fuzz(func(t *testing.T, log []byte) {
		form := openclonk.Format()
		form.Sniff(log)
		names, err := form.Peers(bytes.NewReader(log), "x")
		if err != nil {
			t.Fatal(err)
		}
		for i := range names {
			s, err := form.Read(bytes.NewReader(log), "x", i)
			if err != nil {
				t.Fatal(err)
			}
			if err := tracediff.WriteSource(new(bytes.Buffer), s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

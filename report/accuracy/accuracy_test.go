package accuracy_test

import (
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report/accuracy"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/playbook"
)

func narrow(dirs []string) (*playbook.Verdict, error) {
	return formats.Narrow(files.Disk, dirs, refsim.Simulator())
}

// TestSample measures some sessions of every fault, and some clean ones. The command in
// docs/accuracy.md measures many more.
func TestSample(t *testing.T) {
	faults := len(refsim.Faults())
	sample := accuracy.Faulty(2 * faults)
	clean := accuracy.Clean(12)
	if testing.Short() {
		sample, clean = sample[:faults], clean[:5]
	}
	scores, err := accuracy.Run(append(sample, clean...), func(int) string { return t.TempDir() }, narrow, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range accuracy.Short(scores) {
		t.Error(line)
	}
	n := accuracy.Count(scores[:len(sample)], func(*accuracy.Score) bool { return true })
	if n.Bit*10 < n.Sessions*9 {
		t.Errorf("%d of %d mistakes showed", n.Bit, n.Sessions)
	}
	for _, q := range accuracy.Questions() {
		if n.Marks[q][accuracy.Exact] < n.Sessions/4 {
			t.Errorf("%s: %v: the sample asks too little", q, n.Marks[q])
		}
	}
}

package compare_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// recorded plays a session with many snapshots in which one peer goes wrong in the middle.
func recorded(t testing.TB, ticks uint64) string {
	t.Helper()
	dir := t.TempDir()
	f, err := session.ParseFault("rng-leak/Combat@1000:client")
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{
		Config: refsim.Config{Seed: 7, Entities: 1000}, Ticks: ticks, SnapshotEvery: 50, Peers: []string{"host", "client"}, Faults: []session.Fault{f},
	}
	if _, err := session.RecordTo(dir, o, session.TraceNone); err != nil {
		t.Fatal(err)
	}
	return dir
}

func triage(t testing.TB, dir string) archive.Usage {
	t.Helper()
	tree, err := archive.Open([]string{dir}, archive.Options{Count: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	r, err := triageAll(tree, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != document.Diverged {
		t.Fatalf("the session is %s", r.Status)
	}
	return tree.Usage([]string{dir})
}

// TestTriageReadsLittle pins how much of a session's files is read: of most snapshots only
// the header.
func TestTriageReadsLittle(t *testing.T) {
	effort.Whole(t)
	u := triage(t, recorded(t, 2000))
	if share := float64(u.Read) / float64(u.Given); share > 0.5 || share == 0 {
		t.Errorf("%s: that is %.2f of it, expected 0.5 at most", u, share)
	}
}

// TestTriageReadsOnce pins that over the cases of real games no file is opened more than twice
// on average, and no byte read more than once and a quarter.
func TestTriageReadsOnce(t *testing.T) {
	effort.Whole(t)
	cases, err := filepath.Glob("../../testdata/*/*/*")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, path := range cases {
		dir := filepath.Dir(path)
		if stat, err := os.Stat(path); err != nil || tried[dir] || !stat.IsDir() && filepath.Base(dir) != "cache_poke" && filepath.Base(dir) != "replay_output" {
			continue
		}
		tried[dir] = true
		tree, err := archive.Open([]string{dir}, archive.Options{Count: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := triageAll(tree, []string{dir}); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if u := tree.Usage([]string{dir}); 4*u.Read > 5*u.Given || u.Opens > 2*u.Opened || u.Opened == 0 {
			t.Errorf("%s: %s", dir, u)
		}
		tree.Close()
	}
	if len(tried) < 15 {
		t.Errorf("only %d cases were tried", len(tried))
	}
}

func BenchmarkTriage(b *testing.B) {
	dir := recorded(b, 2000)
	var u archive.Usage
	b.ResetTimer()
	for b.Loop() {
		u = triage(b, dir)
	}
	b.SetBytes(u.Given)
	b.ReportMetric(float64(u.Read)/float64(u.Given), "read/given")
}

package narrow_test

import (
	"os"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/evidence/archive"
	"github.com/desynctool/desynctool/report/narrow"
)

func write(t testing.TB, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// record plays a session with a fault and returns its folder.
func record(t testing.TB, dir string, seed uint64) string {
	t.Helper()
	fault, err := session.ParseFault("map-order/Combat@60")
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.RecordTo(dir, session.Options{
		Config: refsim.Config{Seed: seed, Entities: 200}, Ticks: 120, SnapshotEvery: 30, Faults: []session.Fault{fault},
	}, session.TraceSystem)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, paths ...string) *archive.Tree {
	t.Helper()
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// walked is the session of paths in a tree.
func walked(t testing.TB, tree *archive.Tree, paths []string) *evidence.Session {
	t.Helper()
	s, err := evidence.Open(tree, paths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// triageAll triages paths in a tree.
func triageAll(tree *archive.Tree, paths []string) (*report.Report, error) {
	s, err := evidence.Open(tree, paths)
	if err != nil {
		return nil, tree.Explain(err)
	}
	r, err := narrow.Triage(s, nil, nil)
	return r, tree.Explain(err)
}

func checkupText(t testing.TB, c *report.Checkup) string {
	t.Helper()
	var out strings.Builder
	if err := report.Doctor(c).Text(&out, report.NewStyle(false), true); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

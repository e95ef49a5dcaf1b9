package evidence_test

import (
	"os"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/evidence/archive"
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

// walked is the session of paths, archives as folders.
func walked(t testing.TB, paths ...string) *evidence.Session {
	t.Helper()
	s, err := evidence.Open(open(t, paths...), paths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package evidence_test

import (
	"testing"

	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/evidence/archive/archivetest"
)

// walked is the session of paths, archives as folders.
func walked(t testing.TB, paths ...string) *evidence.Session {
	t.Helper()
	s, err := evidence.Open(archivetest.Open(t, paths...), paths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package bundle_test

import (
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/bundle"
)

// walked is the session of paths, archives as folders.
func walked(t testing.TB, paths ...string) *bundle.Session {
	t.Helper()
	s, err := bundle.Open(archivetest.Open(t, paths...), paths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

//go:build unix

package extsim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
)

// TestDirAndEnv: a target starts in the requested folder, to which its path is relative, with the requested variables.
func TestDirAndEnv(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "target"), []byte("#!/bin/sh\necho \"$OWN\" >seen\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	sim, err := New(t.Context(), "target", []string{"./target"}, Options{Dir: dir, Env: []string{"OWN=commit"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Start(&orderlog.Header{}); err == nil {
		t.Fatal("it says nothing, and is taken for a target")
	}
	if seen, err := os.ReadFile(filepath.Join(dir, "seen")); err != nil || string(seen) != "commit\n" {
		t.Errorf("%q, %v", seen, err)
	}
}

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A folder that no process holds is gone when the next one is made, one that is held or that is not our folder stays.
func TestTemporaryFolder(t *testing.T) {
	dir := t.TempDir()
	path, remove, err := TemporaryFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	left, other := filepath.Join(dir, "desynctool-run-1"), filepath.Join(dir, "mine")
	for _, made := range []string{left, other} {
		if err := errors.Join(os.Mkdir(made, 0o700), os.WriteFile(filepath.Join(made, "x"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, made := range []string{left, other, path} {
		if err := os.Chtimes(made, old, old); err != nil {
			t.Fatal(err)
		}
	}
	_, removeSecond, err := TemporaryFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); renamesOpen && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: a folder that was left is still there", err)
	}
	for _, made := range []string{path, other} {
		if _, err := os.Stat(made); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(remove(), removeSecond()); err != nil {
		t.Error(err)
	}
	if names, err := Disk.Names(dir); err != nil || renamesOpen && len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
	missing := filepath.Join(dir, "missing")
	if _, _, err := TemporaryFolder(missing); err == nil || !strings.HasPrefix(err.Error(), missing+": temporary files cannot be made there") {
		t.Error(err)
	}
}

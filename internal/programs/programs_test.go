package programs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// put makes a file that can be run, and returns its path.
func put(t *testing.T, folder, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBeside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self := put(t, filepath.Join(dir, "opt"), "desynctool")
	if path, ok := beside(self, "other"); ok {
		t.Errorf("found %s, expected nothing", path)
	}
	want := put(t, filepath.Join(dir, "opt"), "other")
	if path, ok := beside(self, "other"); !ok || path != want {
		t.Errorf("found %q, expected %s", path, want)
	}
	link := filepath.Join(dir, "bin", "desynctool")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, link); err != nil {
		t.Skip(err)
	}
	if path, ok := beside(link, "other"); !ok || path != want {
		t.Errorf("by a link: found %q, expected %s", path, want)
	}
	nearer := put(t, filepath.Join(dir, "bin"), "other")
	if path, ok := beside(link, "other"); !ok || path != nearer {
		t.Errorf("beside the link: found %q, expected %s", path, nearer)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	var missing *MissingError
	if _, err := Find("other", ""); !errors.As(err, &missing) || !strings.Contains(err.Error(), "go install github.com/desynctool/desynctool/cmd/other@latest") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v", err)
	}
	inPath := put(t, dir, "other")
	if path, err := Find("other", ""); err != nil || path != inPath {
		t.Errorf("in PATH: %q, %v", path, err)
	}
	named := put(t, t.TempDir(), "mine")
	if path, err := Find("other", named); err != nil || path != named {
		t.Errorf("named: %q, %v", path, err)
	}
	gone := filepath.Join(dir, "gone")
	if _, err := Find("other", gone); !errors.As(err, &missing) || missing.Named != gone {
		t.Errorf("named, and not there: %v", err)
	}
}

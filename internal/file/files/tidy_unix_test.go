//go:build unix

package files

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestTidy: the files that are left can be read without harm, whatever was there.
func TestTidy(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "dir")
	in := func(name string) string { return filepath.Join(dir, name) }
	secret := filepath.Join(top, "secret")
	err := errors.Join(
		os.MkdirAll(in("sub/dark"), 0o700), os.WriteFile(secret, []byte("key"), 0o600),
		os.WriteFile(in("file"), nil, 0o755), os.WriteFile(in("sub/dark/unreadable"), nil, 0), os.Chmod(in("sub/dark"), 0),
		os.Symlink("file", in("link")), os.Symlink("../file", in("sub/up")), os.Symlink("sub", in("folder")), os.Symlink("link", in("link to link")),
		os.Symlink(secret, in("absolute")), os.Symlink("../secret", in("out")), os.Symlink("folder/../../secret", in("around")), os.Symlink("out", in("to out")),
		os.Symlink("nowhere", in("dangling")), os.Symlink("loop", in("loop")), os.Symlink(in("file"), in("absolute inside")), os.Symlink("/etc", in("kept")),
		syscall.Mkfifo(in("pipe"), 0o600), os.Symlink("pipe", in("to pipe")),
	)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("unix", in("s")); err == nil { // its path may be too long
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
	}
	before, err := os.Stat(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := Tidy(dir, func(path string) bool { return path == in("kept") }); err != nil {
		t.Fatal(err)
	}
	names, err := Disk.Names(dir)
	slices.Sort(names)
	if want := "file,folder,kept,link,link to link,sub"; err != nil || strings.Join(names, ",") != want {
		t.Errorf("%q, %v, want %s", names, err, want)
	}
	if _, err := os.ReadFile(in("sub/dark/unreadable")); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile(in("sub/up")); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(secret); err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%v, %v", after, err)
	}
	if stat, err := os.Stat(in("file")); err != nil || stat.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
	if err := Tidy(in("missing"), nil); err == nil {
		t.Error("there is nothing, and no error")
	}
}

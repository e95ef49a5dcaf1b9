//go:build unix

package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
)

// TestLinks: below a folder that was given, links are followed to whatever is in a given folder, and nowhere else.
func TestLinks(t *testing.T) {
	at := t.TempDir()
	in := func(path string) string { return filepath.Join(at, path) }
	for _, file := range []string{"given/a/file", "given/b/file", "other/file", "given2/file"} {
		if err := os.MkdirAll(filepath.Dir(in(file)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(file), []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"given/a/near": "file", "given/a/across": "../b/file", "given/a/folder": "../b", "given/a/absolute": in("given/b/file"), "given/a/second": in("given2"),
		"given/a/out": "../../other/file", "given/a/outside": in("other"), "given/a/around": "../b/../../other/file", "given/a/chain": "out", "given/b/root": "/", "linked": "given",
	} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{in("given"), in("linked"), "."} {
		if root == "." {
			t.Chdir(in("given"))
		}
		tree, err := Open([]string{root, in("given2")}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]bool{
			"a/file": true, "a/near": true, "a/across": true, "a/folder/file": true, "a/absolute": true, "a/second/file": true,
			"a/out": false, "a/outside/file": false, "a/around": false, "a/chain": false, "b/root/etc/passwd": false, "b/root": false,
		} {
			_, errStat := tree.Stat(filepath.Join(root, path))
			_, errNames := tree.Names(filepath.Dir(filepath.Join(root, path)))
			f, errOpen := tree.Open(filepath.Join(root, path))
			if errOpen == nil {
				f.Close()
			}
			if (errStat == nil) != want || (errOpen == nil) != want {
				t.Errorf("%s in %s: %v, %v, expected to be followed: %v", path, root, errStat, errOpen, want)
			}
			if !want && filepath.Dir(path) != "a" && filepath.Dir(path) != "b" && errNames == nil {
				t.Errorf("%s in %s: its folder was listed", path, root)
			}
		}
		if err := tree.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpenRegular: a pipe is refused instead of waited for, also behind a link; files and folders are opened.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.Mkdir(in("folder"), 0o777), os.WriteFile(in("file"), []byte("content"), 0o666), os.Symlink("file", in("to file")),
		syscall.Mkfifo(in("pipe"), 0o600), os.Symlink("pipe", in("to pipe")), os.WriteFile(in("post.txt"), []byte("text"), 0o666),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string]Options{"all": {}, "only": {Name: "evidence", At: dir}} {
		root := dir
		if options.At != "" {
			root = options.Name
		}
		tree, err := Open([]string{root}, options)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			"folder": "", "file": "", "post.txt": "", "to file": "", "pipe": "not a regular file", "to pipe": "not a regular file", "absent": "no such file",
		} {
			if name == "only" && strings.HasPrefix(path, "to ") {
				want = errLink.Error()
			}
			f, err := files.OpenRegular(tree, filepath.Join(root, path))
			if err == nil {
				err = f.Close()
			}
			if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Join(root, path))) {
				t.Errorf("%s, %s: %v, expected %q", name, path, err, want)
			}
		}
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	}
}

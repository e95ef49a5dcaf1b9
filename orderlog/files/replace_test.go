package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put := func(text string, fail error) error {
		return Replace(path, func(f *os.File) error {
			_, err := f.WriteString(text)
			return errors.Join(err, fail)
		})
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		text string
		fail error
		want string
	}{{"one", nil, "one"}, {"half", broken, "one"}, {"two", nil, "two"}} {
		if err := put(c.text, c.fail); !errors.Is(err, c.fail) {
			t.Errorf("%s: %v", c.text, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != c.want {
			t.Errorf("after %q: %q, %v", c.text, b, err)
		}
	}
	if names, err := Disk.Names(dir); err != nil || len(names) != 1 {
		t.Errorf("%q is left, %v", names, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no links here")
	}
	if err := Replace(link, func(f *os.File) error { _, err := f.WriteString("three"); return err }); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "three" {
		t.Errorf("through a link: %q, %v", b, err)
	}
}

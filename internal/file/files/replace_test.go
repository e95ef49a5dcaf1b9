package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// ways are how a file is begun: as this system does it, and as one that knows no files without names.
var ways = map[string]func(path string) (*unfinished, error){"usual": begin, "named": beginNamed}

func TestReplace(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			put := func(text string, fail error) error {
				return replace(path, way, func(f *os.File) error {
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
				holds(t, path, c.want)
			}
			only(t, dir, "out")
			link := filepath.Join(dir, "link")
			if err := os.Symlink(path, link); err != nil {
				t.Skip("no links here")
			}
			if err := replace(link, way, func(f *os.File) error { _, err := f.WriteString("three"); return err }); err != nil {
				t.Fatal(err)
			}
			holds(t, path, "three")
			only(t, dir, "link", "out")
		})
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v, expected %q", path, b, err, want)
	}
}

// only checks that a folder holds files of these names and nothing else.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	names, err := Disk.Names(dir)
	slices.Sort(names)
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%s holds %q, %v, expected %q", dir, names, err, want)
	}
}

// The files that a killed writer left next to the file are gone after the next one, and the file's permissions stay.
func TestReplaceTakesOver(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(unfinishedName(path), []byte("half of a file that is longer than the new one"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := replace(path, way, func(f *os.File) error { _, err := f.WriteString("new"); return err }); err != nil {
				t.Fatal(err)
			}
			holds(t, path, "new")
			only(t, dir, "out")
			if stat, err := os.Stat(path); err != nil || stat.Mode().Perm()&0o077 != 0 {
				t.Errorf("%v, %v: others may read what only the owner could", stat.Mode(), err)
			}
		})
	}
}

// However many write one file at once, it always holds what one of them wrote.
func TestReplaceAtOnce(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			text := func(n int) string { return strings.Repeat(fmt.Sprintf("%d\n", n), 1000) }
			var all sync.WaitGroup
			for n := range 8 {
				all.Go(func() {
					for range effort.Of(10, 200) {
						if err := replace(path, way, func(f *os.File) error { _, err := f.WriteString(text(n)); return err }); err != nil {
							t.Error(err)
						}
						b, err := os.ReadFile(path)
						if err != nil || len(b) == 0 || string(b) != text(int(b[0]-'0')) {
							t.Errorf("%v: %d bytes that nobody wrote", err, len(b))
						}
					}
				})
			}
			all.Wait()
			only(t, dir, "out")
		})
	}
}

func TestReplaceNamesTheFile(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "missing", "out")
			err := replace(path, way, func(*os.File) error { t.Error("written"); return nil })
			var at *fs.PathError
			if !errors.As(err, &at) || at.Path != path || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v, expected that %s cannot be written", err, path)
			}
		})
	}
}

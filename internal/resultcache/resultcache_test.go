package resultcache

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// role is the environment variable that makes a test binary a process that uses a cache.
const role = "DESYNCTOOL_TEST_KEPT"

func TestMain(m *testing.M) {
	if text := os.Getenv(role); text != "" {
		os.Exit(another(strings.Fields(text)))
	}
	os.Exit(m.Run())
}

// another uses a cache: "half DIR" is killed in the middle of Put, "many DIR SEED N" does much with few keys.
func another(args []string) int {
	c, err := Open(args[1], 20_000)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if args[0] == "half" {
		_, _ = c.Put(Of("half"), func(dir string) error {
			_ = os.WriteFile(filepath.Join(dir, "half"), make([]byte, 1000), 0o600)
			fmt.Println("half")
			time.Sleep(time.Hour)
			return nil
		})
		return 0
	}
	seed, _ := strconv.Atoi(args[2])
	n, _ := strconv.Atoi(args[3])
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	for range n {
		what := fmt.Sprint(random.IntN(8))
		key := Of(what)
		want := strings.Repeat(what, 4000)
		folder, ok := c.Get(key)
		if !ok {
			if folder, err = c.Put(key, func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), []byte(want), 0o600) }); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		for range 3 {
			if b, err := os.ReadFile(filepath.Join(folder, "x")); err != nil || string(b) != want {
				fmt.Printf("%s, found %v: %d bytes, %v\n", what, ok, len(b), err)
				return 1
			}
		}
		if random.IntN(3) > 0 {
			c.Release(key)
		}
		if random.IntN(10) == 0 {
			c.Close()
		}
	}
	c.Close()
	return 0
}

func open(t *testing.T, dir string, max int64) *Cache {
	t.Helper()
	c, err := Open(dir, max)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// put keeps an entry with one file.
func put(t *testing.T, c *Cache, name, text string) string {
	t.Helper()
	folder, err := c.Put(Of(name), func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o666) })
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// entries returns the number of entries and of other things in a cache but its lock.
func entries(t *testing.T, dir string) (kept int, others []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		switch {
		case len(e.Name()) == 64:
			kept++
		case e.Name() != "lock":
			others = append(others, e.Name())
		}
	}
	return kept, others
}

// TestKeys: parts are framed, and their digest is what others compute: printf of both lengths and texts, sha256sum.
func TestKeys(t *testing.T) {
	if Of("a", "bc") == Of("ab", "c") || Of("a") == Of("a", "") || Of() == Of("") {
		t.Error("parts run together")
	}
	const pinned = "3fafa1cf2f19a7c1129beb20cf0983f73a489a221fc0dd2f16d1be292d089205"
	if got := Of("a", "bc").String(); got != pinned {
		t.Errorf("%s, want %s", got, pinned)
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-4
	if key, err := OfFile(path); err != nil || key.String() != abc {
		t.Errorf("%v, %v", key, err)
	}
	if _, err := OfFile(path + "y"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestKept: an entry that was put is got, by another process as well, and no temporary file is left.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b]", "c")
	c := open(t, dir, 1<<20)
	if _, ok := c.Get(Of("x")); ok {
		t.Error("something is there before")
	}
	folder := put(t, c, "x", "text")
	if filepath.Dir(filepath.Dir(folder)) != dir {
		t.Errorf("it is in %s", folder)
	}
	broken := errors.New("broken")
	if _, err := c.Put(Of("y"), func(string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if kept, others := entries(t, dir); kept != 1 || others != nil {
		t.Errorf("%d entries, %q", kept, others)
	}
	second := open(t, dir, 1<<20)
	got, ok := second.Get(Of("x"))
	if b, err := os.ReadFile(filepath.Join(got, "file")); !ok || err != nil || string(b) != "text" || got != folder {
		t.Errorf("%v, %q, %v in %s", ok, b, err, got)
	}
	if stat, err := os.Stat(dir); err != nil || stat.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v: others may read it", stat.Mode(), err)
	}
	if _, ok := second.Get(Of("y")); ok {
		t.Error("what failed was kept")
	}
}

// TestDamaged: an entry in which anything has changed is not given out, and is gone.
func TestDamaged(t *testing.T) {
	fill := func(dir string) error {
		return errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o700), os.WriteFile(filepath.Join(dir, "sub", "a"), []byte("some text"), 0o600),
			os.WriteFile(filepath.Join(dir, "b"), nil, 0o600))
	}
	for name, damage := range map[string]func(entry string) error{
		"a byte": func(e string) error {
			return os.WriteFile(filepath.Join(e, content, "sub", "a"), []byte("some tezt"), 0o600)
		},
		"shorter":       func(e string) error { return os.Truncate(filepath.Join(e, content, "sub", "a"), 3) },
		"longer":        func(e string) error { return os.Truncate(filepath.Join(e, content, "b"), 1) },
		"a file less":   func(e string) error { return os.Remove(filepath.Join(e, content, "b")) },
		"a file more":   func(e string) error { return os.WriteFile(filepath.Join(e, content, "c"), nil, 0o600) },
		"a folder more": func(e string) error { return os.Mkdir(filepath.Join(e, content, "c"), 0o700) },
		"another name": func(e string) error {
			return os.Rename(filepath.Join(e, content, "b"), filepath.Join(e, content, "c"))
		},
		"no manifest":     func(e string) error { return os.Remove(filepath.Join(e, manifest)) },
		"half a manifest": func(e string) error { return os.Truncate(filepath.Join(e, manifest), 90) },
		"no content":      func(e string) error { return os.RemoveAll(filepath.Join(e, content)) },
		"a link out": func(e string) error {
			return errors.Join(os.Remove(filepath.Join(e, content, "b")), os.Symlink(os.DevNull, filepath.Join(e, content, "b")))
		},
		"a linked content": func(e string) error {
			return errors.Join(os.Rename(filepath.Join(e, content), e+"-moved"), os.Symlink(e+"-moved", filepath.Join(e, content)))
		},
		"a linked manifest": func(e string) error {
			return errors.Join(os.Rename(filepath.Join(e, manifest), e+"-moved"), os.Symlink(e+"-moved", filepath.Join(e, manifest)))
		},
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c := open(t, dir, 1<<20)
		if _, err := c.Put(Of("x"), fill); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if _, ok := c.Get(Of("x")); !ok {
			t.Fatalf("%s: it is not there whole", name)
		}
		c.Close()
		if err := damage(filepath.Join(dir, Of("x").String())); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get(Of("x")); ok {
			t.Errorf("%s: it is taken for whole", name)
		}
		if kept, _ := entries(t, dir); kept != 0 {
			t.Errorf("%s: it is still there", name)
		}
	}
}

// TestRoom: entries that were not used for the longest time go, except entries that a process reads.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c, other := open(t, dir, 3500), open(t, dir, 3500)
	text := strings.Repeat("x", 1000)
	for i, name := range []string{"1", "2", "3"} {
		put(t, c, name, text)
		c.Close()
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, Of(name).String()), at, at); err != nil {
			t.Fatal(err)
		}
	}
	there := func(want string) {
		t.Helper()
		got := ""
		for _, name := range []string{"1", "2", "3", "4", "5", "large"} {
			if _, err := os.Stat(filepath.Join(dir, Of(name).String())); err == nil {
				got += name + " "
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s are there, want %s", got, want)
		}
	}
	there("1 2 3")
	if _, ok := other.Get(Of("2")); !ok { // and holds it
		t.Error("2 is not there")
	}
	at := time.Now().Add(-20 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, Of("2").String()), at, at); err != nil {
		t.Fatal(err)
	}
	put(t, c, "4", text)
	there("2 3 4")
	folder := put(t, c, "large", strings.Repeat(text, 4))
	if b, err := os.ReadFile(filepath.Join(folder, "file")); err != nil || len(b) != 4000 {
		t.Errorf("what is too large is not returned: %d bytes, %v", len(b), err)
	}
	there("2 3 4")
	other.Release(Of("2"))
	put(t, c, "5", text)
	there("3 4 5")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: what could not be kept is left", err)
	}
	if _, others := entries(t, dir); others != nil {
		t.Errorf("%q are left", others)
	}
}

// TestSame: of two that make one entry at once both read what they made.
func TestSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	a, b := open(t, dir, 1<<20), open(t, dir, 1<<20)
	inA, err := a.Put(Of("x"), func(dir string) error {
		put(t, b, "x", "of b")
		return os.WriteFile(filepath.Join(dir, "file"), []byte("of a"), 0o600)
	})
	if text, _ := os.ReadFile(filepath.Join(inA, "file")); err != nil || string(text) != "of a" {
		t.Errorf("%q, %v", text, err)
	}
	got, _ := a.Get(Of("x"))
	if text, _ := os.ReadFile(filepath.Join(got, "file")); string(text) != "of b" {
		t.Errorf("%q is kept", text)
	}
}

// TestLinks: links within an entry stay, those that lead out or nowhere do not.
func TestLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	c := open(t, dir, 1<<20)
	folder, err := c.Put(Of("x"), func(dir string) error {
		in := func(name string) string { return filepath.Join(dir, name) }
		return errors.Join(os.WriteFile(in("lib.so.1"), []byte("code"), 0o755), os.Symlink("lib.so.1", in("lib.so")), os.Mkdir(in("sub"), 0o500),
			os.Symlink("../lib.so.1", filepath.Join(dir, "up")), os.Symlink(os.DevNull, in("null")), os.Symlink("null", in("to null")), os.Symlink("nothing", in("dangling")),
			os.Symlink(in("lib.so.1"), in("absolute")), os.WriteFile(in("odd\xff\n name"), nil, 0))
	})
	if err != nil {
		t.Skip("no links or names here:", err)
	}
	var names []string
	list, _ := os.ReadDir(folder)
	for _, e := range list {
		names = append(names, e.Name())
	}
	if fmt.Sprintf("%q", names) != `["lib.so" "lib.so.1" "odd\xff\n name" "sub"]` {
		t.Errorf("%q", names)
	}
	if stat, err := os.Stat(filepath.Join(folder, "lib.so")); err != nil || stat.Mode().Perm()&0o100 == 0 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
	c.Close()
	if _, ok := c.Get(Of("x")); !ok {
		t.Error("it is not whole")
	}
}

// TestUnwritable: a cache that cannot be is one that keeps nothing.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	file, open := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "", filepath.Join(file, "below"): "", open: "other users may write to the folder"} {
		if path == open && os.PathSeparator != '/' {
			continue
		}
		c, err := Open(path, 1<<20)
		if err == nil || !strings.HasPrefix(err.Error(), "nothing is kept: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		folder := put(t, c, "x", "text")
		if b, err := os.ReadFile(filepath.Join(folder, "file")); err != nil || string(b) != "text" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
		if _, ok := c.Get(Of("x")); ok {
			t.Errorf("%s: something was kept", path)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %s is left", err, folder)
		}
	}
}

// TestKilled: the next process removes the leftovers of a process that was killed while it made an entry, and none
// removes them while it makes it.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=half "+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	open(t, dir, 1<<20)
	if _, others := entries(t, dir); len(others) != 2 {
		t.Errorf("%q while it is made", others)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	open(t, dir, 1<<20)
	if kept, others := entries(t, dir); kept != 0 || others != nil {
		t.Errorf("%d entries, %q are left", kept, others)
	}
}

// TestProcesses: several processes that make, read and remove the same entries read what they should, and some of them
// are killed.
func TestProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	type one struct {
		cmd *exec.Cmd
		out bytes.Buffer
	}
	start := func(seed int) *one {
		p := &one{cmd: exec.Command(os.Args[0])}
		p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=many %s %d %d", role, dir, seed, effort.Long(60, 1000)))
		p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	var all, victims []*one
	for seed := range 4 {
		all = append(all, start(seed))
		victim := start(seed + 100)
		time.AfterFunc(time.Duration(seed*20+20)*time.Millisecond, func() { _ = victim.cmd.Process.Kill() })
		victims = append(victims, victim)
	}
	for _, p := range all {
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, &p.out)
		}
	}
	for _, p := range victims {
		_ = p.cmd.Wait() // which was killed, or had ended before
	}
	c := open(t, dir, 20_000)
	put(t, c, "last", "")
	c.Close()
	kept, others := entries(t, dir)
	if kept == 0 || kept > 6 || others != nil {
		t.Errorf("%d entries of 4000 bytes, %q are left", kept, others)
	}
}

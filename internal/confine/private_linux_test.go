package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// readAbroad reads in ways that it should not below args[0], and then what it may read: each other argument.
func readAbroad(args []string) {
	home := args[0]
	secret := filepath.Join(home, "secret")
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	done("secret", read(secret))
	names, _ := os.ReadDir(home)
	if slices.ContainsFunc(names, func(e os.DirEntry) bool { return e.Name() == "secret" }) {
		done("list", nil)
	}
	done("root of init", read("/proc/1/root"+secret))
	done("root of its guard", read(fmt.Sprintf("/proc/%d/root%s", os.Getppid(), secret)))
	done("folder of its guard", read(fmt.Sprintf("/proc/%d/cwd/secret", os.Getppid())))
	done("symlink", errors.Join(os.Symlink(secret, "sym"), read("sym")))
	done("hard link", errors.Join(os.Link(secret, "hard"), read("hard")))
	done("rename", errors.Join(os.Rename(secret, "renamed"), read("renamed")))
	done("run", exec.Command(filepath.Join(home, "tool")).Run())
	done("unmount", errors.Join(unix.Unmount(home, unix.MNT_DETACH), read(secret)))
	for _, shell := range []string{`umount -l "$0"; cat "$0/secret"`, `mount --bind / . && cat "./$0/secret"`} {
		cmd := exec.Command("/bin/sh", "-c", shell, home)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		done("nested namespaces", cmd.Run())
	}
	done("desk", read(filepath.Join(home, "work", "desk", "key")))
	for _, path := range args[1:] {
		done(filepath.Base(path), read(path))
	}
	done("written", errors.Join(os.WriteFile("written", nil, 0o600), read("written")))
}

// TestReads: of a private folder only what is given is read.
func TestReads(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"secret", "work/open", "work/desk/key", "data/maps/map", "settings", "out/old"} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "tool"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The program is in the private folder too, behind a link.
	program := filepath.Join(home, "games", "bin", "program")
	self, err := os.ReadFile("/proc/self/exe")
	link := filepath.Join(home, "links", "program")
	err = errors.Join(err, os.MkdirAll(filepath.Dir(program), 0o700), os.Mkdir(filepath.Dir(link), 0o700), os.WriteFile(program, self, 0o700), os.Symlink(program, link),
		os.WriteFile(filepath.Join(home, "games", "asset"), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	modes(t, func(t *testing.T, spaces bool) {
		at := func(name string) string { return filepath.Join(home, name) }
		c := acting(t, fmt.Sprintf("read %s %s %s %s %s %s", home, at("data/maps/map"), at("settings"), at("work/open"), at("games/asset"), at("out/old")))
		c.Args[0], c.Dir = link, at("out")
		c.Writes = append(c.Writes, at("out"))
		c.Private = []string{home, at("work/desk"), at("missing"), "/"}
		c.Reads = []string{at("data"), at("settings"), at("work"), home, filepath.Dir(home), at("missing")}
		e := ran(t, c)
		if slices.Contains(e.Confined, Reading) {
			t.Skip("the system has no Landlock")
		}
		if want := []string{"map", "settings", "open", "asset", "old", "written"}; !slices.Equal(e.Tail, want) || e.Code != 0 {
			t.Errorf("it could read %q, want %q", e.Tail, want)
		}
		if entries, err := os.ReadDir(home); err != nil || len(entries) != 8 {
			t.Errorf("%v %v", entries, err)
		}
		for _, left := range []string{"sym", "written"} {
			os.Remove(at("out/" + left))
		}
		// Without private folders it may read all of it.
		c.Private, c.Writes, c.Dir = nil, c.Writes[:1], ""
		if e := ran(t, c); !slices.Contains(e.Tail, "secret") || !slices.Contains(e.Tail, "desk") {
			t.Errorf("it could read %q", e.Tail)
		}
	})
}

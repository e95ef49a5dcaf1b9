//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// specialFolders returns cases of what only a Unix has.
func specialFolders(commands []string) []hostile {
	return []hostile{{name: "folder/special", size: 4, commands: commands, make: func(t testing.TB, dir string, n int) {
		put(t, filepath.Join(dir, "host", "a.trace"), smallTrace("host", "0x02"))
		put(t, filepath.Join(dir, "client", "a.trace"), smallTrace("client", "0x03"))
		for i := range n {
			for _, name := range []string{"a%d.trace", "order-log%d.bin", "%d.zip", "%d.log", "desync_0000000000000007_%010d.snap"} {
				at := filepath.Join(dir, "host", fmt.Sprintf(name, i))
				var err error
				switch i % 4 {
				case 0:
					err = syscall.Mkfifo(at, 0o644)
				case 1:
					err = os.Symlink("/dev/zero", at)
				case 2:
					err = os.Symlink("/dev/tty", at)
				default:
					err = socket(at)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}}}
}

// socket makes a socket at a path, on which nobody listens.
func socket(path string) error {
	s, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(s)
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(filepath.Dir(path)); err != nil { // addresses are short
		return err
	}
	defer os.Chdir(dir)
	return syscall.Bind(s, &syscall.SockaddrUnix{Name: filepath.Base(path)})
}

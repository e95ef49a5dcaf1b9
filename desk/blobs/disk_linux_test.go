package blobs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDiskFull: a write that fails in the middle is an error, the earlier content stays, and nothing half is left. The
// test runs itself as a process that may write no file beyond 100 kB, which fails as a full disk does.
func TestDiskFull(t *testing.T) {
	const variable = "BLOBS_TEST_FULL"
	if dir := os.Getenv(variable); dir != "" {
		signal.Ignore(syscall.SIGXFSZ)
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100_000, Max: 100_000}); err != nil {
			t.Fatal(err)
		}
		small := put(t, s, noise(1, 50_000))
		var from *ReadError
		_, err = s.Put(t.Context(), bytes.NewReader(noise(2, 1<<20)), 0)
		if !errors.Is(err, syscall.EFBIG) || errors.As(err, &from) {
			t.Errorf("%v, expected that the file cannot grow", err)
		}
		if got := list(t, s); len(got) != 1 || got[0] != small.Hash {
			t.Errorf("%q", got)
		}
		if got, err := get(t, s, small.Hash); err != nil || !bytes.Equal(got, noise(1, 50_000)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDiskFull$", "-test.count=1")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(filepath.Join(dir, incoming)); err != nil || len(left) > 0 {
		t.Errorf("%v, %v: half a bundle is left", left, err)
	}
}

package blobs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// TestKilled: a blob that a writer reported as kept is there and whole after it was killed at any moment. All other
// blobs are whole as well, and the writer's leftovers are gone once they are old. The test runs itself as the writer.
func TestKilled(t *testing.T) {
	const variable, round = "BLOBS_TEST_KILLED", "BLOBS_TEST_ROUND"
	content := func(round, n int) []byte { return noise(uint64(1000*round+n), 150_000+n) }
	if dir := os.Getenv(variable); dir != "" {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := strconv.Atoi(os.Getenv(round))
		if err != nil {
			t.Fatal(err)
		}
		for n := range 10_000 {
			fmt.Println(put(t, s, content(r, n)).Hash)
		}
		return
	}
	dir := t.TempDir()
	for r := range effort.Long(4, 40) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.count=1")
		cmd.Env = append(os.Environ(), variable+"="+dir, fmt.Sprintf("%s=%d", round, r))
		lines, ended, err := kill.After(cmd, time.Duration(40+37*r%300)*time.Millisecond)
		if err != nil || ended {
			t.Fatal(err, ended)
		}
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for n, hash := range lines {
			if got, err := get(t, s, hash); err != nil || !bytes.Equal(got, content(r, n)) {
				t.Fatalf("round %d, bundle %d was kept: %d bytes, %v", r, n, len(got), err)
			}
		}
		for _, hash := range list(t, s) {
			if _, err := get(t, s, hash); err != nil {
				t.Fatal(err)
			}
		}
	}
	old := time.Now().Add(-2 * left)
	rest, err := os.ReadDir(filepath.Join(dir, incoming))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rest {
		err = errors.Join(err, os.Chtimes(filepath.Join(dir, incoming, e.Name()), old, old))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	if rest, err := os.ReadDir(filepath.Join(dir, incoming)); err != nil || len(rest) > 0 {
		t.Errorf("%v, %v", rest, err)
	}
}

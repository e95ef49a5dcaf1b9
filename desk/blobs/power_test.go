package blobs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/powerloss"
)

// TestPowerLoss: a blob that a writer reported as kept is there and whole after the power was lost before any of its
// system calls, and every other blob is whole too. If the disk had lied about what it synced, a blob may be missing or
// damaged, and never has another content. The test runs itself as the writer.
func TestPowerLoss(t *testing.T) {
	const variable = "BLOBS_TEST_POWER"
	content := func(n int) []byte { return noise(uint64(n), 1+n*n*n%100_000) }
	if dir := os.Getenv(variable); dir != "" {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for n := range effort.Long(6, 16) {
			put(t, s, content(n))
			fmt.Println(n)
		}
		os.Exit(0) // without a line of the test
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	dir := filepath.Join(t.TempDir(), "blobs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPowerLoss$", "-test.count=1")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	r, err := powerloss.Record(cmd, dir)
	if err != nil {
		t.Fatal(err)
	}
	byHash := map[string]int{}
	for n := range 40 {
		byHash[sha(content(n))] = n
	}
	images, lost := 0, 0
	found := filepath.Join(t.TempDir(), "found")
	for _, lies := range []uint64{0, 1} {
		err = r.Each(effort.Of(17, effort.Long(5, 1)), lies, func(c powerloss.Crash) error {
			for _, loss := range powerloss.Losses {
				images++
				if err := c.Leave(found, loss); err != nil {
					return err
				}
				s, err := Open(found)
				if err != nil {
					return err
				}
				whole := map[int]bool{}
				for info, err := range s.List(t.Context()) {
					if err != nil {
						return err
					}
					hash := info.Hash
					n, ok := byHash[hash]
					if !ok {
						return fmt.Errorf("%s: a blob %s that nobody wrote", loss, hash)
					}
					got, err := get(t, s, hash)
					switch {
					case lies != 0 && errors.Is(err, ErrDamaged):
					case err != nil || !bytes.Equal(got, content(n)):
						return fmt.Errorf("%s: bundle %d: %d bytes, %v", loss, n, len(got), err)
					default:
						whole[n] = true
					}
				}
				for n := range c.Printed() {
					switch _, err := get(t, s, sha(content(n))); {
					case whole[n]:
					case lies == 0:
						return fmt.Errorf("%s: bundle %d was kept, and is lost", loss, n)
					case !errors.Is(err, ErrDamaged) && !errors.Is(err, fs.ErrNotExist):
						return fmt.Errorf("%s: bundle %d: %v, expected that it is damaged or missing", loss, n, err)
					default:
						lost++
					}
				}
				if err := os.RemoveAll(found); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d calls, %d folders after a loss of power; a lying disk lost %d bundles", r.Len(), images, lost)
	if lost == 0 {
		t.Error("a disk that lies lost nothing")
	}
}

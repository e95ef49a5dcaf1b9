//go:build linux

package orderlog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/powerloss"
	"github.com/desynctool/desynctool/orderlog"
)

// TestPowerLoss: after the power was lost before any system call of a writer, the log has every tick before its last
// Sync, and what is read of the rest is what was written. A disk that lies about what it synced loses ticks, and changes
// none. The test runs itself as the writer.
func TestPowerLoss(t *testing.T) {
	const variable, name = "ORDERLOG_TEST_POWER", "order-log.bin"
	if dir := os.Getenv(variable); dir != "" {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		folder, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		w, err := orderlog.NewWriter(f, killedHeader, orderlog.WriterOptions{})
		if err := errors.Join(err, folder.Sync()); err != nil {
			t.Fatal(err)
		}
		for n := range uint64(190) {
			err = w.WriteTick(killedTick(n))
			if n%9 == 8 {
				err = errors.Join(err, w.Sync())
				fmt.Println(n)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		os.Exit(0) // without a line of the test
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPowerLoss$", "-test.count=1")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	r, err := powerloss.Record(cmd, dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() < 200 {
		t.Fatalf("%d calls, expected 200 or more", r.Len())
	}
	images, most := 0, 0
	found := filepath.Join(t.TempDir(), "found")
	for _, lies := range []uint64{0, 1} {
		err := r.Each(effort.Of(47, effort.Long(3, 1)), lies, func(c powerloss.Crash) error {
			for _, loss := range powerloss.Losses {
				images++
				if err := c.Leave(found, loss); err != nil {
					return err
				}
				ticks, end := 0, error(nil)
				if _, err := os.Stat(filepath.Join(found, name)); !errors.Is(err, fs.ErrNotExist) {
					ticks, end = readKilled(t, filepath.Join(found, name)) // compares them with what was written
				}
				most = max(most, ticks)
				if lies == 0 && ticks < 9*len(c.Printed()) {
					return fmt.Errorf("%s: %d ticks were synced, %d can be read: %w", loss, 9*len(c.Printed()), ticks, end)
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
	t.Logf("%d calls, %d logs after a loss of power, up to %d ticks", r.Len(), images, most)
}

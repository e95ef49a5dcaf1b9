//go:build linux

package intake_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/powerloss"
)

// TestPowerLoss: the folder of a desk, with its database and its blobs, is sound after the power was lost before any
// system call of an add, and has every bundle that the add reported. The test runs itself to add.
func TestPowerLoss(t *testing.T) {
	const variable = "INTAKE_TEST_POWER"
	ctx := context.Background()
	content := func(i int) string { return fmt.Sprintf("# 2 bug%d %s", i%3, strings.Repeat("x", i*700)) }
	opened := func(dir string, unsynced bool) (*intake.Intake, error) {
		store, err := desk.Open(ctx, dir, desk.Options{Create: true, Unsynced: unsynced})
		if err != nil {
			return nil, err
		}
		kept, err := blobs.Open(filepath.Join(dir, "blobs"))
		return &intake.Intake{Store: store, Blobs: kept, Reader: &toy{}, Tool: "test", Source: "test"}, err
	}
	if dir := os.Getenv(variable); dir != "" {
		x, err := opened(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		var list []intake.Source
		for i := range effort.Long(2, 6) {
			list = append(list, intake.Source{Name: fmt.Sprintf("%d.txt", i), Content: strings.NewReader(content(i))})
		}
		err = x.Add(ctx, list, 1, nil, func(a intake.Added) error {
			if a.Err == nil {
				fmt.Println(a.Bundle.Hash)
			}
			return a.Err
		})
		if err != nil || x.Store.Close() != nil {
			t.Fatal(err)
		}
		os.Exit(0) // without a line of the test
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	dir := filepath.Join(t.TempDir(), "desk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPowerLoss$", "-test.count=1")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	r, err := powerloss.Record(cmd, dir)
	if err != nil {
		t.Fatal(err)
	}
	images := 0
	found := filepath.Join(t.TempDir(), "found")
	err = r.Each(effort.Of(61, effort.Long(11, 1)), 0, func(c powerloss.Crash) error {
		for _, loss := range powerloss.Losses {
			images++
			if err := c.Leave(found, loss); err != nil {
				return err
			}
			x, err := opened(found, true)
			if err != nil {
				return fmt.Errorf("%s: %w", loss, err)
			}
			for _, hash := range c.Printed() {
				if b, err := x.Store.Bundle(ctx, hash); err != nil || b.State != desk.Read {
					return fmt.Errorf("%s: %s was added: %+v %v", loss, hash, b, err)
				}
			}
			if err := x.Store.Close(); err != nil {
				return err
			}
			examined, err := desk.Examine(ctx, found, desk.Options{Unsynced: true}, func() (blobs.Store, error) { return x.Blobs, nil }, desk.Examination{})
			if err != nil || examined.Found > 0 {
				return fmt.Errorf("%s: %+v %v", loss, examined, err)
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
	t.Logf("%d calls, %d folders after a loss of power", r.Len(), images)
}

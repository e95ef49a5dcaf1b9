//go:build unix

package queue_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
)

// BenchmarkWork is how many bundles workers of 2 jobs do in a second, if reading takes no time, or as long as set by
// pauseVariable: one worker, then two.
func BenchmarkWork(b *testing.B) {
	for _, database := range []string{"sqlite", "postgres"} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", database, workers), func(b *testing.B) {
				where := filepath.Join(b.TempDir(), "desk")
				if database == "postgres" {
					where = desktest.Start(b).Database(b)
				}
				benchWork(b, where, workers)
			})
		}
	}
}

func benchWork(b *testing.B, where string, workers int) {
	blobDir := filepath.Join(b.TempDir(), "blobs")
	d := open(b, where, blobDir, desk.Options{})
	for i := range b.N {
		d.send(b, "a.txt", bundleText(i))
	}
	b.ResetTimer()
	var list []*exec.Cmd
	for range workers {
		cmd := program(b, where, blobDir, "", 0)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		list = append(list, cmd)
	}
	for d.number(b, "SELECT count(*) FROM bundles WHERE state = 'waiting'") > 0 {
		time.Sleep(20 * time.Millisecond)
	}
	b.StopTimer()
	for _, cmd := range list {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "bundles/s")
}

// pauseVariable is how long a worker's reader takes, in milliseconds; 3 if it is not set.
const pauseVariable = "DESYNCTOOL_QUEUE_TEST_PAUSE"

func pause() time.Duration {
	if n, err := strconv.Atoi(os.Getenv(pauseVariable)); err == nil {
		return time.Duration(n) * time.Millisecond
	}
	return 3 * time.Millisecond
}

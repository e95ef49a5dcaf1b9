package cli

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
)

// memoryLimits prints what a command's process would run with.
func memoryLimits() {
	TuneProcess()
	limit := debug.SetMemoryLimit(-1)
	percent := debug.SetGCPercent(100)
	fmt.Println(limit, percent)
}

// TestMemoryOfTheUser: the user's settings in the environment count.
func TestMemoryOfTheUser(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"", fmt.Sprint(uint64(math.MaxInt64), 1200)},
		{"GOMEMLIMIT=64MiB", fmt.Sprint(64<<20, 1200)},
		{"GOGC=33", fmt.Sprint(uint64(math.MaxInt64), 33)},
		{"GOGC=off GOMEMLIMIT=1GiB", fmt.Sprint(1<<30, -1)},
	} {
		cmd := exec.Command("memoryLimits") // of TestMain
		cmd.Env = append(os.Environ(), "GOGC=", "GOMEMLIMIT=")
		cmd.Env = append(cmd.Env, strings.Fields(c.env)...)
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.env, got, err, c.want)
		}
	}
}

// TestGCPercent: small heaps grow by the headroom, larger ones by half, and large ones by a quarter.
func TestGCPercent(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 1200}, {4 << 20, 1200}, {12 << 20, 400}, {48 << 20, 100}, {96 << 20, 50}, {208 << 20, 50}, {260 << 20, 40}, {416 << 20, 25}, {1 << 40, 25}} {
		if got := gcPercent(c.live); got != c.want {
			t.Errorf("%d bytes are live: %d %%, want %d", c.live, got, c.want)
		}
	}
}

// TestCollectedComesBack: the percentage follows what is live.
func TestCollectedComesBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := new(atomic.Int64)
	runtime.SetFinalizer(&collected{percent}, (*collected).again)
	for range 100 {
		runtime.GC()
		if percent.Load() != 0 {
			break
		}
	}
	if p := percent.Load(); p < 50 {
		t.Errorf("%d %%", p)
	}
}

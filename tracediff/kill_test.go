package tracediff_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/kill"
	"github.com/desynctool/desynctool/tracediff"
)

// traceToVar has a test binary write a trace to the file that it names, and print each tick
// that it has flushed.
const traceToVar = "DESYNCTOOL_TEST_TRACE"

func TestMain(m *testing.M) {
	if path := os.Getenv(traceToVar); path != "" {
		if err := writeTrace(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killedTicks is how long the trace is that is written until its writer is killed.
const killedTicks = 3000

// killedCheckpoints are the checkpoints of a tick of that trace. Now and then a system is new, so that the trace also
// has names to write.
func killedCheckpoints(n uint64) (list []tracediff.Checkpoint) {
	r := rand.New(rand.NewPCG(n, 0))
	for i := range 1 + r.IntN(5) {
		c := tracediff.Checkpoint{Tick: n, System: fmt.Sprintf("System%d", n/100+uint64(i)), Sums: []tracediff.Sum{tracediff.BytesSum("", []byte{byte(n), byte(i), byte(r.Uint32())})}}
		if r.IntN(3) == 0 {
			c.Scope, c.Count, c.HasCount = "Infantry", r.Uint64(), true
		}
		list = append(list, c)
	}
	return list
}

func writeTrace(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := tracediff.NewWriter(f, tracediff.Header{Seed: 7, HasSeed: true, Peer: "host"})
	if err != nil {
		return err
	}
	for n := range uint64(killedTicks) {
		for _, c := range killedCheckpoints(n) {
			if err := w.WriteCheckpoint(&c); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return errors.Join(w.Close(), w.Sync(), f.Close())
}

// All ticks that a writer has flushed are in the trace after it was killed, as they were written, and the
// trace is torn or whole, never corrupt.
func TestWriterKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoints.trace")
	r := rand.New(rand.NewPCG(3, 4))
	var kills, acknowledged, torn int
	for range kill.Times() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), traceToVar+"="+path)
		lines, ended, err := kill.AtLine(cmd, r.IntN(killedTicks/10))
		if err != nil {
			t.Fatal(err)
		}
		if !ended {
			kills++
		}
		got, end := readKilled(t, path)
		if got < len(lines) {
			t.Fatalf("%d ticks were flushed, %d can be read", len(lines), got)
		}
		acknowledged += len(lines)
		switch {
		case end == io.EOF:
			if got != killedTicks {
				t.Fatalf("whole with %d of %d ticks", got, killedTicks)
			}
		case !errors.Is(end, frame.ErrTorn):
			t.Fatalf("%v, expected a trace that breaks off", end)
		default:
			torn++
		}
		if err := os.Remove(path); err != nil && len(lines) > 0 {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d ticks flushed, all readable; %d traces torn", kills, acknowledged, torn)
	if kills == 0 || acknowledged == 0 || torn == 0 {
		t.Error("no writer was killed in the middle of its trace")
	}
}

// readKilled reads a trace, checks that its checkpoints are the written ones, and returns the number of its ticks and
// how it ends.
func readKilled(t *testing.T, path string) (ticks int, end error) {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, frame.ErrTorn // it was killed before it began
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := tracediff.NewReader(f, path, tracediff.ReadOptions{})
	if err != nil {
		return 0, err
	}
	for {
		for i, want := range killedCheckpoints(uint64(ticks)) {
			rec, err := r.Next()
			if err != nil {
				if i > 0 {
					t.Fatalf("tick %d is there in part: %v", ticks, err)
				}
				return ticks, err
			}
			if diff := cmp.Diff(&want, rec.Checkpoint, cmpopts.IgnoreFields(tracediff.Checkpoint{}, "Occurrence")); diff != "" {
				t.Fatalf("tick %d is not what was written (-written +read):\n%s", ticks, diff)
			}
		}
		ticks++
	}
}

package orderlog_test

import (
	"bytes"
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
	"github.com/desynctool/desynctool/orderlog"
)

// logToVar has a test binary write a log to the file that it names, and print each tick
// that it has written.
const logToVar = "DESYNCTOOL_TEST_LOG"

func TestMain(m *testing.M) {
	if path := os.Getenv(logToVar); path != "" {
		if err := writeLog(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killedTicks is how long the log is that is written until its writer is killed.
const killedTicks = 3000

var killedHeader = orderlog.Header{
	Seed: 7, Peer: "host", Peers: []string{"host", "client"}, TickRate: orderlog.Rate{Num: 30, Den: 1},
	Kinds: []orderlog.OrderKind{{Name: "move"}, {Name: "chat", Local: true}},
}

// killedTick is a tick of that log; some have payloads of pages, which take more than a moment to write.
func killedTick(n uint64) *orderlog.Tick {
	r := rand.New(rand.NewPCG(n, 0))
	t := &orderlog.Tick{Number: n}
	for i := range r.IntN(4) {
		payload := make([]byte, 1+r.IntN(20))
		if r.IntN(50) == 0 {
			payload = make([]byte, 100<<10)
		}
		payload[0] = byte(r.Uint32())
		t.Orders = append(t.Orders, orderlog.Order{Tick: n, Player: uint32(i), Sequence: uint32(n), Kind: uint32(r.IntN(2)), Payload: payload})
	}
	t.InputHash = orderlog.InputHash(killedHeader.Kinds, t.Orders)
	t.Hashes = []orderlog.Observed{{Point: n, Kind: orderlog.SyncHash, Bytes: t.InputHash[:]}}
	return t
}

func writeLog(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := orderlog.NewWriter(f, killedHeader, orderlog.WriterOptions{})
	if err != nil {
		return err
	}
	for n := range uint64(killedTicks) {
		if err := w.WriteTick(killedTick(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return errors.Join(w.Close(), w.Sync(), f.Close())
}

// Whatever a writer has acknowledged is in the log after it was killed, as it was written, and the
// log is torn or whole, never corrupt.
func TestWriterKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "order-log.bin")
	r := rand.New(rand.NewPCG(1, 2))
	var kills, acknowledged, torn int
	for range kill.Times() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), logToVar+"="+path)
		lines, ended, err := kill.AtLine(cmd, r.IntN(killedTicks/10))
		if err != nil {
			t.Fatal(err)
		}
		if !ended {
			kills++
		}
		got, end := readKilled(t, path)
		if got < len(lines) {
			t.Fatalf("%d ticks were acknowledged, %d can be read", len(lines), got)
		}
		acknowledged += len(lines)
		switch {
		case end == io.EOF:
			if got != killedTicks {
				t.Fatalf("whole with %d of %d ticks", got, killedTicks)
			}
		case !errors.Is(end, frame.ErrTorn):
			t.Fatalf("%v, expected a log that breaks off", end)
		default:
			torn++
		}
		if err := os.Remove(path); err != nil && len(lines) > 0 {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d ticks acknowledged, all readable; %d logs torn", kills, acknowledged, torn)
	if kills == 0 || acknowledged == 0 || torn == 0 {
		t.Error("no writer was killed in the middle of its log")
	}
}

// readKilled reads a log, checks that its ticks are the written ones, and returns their number and how the log ends.
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
	r, err := orderlog.NewReader(f, path)
	if err != nil {
		return 0, err
	}
	for {
		rec, err := r.Next()
		if err != nil {
			return ticks, err
		}
		if diff := cmp.Diff(killedTick(uint64(ticks)), rec.Tick, cmpopts.EquateEmpty(), cmp.Comparer(bytes.Equal)); diff != "" {
			t.Fatalf("tick %d is not what was written (-written +read):\n%s", ticks, diff)
		}
		ticks++
	}
}

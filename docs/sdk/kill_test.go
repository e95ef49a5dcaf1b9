package sdk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/kill"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

func TestKilledC(t *testing.T) {
	thorough(t)
	survives(t, compile(t, "testdata/killed.c"))
}

func TestKilledCPP(t *testing.T) {
	thorough(t)
	survives(t, compileCPP(t, "testdata/killed.cpp"))
}

func TestKilledRust(t *testing.T) {
	thorough(t)
	survives(t, compileRust(t, "testdata/killed.rs", "-C", "opt-level=1"))
}

func TestKilledCSharp(t *testing.T) {
	thorough(t)
	survives(t, "mono", compileCSharp(t, csharpSDK, "testdata/Killed.cs"))
}

func TestKilledPython(t *testing.T) {
	thorough(t)
	needTool(t, "python3")
	survives(t, "python3", "testdata/killed.py")
}

func TestKilledTypeScript(t *testing.T) {
	thorough(t)
	needTool(t, "node")
	survives(t, "node", bundle(t, "testdata/killed.ts"))
}

// killedTicks is how many ticks such a program plays.
const killedTicks = 200

// survives kills a program at random moments that plays one peer and prints what it has acknowledged: a tick after it
// was played, snapshots and reports after they were written. All of that is there afterwards as it was written, other
// files are whole or break off, and the next one in the folder leaves nothing of it.
func survives(t *testing.T, command ...string) {
	t.Helper()
	folder := t.TempDir()
	dir := filepath.Join(folder, "client")
	play := func() map[string]string {
		t.Helper()
		if _, stderr, exit := execute(t, nil, command[0], append(command[1:], folder)...); exit != 0 {
			t.Fatalf("exit status %d: %s", exit, stderr)
		}
		return killedFiles(t, dir)
	}
	want := play()
	if ticks, _, err := killedLog(dir); err != io.EOF || ticks != killedTicks || len(want) != 2+killedTicks/10+killedTicks/25 {
		t.Fatalf("%d ticks, %d files, %v", ticks, len(want), err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	var kills, acknowledged, snapshots, hidden int
	for n := range kill.Times() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		lines, ended, err := kill.AtLine(exec.Command(command[0], append(command[1:], folder)...), r.IntN(killedTicks))
		if err != nil {
			t.Fatal(err)
		}
		if !ended {
			kills++
		}
		got := killedFiles(t, dir)
		for name, text := range got {
			switch {
			case files.IsUnfinished(name):
				hidden++
			case strings.HasPrefix(name, "desync_") && text != want[name], !strings.HasPrefix(want[name], text):
				t.Fatalf("%s: %d bytes that were never written", name, len(text))
			}
		}
		ticks := 0
		for _, line := range lines {
			var what string
			var tick int
			if _, err := fmt.Sscan(line, &what, &tick); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			name := map[string]string{
				"snapshot": fmt.Sprintf("desync_%016x_%010d.snap", 11, tick), "report": fmt.Sprintf("desync_report_%016x_%010d.json", 11, tick),
			}[what]
			if name == "" {
				ticks = tick + 1
			} else if snapshots++; got[name] == "" {
				t.Fatalf("%s was acknowledged and is not there", name)
			}
		}
		acknowledged += ticks
		logged, traced, err := killedLog(dir)
		if logged < ticks || traced < ticks-1 {
			t.Fatalf("%d ticks were acknowledged, the log has %d and the trace %d", ticks, logged, traced)
		}
		if err != io.EOF && !errors.Is(err, frame.ErrTorn) || err == io.EOF && (logged != killedTicks || traced != killedTicks) {
			t.Fatalf("%d and %d ticks, %v", logged, traced, err)
		}
		if n%10 == 0 {
			if again := play(); !sameContent(again, want) {
				t.Fatalf("the next one leaves %d files, expected %d, or others", len(again), len(want))
			}
		}
	}
	t.Logf("%d kills; %d ticks, %d snapshots and reports acknowledged, all there; %d times a hidden file was left for the next one to remove", kills, acknowledged, snapshots, hidden)
	if kills == 0 || acknowledged == 0 || snapshots == 0 {
		t.Error("no program was killed in the middle")
	}
}

func sameContent(a, b map[string]string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(mapKeys(a), func(name string) bool { return a[name] != b[name] })
}

func mapKeys(m map[string]string) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

func killedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range list {
		b, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[entry.Name()] = string(b)
	}
	return all
}

// killedLog returns how many ticks the order log and the trace of a peer have, and how they end: with io.EOF if
// both are whole.
func killedLog(dir string) (logged, traced int, end error) {
	logs := func() error {
		b, err := os.ReadFile(filepath.Join(dir, "order-log.bin"))
		if err != nil {
			return frame.ErrTorn // it had not begun
		}
		r, err := orderlog.NewReader(bytes.NewReader(b), "order-log.bin")
		for err == nil {
			var rec orderlog.Record
			if rec, err = r.Next(); err == nil && rec.Kind == orderlog.TickRecord {
				if logged++; rec.Tick.Number != uint64(logged-1) {
					return errors.New("a tick is missing")
				}
			}
		}
		return err
	}
	traces := func() error {
		b, err := os.ReadFile(filepath.Join(dir, "checkpoints.trace"))
		if err != nil {
			return frame.ErrTorn
		}
		r, err := tracediff.NewReader(bytes.NewReader(b), "checkpoints.trace", tracediff.ReadOptions{})
		for err == nil {
			var rec *tracediff.Record
			if rec, err = r.Next(); err == nil {
				traced = int(rec.Tick()) + 1
			}
		}
		return err
	}
	for _, read := range []func() error{logs, traces} {
		if err := read(); err != io.EOF {
			end = err
		}
	}
	if end == nil {
		end = io.EOF
	}
	return logged, traced, end
}

package triage

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
)

// TestLogsAreReadSeldom: logs of any game, too large to be kept in memory, are read three times at most, in addition to
// their beginnings: for messages, for their checkpoints, and as a game's own logs. A line needs no memory of its own.
func TestLogsAreReadSeldom(t *testing.T) {
	const kept = 16 << 20 // the largest file that is kept in memory
	size := effort.Of(17<<20, 64<<20)
	dir := t.TempDir()
	var paths []string
	lines := 0
	for peer, name := range []string{"alice", "bob"} {
		path := filepath.Join(dir, name+".log")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		for tick, n := 0, 0; n < size; tick++ {
			sum := uint32(tick) * 2654435761
			if tick > 150_000 {
				sum += uint32(peer)
			}
			m, _ := fmt.Fprintf(w, "Frame %d checksum: %d\nplayer %d moved to %d, %d: %08x\n", tick, sum, tick%8, tick%100, tick%77, sum^1234567)
			n, lines = n+m, lines+2
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	tree, err := archive.Open(paths, archive.Options{Known: formats.Pasted(), Count: true})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	opened, err := Open(t.Context(), tree, paths, compare.Builds{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := opened.Find(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	runtime.ReadMemStats(&after)
	if found.Report.Status != document.Diverged {
		t.Fatal(found.Report.Status)
	}
	usage := tree.Usage(paths)
	if most := 3*usage.Given + 8<<20; usage.Given < 2*kept || usage.Read > most {
		t.Errorf("read %d of %d bytes, at most %d expected: %s", usage.Read, usage.Given, most, usage)
	}
	if n := after.Mallocs - before.Mallocs; n > uint64(lines)/2 { // most belong to the beginnings, and to what is near the first difference
		t.Errorf("%d allocations for %d lines", n, lines)
	}
}

// TestTracesAreReadOnce: large traces that differ near their end are mapped through all that the program wraps files in,
// and no part of them is read again.
func TestTracesAreReadOnce(t *testing.T) {
	text := make([]byte, 0, 65<<20)
	text = append(text, "%desynctool trace 1\n"...)
	for tick := uint64(0); len(text) < 64<<20; tick++ {
		text = strconv.AppendUint(append(text, "tick="...), tick, 10)
		text = strconv.AppendUint(append(text, " system=Movement scope=Infantry sum="...), tick*0x9e3779b97f4a7c15, 10)
		text = append(text, '\n')
	}
	text = append(text, "%end\n"...)
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "alice.trace"), filepath.Join(dir, "bob.trace")}
	for _, path := range paths {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		last := bytes.LastIndexByte(text[:len(text)-1<<20], '\n')
		text[last-1] ^= 1 // another digit
	}
	tree, err := archive.Open(paths, archive.Options{Known: formats.Pasted(), Count: true, Context: t.Context()})
	if err != nil {
		t.Fatal(err)
	}
	tree.Watch(func(int64, int64) {})
	opened, err := Open(t.Context(), tree, paths, compare.Builds{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := opened.Find(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if found.Report.Status != document.Diverged {
		t.Fatal(found.Report.Status)
	}
	usage := tree.Usage(paths)
	if files.CanMap && (usage.Read < usage.Given || usage.Read > usage.Given*6/5) || usage.Opens > 19 {
		t.Errorf("expected each byte once, and 16 openings: %s", usage)
	}
}

package tracediff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// searching makes a search of small files.
var searching = sizes{window: 256 << 10, line: 32 << 10, head: 1 << 10}

// remains lists the records that r still has, and how it ends. Lines are not numbered
// after a search, so that positions are offsets.
func remains(r *Reader) (list []string, ticks []uint64) {
	for {
		rec, err := r.Next()
		if errors.As(err, new(*SyntaxError)) {
			continue
		}
		if err != nil {
			return append(list, err.Error()), ticks
		}
		line := string(appendPairs(nil, rec))
		if rec.Checkpoint != nil {
			line += fmt.Sprintf(" #%d", rec.Checkpoint.Occurrence)
		}
		list = append(list, fmt.Sprintf("%d: %s", rec.Pos.Offset, line))
		ticks = append(ticks, rec.Tick())
	}
}

func checkSeek(t *rapid.T, path string, opts ReadOptions, step int) {
	open := func() *Reader {
		r, err := openReader(files.Disk, path, opts, searching)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	all, ticks := remains(r)
	r.Close()
	if len(ticks) == 0 {
		return
	}
	for tick := uint64(0); tick <= slices.Max(ticks)+2; tick += uint64(step) {
		r := open()
		if err := r.SeekTick(tick); err != nil && !errors.As(err, new(*frame.Error)) {
			t.Fatal(err)
		}
		want := slices.IndexFunc(ticks, func(n uint64) bool { return n >= tick })
		if want < 0 {
			want = len(all) - 1
		}
		if got, _ := remains(r); !slices.Equal(got, all[want:]) {
			t.Fatalf("%s: from tick %d on, %d records, expected %d; the first is\n%s, expected\n%s", filepath.Base(path), tick, len(got), len(all)-want, got[0], all[want])
		}
		r.Close()
	}
}

// What is read from a tick on is what reading from the start gives, for every tick and
// in every form that a trace has.
func TestSeekTick(t *testing.T) {
	effort.Checks(t, 12)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var pairs, table, log bytes.Buffer
		pairs.WriteString(textBegin + "\n%peer \"host\"\n")
		table.WriteString("tick;host;client\n")
		tick := uint64(rapid.IntRange(0, 50).Draw(t, "first"))
		goesBack := rapid.SampledFrom([]string{"never", "never", "predicts", "rolls back", "events"}).Draw(t, "goes back")
		noise := rapid.SampledFrom([]int{0, 0, 20, 2000}).Draw(t, "noise")
		if goesBack == "rolls back" && noise > 20 {
			noise = 20 // with longer comments, a sample shows too few ticks to see that they go back
		}
		for i := range rapid.IntRange(1, 1500).Draw(t, "ticks") {
			systems := 1 + i%3
			for n := range systems {
				phase := ""
				if goesBack == "predicts" && n == 0 {
					phase = " phase=predicted"
				}
				fmt.Fprintf(&pairs, "tick=%d system=S%d%s sum=%08x\n", tick, n%2, phase, uint32(tick*2654435761)+uint32(n))
				fmt.Fprintf(&log, "[%d] state %08x\n", tick, uint32(tick*2654435761)+uint32(n))
			}
			fmt.Fprintf(&table, "%d;%08x;%08x\n", tick, uint32(tick*2654435761), uint32(tick*40503))
			if noise > 0 && i%7 == 0 {
				fmt.Fprintf(&pairs, "# %s\n", strings.Repeat("x", noise))
				fmt.Fprintf(&log, "%s\n", strings.Repeat("x", noise))
				pairs.WriteString("malformed\n")
			}
			switch {
			case goesBack == "events" && i%10 == 9:
				fmt.Fprintf(&pairs, "event=save tick=%d\n", tick)
			case goesBack == "rolls back" && i%10 == 9:
				tick -= min(tick, 5)
				continue
			}
			tick += uint64(rapid.SampledFrom([]int{1, 1, 1, 3, 40}).Draw(t, "stride"))
		}
		pairs.WriteString(textEnd + "\n")
		step := max(1, int(tick)/12)
		write := func(name string, content []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		checkSeek(t, write("pairs.txt", pairs.Bytes()), ReadOptions{}, step)
		checkSeek(t, write("log.txt", log.Bytes()), ReadOptions{Pattern: regexp.MustCompile(`^\[(?P<tick>\d+)\] state (?P<sum>[0-9a-f]+)`)}, step)
		checkSeek(t, write("matches.txt", log.Bytes()), ReadOptions{Pattern: regexp.MustCompile(`state (?P<sum>[0-9a-f]+)`)}, step)
		if goesBack == "never" {
			checkSeek(t, write("table.csv", table.Bytes()), ReadOptions{Column: 1}, step)
		}
		if noise > 0 {
			return
		}
		binary, err := encodeText(pairs.String())
		if err != nil {
			t.Fatal(err)
		}
		checkSeek(t, write("binary.trace", []byte(binary)), ReadOptions{}, step)
		checkSeek(t, write("torn.trace", []byte(binary[:len(binary)-30])), ReadOptions{}, step)
		enc, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		checkSeek(t, write("packed.zst", enc.EncodeAll(pairs.Bytes(), nil)), ReadOptions{}, 4*step)
	})
}

// A search reads little of a file.
func TestSeekTickReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.txt")
	content := textOf(session(60_000))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	read := 0
	r, err := OpenReader(countedTree{files.Disk, &read}, path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.SeekTick(45_000); err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil || rec.Tick() != 45_000 {
		t.Fatalf("record of tick %d (%v), expected 45000", rec.Tick(), err)
	}
	if rec.Pos.Line != 0 || !bytes.HasPrefix(content[rec.Pos.Offset:], []byte("tick=45000 ")) {
		t.Errorf("position is %s", rec.Pos)
	}
	if limit := 2*reading.window + 1<<20; read > limit || len(content) < 2*limit {
		t.Errorf("%d bytes were read of %d, expected at most %d", read, len(content), limit)
	}
}

type countedTree struct {
	files.Tree
	read *int
}

func (c countedTree) Open(path string) (files.File, error) {
	f, err := c.Tree.Open(path)
	return &files.Counted{File: f, Count: func(n int) { *c.read += n }}, err
}

func BenchmarkSeekTick(b *testing.B) {
	text := textOf(session(200_000))
	binary, err := encodeText(string(text))
	if err != nil {
		b.Fatal(err)
	}
	for _, form := range []struct {
		name    string
		content []byte
	}{{"text", text}, {"binary", binary}} {
		path := filepath.Join(b.TempDir(), "long.trace")
		if err := os.WriteFile(path, form.content, 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(form.name, func(b *testing.B) {
			b.SetBytes(int64(len(form.content)))
			for b.Loop() {
				r, err := OpenReader(files.Disk, path, ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				if err := r.SeekTick(190_000); err != nil {
					b.Fatal(err)
				}
				if rec, err := r.Next(); err != nil || rec.Tick() != 190_000 {
					b.Fatal(err)
				}
				r.Close()
			}
		})
		b.Run(form.name+" from the start", func(b *testing.B) {
			b.SetBytes(int64(len(form.content)))
			for b.Loop() {
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				r, err := NewReader(f, path, ReadOptions{})
				for err == nil {
					var rec *Record
					if rec, err = r.Next(); err == nil && rec.Tick() == 190_000 {
						err = io.EOF
					}
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}

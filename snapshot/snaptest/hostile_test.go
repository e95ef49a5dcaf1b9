package snaptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// pair returns both peers' states of a kind, as files.
func pair(t testing.TB, h Hostile, n int) (files [2][]byte) {
	t.Helper()
	for side := range files {
		b, err := Encode(h.World(n, side), nil)
		if err != nil {
			t.Fatal(err)
		}
		files[side] = b
	}
	return files
}

// whole does with two files all that commands do: checks, descends, compares, and writes what
// differs as text and as JSON, and one of them as its text twin.
func whole(files [2][]byte) error {
	var states [2]*snapshot.File
	for i, b := range files {
		f, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), fmt.Sprint(i, ".snap"))
		if err != nil {
			return err
		}
		defer f.Close()
		states[i] = f
	}
	if _, err := snapshot.Descend(states[0], states[1], false); err != nil {
		return err
	}
	d, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		return err
	}
	if !d.Diverged() {
		return errors.New("no difference")
	}
	shown := document.Diff(d, [2]string{"a", "b"}, nil)
	return errors.Join(
		shown.Text(io.Discard, document.NewStyle(false), false),
		shown.JSON(io.Discard),
		snapshot.Check(states[0]),
		snapshot.WriteText(io.Discard, states[1]),
	)
}

// check opens a file and recomputes all its digests.
func check(b []byte) error {
	f, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), "bad.snap")
	if err != nil {
		return err
	}
	defer f.Close()
	return snapshot.Check(f)
}

// content returns how many bytes the files and what they unpack to have.
func content(t testing.TB, files [2][]byte) (n uint64) {
	t.Helper()
	for _, b := range files {
		f, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cells, err := f.ContentSize()
		if err != nil {
			t.Fatal(err)
		}
		n += uint64(len(b)) + cells
	}
	return n
}

// allocated returns how many bytes do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAllocations: what all commands together allocate for a pair of hostile states stays below a
// multiple of what these are, and that multiple does not grow with them.
func TestAllocations(t *testing.T) {
	for i, h := range All() {
		if i%effort.Of(24, 1) != effort.Of(12, 0) { // the first is large
			continue
		}
		var per [2]float64 // bytes allocated for each byte, of a small pair and one four times as large
		for i, n := range []int{1, 4} {
			files := pair(t, h, n)
			size := content(t, files)
			got := allocated(func() {
				if err := whole(files); err != nil {
					t.Errorf("%s: %v", h.Name, err)
				}
			})
			per[i] = float64(got) / float64(size)
		}
		t.Logf("%s: %.1f and %.1f bytes for each", h.Name, per[0], per[1])
		if per[1] > 60 || per[1] > 1.5*per[0]+1 {
			t.Errorf("%s: %.1f bytes are allocated for each byte of small states, %.1f of larger ones", h.Name, per[0], per[1])
		}
	}
}

// bombs is a pair of states that unpack to 16 MB each.
var bombs struct {
	sync.Once
	files [2][]byte
}

func bomb(t *testing.T) [2][]byte {
	t.Helper()
	bombs.Do(func() { bombs.files = pair(t, All()[0], 1) })
	return bombs.files
}

// TestBomb: a state that unpacks out of all proportion is refused by a limit, with little memory,
// and is read where the user allows it.
func TestBomb(t *testing.T) {
	use(t, "free=8MiB")
	files := bomb(t)
	got := allocated(func() {
		over := (*limits.Error)(nil)
		if err := whole(files); !errors.As(err, &over) || over.Limit != limits.Ratio || !strings.HasSuffix(over.Path, ".snap") {
			t.Errorf("%d bytes: %v", len(files[0]), err)
		}
	})
	if size := uint64(len(files[0]) + len(files[1])); got > 16<<20+400*size {
		t.Errorf("%d bytes are allocated for a pair of %d", got, size)
	}
	if now := limits.InUse(); now != 0 {
		t.Errorf("%d bytes are still held", now)
	}
	use(t, "ratio=10k")
	if err := whole(files); err != nil {
		t.Errorf("with a larger ratio: %v", err)
	}
}

// TestManyBombs: small states that are each within their limits are bounded together.
func TestManyBombs(t *testing.T) {
	effort.Whole(t)
	use(t, "excess=50MiB")
	files := bomb(t)
	var err error
	reads := 0
	for ; err == nil && reads < 100; reads++ {
		err = whole(files)
	}
	if !errors.Is(err, limits.Excess.Reached("", 0)) || reads < 2 || reads > 10 {
		t.Errorf("after %d pairs: %v", reads, err)
	}
}

// TestMemory: a cell that does not fit into the memory that is allowed is not read.
func TestMemory(t *testing.T) {
	files := pair(t, All()[1], 1) // cells of 2.6 MB
	use(t, "memory=1MiB")
	err := whole(files)
	if over := (*limits.Error)(nil); !errors.As(err, &over) || over.Limit != limits.Memory {
		t.Errorf("%v", err)
	}
}

// TestContradictions: an index that contradicts its cells, in lengths, numbers or places, is never
// taken for a difference.
func TestContradictions(t *testing.T) {
	w := All()[2].World(1, 0)
	good, err := Encode(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, edit := range map[string]Edit{
		"a cell larger than its column":      func(c *Cell) { c.Raw += 8 },
		"a cell of no bytes":                 func(c *Cell) { c.Stored = nil },
		"a cell that claims 4 GiB":           func(c *Cell) { c.Raw = 1<<32 - 1 },
		"another codec":                      func(c *Cell) { c.Codec ^= 1 },
		"a codec that is not there":          func(c *Cell) { c.Codec = 9 },
		"another digest":                     func(c *Cell) { c.Digest[0] ^= 1 },
		"a cell that is less than it says":   func(c *Cell) { c.Stored = c.Stored[:len(c.Stored)-1] },
		"a cell that is more than it says":   func(c *Cell) { c.Stored = append(c.Stored, 0) },
		"a cell whose content is another's":  func(c *Cell) { c.Stored = bytes.Repeat(c.Stored[:1], len(c.Stored)) },
		"a cell whose length is of its keys": func(c *Cell) { c.Raw = 8 + 8*100 },
	} {
		for column := -1; column < 2; column++ {
			bad, err := Encode(w, func(c *Cell) {
				if c.Block == 0 && c.Column == column {
					edit(c)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			damaged := (*frame.Error)(nil)
			if err := check(bad); !errors.As(err, &damaged) && !errors.As(err, new(*limits.Error)) {
				t.Errorf("%s, column %d: %v", what, column, err)
			}
			if err := whole([2][]byte{good, bad}); err == nil {
				t.Errorf("%s, column %d: taken for a difference", what, column)
			}
		}
	}
}

// use sets limits for a test.
func use(t *testing.T, list string) {
	t.Helper()
	var s limits.Settings
	if err := s.List(list, "test"); err != nil {
		t.Fatal(err)
	}
	limits.Use(s)
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
}

// BenchmarkHostile shows that time and allocated bytes grow at most linearly with the bytes of a
// pair of hostile states, n times as large.
func BenchmarkHostile(b *testing.B) {
	for _, h := range All() {
		for _, n := range []int{1, 2, 4, 8} {
			if h.Name == "bomb" && n > 4 {
				continue // refused
			}
			b.Run(fmt.Sprintf("%s/%d", h.Name, n), func(b *testing.B) {
				files := pair(b, h, n)
				b.SetBytes(int64(content(b, files)))
				b.ReportAllocs()
				for b.Loop() {
					limits.Use(limits.Settings{})
					if err := whole(files); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

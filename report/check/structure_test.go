package check

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/mutate"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// The targets here change single values of files that are right, and make all checksums right
// again: what random bytes do not reach. The reader and the check must agree.

// changedFrames changes the values in a file of frames. Each part of the script begins with the
// number of a frame and how many changes are made in it; the number 255 moves, repeats or drops
// the frame.
func changedFrames(t testing.TB, b, script []byte) []byte {
	f := takeFramed(t, b)
	for len(script) >= 2 && len(f.frames) > 0 {
		i := int(script[0]) % len(f.frames)
		if script[1] == 255 {
			x := f.frames[i]
			switch script[0] % 3 {
			case 0:
				f.frames = slices.Insert(f.frames, i, x)
			case 1:
				f.frames = slices.Delete(f.frames, i, i+1)
			case 2:
				f.frames = append(slices.Delete(f.frames, i, i+1), x)
			}
			script = script[2:]
			continue
		}
		n := min(1+int(script[1])%4, (len(script)-2)/4)
		f.frames[i].value = raw(mutate.Change(encode(f.frames[i].value), script[2:2+4*n]))
		script = script[2+4*n:]
	}
	return f.bytes()
}

// changedSnap changes the values in the header and in the indexes of a snapshot, and the bytes of its cells. Values
// that follow from them are computed again, except as set by keep.
func changedSnap(t testing.TB, b, script []byte, keep byte) (out []byte) {
	s := takeSnap(t, b)
	for len(script) >= 2 {
		part, n := int(script[0]), min(1+int(script[1])%4, (len(script)-2)/4)
		changes := script[2 : 2+4*n]
		script = script[2+4*n:]
		switch i := part % (1 + 2*len(s.tables)); {
		case i == 0:
			s.header = changedList(t, s.header, changes)
		case i <= len(s.tables):
			f := s.tables[i-1]
			f.index = changedList(t, f.index, changes)
		default:
			f := s.tables[i-1-len(s.tables)]
			for ; len(changes) > 0 && len(f.cells) > 0; changes = changes[4:] {
				cell := &f.cells[int(changes[0])%len(f.cells)]
				switch at := int(changes[1]); {
				case changes[2]%8 == 0:
					*cell = append(*cell, changes[3])
				case len(*cell) > 0 && changes[2]%8 == 1:
					*cell = (*cell)[:len(*cell)-1]
				case len(*cell) > 0:
					(*cell)[at%len(*cell)] = changes[3]
				}
			}
		}
	}
	for i, f := range s.tables {
		if keep>>(i%4)&1 == 1 {
			f.keepDigests, f.keepKeys, f.keepColumns, f.keepLeaf = keep&16 != 0, keep&32 != 0, keep&64 != 0, keep&128 != 0
		}
	}
	defer func() {
		// What does not have the shape that a file is put together from has checksums by its bytes.
		if recover() != nil {
			n := snapPreamble + int(le32of(b[12:]))
			out = withHeader(b, mutate.Change(b[snapPreamble:n], []byte{keep, 0, keep, 3}))
		}
	}()
	return s.bytes(keep&8 == 0)
}

// changedList changes values in a list that stays one.
func changedList(t testing.TB, list arr, changes []byte) arr {
	b := mutate.Change(encode(list), changes)
	for _, s := range mutate.Spans(b) {
		if c := b[s.From]; c >= 0xe0 || c == 0xca || c == 0xcb || c >= 0xd0 && c <= 0xd8 || c == 0xde || c == 0xdf {
			return list // what decode does not take apart
		}
	}
	v, _ := decode(t, b)
	if changed, ok := v.(arr); ok && len(changed) == len(list) {
		return changed
	}
	return list
}

func le32of(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// agree fails if a file conforms that its reader refuses. It reports whether the reader accepts it.
func agree(t *testing.T, b []byte) bool {
	t.Helper()
	file, _, err := checkContent(bytes.NewReader(b), int64(len(b)), "f", Options{Most: 50}, nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := accepts(file.Format, b)
	if refused != nil && file.Errors == 0 {
		t.Fatalf("it conforms as %s, and is refused: %v", file.Format, refused)
	}
	return refused == nil
}

// twin fails unless the text of a file gives a file with the same text.
func twin(t *testing.T, b []byte, text func(io.Writer, []byte) error, parse func(io.Writer, io.Reader, string) error) {
	t.Helper()
	var first, again, second bytes.Buffer
	if err := text(&first, b); err != nil {
		t.Fatalf("it is whole, and has no text: %v", err)
	}
	if err := parse(&again, bytes.NewReader(first.Bytes()), "text"); err != nil {
		t.Fatalf("its text is not read: %v\n%s", err, &first)
	}
	if err := text(&second, again.Bytes()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatalf("its text\n%s\ngives\n%s", &first, &second)
	}
}

func FuzzLogValues(f *testing.F) {
	good := goodLog(f)
	f.Add([]byte{0, 0, 1, 0, 0, 3})
	f.Add([]byte{2, 1, 4, 0, 1, 9, 6, 0, 2, 255, 3, 255, 5, 0, 3, 0, 3, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		b := changedFrames(t, good, script[:min(len(script), 200)])
		whole := agree(t, b)
		if whole {
			twin(t, b, func(w io.Writer, b []byte) error {
				r, err := orderlog.NewReader(bytes.NewReader(b), "f")
				if err != nil {
					return err
				}
				return orderlog.WriteText(w, r)
			}, orderlog.ParseText)
		}
		// What can be read of it is compared with what it was.
		var logs []orderlog.Named
		for i, content := range [][]byte{good, b} {
			r, err := orderlog.NewReader(bytes.NewReader(content), "f")
			if err != nil {
				return
			}
			logs = append(logs, orderlog.Named{Name: []string{"was", "is"}[i], Source: r})
		}
		c, err := orderlog.Compare(logs, orderlog.CompareOptions{Force: true, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if c.Diverged() && c.DifferenceCount == 0 && c.State.First == nil && c.ClaimCount == 0 {
			t.Errorf("diverged without a finding: %s", c.Line())
		}
	})
}

func FuzzTraceValues(f *testing.F) {
	good := goodTrace(f)
	f.Add([]byte{0, 0, 1, 0, 0, 3})
	f.Add([]byte{2, 1, 4, 0, 1, 9, 6, 0, 2, 255, 3, 255, 5, 0, 3, 0, 3, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		b := changedFrames(t, good, script[:min(len(script), 200)])
		if !agree(t, b) {
			return
		}
		twin(t, b, func(w io.Writer, b []byte) error {
			r, err := tracediff.NewReader(bytes.NewReader(b), "f", tracediff.ReadOptions{})
			if err != nil {
				return err
			}
			defer r.Close()
			return tracediff.WriteText(w, r)
		}, tracediff.ParseText)
	})
}

func FuzzSnapValues(f *testing.F) {
	good := goodSnap(f)
	f.Add([]byte{0, 0, 1, 0, 0, 3}, byte(0))
	f.Add([]byte{1, 2, 4, 0, 1, 9, 6, 0, 2, 255, 5, 0, 3, 0, 4, 1, 1, 1, 1, 1}, byte(0x31))
	f.Fuzz(func(t *testing.T, script []byte, keep byte) {
		b := changedSnap(t, good, script[:min(len(script), 200)], keep)
		whole := agree(t, b)
		states := make([]*snapshot.File, 2)
		for i, content := range [][]byte{good, b} {
			s, err := snapshot.Open(bytes.NewReader(content), int64(len(content)), "f")
			if err != nil && whole {
				t.Fatal(err)
			} else if err != nil {
				return
			}
			states[i] = s
		}
		// A file that lies about its content may be compared or refused; nothing else happens.
		d, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{Force: true, Noise: true})
		if !whole {
			return
		}
		if err != nil {
			t.Fatalf("it is whole, and cannot be compared: %v", err)
		}
		w, err := snapshot.Load(states[1])
		if err != nil {
			t.Fatalf("it is whole, and cannot be loaded: %v", err)
		}
		if err := w.Validate(); err != nil {
			t.Fatalf("accepted: %v", err)
		}
		// Authoritative states have one root if and only if no difference is found.
		differs := d.RNG != nil
		for i := range d.Tables {
			differs = differs || d.Tables[i].Class == snapshot.Archetype
		}
		if differs != d.RootsDiffer() {
			t.Fatalf("roots differ: %v, a difference is found: %v", d.RootsDiffer(), differs)
		}
	})
}

// FuzzSnapCell stores any bytes as a compressed cell, with all checksums right: they are the input of the zstd reader.
func FuzzSnapCell(f *testing.F) {
	good := goodSnap(f)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	if err != nil {
		f.Fatal(err)
	}
	for i, cell := range takeSnap(f, good).tables[0].cells {
		f.Add(byte(i), encoder.EncodeAll(shuffle(cell), nil))
	}
	f.Add(byte(1), encoder.EncodeAll(make([]byte, 1<<20), nil))
	f.Fuzz(func(t *testing.T, which byte, stored []byte) {
		s := takeSnap(t, good)
		table := s.tables[0]
		i := int(which) % len(table.cells)
		table.codec[i], table.stored[i] = 1, stored
		if b := s.bytes(true); agree(t, b) {
			if len(stored) >= len(table.cells[i]) {
				t.Fatal("a cell is longer than the plain one, and accepted")
			}
		}
	})
}

// TestValueChanges holds what the targets rest on: of the files that they make, some are still whole
// and others, and some conform no more.
func TestValueChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	script := func() []byte {
		b := make([]byte, 6+r.IntN(20))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return b
	}
	for name, change := range map[string]func([]byte) []byte{
		"log":      func(s []byte) []byte { return changedFrames(t, goodLog(t), s) },
		"trace":    func(s []byte) []byte { return changedFrames(t, goodTrace(t), s) },
		"snapshot": func(s []byte) []byte { return changedSnap(t, goodSnap(t), s, s[0]&s[1]&s[2]) },
	} {
		seen := map[string]bool{}
		whole := 0
		for range 1000 {
			b := change(script())
			if seen[string(b)] {
				continue
			}
			seen[string(b)] = true
			if agree(t, b) {
				whole++
			}
		}
		t.Logf("%s: %d files, %d whole", name, len(seen), whole)
		if len(seen) < 300 || whole < 20 || whole > len(seen)*9/10 {
			t.Errorf("%s: of %d files %d are whole", name, len(seen), whole)
		}
	}
}

package snapshot

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
)

// linesFormat is a format of an engine that is made up. A file is lines of
// "tick value"; names are "p<peer>.lines", or "one<tick>_p<peer>" for one state.
func linesFormat() []Format {
	open := func(r io.ReaderAt, size int64, name string) (State, error) {
		b := make([]byte, size)
		if _, err := r.ReadAt(b, 0); err != nil && err != io.EOF {
			return nil, err
		}
		var tick, value uint64
		if n, _ := fmt.Sscanf(string(b), "%d %d", &tick, &value); n != 2 {
			return nil, fmt.Errorf("%s: malformed", name)
		}
		c := NewColumn("Health", "hp", U64, 0)
		c.AppendUint(value)
		return Hold(&World{
			Head:   Head{Point: Point{Tick: tick}},
			Tables: []Table{{Label: "Infantry", Keys: Keys{A: []uint64{1}}, Columns: []Column{c}}},
		})
	}
	sniff := func(head []byte) bool { return len(head) > 0 && head[0] >= '0' && head[0] <= '9' }
	several := Format{
		Name: "several", Sniff: sniff, Open: open,
		Parts: func(r io.ReaderAt, size int64, name string) ([]Part, error) {
			b := make([]byte, size)
			if _, err := r.ReadAt(b, 0); err != nil && err != io.EOF {
				return nil, err
			}
			var parts []Part
			at := int64(0)
			for line := range strings.Lines(string(b)) {
				tick, err := strconv.ParseUint(strings.Fields(line)[0], 10, 64)
				if err != nil {
					return nil, err
				}
				parts = append(parts, Part{Peer: "lines", Seed: 9, Point: Point{Tick: tick}, Offset: at, Size: int64(len(line))})
				at += int64(len(line))
			}
			return parts, nil
		},
	}
	one := Format{
		Name: "one", Sniff: func(head []byte) bool { return false }, Open: open,
		ParseName: func(base string) (FileName, bool) {
			var tick uint64
			var peer string
			if n, _ := fmt.Sscanf(base, "one%d_%s", &tick, &peer); n != 2 {
				return FileName{}, false
			}
			return FileName{Point: Point{Tick: tick}, Peer: peer}, true
		},
	}
	return []Format{one, several}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPartsOfAFile: each state of a file that holds several is an entry, whether
// the file is compressed or not, and is opened by itself.
func TestPartsOfAFile(t *testing.T) {
	dir := t.TempDir()
	content := "0 100\n30 100\n60 7\n"
	put(t, filepath.Join(dir, "plain.lines"), content)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, content)
	z.Close()
	put(t, filepath.Join(dir, "packed.lines.gz"), packed.String())
	for _, name := range []string{"plain.lines", "packed.lines.gz"} {
		path := filepath.Join(dir, name)
		sets, err := Find(files.Disk, path, linesFormat())
		if err != nil || len(sets) != 1 || len(sets[0].Entries) != 3 || sets[0].Peer != "lines" {
			t.Fatalf("%s: %+v, %v", name, sets, err)
		}
		for i, value := range []uint64{100, 100, 7} {
			e := sets[0].Entries[i]
			if want := fmt.Sprintf("%s@%d", path, 30*i); e.Path() != want {
				t.Errorf("%s is called %s", want, e.Path())
			}
			s, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.LoadBlock(0, 0, 0)
			if info := s.Info(); err != nil || c.Uint(0) != value || info.Seed != 9 || info.Peer != "lines" || info.Point.Tick != uint64(30*i) {
				t.Errorf("%s: %+v, %v", e.Path(), info.Head, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := OpenAny(files.Disk, path, linesFormat()); err == nil || !strings.Contains(err.Error(), "holds 3 states; name one with "+path+"@TICK") {
			t.Errorf("%v", err)
		}
		if !Several(files.Disk, path, linesFormat()) {
			t.Errorf("%s holds one state", path)
		}
	}
	put(t, filepath.Join(dir, "single.lines"), "5 6\n")
	s, err := OpenAny(files.Disk, filepath.Join(dir, "single.lines"), linesFormat())
	if err != nil || s.Info().Point.Tick != 5 {
		t.Errorf("%v, %v", s, err)
	}
}

// TestPeersOfAFolder: files may name the peer of their state; a folder then has a set for each peer.
func TestPeersOfAFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one10_b", "one20_b", "one10_a", "one20_a", "note"} {
		put(t, filepath.Join(dir, name), strings.TrimLeft(name, "one")[:2]+" 1\n")
	}
	sets, err := Find(files.Disk, dir, linesFormat())
	if err != nil || len(sets) != 2 {
		t.Fatalf("%+v, %v", sets, err)
	}
	for i, peer := range []string{"a", "b"} {
		s := sets[i]
		if s.Peer != peer || len(s.Entries) != 2 || s.At(Point{Tick: 20}) == nil || s.At(Point{Tick: 20}).Base != "one20_"+peer {
			t.Errorf("set %d: %+v", i, s)
		}
	}
	if len(sets[0].Others) != 1 || len(sets[1].Others) != 0 {
		t.Errorf("others: %q and %q", sets[0].Others, sets[1].Others)
	}
}

// TestMerge: equal states of a peer from two places are copies, others a conflict.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []struct{ path, content string }{
		{"x/one10_a", "10 1"}, {"x/one20_a", "20 1"}, {"y/one10_a", "10 1"}, {"y/one20_a", "20 2"}, {"y/one30_a", "30 1"}, {"z/one10_a", "no state"},
	} {
		put(t, filepath.Join(dir, f.path), f.content)
	}
	var sets []*Set
	for _, name := range []string{"x", "y", "z"} {
		found, err := Find(files.Disk, filepath.Join(dir, name), linesFormat())
		if err != nil || len(found) != 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		sets = append(sets, found[0])
	}
	s := sets[0]
	s.Merge(sets[1])
	s.Merge(sets[2])
	if len(s.Entries) != 3 || s.Copies != 1 || len(s.Conflicts) != 1 || len(s.Warnings) != 1 {
		t.Errorf("%d entries, %d copies, conflicts %q, warnings %q", len(s.Entries), s.Copies, s.Conflicts.Texts(), s.Warnings.Texts())
	}
	if !strings.Contains(s.Conflicts[0].Text, "two states of a at state point 20") || !strings.Contains(s.Warnings[0].Text, "cannot be read") {
		t.Errorf("%q %q", s.Conflicts.Texts(), s.Warnings.Texts())
	}
}

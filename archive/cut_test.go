package archive_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
)

// TestCut reads parts of files in whatever pieces, and compares the result with the same done to the whole content at
// once.
func TestCut(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOfN(rapid.SampledFrom([]byte("ab \r\n")), 0, 60).Draw(t, "content")
		var spans []archive.Span
		last := int64(0)
		for at := int64(0); at < int64(len(content)); {
			from := at + rapid.Int64Range(0, 9).Draw(t, "gap")
			to := from + rapid.Int64Range(1, 20).Draw(t, "length")
			spans = append(spans, archive.Span{From: from, To: to})
			at = to
			last = to
		}
		if len(spans) == 0 {
			return
		}
		want := bytes.Clone(content[:min(int64(len(content)), last)])
		for i := range want {
			inside := false
			for _, s := range spans {
				inside = inside || s.From <= int64(i) && int64(i) < s.To
			}
			if !inside && want[i] != '\n' && want[i] != '\r' {
				want[i] = ' '
			}
		}
		dir, err := os.MkdirTemp("", "cut")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "x.log")
		if rapid.Bool().Draw(t, "packed") {
			path += ".gz"
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := z.Write(content); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			content = packed.Bytes()
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		tree := archivetest.Open(outer, dir).Cut(map[string][]archive.Span{path: spans})
		f, err := tree.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		stat, err := tree.Stat(path)
		if err != nil || stat.Size() != int64(len(want)) {
			t.Errorf("%d bytes, %v, expected %d", stat.Size(), err, len(want))
		}
		piece := make([]byte, rapid.IntRange(1, 30).Draw(t, "piece"))
		var got []byte
		for {
			n, err := f.Read(piece)
			got = append(got, piece[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
		at := rapid.IntRange(0, len(want)).Draw(t, "at")
		n, err := f.ReadAt(piece, int64(at))
		if !bytes.Equal(piece[:n], want[at:min(at+len(piece), len(want))]) || n < len(piece) && err != io.EOF {
			t.Errorf("at %d: %q, %v, expected %q", at, piece[:n], err, want[at:])
		}
	})
}

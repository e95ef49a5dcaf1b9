package compression

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// pack compresses content in every way.
func pack(t testing.TB, content []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, open := range map[string]func(w io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"xz":   func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		var buf bytes.Buffer
		w, err := open(&buf)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[name] = buf.Bytes()
	}
	return out
}

func TestUnpack(t *testing.T) {
	text := []byte(strings.Repeat("tick=1 system=Movement sum=0a\n", 5000))
	for name, b := range pack(t, text) {
		if got := Packing(b); got != name {
			t.Errorf("%s is taken for %q", name, got)
		}
		content, packing, err := Unpack(bytes.NewReader(b), 0)
		if err != nil || packing != name {
			t.Fatalf("%s: %q, %v", name, packing, err)
		}
		if got, err := io.ReadAll(content); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	content, packing, err := Unpack(bytes.NewReader(text), 0)
	if got, _ := io.ReadAll(content); err != nil || packing != "" || !bytes.Equal(got, text) {
		t.Errorf("plain text: %q, %v", packing, err)
	}
}

// TestDamage: whatever is cut off, nothing compressed ends as if it were whole.
func TestDamage(t *testing.T) {
	text := []byte(strings.Repeat("tick=1 system=Movement sum=0a\n", 50))
	for name, b := range pack(t, text) {
		for n := 6; n < len(b); n++ {
			content, packing, err := Unpack(bytes.NewReader(b[:n]), 0)
			if err == nil {
				_, err = io.ReadAll(content)
			}
			if err == nil && packing != "" {
				t.Errorf("%s: first %d of %d bytes are accepted", name, n, len(b))
			}
		}
	}
}

func TestBombs(t *testing.T) {
	if !effort.Full() {
		var s limits.Settings
		if err := s.List("free=8MiB", "test"); err != nil {
			t.Fatal(err)
		}
		limits.Use(s)
		defer limits.Use(limits.Settings{})
	}
	for name, b := range pack(t, make([]byte, effort.Of(16<<20, 200<<20))) {
		for _, limit := range []int64{1 << 20, 0} {
			content, _, err := Unpack(bytes.NewReader(b), limit)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, content)
			// So many zeros expand further than maxRatio in every format but
			// gzip, which cannot.
			if limit > 0 && (err == nil || n > limit) || limit == 0 && name != "gzip" && err == nil {
				t.Errorf("%s with limit %d: %d bytes, %v", name, limit, n, err)
			}
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, b := range pack(f, []byte("tick=1 system=Movement sum=0a\n")) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		content, _, err := Unpack(bytes.NewReader(b), 1<<20)
		if err != nil {
			return
		}
		if n, _ := io.Copy(io.Discard, content); n > 1<<20+int64(len(b)) {
			t.Fatalf("%d bytes", n)
		}
	})
}

package blobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
)

// each runs a test with a store of either kind, and with what puts bytes into it that nobody wrote by Put.
func each(t *testing.T, test func(t *testing.T, s Store, plant func(key string, content []byte, age time.Duration))) {
	t.Run("folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "blobs")
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		test(t, s, func(key string, content []byte, age time.Duration) {
			path := filepath.Join(dir, filepath.FromSlash(key))
			when := time.Now().Add(-age)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600), os.Chtimes(path, when, when)); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("bucket", func(t *testing.T) {
		service := newService(t)
		service.page = 3
		s, err := Open(service.address("bundles", "/of/desk"))
		if err != nil {
			t.Fatal(err)
		}
		test(t, s, func(key string, content []byte, age time.Duration) {
			service.put("of/desk/"+key, content, time.Now().Add(-age))
		})
	})
}

func sha(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }

// noise returns bytes that cannot be compressed.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

func put(t *testing.T, s Store, content []byte) Kept {
	t.Helper()
	k, err := s.Put(t.Context(), bytes.NewReader(content), 0)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func get(t *testing.T, s Store, hash string) ([]byte, error) {
	t.Helper()
	r, err := s.Open(t.Context(), hash)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func list(t *testing.T, s Store) (hashes []string) {
	t.Helper()
	for info, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if since := time.Since(info.Kept); info.Stored <= 0 || since < -time.Minute {
			t.Errorf("%+v", info)
		}
		hashes = append(hashes, info.Hash)
	}
	return hashes
}

func TestStore(t *testing.T) {
	each(t, func(t *testing.T, s Store, plant func(string, []byte, time.Duration)) {
		contents := [][]byte{nil, []byte("a"), bytes.Repeat([]byte("tick 1 hash 2\n"), 200_000), noise(1, 3<<20+7)}
		for i := range 8 {
			contents = append(contents, noise(uint64(i), 100))
		}
		var want []string
		for _, c := range contents {
			k := put(t, s, c)
			if k.Hash != sha(c) || k.Bytes != int64(len(c)) || !k.New || k.Stored <= 0 || k.Stored > k.Bytes+k.Bytes/100+32 {
				t.Errorf("%d bytes: %+v", len(c), k)
			}
			if len(c) == 2_800_000 && k.Stored > 10_000 {
				t.Errorf("%+v is not compressed", k)
			}
			again := put(t, s, c)
			if k.New = false; again != k {
				t.Errorf("again %+v, expected %+v", again, k)
			}
			if got, err := get(t, s, k.Hash); err != nil || !bytes.Equal(got, c) {
				t.Errorf("%d bytes, %v, expected %d", len(got), err, len(c))
			}
			want = append(want, k.Hash)
		}
		plant("of nobody", []byte("x"), 0)
		plant("ab/readme.txt", []byte("x"), 0)
		plant("ab/"+want[0]+".zst", []byte("x"), 0) // on another's shelf
		slices.Sort(want)
		if got := list(t, s); !slices.Equal(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
		for range 2 {
			if err := s.Delete(t.Context(), want[0]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := get(t, s, want[0]); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
		if got := list(t, s); !slices.Equal(got, want[1:]) {
			t.Errorf("%q, expected %q", got, want[1:])
		}
		for range s.List(t.Context()) {
			break
		}
	})
}

// What is stored is what zstd makes and nothing else, so that it can be had without this program.
func TestPlainZstd(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("order\n"), 1000)
	k := put(t, s, content)
	b, err := os.ReadFile(filepath.Join(dir, k.Hash[:2], k.Hash+".zst"))
	if err != nil || int64(len(b)) != k.Stored {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got, err := d.DecodeAll(b, nil); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestNotAHash(t *testing.T) {
	each(t, func(t *testing.T, s Store, plant func(string, []byte, time.Duration)) {
		for _, hash := range []string{"", "ab", "../../etc/passwd", strings.Repeat("A", 64), strings.Repeat("0", 63) + "/", strings.Repeat("0", 64) + "\n", "../" + strings.Repeat("0", 61)} {
			_, opened := s.Open(t.Context(), hash)
			if deleted := s.Delete(t.Context(), hash); opened == nil || deleted == nil || !strings.Contains(opened.Error(), "64 hexadecimal digits") {
				t.Errorf("%q: %v, %v", hash, opened, deleted)
			}
		}
	})
}

// TestDamaged: of a blob that was cut off, changed or replaced no reader gets to io.EOF, and nothing that is read is taken for
// whole.
func TestDamaged(t *testing.T) {
	each(t, func(t *testing.T, s Store, plant func(string, []byte, time.Duration)) {
		content := append(bytes.Repeat([]byte("tick\n"), 50_000), noise(3, 200_000)...)
		hash := sha(content)
		var packed bytes.Buffer
		if _, err := pour(t.Context(), &packed, bytes.NewReader(content), 0); err != nil {
			t.Fatal(err)
		}
		changed := func(at int) []byte {
			b := bytes.Clone(packed.Bytes())
			b[at] ^= 0x10
			return b
		}
		var other bytes.Buffer
		if _, err := pour(t.Context(), &other, strings.NewReader("another bundle"), 0); err != nil {
			t.Fatal(err)
		}
		for what, b := range map[string][]byte{
			"empty": {}, "cut in its header": packed.Bytes()[:3], "cut in the middle": packed.Bytes()[:packed.Len()/2], "without its end": packed.Bytes()[:packed.Len()-1],
			"changed in the middle": changed(packed.Len() / 2), "changed at the end": changed(packed.Len() - 2), "changed at the beginning": changed(0),
			"replaced": other.Bytes(), "continued": append(bytes.Clone(packed.Bytes()), other.Bytes()...), "not compressed": content,
		} {
			plant(key(hash), b, 0)
			got, err := get(t, s, hash)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), hash) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %d bytes, %v", what, len(got), err)
			}
			if path, _, err := ToFile(t.Context(), s, hash, "x.zip", t.TempDir()); !errors.Is(err, ErrDamaged) || path != "" {
				t.Errorf("%s: %q, %v", what, path, err)
			}
		}
		// One that has lost its end is healed by the same bundle at once, one that was changed after a while.
		for _, c := range []struct {
			b   []byte
			age time.Duration
		}{{packed.Bytes()[:100], 0}, {changed(packed.Len() / 2), settled + time.Minute}} {
			plant(key(hash), c.b, c.age)
			if k := put(t, s, content); k.New && c.age > 0 {
				t.Errorf("%+v", k)
			}
			if got, err := get(t, s, hash); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
	})
}

// What is kept again after half a day is as young as what is new, for those who remove what nobody needs.
func TestKeptAgain(t *testing.T) {
	each(t, func(t *testing.T, s Store, plant func(string, []byte, time.Duration)) {
		var packed bytes.Buffer
		k, err := pour(t.Context(), &packed, strings.NewReader("bundle"), 0)
		if err != nil {
			t.Fatal(err)
		}
		plant(key(k.Hash), packed.Bytes(), 40*time.Hour)
		put(t, s, []byte("bundle"))
		for info, err := range s.List(t.Context()) {
			if since := time.Since(info.Kept); err != nil || since > time.Hour {
				t.Errorf("%+v, %v", info, err)
			}
		}
	})
}

// What was kept since some time stays.
func TestDeleteBefore(t *testing.T) {
	each(t, func(t *testing.T, s Store, plant func(string, []byte, time.Duration)) {
		var packed bytes.Buffer
		k, err := pour(t.Context(), &packed, strings.NewReader("bundle"), 0)
		if err != nil {
			t.Fatal(err)
		}
		plant(key(k.Hash), packed.Bytes(), 40*time.Hour)
		for _, c := range []struct {
			age  time.Duration
			gone bool
		}{{50 * time.Hour, false}, {30 * time.Hour, true}, {30 * time.Hour, true}} {
			gone, err := s.DeleteBefore(t.Context(), k.Hash, time.Now().Add(-c.age))
			if err != nil || gone != c.gone || (len(list(t, s)) == 0) != c.gone {
				t.Errorf("%v: %v, %v", c, gone, err)
			}
		}
		if gone, err := s.DeleteBefore(t.Context(), "../x", time.Now()); gone || err == nil {
			t.Error(gone, err)
		}
		if f, ok := s.(*folder); ok {
			if left, err := os.ReadDir(filepath.Join(f.dir, incoming)); err != nil || len(left) > 0 {
				t.Errorf("%v, %v", left, err)
			}
		}
	})
}

func TestPutFails(t *testing.T) {
	each(t, func(t *testing.T, s Store, plant func(string, []byte, time.Duration)) {
		content := noise(4, 300_000)
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("the door is closing"))
		broken := errors.New("line lost")
		for what, c := range map[string]struct {
			ctx   context.Context
			r     io.Reader
			limit int64
			want  func(error) bool
		}{
			"too large":    {t.Context(), bytes.NewReader(content), int64(len(content)) - 1, func(err error) bool { return errors.Is(err, ErrTooLarge) }},
			"never ending": {t.Context(), endless{}, 5 << 20, func(err error) bool { return errors.Is(err, ErrTooLarge) }},
			"line lost": {t.Context(), io.MultiReader(bytes.NewReader(content), iotest.ErrReader(broken)), 0, func(err error) bool {
				var at *ReadError
				return errors.As(err, &at) && errors.Is(err, broken)
			}},
			"ended": {ended, bytes.NewReader(content), 0, func(err error) bool { return err.Error() == "the door is closing" }},
		} {
			k, err := s.Put(c.ctx, c.r, c.limit)
			if err == nil || !c.want(err) || k != (Kept{}) {
				t.Errorf("%s: %+v, %v", what, k, err)
			}
		}
		if k, err := s.Put(t.Context(), iotest.OneByteReader(bytes.NewReader(content[:1000])), 1000); err != nil || k.Hash != sha(content[:1000]) {
			t.Errorf("%+v, %v", k, err)
		}
		if got := list(t, s); len(got) != 1 {
			t.Errorf("%q", got)
		}
		if f, ok := s.(*folder); ok {
			if left, err := os.ReadDir(filepath.Join(f.dir, incoming)); err != nil || len(left) > 0 {
				t.Errorf("%v, %v", left, err)
			}
		}
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Many writers, of the same and of different bundles, by several stores on one folder as machines have them: each
// bundle is there once and whole.
func TestAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s Store, plant func(string, []byte, time.Duration)) {
		stores := []Store{s, s}
		if f, ok := s.(*folder); ok {
			other, err := Open(f.dir)
			if err != nil {
				t.Fatal(err)
			}
			stores[1] = other
		}
		var all sync.WaitGroup
		for n := range 24 {
			all.Go(func() {
				content := noise(uint64(n%6), 50_000)
				k, err := stores[n%2].Put(t.Context(), bytes.NewReader(content), 0)
				if err != nil || k.Hash != sha(content) {
					t.Errorf("%+v, %v", k, err)
				}
				if got, err := get(t, s, k.Hash); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		}
		all.Wait()
		if got := list(t, s); len(got) != 6 {
			t.Errorf("%q", got)
		}
	})
}

// What writers left that were killed is removed when it is old, and nothing that is being written.
func TestTidy(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old.zst": left + time.Hour, "young.zst": left - time.Hour} {
		path := filepath.Join(dir, incoming, name)
		when := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(filepath.Join(dir, incoming))
	if err != nil || len(names) != 1 || names[0].Name() != "young.zst" {
		t.Errorf("%v, %v", names, err)
	}
	if got := list(t, s); len(got) > 0 {
		t.Errorf("%q: what is not finished is seen", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		"":                                     "needs a folder",
		file:                                   "not a directory",
		"s3://":                                "names no bucket",
		"s3://a:secretword@bucket/x":           "has credentials in it",
		"s3://bucket/x?secret=secretword":      `has "secret", which is not known`,
		"s3://bucket/../x":                     `has the prefix "../x"`,
		"s3://bucket/x?insecure=perhaps":       `insecure="perhaps"`,
		"s3://bucket/x?endpoint=http://host:1": `has the endpoint "http://host:1"`,
		"s3://bucket/%zz:secretword":           "cannot be read",
	} {
		_, err := Open(where)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secretword") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %q", where, err, want)
		}
	}
}
